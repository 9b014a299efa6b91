// Which headers of a call go on to the calls that its procedure makes, to another node or to one beside it.

import type { CallHeaders } from "./call.ts";
import { headers } from "./protocol.ts";

// Headers of one message, of one connection or of a browser's request: the inner call has its own (decisions §5, headers forwarded).
const own =
  /^(content-.*|accept|accept-encoding|range|if-.*|expect|origin|referer|sec-.*|access-control-.*|host|user-agent|x-svc-.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|:.*)$/;

// What nearly every caller sends.
const keepAlive: ReadonlySet<string> = new Set(["keep-alive"]);

const namesIn = (field: string): string[] => field.toLowerCase().split(/\s*,\s*/);

/** Names that a `Connection` header takes for this one connection (RFC 9110 §7.6.1). */
export function connectionOptions(field: unknown): ReadonlySet<string> | undefined {
  if (typeof field !== "string") return undefined;
  if (field === "keep-alive") return keepAlive;
  const names = new Set(namesIn(field));
  // How the body is to be read goes on as it came: without them the next service would read something else than this one did.
  for (const name of ["content-type", "content-encoding", headers.encoding]) names.delete(name);
  return names;
}

/** A copy without those that belong to the outer call alone, and those that its `Connection` names (§5.2). */
export function forwardedHeaders(context: CallHeaders): Map<string, string> {
  const named = namesIn(context.get("connection") ?? "");
  const forwarded = new Map<string, string>();
  for (const [name, value] of context)
    if (!own.test(name) && !named.includes(name)) forwarded.set(name, value);
  return forwarded;
}

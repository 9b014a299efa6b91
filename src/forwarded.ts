// Which headers of a call go on to the calls that its procedure makes, to another node or to one beside it.

import type { CallHeaders } from "./call.ts";
import { headers } from "./protocol.ts";

// Headers of one message, of one connection or of a browser's request: the inner call has its own (decisions §5, headers forwarded).
const own =
  /^(content-.*|accept|accept-encoding|range|if-.*|expect|origin|referer|sec-.*|access-control-.*|host|user-agent|x-svc-.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|:.*)$/;

// How the body is to be read, which goes on as it came: without them the next service would read something else than this one did.
const ofTheBody = new Set<string>(["content-type", "content-encoding", headers.encoding]);

/** Names that a `Connection` header takes for this one connection (RFC 9110 §7.6.1). */
export function connectionOptions(field: unknown): ReadonlySet<string> | undefined {
  if (typeof field !== "string") return undefined;
  const names = field
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  return new Set(names.filter((name) => !ofTheBody.has(name)));
}

/** A copy without those that belong to the outer call alone, and those that its `Connection` names (§5.2). */
export function forwardedHeaders(context: CallHeaders): Map<string, string> {
  const named = connectionOptions(context.get("connection"));
  const forwarded = new Map<string, string>();
  for (const [name, value] of context) if (!own.test(name) && named?.has(name) !== true) forwarded.set(name, value);
  return forwarded;
}

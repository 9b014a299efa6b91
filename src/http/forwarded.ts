// Selects the headers of a call that are forwarded to the calls that its procedure makes, local and remote.

import { headers, isServiceHeader } from "../base/protocol.ts";

// Headers of one message, of one connection or of a browser's request: the inner call has its own.
const own =
  /^(content-.*|accept|accept-encoding|range|if-.*|expect|origin|referer|sec-.*|access-control-.*|host|user-agent|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|:.*)$/;

// These belong to one connection (RFC 9110, section 7.6.1).
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Whether a field belongs to one connection. */
export function isHopByHop(name: string): boolean {
  return hopByHop.has(name);
}

// Nearly every caller sends this.
const keepAlive: ReadonlySet<string> = new Set(["keep-alive"]);

/** They say how to decode a body, so they are always forwarded with it. */
export const bodyHeaders: readonly string[] = [
  "content-type",
  "content-encoding",
  headers.encoding,
];

// Not `split(/\s*,\s*/)`: its time grows with the square of the spaces in a field.
const namesIn = (field: string): string[] =>
  field
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());

/** Names of fields that `Connection` limits to this connection (RFC 9110, section 7.6.1). */
export function connectionOptions(field: unknown): ReadonlySet<string> | undefined {
  if (typeof field !== "string") return undefined;
  if (field === "keep-alive") return keepAlive;
  const names = new Set(namesIn(field));
  // Without these, the next service would decode the body differently.
  for (const name of bodyHeaders) names.delete(name);
  return names;
}

/** Copies all headers except the outer call's own and those that `Connection` names. */
export function forwardedHeaders(context: ReadonlyMap<string, string>): Map<string, string> {
  const named = namesIn(context.get("connection") ?? "");
  const forwarded = new Map<string, string>();
  for (const [name, value] of context)
    if (!own.test(name) && !isServiceHeader(name) && !named.includes(name))
      forwarded.set(name, value);
  return forwarded;
}

// Which headers of a call go on to the calls that its procedure makes, to another node or to one beside it.

import type { CallHeaders } from "./call.ts";

// Headers of one message, of one connection or of a browser's request: the inner call has its own (decisions §5, headers forwarded).
const own =
  /^(content-.*|accept|accept-encoding|range|if-.*|expect|origin|referer|sec-.*|access-control-.*|host|user-agent|x-svc-.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|:.*)$/;

/** A copy without those that belong to the outer call alone, and those that its `Connection` names (§5.2). */
export function forwardedHeaders(headers: CallHeaders): Map<string, string> {
  const named = headers
    .get("connection")
    ?.toLowerCase()
    .split(/\s*,\s*/);
  const forwarded = new Map<string, string>();
  for (const [name, value] of headers) if (!own.test(name) && !named?.includes(name)) forwarded.set(name, value);
  return forwarded;
}

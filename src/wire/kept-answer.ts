// Answers that caches may keep: a caller that already has the value gets a 304.

import type { Host, HttpResponse } from "../base/ports.ts";
import { hasTag } from "../http/entity-tags.ts";
import { withHeaders } from "../http/answers.ts";
import type { Exchange } from "./exchange.ts";

const encoder = new TextEncoder();

/**
 * The answer to a GET whose procedure lets caches keep it, with an `etag`; 304 if its caller has that one. The tag is
 * weak, as services and proxies on the way may compress the body.
 */
export function keptAnswer(
  answer: HttpResponse,
  { request, settings }: Pick<Exchange, "request" | "settings">,
  host: Pick<Host, "digest">,
): HttpResponse {
  if (settings?.mayBeKept !== true || request.method !== "GET") return answer;
  const { status, body } = answer;
  if (status !== 200 || (typeof body !== "string" && !(body instanceof Uint8Array))) return answer;
  const { etag = tagOf(body, host) } = settings;
  if (!hasTag(request.headers, etag)) return withHeaders(answer, { etag });
  const { "cache-control": cacheControl = "" } = answer.headers;
  return { status: 304, headers: { "cache-control": cacheControl, etag } };
}

/** Half of the digest: 128 bits are enough to tell all values apart. */
function tagOf(body: string | Uint8Array, host: Pick<Host, "digest">): string {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  return `W/"${host.digest(bytes).slice(0, 32)}"`;
}

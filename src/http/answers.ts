// Answers with other header fields.

import type { HttpResponse } from "../base/ports.ts";

/** `response` with more headers. */
export function withHeaders(
  response: HttpResponse,
  more: HttpResponse["headers"] | undefined,
): HttpResponse {
  if (more === undefined) return response;
  return withFields(response, Object.assign({}, response.headers, more));
}

/** `response` with other headers. */
export function withFields(
  { status, body }: HttpResponse,
  fields: HttpResponse["headers"],
): HttpResponse {
  return body === undefined ? { status, headers: fields } : { status, headers: fields, body };
}

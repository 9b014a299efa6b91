// Answers with other header fields, and the answer for missing files.

import { FileNotFound } from "../base/errors.ts";
import type { HttpResponse } from "../base/ports.ts";
import { answerHeaders, mediaTypes } from "../base/protocol.ts";

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

/** Whether an answer with this status has no body, whatever its header fields claim. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}

/** The same answer, byte for byte, for files that don't exist and those that aren't public. */
export function notFound(): HttpResponse {
  return {
    status: 404,
    headers: { "content-type": mediaTypes.text, ...answerHeaders },
    body: new FileNotFound().message,
  };
}

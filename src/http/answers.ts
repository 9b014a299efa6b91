// Answers with other header fields, and the answer for missing files.

import { FileNotFound } from "../base/errors.ts";
import type { HttpResponse } from "../base/ports.ts";
import { answerHeaders, callVary, headers, mediaTypes } from "../base/protocol.ts";

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

/** A `vary` field with further names, each of them once. */
export function varying(
  vary: string | readonly string[] | undefined,
  ...more: readonly string[]
): string {
  const names = vary === undefined ? [] : String(vary).split(",");
  const all = new Map([...names, ...more].map((name) => [name.trim().toLowerCase(), name.trim()]));
  all.delete("");
  return all.has("*") ? "*" : [...all.values()].join(", ");
}

/** By fields that are frozen, as those of nearly all answers are: links write the same fields faster. */
const withVary = new WeakMap<HttpResponse["headers"], HttpResponse["headers"]>();

/** An answer to a call that says which fields of the call decided its form. */
export function withCallVary(response: HttpResponse): HttpResponse {
  const { headers: fields } = response;
  if (fields["vary"] === callVary) return response;
  let varied = withVary.get(fields);
  if (varied === undefined) {
    const vary = varying(fields["vary"], "accept", headers.encoding);
    varied = Object.assign({}, fields, { vary });
    if (Object.isFrozen(fields)) withVary.set(fields, Object.freeze(varied));
  }
  return withFields(response, varied);
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

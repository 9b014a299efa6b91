// The content type of a call's body, and how large such a body may be.

import { BadRequest, UnsupportedEncoding } from "../base/errors.ts";
import type { HeaderFields, HttpRequest } from "../base/ports.ts";
import type { Limits } from "../base/limits.ts";
import { headers } from "../base/protocol.ts";
import { headerText } from "./encoding.ts";

/** `multipart` is the type of calls with files. */
export type BodyType = "json" | "multipart" | "other";

/** The type of a body, by the head of its request. */
export function bodyTypeOf(fields: HeaderFields): BodyType {
  const type = headerText(fields["content-type"]);
  // Nearly all callers send exactly this: comparing is cheaper than a regular expression.
  if (type === "application/json" || /^application\/json\s*(;|$)/i.test(type)) return "json";
  return isMultipart(type) ? "multipart" : "other";
}

/** Throws UnsupportedEncoding for a content type that calls don't have, and BadRequest for a QUERY without one. */
export function checkBodyType(
  type: BodyType,
  { method, headers: fields }: Pick<HttpRequest, "method" | "headers">,
): void {
  if (method === "QUERY" && headerText(fields["content-type"]) === "")
    // RFC 10008: without it, a QUERY must fail.
    throw new BadRequest("A QUERY must say its content type: application/json");
  if (method === "QUERY" && type !== "json")
    throw new UnsupportedEncoding(
      "The body of a QUERY must have the content type application/json",
    );
  if (type === "other")
    throw new UnsupportedEncoding(
      "A call's body must have the content type application/json or multipart/form-data",
    );
  const contentEncoding = headerText(fields["content-encoding"]).toLowerCase();
  if (contentEncoding !== "" && contentEncoding !== "identity")
    throw new UnsupportedEncoding(`Unsupported content encoding '${contentEncoding.slice(0, 64)}'`);
}

/** The most bytes that the body of a call may have. */
export function bodyLimit(
  type: BodyType,
  limits: Pick<Limits, "bodyBytes" | "uploadBytes">,
): number {
  return type === "multipart" ? limits.uploadBytes : limits.bodyBytes;
}

function isMultipart(type: string): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(type);
}

/** An empty body counts as `{}`, whatever its content type. */
export function mayBeEmpty(fields: HeaderFields): boolean {
  return !(Number(headerText(fields["content-length"])) > 0);
}

/** Browsers send these without a preflight: a form or a link of any page can cause them. */
export function needsNoPreflight({ method, headers: fields }: HttpRequest): boolean {
  if (method === "QUERY") return false;
  const type = headerText(fields["content-type"]);
  if (method === "GET" || type === "") return true;
  if (type === "application/json") return false;
  // No form can set the header, and a script that does needs the preflight.
  if (isMultipart(type)) return headerText(fields[headers.encoding]) === "";
  return /^(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(?:;|$)/i.test(
    type,
  );
}

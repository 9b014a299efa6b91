// The content type of a call's body, and how large such a body may be.

import { UnsupportedEncoding } from "../base/errors.ts";
import type { HeaderFields, HttpRequest } from "../base/ports.ts";
import { headers } from "../base/protocol.ts";
import type { Limits } from "../base/limits.ts";
import { headerText } from "./encoding.ts";

const json = /^application\/json\s*(;|$)/i;
const multipart = /^multipart\/form-data\s*(;|$)/i;

/** What nearly all callers send. Comparing is cheaper than a regular expression, four times a call. */
function isUsualJson(type: HeaderFields[string]): boolean {
  return type === "application/json" || type === "application/json; charset=utf-8";
}

/** Whether the body is multipart/form-data, the type of calls with files. */
export function isMultipart(fields: HeaderFields): boolean {
  const type = fields["content-type"];
  return !isUsualJson(type) && multipart.test(headerText(type));
}

/** Bytes that the body of a call may have. */
export function bodyLimit(
  fields: HeaderFields,
  limits: Pick<Limits, "bodyBytes" | "uploadBytes">,
): number {
  return isMultipart(fields) ? limits.uploadBytes : limits.bodyBytes;
}

/** An empty body counts as `{}`, whatever its content type. */
export function mayBeEmpty(fields: HeaderFields): boolean {
  return !(Number(headerText(fields["content-length"])) > 0);
}

/** Throws UnsupportedEncoding for a body that no call has. */
export function checkBodyType(fields: HeaderFields): void {
  const field = fields["content-type"];
  const type = headerText(field);
  if (!isUsualJson(field) && !json.test(type) && !multipart.test(type))
    throw new UnsupportedEncoding(
      "A call's body must have the content type application/json or multipart/form-data",
    );
  const contentEncoding = headerText(fields["content-encoding"]).toLowerCase();
  if (contentEncoding !== "" && contentEncoding !== "identity")
    throw new UnsupportedEncoding(`Unsupported content encoding '${contentEncoding.slice(0, 64)}'`);
}

/** Browsers send these without a preflight: a form or a link of any page can cause them. */
export function needsNoPreflight({ method, headers: fields }: HttpRequest): boolean {
  const type = fields["content-type"];
  if (method === "GET" || type === undefined || type === "") return true;
  // No form can set the header, and a script that does needs the preflight.
  if (headerText(fields[headers.encoding]) !== "" && isMultipart(fields)) return false;
  return /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(?:;|$)/i.test(
    String(type),
  );
}

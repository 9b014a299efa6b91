// Parses a collected multipart/form-data body (RFC 7578) in one pass over its bytes, whatever they
// are. It is stricter than RFC 2046: no preamble, no epilogue, no padding behind a boundary. No
// sender of form data writes them.

import { BadRequest } from "../../base/errors.ts";
import { isForbidden } from "../values/fault.ts";
import type { Limits } from "../../base/limits.ts";

export interface Part {
  readonly name: string;
  /** Missing for a field that is text. */
  readonly fileName: string | undefined;
  /** As sent; "" without a Content-Type. */
  readonly type: string;
  /** A view of the body. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The value that the part was read as, so that reading it again gives the same object. */
  file?: Blob;
}

const [cr, lf, dash] = [0x0d, 0x0a, 0x2d] as const;
/** Bytes that the header fields of one part may have. */
const maxHeadBytes = 8192;
/** Search this far ourselves before calling `indexOf`: the call itself takes 20 ns. */
const nearBytes = 64;

/** The parts of a body in their order. Throws BadRequest. */
export function parseMultipart(
  body: Uint8Array,
  contentType: string,
  { uploadParts }: Pick<Limits, "uploadParts">,
): Part[] {
  const bytes = body as Uint8Array<ArrayBuffer>;
  const delimiter = new TextEncoder().encode(`\r\n--${boundaryOf(contentType)}`);
  const parts: Part[] = [];
  let at = delimiter.length - 2;
  if (matching(bytes, 0, delimiter.subarray(2)) < at)
    throw new BadRequest("The multipart body doesn't begin with its boundary");
  while (!(bytes[at] === dash && bytes[at + 1] === dash)) {
    if (at + 1 >= bytes.length) throw cutOff();
    if (bytes[at] !== cr || bytes[at + 1] !== lf)
      throw new BadRequest("A boundary of the multipart body must be a line of its own");
    if (parts.length === uploadParts)
      throw new BadRequest(`More than ${uploadParts} parts (limit 'uploadParts')`);
    const { end: start, ...head } = readHead(bytes, at + 2, parts.length + 1);
    const end = find(bytes, delimiter, start);
    if (end < 0) throw cutOff();
    parts.push({ ...head, bytes: bytes.subarray(start, end) });
    at = end + delimiter.length;
  }
  const isLast = at + 2 === bytes.length;
  const hasLineBreak = at + 4 === bytes.length && bytes[at + 2] === cr && bytes[at + 3] === lf;
  if (!isLast && !hasLineBreak)
    throw new BadRequest("The multipart body goes on after its last boundary");
  return parts;
}

function boundaryOf(contentType: string): string {
  const [, quoted, token] =
    /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(contentType) ?? [];
  const boundary = quoted ?? token ?? "";
  // RFC 2046 §5.1.1. No character is a line break: the search relies on that.
  if (!/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary))
    throw new BadRequest(
      "The content type multipart/form-data needs a boundary of 1 to 70 characters",
    );
  return boundary;
}

/** How many bytes at `at` are those of `expected`. */
function matching(bytes: Uint8Array, at: number, expected: Uint8Array): number {
  let count = 0;
  while (count < expected.length && bytes[at + count] === expected[count]) count++;
  return count;
}

/** Where the delimiter stands; -1 if it doesn't. Takes linear time: it has only one CR. */
function find(bytes: Uint8Array, delimiter: Uint8Array, start: number): number {
  let at = start;
  let near = at + nearBytes;
  while (at < bytes.length) {
    if (bytes[at] === cr) {
      if (bytes[at + 1] === lf && matching(bytes, at, delimiter) === delimiter.length) return at;
      near = ++at + nearBytes;
    } else if (at < near) at++;
    else {
      at = bytes.indexOf(cr, at);
      if (at < 0) return -1;
    }
  }
  return -1;
}

const headEnd = new Uint8Array([cr, lf, cr, lf]);

interface PartHead extends Pick<Part, "name" | "fileName" | "type"> {
  /** Where the content begins. */
  readonly end: number;
}

function readHead(bytes: Uint8Array, start: number, number: number): PartHead {
  const broken = (why: string): BadRequest =>
    new BadRequest(`Part ${number} of the multipart body ${why}`);
  const limited = bytes.subarray(start, start + maxHeadBytes);
  let end = 0;
  while (end < limited.length && matching(limited, end, headEnd) < headEnd.length) end++;
  if (end === limited.length)
    throw limited.length === maxHeadBytes
      ? broken(`has more than ${maxHeadBytes} bytes of headers`)
      : cutOff();
  const fields = new Map<string, string>();
  for (const line of textOf(limited.subarray(0, end), () =>
    broken("has headers that are not UTF-8"),
  ).split("\r\n")) {
    const [field = "", name = ""] = /^([\w!#$%&'*+.^`|~-]+):/.exec(line) ?? [];
    const value = line.slice(field.length).trim();
    if (name === "" || /[\0\r\n]/.test(value)) throw broken("has a header line that is not valid");
    if (fields.has(name.toLowerCase())) throw broken(`has two ${name} headers`);
    fields.set(name.toLowerCase(), value);
  }
  const transfer = fields.get("content-transfer-encoding") ?? "binary";
  if (!/^(binary|[78]bit)$/i.test(transfer))
    throw broken("has an unsupported Content-Transfer-Encoding: send the bytes as they are");
  const { name, filename } = dispositionOf(fields.get("content-disposition"), broken);
  return {
    name,
    fileName: filename,
    type: fields.get("content-type") ?? "",
    end: start + end + headEnd.length,
  };
}

/** Reads `form-data; name="a"; filename="b.txt"`. */
function dispositionOf(
  field: string | undefined,
  broken: (why: string) => BadRequest,
): { readonly name: string; readonly filename: string | undefined } {
  const [kind = ""] = /^[^;\s]*/.exec(field ?? "") ?? [];
  if (kind.toLowerCase() !== "form-data")
    throw broken("needs the header Content-Disposition: form-data; name=…");
  const parameters = new Map<string, string>();
  // Each quoted text can be matched in one way only, or many backslashes would take forever. The
  // second form is that of browsers, which don't escape a backslash before the closing quote.
  const parameter =
    /\s*;\s*([\w*]+)\s*=\s*(?:"((?:\\["\\]|\\(?!["\\])|[^"\\])*)"(?=\s*(?:;|$))|"([^"]*)"|([^\s;"]*))\s*/y;
  parameter.lastIndex = kind.length;
  while (parameter.lastIndex < (field as string).length) {
    const found = parameter.exec(field as string);
    if (found === null) throw broken("has a Content-Disposition that is not valid");
    const [, key = "", escaped, quoted, token = ""] = found;
    if (parameters.has(key.toLowerCase())) throw broken(`has two '${key}' in Content-Disposition`);
    const text = escaped?.replace(/\\(["\\])/g, "$1") ?? quoted;
    parameters.set(key.toLowerCase(), text === undefined ? token : unescaped(text));
  }
  const name = parameters.get("name");
  if (name === undefined) throw broken("needs the header Content-Disposition: form-data; name=…");
  if (isForbidden(name)) throw broken(`is named '${name}', which is not allowed`);
  return { name, filename: extended(parameters.get("filename*")) ?? parameters.get("filename") };
}

/** Browsers escape quotes and line breaks by percent signs, older curls and others by backslashes. */
function unescaped(text: string): string {
  return text.replace(/%(22|0D|0A)/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** `UTF-8''caf%C3%A9.txt`, which RFC 7578 forbids and some programs send. */
function extended(value: string | undefined): string | undefined {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(value ?? "") ?? [];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    // Not valid: the plain name counts.
    return undefined;
  }
}

/** Bytes as text. Throws what `error` returns if they aren't UTF-8. */
export function textOf(bytes: Uint8Array, error: () => Error): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw error();
  }
}

function cutOff(): BadRequest {
  return new BadRequest("The multipart body ends before its last boundary");
}

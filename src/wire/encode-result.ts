// Encodes the result of a procedure as a response.

import { ValueNotSerializable } from "../base/errors.ts";
import { traceLine } from "../base/fqn.ts";
import type { HttpResponse } from "../base/ports.ts";
import { headers, mediaTypes, rpcHeaders } from "../base/protocol.ts";
import { begun, traced } from "../base/trace.ts";
import { bytesOf, isBlob, toBase64 } from "../codec/values/binary.ts";
import type { WalkOptions } from "../codec/form-walk.ts";
import { needsReferences, notSerializable } from "../codec/values/fault.ts";
import { encodePlain, responseHint } from "../codec/plain.ts";
import { encodeSerialized } from "../codec/serialized.ts";
import { blobHeaders } from "./blob-headers.ts";
import { type AnswerEncoding, answerEncoding } from "./encoding.ts";
import type { Exchange } from "./exchange.ts";
import { loadSuperjson } from "./superjson.ts";

type ResultOptions = Pick<WalkOptions, "classes" | "trusted">;

/**
 * The response that carries a procedure's value; a promise only if the value contains a Blob or
 * goes out as superjson. Throws ValueNotSerializable.
 */
export function encodeResult(
  value: unknown,
  encoding: AnswerEncoding,
  options: ResultOptions,
): HttpResponse | Promise<HttpResponse> {
  if (encoding === "superjson") return respondInSuperjson(value, options);
  const isJson = encoding === "json";
  switch (typeof value) {
    case "undefined":
      return {
        status: 204,
        headers: Object.assign({}, rpcHeaders, { [headers.dataType]: "undefined" }),
      };
    case "string":
      if (isJson) return respond("string", mediaTypes.json, JSON.stringify(value));
      // UTF-8 can't encode half of a surrogate pair, but JSON's escapes can. The content type says
      // which of the two the body is.
      return isWellFormed(value)
        ? respond("string", mediaTypes.text, value)
        : respond("string", mediaTypes.json, JSON.stringify(value));
    case "boolean":
      return respond("boolean", isJson ? mediaTypes.json : mediaTypes.text, String(value));
    case "bigint":
      return isJson
        ? respond("bigint", mediaTypes.json, `"${value}"`)
        : respond("bigint", mediaTypes.text, String(value));
    case "number": {
      const text = Object.is(value, -0) ? "-0" : String(value);
      if (!isJson) return respond("number", mediaTypes.text, text);
      return respond("number", mediaTypes.json, Number.isFinite(value) ? text : "null");
    }
    default:
  }
  if (value === null) return respond("null", mediaTypes.json, "null");
  const isPlain = encoding === "plain" || isJson;
  if (isPlain) {
    const bytes = bytesToSend(value);
    if (bytes && isJson) return respond("base64", mediaTypes.json, `"${toBase64(bytes)}"`);
    if (bytes) return respond("binary", mediaTypes.bytes, bytes);
    // Base64 would lose a file's name and type, so it is sent as it is, also to callers that ask for JSON.
    if (typeof value === "object" && isBlob(value))
      return value
        .arrayBuffer()
        .then((buffer) =>
          respond("binary", mediaTypes.bytes, new Uint8Array(buffer), blobHeaders(value)),
        )
        .catch(unreadable);
  }
  let text: string | Promise<string>;
  try {
    text = isPlain
      ? encodePlain(value)
      : encodeSerialized(value, { path: "result", hint: responseHint, ...options });
  } catch (thrown) {
    if (encoding !== "serialized, superjson" || !needsReferences(thrown)) throw thrown;
    return respondInSuperjson(value, options);
  }
  return typeof text === "string"
    ? respond("object", mediaTypes.json, text)
    : text.then((complete) => respond("object", mediaTypes.json, complete));
}

/**
 * As {@link encodeResult}, for a call. Its errors have the trace line of the procedure: nothing else says whose
 * result can't be sent.
 */
export function encodeResultOf(
  exchange: Exchange,
  value: unknown,
  { classes }: Pick<ResultOptions, "classes">,
): HttpResponse | Promise<HttpResponse> {
  try {
    const encoding = answerEncoding(exchange.encoding, exchange.request.headers);
    const encoded = encodeResult(value, encoding, {
      classes,
      trusted: exchange.trust.trusted,
    });
    return encoded instanceof Promise
      ? encoded.catch((thrown: unknown) => blame(thrown, exchange))
      : encoded;
  } catch (thrown) {
    return blame(thrown, exchange);
  }
}

function blame(thrown: unknown, exchange: Exchange): never {
  const line = traceLine(exchange.fqn, exchange.version.toString());
  const error = traced(thrown, line, begun(), exchange);
  // The procedure has returned: the stack has no line of its own any more.
  if (error instanceof ValueNotSerializable) error.stack = String(error);
  throw error;
}

function isWellFormed(text: string & { isWellFormed?: () => boolean }): boolean {
  return text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text);
}

/** As bytesOf. Throws ValueNotSerializable for a detached buffer. */
function bytesToSend(value: unknown): Uint8Array | undefined {
  try {
    return bytesOf(value);
  } catch (cause) {
    return unreadable(cause);
  }
}

function unreadable(cause: unknown): never {
  throw notSerializable(cause, "result");
}

/** The headers of responses by type of data and of content: nearly all calls share a few. */
const heads = new Map<string, HttpResponse["headers"]>();

function headOf(dataType: string, contentType: string): HttpResponse["headers"] {
  const key = dataType + contentType;
  let head = heads.get(key);
  if (head === undefined) {
    head = Object.freeze(
      Object.assign({}, rpcHeaders, { "content-type": contentType, [headers.dataType]: dataType }),
    );
    heads.set(key, head);
  }
  return head;
}

function respond(
  dataType: string,
  contentType: string,
  body: string | Uint8Array,
  more?: Record<string, string>,
): HttpResponse {
  const head = headOf(dataType, contentType);
  return {
    status: 200,
    headers: more === undefined ? head : Object.assign({}, head, more),
    body,
  };
}

/** Headers of every response in superjson. */
export const superjsonHeaders: Readonly<Record<string, string>> = {
  ...rpcHeaders,
  "content-type": mediaTypes.json,
  [headers.encoding]: "superjson",
};

/** Every value, scalars and `undefined` too, becomes superjson's `{json, meta}`. */
async function respondInSuperjson(value: unknown, options: ResultOptions): Promise<HttpResponse> {
  const { encodeSuperjson } = await loadSuperjson();
  const body = await encodeSuperjson(value, { ...options, path: "result", hint: responseHint });
  return {
    status: 200,
    headers: { ...superjsonHeaders, [headers.dataType]: value === null ? "null" : typeof value },
    body,
  };
}

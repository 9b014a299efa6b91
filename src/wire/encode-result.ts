// From what a procedure returned or threw to the answer (§4.1, §7, decisions §2).

import { MethodNotAllowed, NodeNotAvailable, statusOf } from "../errors.ts";
import type { HttpResponse } from "../ports.ts";
import { answerHeaders, headers, mediaTypes } from "../protocol.ts";
import { bytesOf } from "../serializer/binary.ts";
import type { ClassSource } from "../serializer/classes.ts";
import { encodePlain } from "../serializer/plain.ts";
import { internal, publicMessage, textOf } from "../serializer/error-form.ts";
import { sendableError } from "../serializer/sendable-error.ts";
import { encodeSerialized } from "../serializer/serialized.ts";
import { errorOf, traceOf } from "../trace.ts";
import type { Encoding } from "./decode-call.ts";

// Of every answer of the door: no browser may guess a type, no cache may keep it.

/** The answer that carries a procedure's value (decisions §2, responses); a promise only when a Blob is in it. Throws ValueNotSerializable. */
export function encodeResult(
  value: unknown,
  encoding: Encoding,
  options: { readonly classes: ClassSource; readonly stacks?: boolean },
): HttpResponse | Promise<HttpResponse> {
  const answer = (dataType: string, contentType: string, body: string | Uint8Array): HttpResponse => ({
    status: 200,
    headers: { ...answerHeaders, "content-type": contentType, [headers.dataType]: dataType },
    body,
  });
  switch (typeof value) {
    case "undefined":
      return { status: 204, headers: { ...answerHeaders, [headers.dataType]: "undefined" } };
    case "string":
      return answer("string", mediaTypes.text, value);
    case "boolean":
    case "bigint":
      return answer(typeof value, mediaTypes.text, String(value));
    case "number":
      return answer("number", mediaTypes.text, Object.is(value, -0) ? "-0" : String(value));
    default:
  }
  if (value === null) return answer("null", mediaTypes.json, "null");
  if (encoding === "plain") {
    const bytes = bytesOf(value);
    if (bytes) return answer("binary", mediaTypes.bytes, bytes);
    if (value instanceof Blob)
      return value.arrayBuffer().then((buffer) => answer("binary", value.type || mediaTypes.bytes, new Uint8Array(buffer)));
  }
  const text = encoding === "plain" ? encodePlain(value) : encodeSerialized(value, { ...options, path: "result" });
  return typeof text === "string" ? answer("object", mediaTypes.json, text) : text.then((done) => answer("object", mediaTypes.json, done));
}

/**
 * The answer that carries what was thrown (§7): in plain mode its message and trace lines as text. Never throws itself: what can't be
 * sent of an error is left out, and told to `onLost`.
 */
export function encodeError(
  thrown: unknown,
  encoding: Encoding,
  options: { readonly classes: ClassSource; readonly stacks: boolean; readonly onLost?: (what: string) => void },
): HttpResponse | Promise<HttpResponse> {
  const error = errorOf(thrown);
  const more = error instanceof MethodNotAllowed ? { allow: "GET, POST" } : error instanceof NodeNotAvailable ? { "retry-after": "1" } : {};
  const answer = (contentType: string, body: string): HttpResponse => ({
    status: statusOf(error),
    headers: { ...answerHeaders, "content-type": contentType, ...more },
    body,
  });
  const json = (text: string): HttpResponse => answer(mediaTypes.json, text);
  const whole = (): string | Promise<string> => {
    try {
      return encodeSerialized(error, options);
    } catch {
      return encodeSerialized(sendableError(error, { classes: options.classes, tell: options.onLost ?? (() => {}) }), options);
    }
  };
  try {
    if (encoding === "plain") return answer(mediaTypes.text, [publicMessage(error), ...traceOf(error)].join("\n"));
    const text = whole();
    return typeof text === "string" ? json(text) : text.then(json, () => json(bare(error)));
  } catch {
    // Not even name and message can be read. What happened is still worth telling.
    return encoding === "plain" ? answer(mediaTypes.text, internal) : json(bare(error));
  }
}

function bare(error: Error): string {
  const form = { serialized: true, name: "Error", trace: traceOf(error) };
  try {
    return JSON.stringify({ ...form, type: textOf(error.name), message: publicMessage(error) });
  } catch {
    return JSON.stringify({ ...form, type: "Error", message: internal });
  }
}

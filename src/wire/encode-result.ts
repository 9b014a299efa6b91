// From what a procedure returned or threw to the answer (§4.1, §7, decisions §2).

import { MethodNotAllowed, NodeNotAvailable, ValueNotSerializable } from "../errors.ts";
import type { HttpResponse } from "../ports.ts";
import { headers, mediaTypes, rpcHeaders } from "../protocol.ts";
import { bytesOf } from "../serializer/binary.ts";
import type { ClassTable } from "../serializer/class-table.ts";
import { encodePlain, responseHint } from "../serializer/plain.ts";
import { internal, publicMessage, textOf } from "../serializer/public-message.ts";
import { causeOf, describeFault, needsReferences } from "../serializer/fault.ts";
import { sendableError } from "../serializer/sendable-error.ts";
import { encodeSerialized } from "../serializer/serialized.ts";
import { answerStatusOf } from "../refusals.ts";
import { errorOf, traceOf } from "../trace.ts";
import { blobHeaders } from "./blob-headers.ts";
import type { Encoding } from "./decode-call.ts";
import { loadSuperjson } from "./superjson.ts";

/** The answer that carries a procedure's value (decisions §2, responses); a promise only when a Blob is in it. Throws ValueNotSerializable. */
export function encodeResult(
  value: unknown,
  encoding: Encoding,
  options: { readonly classes: ClassTable; readonly stacks?: boolean },
): HttpResponse | Promise<HttpResponse> {
  const answer = (
    dataType: string,
    contentType: string,
    body: string | Uint8Array,
    more?: Record<string, string>,
  ): HttpResponse => ({
    status: 200,
    headers: { ...rpcHeaders, "content-type": contentType, [headers.dataType]: dataType, ...more },
    body,
  });
  if (encoding === "superjson") return inSuperjson(value, options);
  switch (typeof value) {
    case "undefined":
      return { status: 204, headers: { ...rpcHeaders, [headers.dataType]: "undefined" } };
    case "string":
      // UTF-8 has no half of a surrogate pair, but JSON's escapes do: the type says which of the two the body is.
      return isWellFormed(value)
        ? answer("string", mediaTypes.text, value)
        : answer("string", mediaTypes.json, JSON.stringify(value));
    case "boolean":
    case "bigint":
      return answer(typeof value, mediaTypes.text, String(value));
    case "number":
      return answer("number", mediaTypes.text, Object.is(value, -0) ? "-0" : String(value));
    default:
  }
  if (value === null) return answer("null", mediaTypes.json, "null");
  if (encoding === "plain") {
    const bytes = bytesToSend(value);
    if (bytes) return answer("binary", mediaTypes.bytes, bytes);
    if (value instanceof Blob)
      return value
        .arrayBuffer()
        .then((buffer) =>
          answer("binary", mediaTypes.bytes, new Uint8Array(buffer), blobHeaders(value)),
        )
        .catch(unreadable);
  }
  let text: string | Promise<string>;
  try {
    text =
      encoding === "plain"
        ? encodePlain(value)
        : encodeSerialized(value, { ...options, path: "result", hint: responseHint });
  } catch (thrown) {
    if (encoding !== "serialized, superjson" || !needsReferences(thrown)) throw thrown;
    return inSuperjson(value, options);
  }
  return typeof text === "string"
    ? answer("object", mediaTypes.json, text)
    : text.then((done) => answer("object", mediaTypes.json, done));
}

function isWellFormed(text: string & { isWellFormed?: () => boolean }): boolean {
  return text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text);
}

/** As bytesOf. A buffer that was given away has none, and says so. */
function bytesToSend(value: unknown): Uint8Array | undefined {
  try {
    return bytesOf(value);
  } catch (cause) {
    return unreadable(cause);
  }
}

function unreadable(cause: unknown): never {
  throw new ValueNotSerializable(describeFault(cause, "result"), causeOf(cause));
}

const superjsonHeaders = {
  ...rpcHeaders,
  "content-type": mediaTypes.json,
  [headers.encoding]: "superjson",
};

/** All that there is, scalars and `undefined` too, is superjson's `{json, meta}` (decisions §3). */
async function inSuperjson(
  value: unknown,
  options: { readonly classes: ClassTable; readonly stacks?: boolean },
): Promise<HttpResponse> {
  const body = await (
    await loadSuperjson()
  ).encodeSuperjson(value, { ...options, path: "result", hint: responseHint });
  return {
    status: 200,
    headers: { ...superjsonHeaders, [headers.dataType]: value === null ? "null" : typeof value },
    body,
  };
}

/**
 * The answer that carries what was thrown (§7): in plain mode its message and trace lines as text. Never throws itself: what can't be
 * sent of an error is left out, and told to `onLost`.
 */
export function encodeError(
  thrown: unknown,
  encoding: Encoding,
  options: {
    readonly classes: ClassTable;
    readonly stacks: boolean;
    readonly onLost?: (what: string) => void;
  },
): HttpResponse | Promise<HttpResponse> {
  const error = errorOf(thrown);
  const more =
    error instanceof MethodNotAllowed
      ? { allow: "GET, POST" }
      : error instanceof NodeNotAvailable
        ? { "retry-after": "1" }
        : {};
  const answer = (contentType: string, body: string): HttpResponse => ({
    status: answerStatusOf(error),
    headers: { ...rpcHeaders, "content-type": contentType, ...more },
    body,
  });
  const json = (text: string): HttpResponse => answer(mediaTypes.json, text);
  const sendable = (): Error =>
    sendableError(error, { classes: options.classes, tell: options.onLost ?? (() => {}) });
  const superjson = async (): Promise<HttpResponse> => {
    const { encodeSuperjson } = await loadSuperjson();
    const answered = (text: string): HttpResponse => ({
      ...answer(mediaTypes.json, text),
      headers: { ...superjsonHeaders, ...more },
    });
    try {
      return answered(await encodeSuperjson(error, options));
    } catch {
      try {
        return answered(await encodeSuperjson(sendable(), options));
      } catch {
        const { type, ...rest } = JSON.parse(bare(error)) as Record<string, unknown>;
        const { message, trace, fields } = rest;
        return answered(
          JSON.stringify({
            json: { name: type, message, trace, fields },
            meta: { values: ["Error"], v: 1 },
          }),
        );
      }
    }
  };
  /** Nothing where only superjson carries it. */
  const whole = (): string | Promise<string> | undefined => {
    try {
      return encodeSerialized(error, options);
    } catch (refused) {
      if (encoding === "serialized, superjson" && needsReferences(refused)) return undefined;
      return encodeSerialized(sendable(), options);
    }
  };
  try {
    if (encoding === "plain")
      return answer(mediaTypes.text, [publicMessage(error), ...traceOf(error)].join("\n"));
    const text = encoding === "superjson" ? undefined : whole();
    if (text === undefined) return superjson();
    return typeof text === "string" ? json(text) : text.then(json, () => json(bare(error)));
  } catch {
    // Not even name and message can be read. What happened is still worth telling.
    return encoding === "plain" ? answer(mediaTypes.text, internal) : json(bare(error));
  }
}

function bare(error: Error): string {
  const form = { serialized: true, name: "Error", trace: traceOf(error), fields: {} };
  try {
    return JSON.stringify({ ...form, type: textOf(error.name), message: publicMessage(error) });
  } catch {
    return JSON.stringify({ ...form, type: "Error", message: internal });
  }
}

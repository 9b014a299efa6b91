// Encodes an error of a procedure, or of the runtime itself, as a response.

import { MethodNotAllowed, NodeNotAvailable } from "../base/errors.ts";
import { type Fault, faultsOf } from "../base/faults.ts";
import type { HttpResponse } from "../base/ports.ts";
import { mediaTypes, rpcHeaders } from "../base/protocol.ts";
import { allowedMethods, answerStatusOf, isInnerRefusal } from "../http/refusals.ts";
import type { WalkOptions } from "../codec/form-walk.ts";
import { attempt, needsReferences } from "../codec/values/fault.ts";
import { internal, publicMessage, textOf } from "../codec/values/public-message.ts";
import { sendableError } from "../codec/sendable-error.ts";
import type { ErrorMask } from "../codec/error-mask.ts";
import { encodeSerialized } from "../codec/serialized.ts";
import { linesOf } from "../base/call-trace.ts";
import { ofForeignError } from "../base/foreign-error.ts";
import { errorOf } from "../base/trace.ts";
import { superjsonHeaders } from "./encode-result.ts";
import type { AnswerEncoding } from "./encoding.ts";
import { loadSuperjson } from "./superjson.ts";

export interface EncodeErrorOptions extends Omit<WalkOptions, "hint"> {
  /** Hides errors from the caller. Replaces `classes`, from which it was made. */
  readonly mask?: ErrorMask | undefined;
  /** Called with each part of the error that can't be sent. */
  readonly onLost?: (what: string) => void;
}

/**
 * The response that carries an error. In plain mode that is its message and trace lines as text, and for callers that
 * ask for JSON problem details. Never throws: parts of the error that can't be sent are left out, and reported to
 * `onLost`.
 */
export function encodeError(
  thrown: unknown,
  encoding: AnswerEncoding,
  { mask, ...unmasked }: EncodeErrorOptions,
): HttpResponse | Promise<HttpResponse> {
  const error = attempt(() => ofForeignError(thrown)) ?? errorOf(thrown);
  const options =
    mask === undefined ? unmasked : { ...unmasked, classes: mask, hidden: mask.hidden };
  const more =
    error instanceof MethodNotAllowed
      ? { allow: allowedMethods(error) }
      : error instanceof NodeNotAvailable
        ? { "retry-after": "1" }
        : {};
  const respond = (contentType: string, body: string): HttpResponse => ({
    status: answerStatusOf(error),
    headers: { ...rpcHeaders, "content-type": contentType, ...more },
    body,
  });
  const json = (text: string): HttpResponse => respond(mediaTypes.json, text);
  const problem = (name: string, detail: string, members?: object): HttpResponse => {
    const type = `urn:seamline:${encodeURIComponent(wellFormed(name))}`;
    const body = { type, title: name, status: answerStatusOf(error), detail, ...members };
    return respond(mediaTypes.problem, JSON.stringify(body));
  };
  const sendable = (): Error =>
    sendableError(error, { ...options, onLost: options.onLost ?? (() => {}) });
  const superjson = async (): Promise<HttpResponse> => ({
    ...json(await superjsonText(error, sendable, options, mask)),
    headers: { ...superjsonHeaders, ...more },
  });
  /** `undefined` if only superjson can carry the error. */
  const serialized = (): string | Promise<string> | undefined => {
    try {
      return encodeSerialized(error, options);
    } catch (refused) {
      if (encoding === "serialized, superjson" && needsReferences(refused)) return undefined;
      return encodeSerialized(sendable(), options);
    }
  };
  try {
    if (encoding === "plain" || encoding === "json") {
      const message = messageOf(error, options);
      const lines = mask ? [] : linesOf(error, options.call);
      if (encoding === "plain") return respond(mediaTypes.text, [message, ...lines].join("\n"));
      return problem(nameOf(error, mask), message, {
        ...faultsMember(error),
        ...(lines.length > 0 && { trace: lines }),
      });
    }
    const text = encoding === "superjson" ? undefined : serialized();
    if (text === undefined) return superjson();
    return typeof text === "string"
      ? json(text)
      : text.then(json, () => json(bareForm(error, mask, options)));
  } catch {
    // Even its name and message can't be read. The status still says something.
    if (encoding !== "plain" && encoding !== "json") return json(bareForm(error, mask, options));
    const message = options.hidden?.hide(error) ?? internal;
    return encoding === "plain" ? respond(mediaTypes.text, message) : problem("Error", message);
  }
}

async function superjsonText(
  error: Error,
  sendable: () => Error,
  options: Omit<EncodeErrorOptions, "mask">,
  mask: ErrorMask | undefined,
): Promise<string> {
  const { encodeSuperjson } = await loadSuperjson();
  try {
    return await encodeSuperjson(error, options);
  } catch {
    try {
      return await encodeSuperjson(sendable(), options);
    } catch {
      const { type, message, trace, fields } = JSON.parse(bareForm(error, mask, options)) as Record<
        string,
        unknown
      >;
      return JSON.stringify({
        json: { name: type, message, trace, fields },
        meta: { values: ["Error"], v: 1 },
      });
    }
  }
}

/** The name of an error as the caller may read it. */
function nameOf(error: Error, mask: ErrorMask | undefined): string {
  return mask?.hides(error) === true ? "Error" : textOf(error.name);
}

/** The faults of arguments, if the call was refused for them. */
function faultsMember(error: Error): { readonly faults: readonly Fault[] } | undefined {
  const faults = isInnerRefusal(error) ? undefined : faultsOf(error);
  return faults && { faults };
}

/** Half of a surrogate pair can't be encoded. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** The message of an error as the caller may read it. */
function messageOf(
  error: Error,
  { stacks, trusted, hidden }: Omit<EncodeErrorOptions, "mask">,
): string {
  if (stacks === true || trusted === true) return textOf(error.message);
  return hidden?.messageOf(error) ?? publicMessage(error);
}

/** The Error form with nothing but name, message and trace. */
function bareForm(
  error: Error,
  mask: ErrorMask | undefined,
  options: Omit<EncodeErrorOptions, "mask">,
): string {
  const trace = mask === undefined ? linesOf(error, options.call) : [];
  const form = { serialized: true, name: "Error", trace, fields: {} };
  try {
    const message = messageOf(error, options);
    const type = nameOf(error, mask);
    return JSON.stringify({ ...form, type, message });
  } catch {
    const message = options.hidden?.hide(error) ?? internal;
    return JSON.stringify({ ...form, type: "Error", message });
  }
}

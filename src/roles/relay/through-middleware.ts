// Middleware in a service that only forwards calls. Doesn't decode bytes unless middleware looks at
// them.

import type { Content, Send } from "./attempt.ts";
import type { Args, Invoke } from "../../base/call.ts";
import { bodyHeaders } from "../../http/forwarded.ts";
import type { HttpResponse, IncomingResponse } from "../../base/ports.ts";
import { headers } from "../../base/protocol.ts";
import { OpaqueClasses } from "../../codec/classes.ts";
import type { ClassTable } from "../../codec/class-table.ts";
import { noteMaskedAnswer } from "../../codec/hidden-errors.ts";
import { encodeSerialized } from "../../codec/serialized.ts";
import { stopReading } from "../../http/bodies.ts";
import { BreakableBody } from "../../http/breakable-body.ts";
import { OpaqueStream } from "../../http/middleware.ts";
import { isStream } from "../../wire/event-stream.ts";
import { noteAnsweredError } from "../../http/refusals.ts";
import { CallArguments } from "../../wire/decode-call.ts";
import { encodeResultOf } from "../../wire/encode-result.ts";
import { decodeAnswer } from "../../wire/decode-answer.ts";
import { errorOfProblem, isProblem, plainAnswer } from "../../wire/json-answer.ts";
import { errorOfText } from "../../wire/plain-error.ts";
import { withClasses } from "../../wire/outgoing/remote-codec.ts";
import { type Exchange, refuseCrossSite } from "../../wire/exchange.ts";
import { reencodeCall } from "./reencode-call.ts";
import { reencodeUpload } from "./reencode-upload.ts";
import { answerOf, changedHeaders, webResponse } from "../runs/web-messages.ts";
import { joined, endToEndHeaders, type PassOnParts, relayAnswer, wholeAnswer } from "./forward.ts";
import { LazyArguments } from "../pipeline/lazy-arguments.ts";
import type { Application } from "../application/application.ts";

/**
 * Passes a request for a route on. Middleware sees the answer as a `Response`, and no arguments: the request's body
 * passes as bytes.
 */
export async function passRoute(
  { host, chain }: PassOnParts,
  exchange: Exchange,
  content: Content,
  send: Send,
): Promise<HttpResponse> {
  let relayed: HttpResponse | undefined;
  let response: Response | undefined;
  let stream: Response["body"] | undefined;
  const value = await chain.run(exchange, new Map(), {
    async invoke(call) {
      const fields = joined(endToEndHeaders(Object.fromEntries(call.headers), () => false));
      const answer = await send(exchange, { ...content, headers: fields });
      relayed = relayAnswer(answer, content.method);
      response = webResponse(relayed);
      stream = response.body;
      return response;
    },
  });
  // Bytes as they came, unless middleware has read or cloned them, or answers itself.
  const isUntouched = response?.bodyUsed === false && response.body === stream;
  return value === response && response !== undefined && relayed !== undefined && isUntouched
    ? { ...relayed, headers: changedHeaders(relayed.headers, response) }
    : answerOf(value, exchange.fqn, host.memory, value === response);
}

/** Passes a call on. Middleware may change arguments, headers and result. */
export async function passCall(
  parts: PassOnParts,
  exchange: Exchange,
  received: Content<Uint8Array>,
  send: Send,
): Promise<HttpResponse> {
  // Refuse before middleware runs, if the application is known here. Otherwise the node refuses,
  // with the same answer.
  if (
    exchange.crossSite &&
    (await parts.application?.isSafe(exchange.fqn, exchange.version.toString())) === false
  )
    refuseCrossSite(exchange);
  const classes = parts.application?.classes ?? new OpaqueClasses();
  const arrived = new CallArguments(exchange, { classes, limits: parts.limits }, received.body);
  const read = await argumentsReader(parts, exchange, arrived);
  const args = new LazyArguments(read);
  let answer: IncomingResponse | undefined;
  let stream: RelayedStream | undefined;
  /** The outcome of `next`, if the answer's bytes are in the caller's encoding. */
  let outcome:
    | { readonly value: unknown }
    | { readonly error: unknown; readonly form: unknown }
    | undefined;
  const invoke: Invoke = async (call) => {
    const reencode = arrived.isMultipart ? reencodeUpload : reencodeCall;
    const changed = args.touched
      ? await reencode(exchange, arrived, args, read, classes)
      : undefined;
    const encoding = changed?.encoding ?? exchange.encoding;
    const head = await send(exchange, {
      ...(changed ?? received),
      headers: fieldsOf(exchange, call.headers, changed),
    });
    const relayed = relayAnswer(head);
    if (isStream(relayed)) return (stream = new RelayedStream(relayed)).opaque;
    answer = await wholeAnswer(head);
    try {
      const { value } = await decodeAnswer(encoding === "plain" ? plainAnswer(answer) : answer, {
        classes,
        onError: (error, response) => {
          noteAnsweredError(error, response);
          if (exchange.masksErrors) noteMaskedAnswer(error);
        },
        ...(encoding === "plain" && {
          errorOfText: isProblem(answer) ? errorOfProblem : errorOfText,
        }),
      });
      if (encoding === exchange.encoding) outcome = { value };
      return value;
    } catch (error) {
      if (encoding === exchange.encoding) outcome = { error, form: formOf(error, classes) };
      throw error;
    }
  };
  try {
    const value = await parts.chain.run(exchange, args, { invoke });
    if (stream !== undefined) return stream.answer;
    const unchanged = unchangedAnswer(answer, outcome, value);
    if (unchanged !== undefined) return unchanged;
    const encoded = await withClasses(classes, value, (taken) =>
      encodeResultOf(exchange, taken, { classes }),
    );
    keepHeaders(exchange, answer);
    return encoded;
  } catch (thrown) {
    stream?.drop();
    // Send the received bytes, with class and trace, if middleware didn't replace or change the
    // error.
    const isUnchanged =
      outcome !== undefined &&
      "error" in outcome &&
      outcome.error === thrown &&
      outcome.form === formOf(thrown, classes);
    if (answer !== undefined && isUnchanged) return relayAnswer(answer);
    keepHeaders(exchange, answer);
    throw thrown;
  }
}

/** A stream that is passed on as bytes. Middleware can wait for its end. */
class RelayedStream {
  readonly opaque: OpaqueStream;
  readonly answer: HttpResponse;
  readonly #body: BreakableBody;

  constructor({ status, headers: fields, body }: HttpResponse) {
    let end = (): void => {};
    this.opaque = new OpaqueStream(new Promise((resolve) => (end = resolve)));
    this.#body = new BreakableBody(body as AsyncIterable<Uint8Array>, { onEnd: () => end() });
    this.answer = { status, headers: fields, body: this.#body };
  }

  drop(): void {
    stopReading(this.#body);
  }
}

/**
 * Returns how to decode the arguments once middleware looks at them. A Map's methods are
 * synchronous, so everything asynchronous is done by then.
 */
async function argumentsReader(
  { application }: PassOnParts,
  { fqn, version, query, encoding, request }: Exchange,
  arrived: CallArguments,
): Promise<() => Args> {
  let procedure: Awaited<ReturnType<Application["procedure"]>>;
  try {
    const hasTexts =
      request.method === "GET" ? query !== "" : encoding === "plain" && arrived.isMultipart;
    if (hasTexts) procedure = await application?.procedure(fqn, version.toString());
    await arrived.load();
  } catch (error) {
    // Middleware may never look at the arguments, so don't fail the call yet.
    return () => {
      throw error;
    };
  }
  return () => arrived.read(procedure);
}

/** The headers as middleware left them, except fields that describe the body: they have to fit it. */
function fieldsOf(
  exchange: Exchange,
  callHeaders: ReadonlyMap<string, string>,
  changed: { encoding: string; contentType?: string } | undefined,
): Record<string, string> {
  const fields = joined(endToEndHeaders(Object.fromEntries(callHeaders), () => false));
  const received = joined(
    endToEndHeaders(exchange.request.headers, (name) => name === headers.encoding),
  );
  for (const name of bodyHeaders) {
    delete fields[name];
    if (received[name] !== undefined) fields[name] = received[name];
  }
  if (changed?.contentType !== undefined) {
    delete fields["content-encoding"];
    delete fields[headers.encoding];
    fields["content-type"] = changed.contentType;
    if (changed.encoding !== "plain") fields[headers.encoding] = changed.encoding;
  }
  return fields;
}

/**
 * The received answer, if middleware returned the value that it got. An object may have been
 * mutated, which only encoding it again would show.
 */
function unchangedAnswer(
  answer: IncomingResponse | undefined,
  outcome: object | undefined,
  value: unknown,
): HttpResponse | undefined {
  if (
    answer === undefined ||
    outcome === undefined ||
    !("value" in outcome) ||
    !Object.is(outcome.value, value)
  )
    return undefined;
  if (typeof value !== "object" || value === null) return relayAnswer(answer);
  // For raw bytes, keep the answer's headers: only they have a Blob's media type.
  return value instanceof Uint8Array && answer.headers[headers.dataType] === "binary"
    ? { ...relayAnswer(answer), body: value }
    : undefined;
}

/** An error's encoding, to detect changes by middleware. */
function formOf(error: unknown, classes: ClassTable): unknown {
  try {
    return encodeSerialized(error, { classes, trusted: true });
  } catch {
    return undefined;
  }
}

// Fields that describe the received body or error.
const bodyFields = new Set([
  "content-type",
  "content-disposition",
  "content-encoding",
  headers.dataType,
  headers.encoding,
  headers.error,
  "retry-after",
  "allow",
]);

/** Keeps the received answer's other headers when its result is replaced: cookies, the node's name. */
function keepHeaders(exchange: Exchange, answer: IncomingResponse | undefined): void {
  if (answer === undefined) return;
  const fields = Object.entries(relayAnswer(answer).headers);
  exchange.keep(Object.fromEntries(fields.filter(([name]) => !bodyFields.has(name))));
}

// Writes the answer to a request of node:http.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { NotImplemented, memoryExhausted, type ServiceError } from "../../../src/base/errors.ts";
import type { HeaderFields, HttpResponse } from "../../../src/base/ports.ts";
import { callVary, headers } from "../../../src/base/protocol.ts";
import { Classes } from "../../../src/codec/classes.ts";
import { discard, stopReading } from "../../../src/http/bodies.ts";
import { refusedStartReason } from "../../../src/http/refusals.ts";
import { notStartedHeader } from "../../../src/http/relay-headers.ts";
import { encodeError } from "../../../src/wire/encode-error.ts";
import { refusalEncoding } from "../../../src/wire/encoding.ts";
import { isBodiless, withHeaders } from "../../../src/http/answers.ts";
import type { CallerConnection } from "../connection/caller-connection.ts";
import { chunkBytes } from "../../host/held-memory.ts";
import { sendHead } from "./send-head.ts";
import { isGone, sliced, writePiece, writeSlices } from "./slices.ts";
import { lingerMs } from "../connection/times.ts";
import { maxDroppedBytes } from "../connection/limits.ts";

/** INTERNAL_ERROR of RFC 9113, section 7. */
const internalError = 2;

// Errors of the framework need no class of an application.
const classes = new Classes();

/**
 * The answer to a request that is refused before a role sees it, in the encoding that the request
 * asks for. A promise only if that is superjson.
 */
export function refusal(
  error: ServiceError,
  fields: HeaderFields,
): HttpResponse | Promise<HttpResponse> {
  const { kind } = error.constructor as typeof ServiceError;
  const more = {
    [headers.error]: kind,
    vary: callVary,
    ...notStartedHeader(refusedStartReason(error)),
    // Later bytes may be part of the same body (RFC 9112, section 6.1).
    ...(error instanceof NotImplemented && { connection: "close" }),
  };
  const answer = encodeError(error, refusalEncoding(fields), { classes });
  if (!(answer instanceof Promise)) return withHeaders(answer, more);
  return (async () => withHeaders(await answer, more))();
}

export interface AnswerParts {
  /** The connection closes after the answer. */
  readonly closing: boolean;
  /** The server isn't ours: it or its middleware may have wrapped the methods that write. */
  readonly isMounted?: boolean;
  readonly connection: CallerConnection;
}

/** The body's bytes; 0 for a stream. */
function sizeOf(body: HttpResponse["body"]): number {
  if (typeof body === "string") return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : 0;
}

/**
 * Writes an answer and decides about the connection. It isn't async, and the returned promise
 * doesn't hold `answer`: a string must not stay in memory beside its bytes while the caller reads.
 */
export function writeAnswer(
  message: IncomingMessage,
  response: ServerResponse,
  answer: HttpResponse,
  { closing, isMounted = false, connection }: AnswerParts,
): Promise<void> | void {
  const { body } = answer;
  const isStream = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
  const hasNoBody = isBodiless(answer.status);
  const size = sizeOf(body);
  const isSent = message.method !== "HEAD" && !hasNoBody;
  if (isSent && size > maxDroppedBytes && !connection.memory.fits(size)) {
    discard(body);
    const parts = { closing, isMounted, connection };
    const refused = refusal(memoryExhausted(), message.headers);
    return refused instanceof Promise
      ? refused.then((encoded) => writeAnswer(message, response, encoded, parts))
      : writeAnswer(message, response, refused, parts);
  }
  const { "content-length": promised } = answer.headers;
  // Names and values in turn, which Node takes without copying them.
  const fields: (string | string[] | number)[] = [];
  for (const name in answer.headers) fields.push(name, answer.headers[name] as string | string[]);
  // An answer to HEAD without a body doesn't say how long the body for GET would be.
  const isSizeKnown = !isStream && !hasNoBody && (isSent || body !== undefined);
  if (isSizeKnown && promised === undefined) fields.push("content-length", size);
  const isUnread = leavesUnread(message);
  // Node would send a second answer to a request that exceeds its time.
  const isLate = answer.status === 408 && !message.complete && message.httpVersionMajor < 2;
  // A connection of HTTP/2 says it with a frame of its own.
  const ends = (closing && message.httpVersionMajor < 2) || isUnread || isLate;
  if (ends && answer.headers["connection"] === undefined) fields.push("connection", "close");
  if (isMounted) writeFields(response, answer.status, fields);
  else response.writeHead(answer.status, fields as string[]);
  if (isStream) {
    if (isSent) {
      const length = promised === undefined ? undefined : Number(promised);
      return writeStream(body, { message, response, length, connection, isUnread });
    }
    discard(body);
    return void response.end();
  }
  const content = isSent ? body : undefined;
  if (content !== undefined && size > maxDroppedBytes)
    return writeSlices(response, sliced(content, size), size, connection.holder).then(async () => {
      if (isUnread) await lingered(message);
      response.end();
    });
  if (isUnread && message.method !== "HEAD") {
    // Node sends no text, not even an empty one, in an answer that can't have a body.
    if (hasNoBody) response.flushHeaders();
    else if (content === undefined) sendHead(response);
    else response.write(typeof content === "string" ? Buffer.from(content) : content);
    return lingered(message).then(() => void response.end());
  }
  // Node writes the head in the encoding of a text that follows it, in one piece. Fields are in
  // Latin-1, and so is a text with one byte for each character.
  if (typeof content !== "string") response.end(content);
  else if (size === content.length) response.end(content, "latin1");
  else response.end(Buffer.from(content));
  // The kernel has nearly always taken all of it by now.
  if (response.writableLength > 0) {
    connection.holder.take(size);
    response.once("close", () => connection.holder.give(size));
  }
}

/**
 * Sets fields one by one, as Express does. Middleware that compresses answers or adds cookies reads them from the
 * response, and often can't handle a list of fields.
 */
function writeFields(
  response: ServerResponse,
  status: number,
  fields: readonly (string | string[] | number)[],
): void {
  for (let at = 0; at < fields.length; at += 2)
    response.setHeader(fields[at] as string, fields[at + 1] as string | string[]);
  response.writeHead(status);
}

/**
 * Whether the rest of the request is too long to drop, so that the connection must end. In HTTP/2
 * only the stream ends.
 */
function leavesUnread(message: IncomingMessage): boolean {
  return (
    message.httpVersionMajor < 2 &&
    !message.complete &&
    (message.headers["expect"] !== undefined ||
      !(Number(message.headers["content-length"]) <= maxDroppedBytes))
  );
}

interface StreamParts {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** The length that the head promises. */
  readonly length: number | undefined;
  readonly connection: CallerConnection;
  readonly isUnread: boolean;
}

/**
 * Writes chunks as they come, each after the caller has taken the one before. An answer that breaks
 * cuts the connection: a clean end would make it look complete.
 */
async function writeStream(
  body: AsyncIterable<Uint8Array>,
  { message, response, length, connection, isUnread }: StreamParts,
): Promise<void> {
  const reader = body[Symbol.asyncIterator]();
  const leave = (): void => stopReading(reader);
  if (isGone(response)) return leave();
  response.once("close", leave);
  // The head doesn't wait for the first chunk; but if that is here already, one packet has both.
  const head = setImmediate(() => sendHead(response));
  const { holder, idleMs } = connection;
  let written = 0;
  let held = chunkBytes;
  holder.take(held);
  const unwatch = holder.watch(idleMs, () => breakOff(response));
  try {
    while (written !== length) {
      const { done, value } = await reader.next();
      if (isGone(response)) return;
      if (done === true) break;
      written += value.length;
      if (length !== undefined && written > length) break;
      holder.take(value.length);
      held += value.length;
      await writePiece(response, value);
      holder.give(value.length);
      held -= value.length;
    }
    if (length !== undefined && written !== length)
      throw new Error(`An answer of ${length} bytes has ${written > length ? "more" : written}`);
    response.off("close", leave);
    if (isUnread) await lingered(message);
    response.end();
    // The caller has all of it, and may close the connection before the stream says that it is over.
    if (written === length)
      void hasEnded(reader, length, idleMs).catch((fault) => connection.onFault?.(fault));
  } catch (fault) {
    if (isGone(response)) return;
    // Written bytes leave first, so that the caller knows how far the answer got.
    await new Promise((resolve) => setImmediate(resolve));
    cut(message, response);
    throw fault;
  } finally {
    clearImmediate(head);
    unwatch();
    holder.give(held);
    if (written !== length) leave();
  }
}

/**
 * Cuts the connection within an answer. To HTTP/1.0, a close is the end of an answer without a
 * length, so only a reset says that there should be more.
 */
function cut({ httpVersion, socket }: IncomingMessage, response: ServerResponse): void {
  // Only TCP has resets. TLS says by itself whether it ended as it should.
  const isTcp = !("encrypted" in socket) && socket.remoteAddress !== undefined;
  if (httpVersion === "1.0" && isTcp) socket.resetAndDestroy();
  breakOff(response);
}

/** Ends an answer in the middle, so that its caller notices. */
function breakOff(response: ServerResponse & { readonly stream?: ServerHttp2Stream }): void {
  // Destroying a response of HTTP/2 would end it as if it were complete.
  if (response.stream === undefined) response.destroy();
  else response.stream.close(internalError);
}

/** Lets a stream end by itself for a while. Rejects if there was more in it, or if it breaks. */
async function hasEnded(
  reader: AsyncIterator<Uint8Array>,
  length: number,
  idleMs: number,
): Promise<void> {
  const stop = (): void => stopReading(reader);
  const late = setTimeout(stop, idleMs).unref();
  try {
    const { done } = await reader.next();
    if (done === true) return;
  } finally {
    clearTimeout(late);
  }
  stop();
  throw new Error(`An answer of ${length} bytes has more`);
}

/**
 * Receives and drops the rest of the body for a while. Closing at once would make the kernel reset
 * the connection, and a caller that is still sending would never see the answer (RFC 9112, section
 * 9.6).
 */
function lingered(message: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (message.destroyed) return resolve();
    const timer = setTimeout(resolve, lingerMs);
    message.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    message.on("error", () => resolve());
    message.resume();
  });
}

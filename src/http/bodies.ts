// Bodies of requests and answers, as streams and as bytes.

import type {
  HeaderFields,
  HttpResponse,
  IncomingResponse,
  OutgoingRequest,
  PeerResponse,
} from "../base/ports.ts";

/** The answer once its body is complete. */
export async function collected(
  answer: PeerResponse | Promise<PeerResponse>,
): Promise<IncomingResponse> {
  const { status, headers, body } = await answer;
  return { status, headers, body: body instanceof Uint8Array ? body : await body.bytes() };
}

/**
 * A body in chunks. Bytes and text are one chunk, and none if they are empty. A stream is itself: a
 * generator around it couldn't be stopped while it waits for a chunk.
 */
export function chunksOf(
  body: Exclude<OutgoingRequest["body"], undefined> = "",
): AsyncIterable<Uint8Array> {
  if (typeof body === "string") return onlyOf(new TextEncoder().encode(body));
  if (body instanceof Uint8Array) return onlyOf(body);
  return body instanceof Blob ? body.stream() : body;
}

async function* onlyOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  if (bytes.length > 0) yield bytes;
}

/** All chunks together. */
export async function bytesOf(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  const [first = new Uint8Array()] = all;
  if (all.length < 2) return first;
  const bytes = new Uint8Array(all.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const chunk of all) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** The error of a second reader. */
export function alreadyRead(what: "request" | "answer"): Error {
  return new Error(
    `The ${what}'s body has been read already: read it once, as a stream or as a whole, and keep it`,
  );
}

/** Whether the head of a request announces a body (RFC 9112, section 6.3). */
export function announcesBody(fields: HeaderFields): boolean {
  const length = fields["content-length"];
  return fields["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** Gives up an unwanted body, so that its sender stops. */
export function discard(body: HttpResponse["body"]): void {
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return;
  // A file's stream is open before it is read, and then only `destroy` closes it.
  const { destroy } = body as { destroy?: unknown };
  if (typeof destroy === "function") destroy.call(body);
  else stopReading(body[Symbol.asyncIterator]());
}

/** Ends a reader early. Doesn't wait for that: its source may still be waiting for a chunk. */
export function stopReading(reader: AsyncIterator<Uint8Array>): void {
  // The body isn't wanted any more, so neither is an error of its source while it ends.
  reader.return?.().catch(() => {});
}

/** A stream with one reader, which is made when it is first asked for; later it is the same one. */
export function readOnce(
  open: () => AsyncIterator<Uint8Array, undefined>,
): AsyncIterable<Uint8Array> {
  let reader: AsyncIterator<Uint8Array, undefined> | undefined;
  return { [Symbol.asyncIterator]: () => (reader ??= open()) };
}

const never = (): boolean => false;

/** The request, and whether reading of its stream has begun: then it can't be sent again. */
export function watchedBody<Request extends Pick<OutgoingRequest, "body">>(
  request: Request,
): readonly [request: Request, hasBegun: () => boolean] {
  const { body } = request;
  if (typeof body !== "object" || body instanceof Uint8Array || body instanceof Blob)
    return [request, never];
  let begun = false;
  const watched: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]() {
      begun = true;
      return body[Symbol.asyncIterator]();
    },
  };
  return [{ ...request, body: watched }, () => begun];
}

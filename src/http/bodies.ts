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

/** A body in chunks. Bytes and text are one chunk, and none if they are empty. */
export async function* chunksOf(
  body: Exclude<OutgoingRequest["body"], undefined> = "",
): AsyncGenerator<Uint8Array, void, undefined> {
  if (typeof body === "string") body = new TextEncoder().encode(body);
  // Types know the stream of a Blob as an iterable on Node only.
  if (body instanceof Blob) body = body.stream() as unknown as AsyncIterable<Uint8Array>;
  if (!(body instanceof Uint8Array)) yield* body;
  else if (body.length > 0) yield body;
}

/** All chunks together. */
export async function bytesOf(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  const [first = new Uint8Array()] = all;
  return all.length < 2 ? first : new Uint8Array(await new Blob(all as BlobPart[]).arrayBuffer());
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

/** Gives up a body that nobody will read, so that its sender stops. */
export function discard(body: HttpResponse["body"]): void {
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return;
  // A file's stream is open before anything is read of it, and only `destroy` closes it then.
  const { destroy } = body as { destroy?: unknown };
  if (typeof destroy === "function") destroy.call(body);
  else stopReading(body[Symbol.asyncIterator]());
}

/** Ends a reader early. Its source may still be waiting for a chunk, so nobody waits for it. */
export function stopReading(reader: AsyncIterator<Uint8Array>): void {
  // The source's own error, while it ends, concerns nobody any more.
  reader.return?.().catch(() => {});
}

/** A stream with one reader, which is made when it is first asked for; later it is the same one. */
export function readOnce(
  open: () => AsyncIterator<Uint8Array, undefined>,
): AsyncIterable<Uint8Array> {
  let reader: AsyncIterator<Uint8Array, undefined> | undefined;
  return { [Symbol.asyncIterator]: () => (reader ??= open()) };
}

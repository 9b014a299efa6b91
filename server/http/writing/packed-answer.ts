// Compresses the answers to calls. gzip at its fastest level, and nothing else: for 67 KB of JSON brotli 4 saves 8 %
// more bytes and costs twice the time. Everything that accepts brotli accepts gzip.

import type { Transform } from "node:stream";
import { createGzip, gzip, gzipSync } from "node:zlib";

import type { HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import { headers, mediaTypes, rpcPath } from "../../../src/base/protocol.ts";
import { varying, withFields } from "../../../src/http/answers.ts";
import { stopReading } from "../../../src/http/bodies.ts";
import type { Holder } from "../../host/held-memory.ts";
import { atOnceBytes, packedFromBytes, packerBytes, sliceBytes } from "../connection/limits.ts";
import { codingFor } from "./content-coding.ts";
import { slicesOf } from "./slices.ts";

const level = { level: 1 };

/**
 * Whether a body is long enough to be packed. Asked for each answer, so it is one comparison. A stream has no length;
 * those of other services have more than this.
 */
export function isLong(body: HttpResponse["body"]): boolean {
  return body !== undefined && !((body as { readonly length?: number }).length! <= packedFromBytes);
}

/** The answer for this caller, compressed if it is one to a call and the caller accepts that. */
export function packed(
  request: Pick<HttpRequest, "target" | "headers">,
  answer: HttpResponse,
  holder: Holder,
): HttpResponse | Promise<HttpResponse> {
  const { body } = answer;
  if (body === undefined || !request.target.startsWith(rpcPath) || !isPackable(answer))
    return answer;
  const vary = varying(answer.headers["vary"], "accept-encoding");
  const coding = codingFor(request.headers["accept-encoding"], ["gzip"]);
  if (coding === undefined || mayBeForged(request.headers))
    return withFields(answer, { ...answer.headers, vary });
  const { "content-length": _, etag, ...others } = answer.headers;
  const fields = {
    ...others,
    vary,
    "content-encoding": coding,
    // The same value in other bytes (RFC 9110, section 8.8.1).
    ...(etag !== undefined && { etag: String(etag).replace(/^(?!W\/)/, "W/") }),
  };
  const { status } = answer;
  if (typeof body !== "string" && !(body instanceof Uint8Array))
    return { status, headers: fields, body: new PackedBody(body, holder) };
  if (body.length <= atOnceBytes) return { status, headers: fields, body: gzipSync(body, level) };
  return packedAside(body, holder).then((bytes) => ({ status, headers: fields, body: bytes }));
}

/**
 * Whether an answer may be compressed: only results that are text. An answer that sets a cookie may hold a
 * secret, and the size of a compressed body reveals something about its content.
 */
function isPackable({ headers: fields }: HttpResponse): boolean {
  const type = fields["content-type"];
  const kind = fields[headers.dataType];
  return (
    (type === mediaTypes.json || type === mediaTypes.text) &&
    kind !== undefined &&
    kind !== "binary" &&
    fields["content-encoding"] === undefined &&
    fields["set-cookie"] === undefined &&
    !/\bno-transform\b/i.test(String(fields["cache-control"] ?? ""))
  );
}

/**
 * Whether a page of another origin may have made the browser send this with its user's credentials. Such a
 * page can put guesses into the arguments, and learn from the size of a compressed answer which of them are
 * in it (BREACH). A bearer token is never sent by a browser on its own.
 */
function mayBeForged(fields: HttpRequest["headers"]): boolean {
  const { cookie, authorization, "sec-fetch-site": site } = fields;
  if (site === "same-origin" || site === "none") return false;
  if (cookie !== undefined) return true;
  return authorization !== undefined && !/^bearer /i.test(String(authorization));
}

/** Packs a long body in another thread, so that other requests don't wait for it. */
async function packedAside(body: string | Uint8Array, holder: Holder): Promise<Buffer> {
  const { length } = body;
  holder.take(length);
  try {
    return await new Promise((resolve, reject) =>
      gzip(body, level, (error, bytes) => (error === null ? resolve(bytes) : reject(error))),
    );
  } finally {
    holder.give(length);
  }
}

/** Packs a body of another service while it arrives. It is complete there, so nothing has to leave early. */
class PackedBody implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, undefined> {
  readonly #body: AsyncIterable<Uint8Array>;
  readonly #holder: Holder;
  readonly #out: Buffer[] = [];
  #reader: AsyncIterator<Uint8Array> | undefined;
  #packer: Transform | undefined;
  #isOver = false;

  constructor(body: AsyncIterable<Uint8Array>, holder: Holder) {
    this.#body = body;
    this.#holder = holder;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    try {
      while (this.#out.length === 0 && !this.#isOver) await this.#pack();
    } catch (fault) {
      this.#end();
      throw fault;
    }
    const chunk = this.#out.shift();
    return chunk === undefined ? { done: true, value: undefined } : { done: false, value: chunk };
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    stopReading((this.#reader ??= this.#body[Symbol.asyncIterator]()));
    this.#out.length = 0;
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  async #pack(): Promise<void> {
    this.#reader ??= this.#body[Symbol.asyncIterator]();
    this.#packer ??= this.#begin();
    const { done, value } = await this.#reader.next();
    // Its reader has left meanwhile.
    if (this.#isOver) return;
    if (done === true) return await this.#finish(this.#packer);
    for await (const slice of slicesOf(value)) await written(this.#packer, slice);
  }

  #begin(): Transform {
    this.#holder.take(packerBytes);
    const packer = createGzip({ ...level, chunkSize: sliceBytes });
    packer.on("data", (chunk: Buffer) => this.#out.push(chunk));
    return packer;
  }

  async #finish(packer: Transform): Promise<void> {
    // Closed, and not ended: a reader that leaves destroys it, and this mustn't wait for ever.
    await new Promise((resolve, reject) => packer.on("close", resolve).on("error", reject).end());
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#packer === undefined) return;
    this.#packer.destroy();
    this.#holder.give(packerBytes);
  }
}

function written(packer: Transform, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) =>
    packer.write(bytes, (error) => (error ? reject(error) : resolve())),
  );
}

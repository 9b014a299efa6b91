// Requests and answers as the web has them, for the functions of routes.

import { memoryExhausted, PayloadTooLarge } from "../../base/errors.ts";
import type { Holding, HttpResponse, MemoryBudget } from "../../base/ports.ts";
import { isServiceHeader } from "../../base/protocol.ts";
import { readOnce, stopReading } from "../../http/bodies.ts";
import { isHopByHop } from "../../http/forwarded.ts";
import { hasNullBody, webHeaders, webStream } from "../../http/web-messages.ts";
import type { Exchange } from "../../wire/exchange.ts";
import { pieceBytes } from "../common/limits.ts";

/** The `Request` that the function of a route gets. */
export function webRequest(exchange: Exchange, bodyBytes: number = Infinity): Request {
  const { request } = exchange;
  const { method } = request;
  const url = exchange.state.request.url;
  if (Number(request.headers["content-length"] ?? 0) > bodyBytes) throw tooLarge(bodyBytes);
  const headers = new Headers();
  for (const [name, value] of exchange.headers)
    if (!isHopByHop(name) && !isServiceHeader(name) && name !== "expect") headers.set(name, value);
  headers.set("host", new URL(url).host);
  const options = { method, headers, signal: exchange.signal };
  const made =
    method === "GET" || method === "HEAD"
      ? new Request(url, options)
      : new Request(url, {
          ...options,
          // An unread body is left alone: a caller that sent `expect: 100-continue` isn't told to send it.
          body: webStream(limited(exchange.body, bodyBytes), () => {}),
          duplex: "half",
        } as RequestInit);
  // Node's own is forgotten with its request, although it may still have listeners.
  Object.defineProperty(made, "signal", { value: exchange.signal });
  return made;
}

/** The body, which breaks off when it is over the limit. Not a generator: it must stop while it waits for a chunk. */
function limited(body: AsyncIterable<Uint8Array>, limit: number): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const reader = body[Symbol.asyncIterator]();
      let size = 0;
      return {
        async next() {
          const result = await reader.next();
          if (result.done === true) return result;
          size += result.value.length;
          if (size <= limit) return result;
          stopReading(reader);
          throw tooLarge(limit);
        },
        async return() {
          stopReading(reader);
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function tooLarge(limit: number): PayloadTooLarge {
  return new PayloadTooLarge(`The request's body is over the limit of ${limit} bytes`);
}

/** Headers that middleware has set or removed become those of the request. */
export function applyHeaders(
  request: Request,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): void {
  for (const name of before.keys()) if (!after.has(name)) request.headers.delete(name);
  for (const [name, value] of after)
    if (before.get(name) !== value && !isServiceHeader(name)) request.headers.set(name, value);
}

/** Whether a value is a `Response`, of this realm or another. */
export function isResponse(value: unknown): value is Response {
  return value instanceof Response || Object.prototype.toString.call(value) === "[object Response]";
}

/** Header fields of a `Response` that are sent, `Set-Cookie` in their order. */
function fieldsOf({ headers: fields }: Response): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = {};
  for (const [field, text] of fields)
    if (!isHopByHop(field) && !isServiceHeader(field) && field !== "set-cookie")
      headers[field] = text;
  const cookies = fields.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  return headers;
}

/** The headers of a relayed answer, as middleware has changed them in its `Response`. */
export function changedHeaders(
  relayed: HttpResponse["headers"],
  response: Response,
): HttpResponse["headers"] {
  const own = Object.entries(relayed).filter(
    ([name]) => isServiceHeader(name) || name === "content-length",
  );
  const { "content-length": _, ...fields } = fieldsOf(response);
  return { ...fields, ...Object.fromEntries(own) };
}

/**
 * The answer that a `Response` stands for. Throws if it can't be sent. One that middleware made
 * often has the headers of the one before, whose length isn't its own.
 */
export function answerOf(
  value: unknown,
  name: string,
  memory: MemoryBudget,
  hasOwnLength = true,
): HttpResponse {
  if (!isResponse(value))
    throw new TypeError(`The route '${name}' returned ${kindOf(value)}, not a Response`);
  if (value.type === "error" || value.status < 200)
    throw new TypeError(`The route '${name}' returned Response.error(), which can't be sent`);
  if (value.bodyUsed || value.body?.locked === true)
    throw new TypeError(
      `The route '${name}' returned a Response whose body has been read: make a new one for each request`,
    );
  const headers = fieldsOf(value);
  const { status, body } = value;
  if (!hasOwnLength) delete headers["content-length"];
  if (isDecoded(value)) {
    delete headers["content-encoding"];
    delete headers["content-length"];
  }
  const length = headers["content-length"];
  if (length !== undefined && !/^\d{1,15}$/.test(String(length)))
    throw new TypeError(
      `The route '${name}' set content-length to ${JSON.stringify(length)}, which isn't a number of bytes`,
    );
  if (status === 204 || status === 205) delete headers["content-length"];
  if (body === null && (hasNullBody(status) || !(Number(length) > 0))) return { status, headers };
  const expected = length === undefined ? undefined : Number(length);
  return { status, headers, body: chunksOf(body ?? emptyStream(), name, memory, expected) };
}

function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() });
}

/** Encodings that `fetch` takes off the body, but not out of the headers. */
const decodedByFetch = /^(?:x-)?(?:gzip|deflate|br)(?:\s*,\s*(?:x-)?(?:gzip|deflate|br))*$/i;

/** Whether a `Response` is one that `fetch` returned, with a body that is no longer encoded. */
function isDecoded({ url, headers, body }: Response): boolean {
  return url !== "" && body !== null && decodedByFetch.test(headers.get("content-encoding") ?? "");
}

/**
 * The chunks of a stream, which is cancelled if the reader stops early. Not a generator: that would
 * wait for the next chunk before it stops.
 */
function chunksOf(
  stream: ReadableStream<Uint8Array>,
  name: string,
  memory: MemoryBudget,
  length?: number,
): AsyncIterable<Uint8Array> {
  return readOnce(() => {
    const reader = stream.getReader();
    let rest: Uint8Array = new Uint8Array();
    /** Of a chunk that is sent in pieces, each of which keeps all of it. */
    let held = 0;
    let holding: Holding | undefined;
    let isCut = false;
    let received = 0;
    const wrongLength = (bytes: number | string): Error =>
      new Error(
        `The route '${name}' set content-length to ${length}, and its body has ${bytes} bytes`,
      );
    const cancel = (reason: Error): void => {
      // The stream ends anyway: an error while it is cancelled changes nothing.
      reader.cancel(reason).catch(() => {});
    };
    const hold = (bytes: number): void => {
      holding?.give(held);
      held = bytes;
      holding?.take(held);
    };
    const cut = (): void => {
      isCut = true;
      rest = new Uint8Array();
      cancel(memoryExhausted());
    };
    return {
      async next() {
        if (isCut) throw memoryExhausted();
        if (rest.length === 0) hold(0);
        while (rest.length === 0) {
          const { done, value } = await reader.read().catch((cause: unknown) => {
            throw new Error(`The route '${name}' broke off its answer`, { cause });
          });
          if (done) {
            if (length !== undefined && received < length) throw wrongLength(received);
            return { done: true, value: undefined };
          }
          if (!((value as unknown) instanceof Uint8Array)) {
            const error = new TypeError(
              `The route '${name}' answered with a chunk that isn't a Uint8Array`,
            );
            cancel(error);
            throw error;
          }
          received += value.length;
          if (length !== undefined && received > length) {
            const error = wrongLength("more");
            cancel(error);
            throw error;
          }
          rest = value;
          if (value.length <= pieceBytes) continue;
          holding ??= memory.holding?.({
            progress: () => -rest.length,
            isUntaken: () => true,
            cut,
          });
          if (holding?.takeAnswer(value.length) === false) cut();
          else held = value.length;
          if (isCut) throw memoryExhausted();
        }
        const piece = rest.subarray(0, pieceBytes);
        rest = rest.subarray(pieceBytes);
        return { done: false, value: piece };
      },
      async return() {
        hold(0);
        rest = new Uint8Array();
        cancel(new Error("The caller went away"));
        return { done: true, value: undefined };
      },
    };
  });
}

/** An answer that came from another service, for middleware. */
export function webResponse({ status, headers, body }: HttpResponse): Response {
  const isStream = typeof body === "object" && !(body instanceof Uint8Array);
  const content = isStream
    ? webStream(body)
    : (body as string | Uint8Array<ArrayBuffer> | undefined);
  return new Response(hasNullBody(status) ? null : (content ?? null), {
    status,
    headers: webHeaders(headers),
  });
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value !== "object") return `a ${typeof value}`;
  return Array.isArray(value) ? "an array" : "an object";
}

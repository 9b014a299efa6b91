// Makes parts of a web Request or Response.

import type { HttpResponse } from "../base/ports.ts";
import { isBodiless } from "./answers.ts";
import { discard, stopReading } from "./bodies.ts";

/** Whether the constructor of `Response` refuses a body with this status. */
export function hasNullBody(status: number): boolean {
  return status === 205 || isBodiless(status);
}

export function webHeaders(fields: HttpResponse["headers"]): Headers {
  const headers = new Headers();
  for (const name in fields) for (const text of [fields[name]!].flat()) headers.append(name, text);
  return headers;
}

/**
 * A stream that asks for a chunk when its reader wants one. `onUnread` is called if it is cancelled before anything was
 * read [gives the body up].
 */
export function webStream(
  body: AsyncIterable<Uint8Array>,
  onUnread: () => void = () => discard(body),
): ReadableStream<Uint8Array> {
  let reader: AsyncIterator<Uint8Array> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader ??= body[Symbol.asyncIterator]();
        const { done, value } = await reader.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel() {
        if (reader === undefined) onUnread();
        else stopReading(reader);
      },
    },
    // Read the source only when the reader reads.
    { highWaterMark: 0 },
  );
}

// The form in which streams travel, on every hop: `text/event-stream`, as browsers and `curl -N` read it.

import type { HeaderFields, HttpResponse } from "../base/ports.ts";
import { callVary, headers, rpcHeaders } from "../base/protocol.ts";
import { headerText } from "./encoding.ts";

export const eventStreamType = "text/event-stream";

/** Headers of an answer that is a stream. Proxies and middleware must not buffer or compress it. */
export const streamHeaders: HttpResponse["headers"] = Object.freeze({
  ...rpcHeaders,
  "content-type": `${eventStreamType}; charset=utf-8`,
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
  [headers.dataType]: "stream",
  vary: callVary,
});

/** Begins a stream: a reader asks again after 2 s, and has received nothing yet. */
export const beginning = "retry: 2000\nid: 0\n\n";

/** Shows that the stream lives while it has no items. */
export const sign = ":\n\n";

/** The last event of a stream that goes on elsewhere: its reader asks again after the last item. */
export const again = "event: again\ndata: null\n\n";

/** The last id of a stream that has ended: a reader that sends it back has received everything. */
export const endId = "end";

/** Header of a stream that can be resumed. */
export const resumeHeader = "x-svc-resume";

/** Header of a stream that has passed a guard. */
export const guardedHeader = "x-svc-guarded";

/** One event. `name` is missing for an item; `end` and `fault` are the last ones. */
export interface StreamEvent {
  readonly name?: string;
  readonly id?: string;
  /** A line of JSON. */
  readonly data: string;
}

export function eventText({ name, id, data }: StreamEvent): string {
  const named = name === undefined ? "" : `event: ${name}\n`;
  return id === undefined ? `${named}data: ${data}\n\n` : `${named}id: ${id}\ndata: ${data}\n\n`;
}

/** Whether an answer is a stream of a procedure. */
export function isStream({ headers: fields, body }: HttpResponse): boolean {
  return (
    fields[headers.dataType] === "stream" &&
    typeof body === "object" &&
    !(body instanceof Uint8Array)
  );
}

/** Whether a request names streams among what it takes. Our own readers do, and so does `EventSource`. */
export function wantsStream(fields: HeaderFields): boolean {
  return headerText(fields["accept"]).includes(eventStreamType);
}

/**
 * Whether a request accepts a stream. A wildcard is enough, except from our own callers, which know
 * beforehand.
 */
export function takesStream(fields: HeaderFields): boolean {
  const accept = headerText(fields["accept"]);
  if (wantsStream(fields)) return !excluded.test(accept);
  return fields[headers.encoding] === undefined && (accept === "" || any.test(accept));
}

const excluded = /text\/event-stream\s*;\s*q=0(?:\.0*)?(?![\d.])/i;
const any = /(?:^|,)\s*(?:\*|text)\/\*(?!\s*;\s*q=0(?:\.0*)?(?![\d.]))/i;

/** Finds the events in the chunks of a body. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  #rest = "";
  /** Up to here, the rest has no end of an event. */
  #searched = 0;

  /** The events that this chunk completes. */
  read(chunk: Uint8Array): StreamEvent[] {
    let text = this.#decoder.decode(chunk, { stream: true });
    if (text.includes("\r")) text = text.replace(/\r\n?/g, "\n");
    this.#rest += text;
    const events: StreamEvent[] = [];
    let from = 0;
    for (;;) {
      const at = this.#rest.indexOf("\n\n", Math.max(from, this.#searched - 1));
      if (at < 0) break;
      const event = eventOf(this.#rest.slice(from, at));
      if (event !== undefined) events.push(event);
      from = at + 2;
    }
    if (from > 0) this.#rest = this.#rest.slice(from);
    this.#searched = this.#rest.length;
    return events;
  }
}

/** `undefined` for a comment, and for an event that only sets an id. */
function eventOf(block: string): StreamEvent | undefined {
  const event: { name?: string; id?: string } = {};
  let data: string | undefined;
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const start = line[colon + 1] === " " ? colon + 2 : colon + 1;
    const value = colon < 0 ? "" : line.slice(start);
    if (field === "data") data = data === undefined ? value : `${data}\n${value}`;
    else if (field === "event") event.name = value;
    else if (field === "id") event.id = value;
  }
  return data === undefined ? undefined : { ...event, data };
}

// The body of an answer that is a stream: its procedure's items as events, as fast as they are read.

import { ValueNotSerializable } from "../base/errors.ts";
import type { Clock } from "../base/ports.ts";
import type { WalkOptions } from "../codec/form-walk.ts";
import { encodePlain, responseHint } from "../codec/plain.ts";
import { encodeSerialized } from "../codec/serialized.ts";
import { needsReferences } from "../codec/values/fault.ts";
import { Idle } from "../http/idle.ts";
import type { Encoding } from "./encoding.ts";
import { again, beginning, endId, eventText, sign, type StreamEvent } from "./event-stream.ts";
import { loadSuperjson } from "./superjson.ts";
import { signMs } from "./times.ts";

/** The most bytes of items that may wait to be written. */
const mostWaiting = 16_384;

export interface ItemOptions extends Pick<WalkOptions, "classes" | "trusted"> {
  readonly encoding: Encoding;
  /** The most bytes that an item may have. */
  readonly itemBytes: number;
}

export interface StreamBodyParts extends ItemOptions {
  readonly clock: Clock;
  /** Yields to the event loop: a procedure that never waits would block it. */
  readonly turn: (next: () => void) => void;
  /** The result that the head of the answer has waited for, and all that follow. */
  readonly first: Promise<IteratorResult<unknown, unknown>>;
  readonly next: () => Promise<IteratorResult<unknown, unknown>>;
  /** Called with each item. */
  readonly onItem?: () => void;
  /** The id of an item, if its author has given it one. */
  readonly idOf?: (item: unknown) => string | undefined;
  /** The last id so far; the next item gets the next number. */
  readonly lastId: number;
  /** The serialized error for the reader. */
  readonly faultOf: (thrown: unknown) => Promise<string>;
  /** The reader leaves. */
  readonly stop: () => void;
  /** Called once its last event is there. */
  readonly onEnd?: () => void;
}

/** Asks for items while there is room for them, so that many small ones go out together. Has one reader. */
export class StreamBody implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  readonly #parts: StreamBodyParts;
  readonly #encoder = new TextEncoder();
  readonly #idle: Idle;
  #id: number;
  #text = beginning;
  /** Its last event is there, or its reader has left. */
  #isOver = false;
  /** Resolves the reader's wait for text. */
  #readerGoesOn: (() => void) | undefined;
  #isWaking = false;
  /** Resolves the wait for room. */
  #goOn: (() => void) | undefined;

  constructor(parts: StreamBodyParts) {
    this.#parts = parts;
    this.#id = parts.lastId;
    this.#idle = new Idle(parts.clock, () => this.#showLife());
    this.#idle.limit(signMs);
    void this.#run();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#text === "" && !this.#isOver)
      await new Promise<void>((resolve) => {
        this.#readerGoesOn = resolve;
      });
    const text = this.#text;
    if (text === "") return { done: true, value: undefined };
    this.#text = "";
    this.#goOn?.();
    return { done: false, value: this.#encoder.encode(text) };
  }

  /** Its reader gives it up. The procedure may be waiting for something, and isn't waited for. */
  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const wasOver = this.#isOver;
    this.#finish("");
    if (!wasOver) this.#parts.stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Its reader asks elsewhere for the items that follow. */
  again(): void {
    if (this.#isOver) return;
    this.#finish(again);
    this.#parts.stop();
  }

  async #run(): Promise<void> {
    let text: string;
    try {
      let result = await this.#parts.first;
      while (result.done !== true) {
        if (this.#isOver) return;
        await this.#add(await this.#eventOf(result.value));
        result = await this.#parts.next();
      }
      text = eventText({ ...(await this.#encode(result.value, true)), name: "end", id: endId });
    } catch (thrown) {
      // The reader has left.
      if (this.#isOver) return;
      this.#parts.stop();
      const data = await this.#parts.faultOf(thrown);
      text = eventText({ name: "fault", id: endId, data });
    }
    this.#finish(text);
  }

  async #add(text: string): Promise<void> {
    this.#idle.moved();
    this.#put(text);
    if (this.#text.length < mostWaiting) return;
    if (!this.#isOver)
      await new Promise<void>((resolve) => {
        this.#goOn = resolve;
      });
    await new Promise<void>((resolve) => this.#parts.turn(resolve));
  }

  #put(text: string): void {
    this.#text += text;
    if (this.#readerGoesOn === undefined || this.#isWaking) return;
    // Items that come without a wait are written together: each write costs as much as ten items.
    this.#isWaking = true;
    this.#parts.turn(() => {
      this.#isWaking = false;
      this.#wake();
    });
  }

  #wake(): void {
    this.#readerGoesOn?.();
    this.#readerGoesOn = undefined;
  }

  #finish(text: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#parts.onEnd?.();
    this.#idle.stop();
    this.#goOn?.();
    this.#text += text;
    this.#wake();
  }

  #showLife(): void {
    if (this.#text === "") this.#put(sign);
    this.#idle.again();
  }

  async #eventOf(item: unknown): Promise<string> {
    this.#parts.onItem?.();
    const own = this.#parts.idOf?.(item);
    const id = own ?? String(++this.#id);
    return eventText({ ...(await this.#encode(item)), id });
  }

  async #encode(value: unknown, isLast = false): Promise<StreamEvent> {
    const { encoding } = this.#parts;
    // The last event's name is `end`, so it can't mark superjson.
    const isSerialized = isLast && encoding === "serialized, superjson";
    const event = await encodeItem(value, isSerialized ? "serialized" : encoding, this.#parts);
    const { itemBytes } = this.#parts;
    // Most are far below it: a character has three bytes at most.
    if (event.data.length * 3 > itemBytes && this.#encoder.encode(event.data).length > itemBytes)
      throw new ValueNotSerializable(
        `An item of the stream has more than ${itemBytes} bytes, the limit 'itemBytes'`,
      );
    return event;
  }
}

/** An item as JSON. A cycle in one needs superjson, for this event alone if its reader takes both. */
async function encodeItem(
  value: unknown,
  encoding: Encoding,
  { classes, trusted }: ItemOptions,
): Promise<StreamEvent> {
  const options = { path: "item", hint: responseHint, classes, trusted };
  const superjson = async (): Promise<string> =>
    await (await loadSuperjson()).encodeSuperjson(value, options);
  if (encoding === "superjson") return { data: await superjson() };
  if (encoding === "plain") return { data: await encodePlain(value, "item") };
  if (value === undefined) return { data: undefinedForm };
  try {
    return { data: await encodeSerialized(value, options) };
  } catch (thrown) {
    if (encoding !== "serialized, superjson" || !needsReferences(thrown)) throw thrown;
    return { name: "superjson", data: await superjson() };
  }
}

const undefinedForm = '{"serialized":true,"name":"Undefined"}';

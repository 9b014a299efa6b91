// The calls of a link in one direction, by the numbers of their streams. A number is free again when its
// call is over at both ends, so they stay small, and a list finds a call faster than a map: a map that
// changes with each call also keeps dead calls in memory.

import { ProtocolError } from "./frames.ts";

/** Dialers have odd numbers, acceptors even ones; 0 is the link itself. */
export class Streams<T> {
  readonly #parity: 0 | 1;
  #most: number;
  readonly #calls: (T | undefined)[] = [];
  readonly #free: number[] = [];
  #count = 0;
  #emptied: (() => void)[] | undefined;

  constructor(parity: 0 | 1, most: number) {
    this.#parity = parity;
    this.#most = most;
  }

  get count(): number {
    return this.#count;
  }

  get hasRoom(): boolean {
    return this.#count < this.#most;
  }

  /** The same with `reserved` places kept free for others, but never all of them. */
  hasRoomBeside(reserved: number): boolean {
    return this.hasRoom && this.#count < Math.max(1, this.#most - reserved);
  }

  /** Sets the limit of concurrent calls. Calls on their way may exceed it. */
  limit(most: number): void {
    this.#most = most;
  }

  /** For the end that announces the limit: it never shrinks here, as the other end may not know of it yet. */
  raise(most: number): void {
    this.#most = Math.max(this.#most, most);
  }

  /** Gives a call the next number. */
  add(call: T): number {
    const slot = this.#free.pop() ?? this.#calls.length;
    this.#calls[slot] = call;
    this.#count++;
    return 2 * (slot + 1) - this.#parity;
  }

  /** Takes a call with the number that the other end gave it. */
  put(stream: number, call: T): void {
    const slot = this.#slotOf(stream);
    // Numbers are used again, so none is above the limit.
    if (slot >= this.#most || !this.hasRoom)
      throw new ProtocolError(`Call ${stream} exceeds the limit of ${this.#most} concurrent calls`);
    while (this.#calls.length < slot) this.#calls.push(undefined);
    this.#calls[slot] = call;
    this.#count++;
  }

  /** `undefined` for a call that is over, and for a stream of the other direction. */
  at(stream: number): T | undefined {
    return (stream & 1) === this.#parity ? this.#calls[this.#slotOf(stream)] : undefined;
  }

  isFree(stream: number): boolean {
    return stream > 0 && (stream & 1) === this.#parity && this.at(stream) === undefined;
  }

  /** The call is over at both ends. `isOwn`: this end may assign its number again. */
  remove(stream: number, isOwn: boolean): void {
    const slot = this.#slotOf(stream);
    if (this.#calls[slot] === undefined) return;
    this.#calls[slot] = undefined;
    this.#count--;
    if (isOwn) this.#free.push(slot);
    if (this.#count > 0 || this.#emptied === undefined) return;
    for (const resolve of this.#emptied) resolve();
    this.#emptied = undefined;
  }

  /** Resolves when all of them are over. */
  emptied(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#emptied ??= []).push(resolve));
  }

  all(): readonly T[] {
    return this.#calls.filter((call) => call !== undefined);
  }

  #slotOf(stream: number): number {
    return ((stream + this.#parity) >>> 1) - 1;
  }
}

// The memory that callers make this service hold: request bodies, and answers that were not read
// yet. There is one limit for all callers together; stalled connections are cut first.

import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";

import type { HeldFor, Holding, MemoryBudget } from "../../src/base/ports.ts";
import { Bag, type Bagged } from "./bag.ts";
import { memoryCheckMs, stalledMs } from "./times.ts";

// The rest is reserved for calls that have begun: how much they will hold isn't known in advance.
const fullShare = 7 / 8;
// The largest share for whole answers, so that slow readers of large answers can't keep out callers with small
// ones.
const answerShare = 3 / 4;

/** The overhead of a chunk: a body may arrive in chunks of one byte. */
export const chunkBytes = 800;

/**
 * A quarter of the memory that this process may use, but at most half of its heap, which holds the
 * strings.
 */
export function defaultHeldBytes(): number {
  // Without a limit, some platforms report 0, others a number beyond all memory.
  const constrained = process.constrainedMemory() || Infinity;
  return Math.floor(Math.min(constrained, totalmem(), 2 * getHeapStatistics().heap_size_limit) / 4);
}

/** The memory that one service holds for its callers. */
export class HeldMemory implements MemoryBudget {
  readonly limit: number;
  readonly #now: () => number;
  readonly #holders = new Bag<Holder>();
  #bytes = 0;
  /** Bytes of answers that were made in this turn, and aren't held yet. */
  #made = 0;
  #nextSearch = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(limit: number = defaultHeldBytes(), now: () => number = () => performance.now()) {
    this.limit = limit;
    this.#now = now;
  }

  get bytes(): number {
    return this.#bytes;
  }

  now(): number {
    return this.#now();
  }

  /** Whether a new call may begin; cuts stalled connections if necessary. */
  hasRoom(): boolean {
    const full = this.limit * fullShare;
    return this.#bytes < full || (this.#makeRoom(0), this.#bytes < full);
  }

  /** Whether this many more bytes may be held; cuts stalled connections if necessary. */
  fits(bytes: number): boolean {
    return (
      this.#bytes + bytes <= this.limit ||
      (this.#makeRoom(bytes), this.#bytes + bytes <= this.limit)
    );
  }

  fitsAnswer(bytes: number): boolean {
    if (!this.hasRoomForAnswer(bytes)) return false;
    // Before anything else is read: until then, many calls may go on with one and the same promise.
    if (this.#made === 0) process.nextTick(() => (this.#made = 0));
    this.#made += bytes;
    return true;
  }

  /** Whether this much would fit, besides the answers that were made just now. */
  hasRoomForAnswer(bytes: number): boolean {
    const most = this.limit * answerShare - bytes;
    if (this.#bytes + this.#made <= most) return true;
    this.#makeRoom(this.#made + bytes, answerShare);
    return this.#bytes + this.#made <= most;
  }

  /** Cuts the largest stalled connection, and returns whether there was one. */
  cutStalled(): boolean {
    const [largest] = this.#stalled(this.#now());
    largest?.cut();
    return largest !== undefined;
  }

  holding(of: HeldFor): Holding {
    return this.holder(of);
  }

  /** `untakenMs` is how long an answer may stay unread. */
  holder(of: HeldFor, untakenMs: number = Infinity): Holder {
    return new Holder(this, of, untakenMs);
  }

  /** Called by a holder that holds more or less than before. */
  change(holder: Holder, by: number): void {
    if (holder.bytes === 0) {
      holder.begin(this.#now());
      this.#holders.add(holder);
      this.#timer ??= setInterval(() => this.#check(), memoryCheckMs).unref();
    } else if (holder.bytes + by === 0) this.#holders.remove(holder);
    this.#bytes += by;
  }

  #check(): void {
    const now = this.#now();
    for (const holder of this.#holders.all()) holder.check(now);
    if (this.#holders.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Stalled holders, the largest first. */
  #stalled(now: number): Holder[] {
    return this.#holders
      .all()
      .filter(({ moved }) => now - moved >= stalledMs)
      .toSorted((a, b) => b.bytes - a.bytes);
  }

  /** Cuts stalled connections, the largest first, until no more than this share is held. */
  #makeRoom(bytes: number, share: number = fullShare): void {
    const now = this.#now();
    if (now < this.#nextSearch) return;
    for (const holder of this.#stalled(now)) {
      if (this.#bytes + bytes < this.limit * share) return;
      holder.cut();
    }
    // No other connection stalls this soon, and a search for every call would cost more than it
    // finds.
    this.#nextSearch = now + memoryCheckMs / 5;
  }
}

/** The memory that one connection, request to another service, or body on a link holds. */
export class Holder implements Bagged, Holding {
  place = -1;
  readonly #memory: HeldMemory;
  readonly #of: HeldFor;
  readonly #untakenMs: number;
  #bytes = 0;
  #changes = 0;
  #progress = 0;
  #moved = 0;
  #movedBefore = 0;
  #allTaken = 0;
  #watch: { readonly ms: number; readonly since: number; readonly onIdle: () => void } | undefined;
  #isClosed = false;

  constructor(memory: HeldMemory, of: HeldFor, untakenMs: number) {
    this.#memory = memory;
    this.#of = of;
    this.#untakenMs = untakenMs;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How often it has begun or ceased to hold something. */
  get changes(): number {
    return this.#changes;
  }

  /** When a byte was last seen to move. */
  get moved(): number {
    return this.#moved;
  }

  /** Called when it starts to hold something. */
  begin(now: number): void {
    this.#progress = this.#of.progress();
    this.#moved = now;
    this.#movedBefore = now;
    this.#allTaken = now;
  }

  /**
   * Notes whether bytes have moved, and cuts a connection that leaves an answer unread for too
   * long. A single move in that time doesn't count: system buffers grow now and then even if the
   * caller reads nothing.
   */
  check(now: number): void {
    const progress = this.#of.progress();
    if (progress !== this.#progress) {
      this.#progress = progress;
      this.#movedBefore = this.#moved;
      this.#moved = now;
    }
    if (!this.#of.isUntaken()) this.#allTaken = now;
    else if (now - Math.max(this.#movedBefore, this.#allTaken) >= this.#untakenMs)
      return this.cut();
    this.#checkIdle(now);
  }

  /**
   * From now on, calls `onIdle` once no byte has moved for `ms`, as long as memory is held. Replaces the previous
   * watch; the returned function ends it.
   */
  watch(ms: number, onIdle: () => void): () => void {
    const watch = { ms, since: this.#memory.now(), onIdle };
    this.#watch = watch;
    return () => {
      if (this.#watch === watch) this.#watch = undefined;
    };
  }

  #checkIdle(now: number): void {
    const watch = this.#watch;
    if (watch === undefined || now - Math.max(this.#moved, watch.since) < watch.ms) return;
    this.#watch = undefined;
    watch.onIdle();
  }

  take(bytes: number): void {
    this.#change(bytes);
  }

  takeAnswer(bytes: number): boolean {
    if (!this.#memory.hasRoomForAnswer(bytes)) return false;
    this.#change(bytes);
    return true;
  }

  give(bytes: number): void {
    this.#change(-bytes);
  }

  #change(by: number): void {
    if (this.#isClosed || by === 0) return;
    this.#memory.change(this, by);
    this.#bytes += by;
    this.#changes++;
  }

  /** Ends the connection or request. */
  cut(): void {
    this.close();
    this.#of.cut();
  }

  /** Releases everything, for good. */
  close(): void {
    this.give(this.#bytes);
    this.#isClosed = true;
  }
}

// The bytes that others make this service hold: bodies that have come, answers that nobody has taken yet. They are bounded together, however
// many callers there are, and those who stand still make room first.

import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";

import type { MemoryBudget } from "../src/ports.ts";

/** What stands still for so long is cut when its room is needed, in ms. */
const stalledMs = 2_000;
/** How often those that hold something are looked at, in ms: their times are as exact as that. */
const lookMs = 500;
// The rest is for calls that have begun: what they will hold is not known before.
const fullFrom = 7 / 8;

/** What a piece of a body costs besides its bytes: a body may come in pieces of one byte. */
export const chunkBytes = 800;

/** What holds bytes: a connection, or a request to another service. */
export interface HeldFor {
  /** Changes whenever a byte moves in either direction. */
  progress(): number;
  /** Whether part of an answer waits to be taken. */
  isUntaken(): boolean;
  /** Ends it: what it holds is of use to nobody. */
  cut(): void;
}

/** A quarter of what this process may use, and half of its heap at most: texts lie there. */
export function defaultHeldBytes(): number {
  // Where there is no limit, some platforms say 0 and some a number beyond all memory.
  const constrained = process.constrainedMemory() || Infinity;
  return Math.floor(Math.min(constrained, totalmem(), 2 * getHeapStatistics().heap_size_limit) / 4);
}

/** All that one service holds. */
export class HeldMemory implements MemoryBudget {
  readonly limit: number;
  readonly #now: () => number;
  readonly #holders = new Set<Holder>();
  #bytes = 0;
  #nextSearch = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(limit: number = defaultHeldBytes(), now: () => number = () => performance.now()) {
    this.limit = limit;
    this.#now = now;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a new call may begin; if what stands still has to be cut for that, it is. */
  hasRoom(): boolean {
    const full = this.limit * fullFrom;
    return this.#bytes < full || (this.#makeRoom(0), this.#bytes < full);
  }

  /** Whether so many bytes more may be held; if what stands still has to be cut for that, it is. */
  fits(bytes: number): boolean {
    return (
      this.#bytes + bytes <= this.limit ||
      (this.#makeRoom(bytes), this.#bytes + bytes <= this.limit)
    );
  }

  /** Cuts the one that holds most of those that stand still. Gives whether there was one. */
  cutStalled(): boolean {
    const [largest] = this.#stalled(this.#now());
    largest?.cut();
    return largest !== undefined;
  }

  /** `untakenMs` is how long an answer may wait to be taken. */
  holder(of: HeldFor, untakenMs: number = Infinity): Holder {
    return new Holder(this, of, untakenMs);
  }

  /** By a holder: it holds more, or less. */
  change(holder: Holder, by: number): void {
    if (holder.bytes === 0) {
      holder.begin(this.#now());
      this.#holders.add(holder);
      this.#timer ??= setInterval(() => this.#look(), lookMs).unref();
    } else if (holder.bytes + by === 0) this.#holders.delete(holder);
    this.#bytes += by;
  }

  #look(): void {
    const now = this.#now();
    for (const holder of this.#holders) holder.look(now);
    if (this.#holders.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** The largest first. */
  #stalled(now: number): Holder[] {
    return [...this.#holders]
      .filter((one) => now - one.moved >= stalledMs)
      .toSorted((one, other) => other.bytes - one.bytes);
  }

  /** Cuts what stands still, the largest first, until new calls may begin too. */
  #makeRoom(bytes: number): void {
    const now = this.#now();
    if (now < this.#nextSearch) return;
    for (const holder of this.#stalled(now)) {
      if (this.#bytes + bytes < this.limit * fullFrom) return;
      holder.cut();
    }
    // Nobody else stands still so soon, and searching for each call that comes would cost more than it finds.
    this.#nextSearch = now + lookMs / 5;
  }
}

/** What one connection, or one request to another service, holds. */
export class Holder {
  readonly #memory: HeldMemory;
  readonly #of: HeldFor;
  readonly #untakenMs: number;
  #bytes = 0;
  #progress = 0;
  #moved = 0;
  #movedBefore = 0;
  #allTaken = 0;
  #isClosed = false;

  constructor(memory: HeldMemory, of: HeldFor, untakenMs: number) {
    this.#memory = memory;
    this.#of = of;
    this.#untakenMs = untakenMs;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** When a byte was last seen to move. */
  get moved(): number {
    return this.#moved;
  }

  /** It holds something from now on. */
  begin(now: number): void {
    this.#progress = this.#of.progress();
    this.#moved = now;
    this.#movedBefore = now;
    this.#allTaken = now;
  }

  /**
   * Notes whether bytes have moved, and cuts what leaves an answer untaken for too long. A single move in all that time is none: the system's
   * own buffers grow now and then although the other side takes nothing.
   */
  look(now: number): void {
    const progress = this.#of.progress();
    if (progress !== this.#progress) {
      this.#progress = progress;
      this.#movedBefore = this.#moved;
      this.#moved = now;
    }
    if (!this.#of.isUntaken()) this.#allTaken = now;
    else if (now - Math.max(this.#movedBefore, this.#allTaken) >= this.#untakenMs) this.cut();
  }

  take(bytes: number): void {
    this.#change(bytes);
  }

  give(bytes: number): void {
    this.#change(-bytes);
  }

  #change(by: number): void {
    if (this.#isClosed || by === 0) return;
    this.#memory.change(this, by);
    this.#bytes += by;
  }

  /** Ends what it holds for. */
  cut(): void {
    this.close();
    this.#of.cut();
  }

  /** Lets go of everything, for good. */
  close(): void {
    this.give(this.#bytes);
    this.#isClosed = true;
  }
}

// Outbound calls wait for a connection here and nowhere else: few of them, and not for long. A
// connection carries one call at a time, so any other queue would let a few slow calls block all
// others.

import type { AbortNotice } from "../../../src/base/ports.ts";
import { UnsentError } from "../../../src/base/ports.ts";

export interface QueueLimits {
  /** Calls that may be open or waiting, to all services together. */
  readonly total: number;
  /**
   * Connections to one service that may be opening: past about 500, the backlog of `listen`, a
   * kernel delays more by a second.
   */
  readonly opening: number;
  /** How long calls wait for a service that accepts no connection. */
  readonly waitMs: number;
}

/** Permission for one call to use a connection. */
export interface CallSlot {
  /** The call has its connection. */
  started(): void;
  /** The call is over. */
  ended(): void;
}

interface Waiter {
  enter(): void;
  giveUp(): void;
}

interface Origin {
  readonly name: string;
  open: number;
  opening: number;
  readonly waiting: Set<Waiter>;
  /** When it last accepted a connection. */
  lastAccepted: number;
  timer?: NodeJS.Timeout | undefined;
}

/** Services that have no call open, but are remembered. */
const keptOrigins = 64;

export class CallQueue {
  readonly #limits: QueueLimits;
  /** The rest is reserved for other services: one that hangs must not block them. */
  readonly #perOrigin: number;
  readonly #origins = new Map<string, Origin>();
  #open = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#perOrigin = Math.ceil((limits.total * 3) / 4);
  }

  /**
   * Throws an {@link UnsentError}, `local` if there is no slot and `silent` if the service accepts
   * no connection, or the reason of the signal.
   */
  enter(name: string, signal: AbortNotice | undefined): CallSlot | Promise<CallSlot> {
    const origin = this.#origins.get(name) ?? {
      name,
      open: 0,
      opening: 0,
      waiting: new Set(),
      lastAccepted: performance.now(),
    };
    if (this.#open >= this.#limits.total) throw full(name, `${this.#open} requests are open`);
    if (origin.open >= this.#perOrigin) throw full(name, `${origin.open} requests to it are open`);
    this.#origins.set(name, origin);
    this.#open++;
    origin.open++;
    return origin.opening < this.#limits.opening
      ? this.#openSlot(origin)
      : this.#wait(origin, signal);
  }

  #openSlot(origin: Origin): CallSlot {
    origin.opening++;
    let isOpening = true;
    const started = (): void => {
      if (!isOpening) return;
      isOpening = false;
      origin.opening--;
      origin.lastAccepted = performance.now();
      if (origin.opening < this.#limits.opening) enterNext(origin);
    };
    return {
      started,
      ended: () => {
        started();
        this.#leave(origin);
        // undici hands a connection to the next request one turn after its answer.
        if (origin.waiting.size > 0) setImmediate(() => setImmediate(() => enterNext(origin)));
      },
    };
  }

  #wait(origin: Origin, signal: AbortNotice | undefined): Promise<CallSlot> {
    this.#watch(origin, this.#limits.waitMs);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        origin.waiting.delete(waiter);
        signal?.removeEventListener("abort", abort);
      };
      const leave = (reason: unknown): void => {
        end();
        this.#leave(origin);
        reject(reason);
      };
      const abort = (): void => leave(signal?.reason);
      const waiter: Waiter = {
        enter: () => {
          end();
          resolve(this.#openSlot(origin));
        },
        giveUp: () =>
          leave(
            new UnsentError(
              `${origin.name} took no connection for ${this.#limits.waitMs} ms`,
              "silent",
            ),
          ),
      };
      origin.waiting.add(waiter);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Calls go on waiting as long as connections are accepted. */
  #watch(origin: Origin, ms: number): void {
    const check = (): void => {
      origin.timer = undefined;
      const leftMs = origin.lastAccepted + this.#limits.waitMs - performance.now();
      if (leftMs <= 0) for (const waiter of origin.waiting) waiter.giveUp();
      else if (origin.waiting.size > 0) this.#watch(origin, leftMs);
    };
    // One turn later: if this process was blocked, connections accepted meanwhile are only seen
    // then.
    origin.timer ??= setTimeout(() => setImmediate(check), ms).unref();
  }

  #leave(origin: Origin): void {
    this.#open--;
    origin.open--;
    // Members come and go at many addresses, so entries must not pile up. But few stay: most calls
    // would make a new one.
    if (origin.open === 0 && this.#origins.size > keptOrigins) this.#origins.delete(origin.name);
  }
}

function enterNext({ waiting }: Origin): void {
  const [waiter] = waiting;
  waiter?.enter();
}

function full(name: string, reason: string): UnsentError {
  return new UnsentError(
    `${name} was not asked: ${reason}, and limits.maxConnections allows no more`,
    "local",
  );
}

// Where outbound calls wait for a connection, and the only place: few of them, and not for long. A connection carries one call at a time,
// so whatever else queued them would let a few slow calls stop all others.

import { UnsentError } from "../src/ports.ts";

export interface QueueLimits {
  /** Calls that may be open or waiting, to all services together. */
  readonly total: number;
  /** Connections to one service that may be opening. Its kernel holds back about 500 (`listen`'s backlog) and makes further ones wait a second. */
  readonly opening: number;
  /** Ms after which calls give up waiting for a service that takes no connection. */
  readonly patience: number;
}

/** The right of one call to use a connection. */
export interface Place {
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
  /** When it last took a connection, or was done with a call. */
  moved: number;
  timer?: NodeJS.Timeout | undefined;
}

export class CallQueue {
  readonly #limits: QueueLimits;
  /** The rest is for the other services: one that hangs must not take them along. */
  readonly #perOrigin: number;
  readonly #origins = new Map<string, Origin>();
  #open = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#perOrigin = Math.ceil((limits.total * 3) / 4);
  }

  /** Throws a {@link UnsentError}, `local` when there is no place and `silent` when the service takes no connection, or the signal's reason. */
  enter(name: string, signal: AbortSignal | undefined): Place | Promise<Place> {
    const origin = this.#origins.get(name) ?? {
      name,
      open: 0,
      opening: 0,
      waiting: new Set(),
      moved: performance.now(),
    };
    if (this.#open >= this.#limits.total) throw full(name, `${this.#open} requests are open`);
    if (origin.open >= this.#perOrigin) throw full(name, `${origin.open} requests to it are open`);
    this.#origins.set(name, origin);
    this.#open++;
    origin.open++;
    return origin.opening < this.#limits.opening ? this.#place(origin) : this.#wait(origin, signal);
  }

  #place(origin: Origin): Place {
    origin.opening++;
    let isOpening = true;
    const started = (): void => {
      if (!isOpening) return;
      isOpening = false;
      origin.opening--;
      origin.moved = performance.now();
      if (origin.opening < this.#limits.opening) enterNext(origin);
    };
    return {
      started,
      ended: () => {
        started();
        this.#leave(origin);
        // undici gives a connection to the next request one turn after its answer.
        if (origin.waiting.size > 0) setImmediate(() => setImmediate(() => enterNext(origin)));
      },
    };
  }

  #wait(origin: Origin, signal: AbortSignal | undefined): Promise<Place> {
    this.#watch(origin, this.#limits.patience);
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
          resolve(this.#place(origin));
        },
        giveUp: () =>
          leave(
            new UnsentError(
              `${origin.name} took no connection for ${this.#limits.patience} ms`,
              "silent",
            ),
          ),
      };
      origin.waiting.add(waiter);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** As long as connections are taken, those who wait have their turn soon. */
  #watch(origin: Origin, ms: number): void {
    const look = (): void => {
      origin.timer = undefined;
      const left = origin.moved + this.#limits.patience - performance.now();
      if (left <= 0) for (const waiter of origin.waiting) waiter.giveUp();
      else if (origin.waiting.size > 0) this.#watch(origin, left);
    };
    // A turn later: if it is this process that stood still, what came in meanwhile is seen only then.
    origin.timer ??= setTimeout(() => setImmediate(look), ms).unref();
  }

  #leave(origin: Origin): void {
    this.#open--;
    origin.open--;
    // Members come and go at many addresses.
    if (origin.open === 0) this.#origins.delete(origin.name);
  }
}

function enterNext({ waiting }: Origin): void {
  const [first] = waiting;
  first?.enter();
}

function full(name: string, what: string): UnsentError {
  return new UnsentError(
    `${name} was not asked: ${what}, and limits.connections allows no more`,
    "local",
  );
}

// The life of a role: it starts, joins its gateways, leaves, refuses calls, and stops. Decides when calls may run.

import { isLeaving, isStarting } from "../../http/refusals.ts";

export interface LifeParts {
  /** `url` is where the service listens. */
  readonly start: (url: string) => Promise<void>;
  /** Tells the gateway about this service, once it can take calls. */
  readonly join?: (url: string) => Promise<void>;
  /** Tells the gateway that no more calls may come. */
  readonly leave?: (() => Promise<boolean>) | undefined;
  /** Whether it should be sent calls, once it answers them [yes]. */
  readonly isReady?: (() => boolean) | undefined;
}

export class Life {
  readonly #parts: LifeParts;
  #hasStarted = false;
  #leaving: Promise<boolean> | undefined;
  #isClosed = false;
  /** The gateway may send calls before its answer arrives. */
  #joined: Promise<void> | undefined;

  constructor(parts: LifeParts) {
    this.#parts = parts;
  }

  /** Whether new calls should come here. */
  get isReady(): boolean {
    return this.#hasStarted && this.#leaving === undefined && this.#parts.isReady?.() !== false;
  }

  /**
   * Resolves when calls may run; rejects with the answer to calls that can't. Returns `undefined` if they may at
   * once. A leaving role still runs calls, as callers learn of it later.
   */
  mayRun(): Promise<void> | undefined {
    if (this.#isClosed) return Promise.reject(isLeaving());
    if (this.#hasStarted) return undefined;
    return (this.#joined ?? Promise.resolve()).then(() => {
      if (!this.#hasStarted) throw isStarting();
    });
  }

  /** Calls that arrive while it joins run once `settled` has resolved. */
  async start(url: string, settled: () => Promise<void>): Promise<void> {
    await this.#parts.start(url);
    const joining = this.#parts.join?.(url);
    this.#joined = joining?.then(settled, () => {});
    await joining;
    this.#hasStarted = true;
  }

  /** Leaves, once. Resolves to whether the gateway has confirmed that it sends no more calls. */
  leave(): Promise<boolean> {
    return (this.#leaving ??= this.#parts.leave?.() ?? Promise.resolve(false));
  }

  /** Calls are refused from now on. */
  close(): void {
    this.#isClosed = true;
  }
}

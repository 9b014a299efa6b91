// The callbacks that modules passed to `onStop`: those of a service, or in development of one module.

import type { Clock, Log } from "../base/ports.ts";

/** How long all callbacks of a service, or of a module, may take together. */
const stopMs = 3_000;

type StopCallback = () => unknown;

/** Throws unless `callback` is a function. */
export function checkStopCallback(callback: unknown): asserts callback is StopCallback {
  if (typeof callback !== "function") throw new TypeError("onStop takes a function");
}

/** Callbacks that run together, once. */
export class StopCallbacks {
  readonly #after: Clock["after"];
  #callbacks: StopCallback[] = [];

  constructor(after: Clock["after"]) {
    this.#after = after;
  }

  get isEmpty(): boolean {
    return this.#callbacks.length === 0;
  }

  add(callback: StopCallback): void {
    this.#callbacks.push(callback);
  }

  /**
   * Runs and forgets the callbacks: the last one first, each after the previous has ended. Logs their errors, and
   * gives up after 3 s.
   */
  async run(log: Pick<Log, "error" | "warn">): Promise<void> {
    if (this.#callbacks.length === 0) return;
    const late = new AbortController();
    const end = async (): Promise<void> => {
      for (
        let callback = this.#callbacks.pop();
        callback !== undefined && !late.signal.aborted;
        callback = this.#callbacks.pop()
      )
        try {
          await callback();
        } catch (error) {
          log.error("a callback of onStop failed", error);
        }
    };
    await new Promise<void>((resolve) => {
      const cancel = this.#after(stopMs, () => {
        late.abort();
        resolve();
      });
      void end().then(() => {
        cancel();
        resolve();
      });
    });
    if (!late.signal.aborted) return;
    const left = this.#callbacks.length;
    log.warn(
      `onStop: a callback didn't end in ${stopMs / 1_000} s${left === 0 ? "" : `, so ${left} more didn't run`}`,
    );
    this.#callbacks = [];
  }
}

// Watches calls while the console has viewers, and for a minute after the last one has left.

import type { Clock } from "../../src/base/ports.ts";
import type { Credentials } from "../../src/http/trust.ts";
import { CallWatch } from "./calls/call-watch.ts";
import { lingerMs } from "./base/times.ts";

export interface ViewersOptions {
  readonly clock: Clock;
  readonly trust: Credentials["of"];
  /** See {@link CallWatch}. */
  readonly masks: boolean;
  /** Called when watching begins. Its result is called when watching ends. */
  readonly begin: (watch: CallWatch) => () => void;
}

export class Viewers {
  readonly #options: ViewersOptions;
  #watching: { readonly watch: CallWatch; readonly end: () => void } | undefined;
  #count = 0;
  #cancelEnd = (): void => {};

  constructor(options: ViewersOptions) {
    this.#options = options;
  }

  /** Undefined while there are no viewers. */
  get watch(): CallWatch | undefined {
    return this.#watching?.watch;
  }

  /** The current watch. Begins one if there is none. */
  begin(): CallWatch {
    this.#cancelEnd();
    if (this.#watching === undefined) {
      const { clock, trust, masks, begin } = this.#options;
      const watch = new CallWatch(clock, trust, masks);
      this.#watching = { watch, end: () => {} };
      this.#watching = { watch, end: begin(watch) };
    }
    return this.#watching.watch;
  }

  /** Adds a viewer until the returned function is called. */
  enter(): () => void {
    this.#count++;
    this.begin();
    return () => {
      this.#count--;
      this.#cancelEnd();
      if (this.#count === 0)
        this.#cancelEnd = this.#options.clock.after(lingerMs, () => this.end());
    };
  }

  end(): void {
    this.#cancelEnd();
    this.#watching?.end();
    this.#watching = undefined;
  }
}

// The requests of a server that isn't ours, while we answer them.

import { NodeNotAvailable } from "../../../src/base/errors.ts";
import { Bag, type Bagged } from "../../host/bag.ts";
import { cutMs } from "../connection/times.ts";

/** A request that can be ended. */
interface Cuttable {
  /** Has it answered with this error, if it hasn't been answered. */
  cut(reason: Error): void;
  /** Ends it, even in the middle of its answer. */
  destroy(): void;
}

interface Entry extends Bagged {
  readonly request: Cuttable;
}

/** Waits for requests when the service stops. The sockets are left to their server. */
export class OpenMountedRequests {
  readonly #open = new Bag<Entry>();
  readonly #onCut: (count: number) => void;
  #onceEmpty: (() => void) | undefined;
  #isDraining = false;

  /** `onCut` is called with the number of requests that are cut. */
  constructor(onCut: (count: number) => void) {
    this.#onCut = onCut;
  }

  /** Counts a request until the returned function is called. */
  begin(request: Cuttable): () => void {
    const entry = { place: -1, request };
    this.#open.add(entry);
    return () => {
      this.#open.remove(entry);
      if (this.#open.size === 0) this.#onceEmpty?.();
    };
  }

  /** The service is about to stop. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Does nothing: connections belong to the server. */
  drain(): void {
    this.#isDraining = true;
  }

  async close(graceMs: number): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      let timer = setTimeout(() => {
        const left = this.#open.all();
        const reason = new NodeNotAvailable("This service stopped before the request ended");
        for (const { request } of left) request.cut(reason);
        this.#onCut(left.length);
        timer = setTimeout(() => {
          for (const { request } of this.#open.all()) request.destroy();
          resolve();
        }, cutMs);
      }, graceMs);
      const before = this.#onceEmpty;
      this.#onceEmpty = () => {
        clearTimeout(timer);
        resolve();
        before?.();
      };
    });
  }
}

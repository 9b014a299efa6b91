// Times of a request whose bodies are streams. Until the head of the answer, the call's deadline
// counts from the last byte that moved. While bodies move, a pause in both directions ends them.
// Transports have a limit of their own, of what they wait for from the service that they ask.

import { DeadlineExceeded } from "../../base/errors.ts";
import { readOnce } from "../../http/bodies.ts";
import type { Clock, HttpRequest, HttpResponse } from "../../base/ports.ts";
import type { Exchange } from "../../wire/exchange.ts";

/** Where a place is given back while a reader of the body waits for its caller. */
type Moving = Pick<Exchange, "awaitBody" | "resume" | "expire">;

export class Movement {
  readonly #clock: Clock;
  readonly #idleMs: number;
  /** When the last byte moved. */
  #moved: number;
  #isReceiving = false;
  #cancel: () => void = () => {};
  /** Sets the timer until the head again, since another limit counts now. */
  #recheck: (() => void) | undefined;
  /** Ends what waits for the answer's next chunk. */
  #breakOff: ((error: Error) => void) | undefined;
  readonly #exchange: () => Moving | undefined;

  /** Bodies may stand still for `idleMs`. `exchange` returns the one that has them, once it is there. */
  constructor(clock: Clock, idleMs: number, exchange: () => Moving | undefined) {
    this.#clock = clock;
    this.#exchange = exchange;
    this.#idleMs = idleMs;
    this.#moved = clock.now();
  }

  /** The request's body is being read, and isn't complete. */
  get isReceiving(): boolean {
    return this.#isReceiving;
  }

  /**
   * Calls `late` when the head of the answer isn't there `ms` after the last byte of the request's body, or when
   * that body stands still. Returns what ends the watch.
   */
  untilHead(ms: number, late: () => void): () => void {
    this.#watch(() => (this.#isReceiving ? this.#idleMs : ms), late);
    return () => {
      this.#recheck = undefined;
      this.#cancel();
    };
  }

  /** The answer, with a body that ends with an error when nothing moves any more. */
  response(response: HttpResponse): HttpResponse {
    const { body } = response;
    if (body === undefined || typeof body === "string" || body instanceof Uint8Array)
      return response;
    return { ...response, body: this.#sent(body) };
  }

  /** The request's body, which reports its movement. */
  received({ body }: Pick<HttpRequest, "body">): AsyncIterable<Uint8Array> {
    return {
      [Symbol.asyncIterator]: () => {
        const reader = body[Symbol.asyncIterator]();
        this.#receives(true);
        return {
          next: async () => {
            this.#exchange()?.awaitBody();
            try {
              const result = await reader.next();
              this.#moved = this.#clock.now();
              if (result.done === true) this.#receives(false);
              return result;
            } catch (error) {
              this.#isReceiving = false;
              throw error;
            } finally {
              this.#exchange()?.resume();
            }
          },
          return: async () => {
            this.#receives(false);
            return (await reader.return?.()) ?? { done: true, value: undefined };
          },
        };
      },
    };
  }

  #sent(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return readOnce(() => {
      const reader = body[Symbol.asyncIterator]();
      let broken: { readonly error: Error } | undefined;
      this.#moved = this.#clock.now();
      this.#watch(
        () => this.#idleMs,
        () => {
          const error = new DeadlineExceeded("Nothing moved in either direction");
          broken = { error };
          this.#exchange()?.expire(error);
          reader.return?.().catch(() => {});
          this.#breakOff?.(error);
        },
      );
      this.#recheck = undefined;
      return {
        next: async () => {
          if (broken !== undefined) throw broken.error;
          this.#moved = this.#clock.now();
          try {
            const result = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
              this.#breakOff = reject;
              reader.next().then(resolve, reject);
            });
            this.#moved = this.#clock.now();
            if (result.done === true) this.#cancel();
            return result;
          } catch (error) {
            this.#cancel();
            throw error;
          } finally {
            this.#breakOff = undefined;
          }
        },
        return: async () => {
          this.#cancel();
          return (await reader.return?.()) ?? { done: true, value: undefined };
        },
      };
    });
  }

  /** Calls `end` once nothing has moved for as long as `limit` says. */
  #watch(limit: () => number, end: () => void): void {
    const check = (): void => {
      const left = this.#moved + limit() - this.#clock.now();
      if (left > 0) this.#cancel = this.#clock.after(left, check);
      else end();
    };
    this.#recheck = () => {
      this.#cancel();
      check();
    };
    this.#recheck();
  }

  #receives(isReceiving: boolean): void {
    this.#isReceiving = isReceiving;
    this.#recheck?.();
  }
}

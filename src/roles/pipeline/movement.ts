// Times of a request whose bodies are streams. Until the head of the answer, the call's deadline counts from the
// last byte that moved. While bodies move, a pause in both directions ends them. Transports have a limit of their
// own for waiting on the other service.

import { DeadlineExceeded } from "../../base/errors.ts";
import { BreakableBody } from "../../http/breakable-body.ts";
import { Idle } from "../../http/idle.ts";
import type { Clock, HttpRequest, HttpResponse } from "../../base/ports.ts";
import type { Exchange } from "../../wire/exchange.ts";

/** The exchange whose place is given up while a reader of the body waits for its caller. */
type Moving = Pick<Exchange, "awaitBody" | "resume" | "expire">;

export class Movement {
  readonly #idleMs: number;
  readonly #exchange: () => Moving | undefined;
  readonly #idle: Idle;
  #onIdle: () => void = () => {};
  #isReceiving = false;
  /** The limit that counts until the head, while the request's body isn't being read. */
  #headMs: number | undefined;

  /** Bodies may stand still for `idleMs`. `exchange` returns the exchange with the bodies, once it is there. */
  constructor(clock: Clock, idleMs: number, exchange: () => Moving | undefined) {
    this.#idleMs = idleMs;
    this.#exchange = exchange;
    this.#idle = new Idle(clock, () => this.#onIdle());
  }

  /** The request's body is being read, and isn't complete. */
  get isReceiving(): boolean {
    return this.#isReceiving;
  }

  /**
   * Calls `late` when the head of the answer isn't there `ms` after the last byte of the request's body, or when
   * that body stands still. Returns a function that ends the watch.
   */
  untilHead(ms: number, late: () => void): () => void {
    this.#onIdle = late;
    this.#headMs = ms;
    this.#receives(this.#isReceiving);
    return () => {
      this.#headMs = undefined;
      this.#idle.stop();
    };
  }

  /** The answer, with a body that ends with an error when nothing moves any more. */
  response(response: HttpResponse): HttpResponse {
    const { body, status, headers } = response;
    if (body === undefined || typeof body === "string" || body instanceof Uint8Array)
      return response;
    const idle = this.#idle;
    const sent = new BreakableBody(body, {
      onMove: () => {
        idle.moved();
        idle.limit(this.#idleMs);
      },
      onEnd: () => idle.stop(),
    });
    this.#onIdle = () => {
      const error = new DeadlineExceeded("Nothing moved in either direction");
      this.#exchange()?.expire(error);
      sent.breakOff(error);
    };
    return { status, headers, body: sent };
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
              this.#idle.moved();
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

  #receives(isReceiving: boolean): void {
    this.#isReceiving = isReceiving;
    if (this.#headMs !== undefined) this.#idle.limit(isReceiving ? this.#idleMs : this.#headMs);
  }
}

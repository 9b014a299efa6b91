// Times of a request whose bodies are streams. Until the head of the answer, the call's deadline
// counts from the last byte that moved. While bodies move, a pause in both directions ends them.
// Transports have a limit of their own, of what they wait for from the service that they ask.

import { DeadlineExceeded, RequestTimeout } from "../../base/errors.ts";
import { readOnce } from "../../http/bodies.ts";
import type { Clock, HttpRequest, HttpResponse } from "../../base/ports.ts";
import type { Limits } from "../../base/limits.ts";

type Expire = (error: Error) => void;

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
  #expire: Expire = () => {};
  /** Ends what waits for the answer's head. */
  #end: ((error: Error) => void) | undefined;

  readonly #onWaiting: (isWaiting: boolean) => void;

  /** `onWaiting` gets `true` when a reader of the body waits for its caller, and `false` after that. */
  constructor(
    clock: Clock,
    { idleTimeoutMs }: Pick<Limits, "idleTimeoutMs">,
    onWaiting: (isWaiting: boolean) => void = () => {},
  ) {
    this.#clock = clock;
    this.#onWaiting = onWaiting;
    this.#idleMs = idleTimeoutMs;
    this.#moved = clock.now();
  }

  /** The request, with a body that reports its movement. */
  request(request: HttpRequest): HttpRequest {
    const body = this.#received(request);
    return {
      method: request.method,
      target: request.target,
      scheme: request.scheme,
      headers: request.headers,
      ...(request.address !== undefined && { address: request.address }),
      ...(request.waitedMs !== undefined && { waitedMs: request.waitedMs }),
      ...(request.notes !== undefined && { notes: request.notes }),
      body,
      readBody: async (limit) => await request.readBody(limit),
      get isReceiving() {
        return request.isReceiving === true;
      },
      get signal() {
        return request.signal;
      },
    };
  }

  /** The outcome of `act`, or the error of the deadline, after `expire` has been called with it. */
  untilHead(
    deadline: number,
    expire: Expire,
    act: () => Promise<HttpResponse>,
  ): Promise<HttpResponse> {
    const budget = deadline - this.#clock.now();
    this.#expire = expire;
    return new Promise((resolve, reject) => {
      if (budget <= 0) return reject(new DeadlineExceeded());
      this.#end = (error) => {
        this.#recheck = undefined;
        expire(error);
        reject(error);
      };
      this.#watch(
        () => (this.#isReceiving ? this.#idleMs : budget),
        () =>
          this.end(
            this.#isReceiving
              ? new RequestTimeout("The request's body did not arrive in time")
              : new DeadlineExceeded(),
          ),
      );
      act()
        // Before the answer is sent, which sets the timer again.
        .finally(() => {
          this.#recheck = undefined;
          this.#end = undefined;
          this.#cancel();
        })
        .then(resolve, reject);
    });
  }

  /** Ends the request with an error, unless the head of its answer is there. */
  end(error: Error): void {
    this.#end?.(error);
  }

  /** The answer, with a body that ends with an error when nothing moves any more. */
  response(response: HttpResponse): HttpResponse {
    const { body } = response;
    if (body === undefined || typeof body === "string" || body instanceof Uint8Array)
      return response;
    return { ...response, body: this.#sent(body) };
  }

  #received({ body }: HttpRequest): AsyncIterable<Uint8Array> {
    return {
      [Symbol.asyncIterator]: () => {
        const reader = body[Symbol.asyncIterator]();
        this.#receives(true);
        return {
          next: async () => {
            this.#onWaiting(true);
            try {
              const result = await reader.next();
              this.#moved = this.#clock.now();
              if (result.done === true) this.#receives(false);
              return result;
            } catch (error) {
              this.#isReceiving = false;
              throw error;
            } finally {
              this.#onWaiting(false);
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
          this.#expire(error);
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

// Answers of routes that are being sent while their module is replaced, in development. Nothing that
// the new module does would reach them, so they end, and their callers can ask again.

import { type Clock, type HttpResponse, TransportError } from "../../base/ports.ts";
import { readOnce, stopReading } from "../../http/bodies.ts";
import type { ProcedureFunction } from "../../runtime/seam.ts";
import type { Exchange } from "../../wire/exchange.ts";
import { patienceMs } from "../times.ts";

export class OpenAnswers {
  readonly #clock: Clock;
  /** What ends the answers of a function. */
  readonly #ends = new Map<ProcedureFunction, Set<() => void>>();
  readonly #replaced = new WeakSet<ProcedureFunction>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborts the signals of requests that this function answers, and breaks their answers off. */
  replace(run: ProcedureFunction): void {
    this.#replaced.add(run);
    for (const end of this.#ends.get(run) ?? []) end();
  }

  /** The answer, which ends when its function is replaced. */
  follow(
    { name, run }: { readonly name: string; readonly run: ProcedureFunction },
    exchange: Pick<Exchange, "expire">,
    answer: HttpResponse,
  ): HttpResponse {
    const { body } = answer;
    if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return answer;
    const error = new TransportError(`the module of the route '${name}' has been replaced`, true);
    let isOver = false;
    let rejectRead: ((error: Error) => void) | undefined;
    const end = (): void => {
      exchange.expire(error);
      this.#clock.after(patienceMs.replaced, () => {
        isOver = true;
        rejectRead?.(error);
      });
    };
    const ends = this.#ends.get(run) ?? new Set();
    this.#ends.set(run, ends.add(end));
    const forget = (): void => {
      ends.delete(end);
      if (ends.size === 0) this.#ends.delete(run);
    };
    // It was replaced before it answered.
    if (this.#replaced.has(run)) end();
    const following = readOnce(() => {
      const reader = body[Symbol.asyncIterator]();
      return {
        async next(): Promise<IteratorResult<Uint8Array, undefined>> {
          try {
            const read = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
              rejectRead = reject;
              if (isOver) reject(error);
              else reader.next().then(resolve, reject);
            });
            if (read.done !== true) return read;
            forget();
            return { done: true, value: undefined };
          } catch (failure) {
            forget();
            stopReading(reader);
            throw failure;
          }
        },
        async return(): Promise<IteratorResult<Uint8Array, undefined>> {
          forget();
          stopReading(reader);
          return { done: true, value: undefined };
        },
      };
    });
    const { status, headers } = answer;
    return { status, headers, body: following };
  }
}

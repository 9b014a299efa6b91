// Answers of routes that are being sent while their module is replaced, in development. Nothing that
// the new module does would reach them, so they end, and their callers can ask again.

import { type Clock, type HttpResponse, TransportError } from "../../base/ports.ts";
import { BreakableBody } from "../../http/breakable-body.ts";
import type { ProcedureFunction } from "../../runtime/procedure-function.ts";
import type { Exchange } from "../../wire/exchange.ts";
import { patienceMs } from "../common/times.ts";

export class OpenAnswers {
  readonly #clock: Clock;
  /** The ends of a function's answers. */
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
    const { status, headers, body } = answer;
    if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return answer;
    const error = new TransportError(`the module of the route '${name}' has been replaced`, true);
    const ends = this.#ends.get(run) ?? new Set();
    const end = (): void => {
      exchange.expire(error);
      this.#clock.after(patienceMs.replaced, () => sent.breakOff(error));
    };
    const sent = new BreakableBody(body, {
      onEnd: () => {
        ends.delete(end);
        if (ends.size === 0) this.#ends.delete(run);
      },
    });
    this.#ends.set(run, ends.add(end));
    // The function was replaced before it answered.
    if (this.#replaced.has(run)) end();
    return { status, headers, body: sent };
  }
}

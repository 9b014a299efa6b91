// The events for viewers: a snapshot, then the changes since they last read.

import type { ConsoleChange, ConsoleState } from "../console-state.ts";
import type { Clock } from "../../src/base/ports.ts";
import type { Facts, Overview } from "./overview.ts";
import type { Viewers } from "./viewers.ts";

/** How far a reader has got. */
export interface Cursor {
  readonly call: number;
  readonly rates: number;
  readonly facts: Facts;
}

export interface Snapshot {
  readonly state: ConsoleState;
  readonly cursor: Cursor;
}

export class View {
  readonly #clock: Clock;
  readonly #overview: Overview;
  readonly #viewers: Viewers;
  readonly #stopping = new AbortController();

  constructor(clock: Clock, overview: Overview, viewers: Viewers) {
    this.#clock = clock;
    this.#overview = overview;
    this.#viewers = viewers;
  }

  get stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Ends all pauses. */
  stop(): void {
    this.#stopping.abort();
  }

  snapshot(): Snapshot {
    const watch = this.#viewers.begin();
    const facts = this.#overview.read();
    const { development, ...rest } = facts;
    const { rates, revision } = watch.rates(0);
    const { calls } = watch.after(0);
    const state: ConsoleState = {
      format: 1,
      ...rest,
      ...(development === undefined ? {} : { development }),
      figures: watch.figures(),
      rates: rates.filter((rate) => rate.calls > 0),
      calls,
    };
    return { state, cursor: { call: watch.number, rates: revision, facts } };
  }

  /** Changes since `cursor`. Without `change`, only time has passed. */
  since(cursor: Cursor): { readonly change?: ConsoleChange; readonly cursor: Cursor } {
    const watch = this.#viewers.begin();
    const facts = this.#overview.read();
    const { calls, flows } = watch.after(cursor.call);
    const { rates, revision } = watch.rates(cursor.rates);
    const figures = watch.figures();
    const changed = changedFacts(facts, cursor.facts);
    const next = { call: watch.number, rates: revision, facts };
    const isQuiet =
      calls.length === 0 &&
      rates.length === 0 &&
      Object.keys(changed).length === 0 &&
      figures.open === 0 &&
      figures.seconds.every(([count]) => count === 0);
    if (isQuiet) return { cursor: next };
    const change = { figures, flows, calls, ...(rates.length === 0 ? {} : { rates }), ...changed };
    return { change, cursor: next };
  }

  /** Resolves after `ms`, when `signal` aborts, or when the service stops. */
  async pause(ms: number, signal: AbortSignal): Promise<void> {
    const signals = [signal, this.#stopping.signal];
    if (signals.some(({ aborted }) => aborted)) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        cancel();
        for (const each of signals) each.removeEventListener("abort", wake);
        resolve();
      };
      const cancel = this.#clock.after(ms, wake);
      for (const each of signals) each.addEventListener("abort", wake);
    });
  }
}

function changedFacts(facts: Facts, previous: Facts): Partial<ConsoleChange> {
  const names = ["service", "members", "procedures", "development"] as const;
  return Object.fromEntries(
    names.filter((name) => facts[name] !== previous[name]).map((name) => [name, facts[name]]),
  );
}

// Figures of each procedure over the last minute.

import type { ProcedureRate, SeenCall } from "../../console-state.ts";
import { Window } from "./window.ts";
import { forgetMs, ratesRefreshMs } from "../base/times.ts";

/** Bounded because anyone can call names that don't exist. */
const maxNames = 5_000;

interface Entry {
  readonly window: Window;
  rate: ProcedureRate;
  /** When `rate` last changed. */
  revision: number;
  calledAt: number;
}

export class ProcedureRates {
  readonly #since: number;
  readonly #entries = new Map<string, Entry>();
  #revision = 0;
  #refreshedAt = -Infinity;

  constructor(since: number) {
    this.#since = since;
  }

  add(now: number, { fqn, version, ms }: SeenRate, failed: boolean): void {
    const key = `${fqn} ${version}`;
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      if (this.#entries.size >= maxNames) return;
      const rate = { fqn, version, calls: 0, failures: 0, perSecond: 0, p50: 0, p95: 0 };
      entry = { window: new Window(), rate, revision: 0, calledAt: now };
      this.#entries.set(key, entry);
    }
    entry.calledAt = now;
    entry.window.add(now, ms, failed);
  }

  /** The rates that changed after `revision`. */
  after(revision: number, now: number): { rates: readonly ProcedureRate[]; revision: number } {
    if (now - this.#refreshedAt >= ratesRefreshMs) {
      this.#refreshedAt = now;
      this.#refresh(now);
    }
    const rates = [...this.#entries.values()]
      .filter((entry) => entry.revision > revision)
      .map(({ rate }) => rate);
    return { rates, revision: this.#revision };
  }

  #refresh(now: number): void {
    const revision = this.#revision + 1;
    const seconds = Window.seconds(now, this.#since);
    for (const [key, entry] of this.#entries) {
      if (now - entry.calledAt > forgetMs) this.#entries.delete(key);
      const figures = entry.window.read(now);
      const perSecond = Math.round((figures.calls / seconds) * 100) / 100;
      const { fqn, version } = entry.rate;
      const rate = { fqn, version, ...figures, perSecond };
      if (isSame(rate, entry.rate)) continue;
      entry.rate = rate;
      entry.revision = this.#revision = revision;
    }
  }
}

type SeenRate = Pick<SeenCall, "fqn" | "version" | "ms">;

function isSame(rate: ProcedureRate, previous: ProcedureRate): boolean {
  return (["calls", "failures", "perSecond", "p50", "p95"] as const).every(
    (figure) => rate[figure] === previous[figure],
  );
}

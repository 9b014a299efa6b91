// The measures of a run, beside the promises.

import type { Kind } from "./application.ts";
import type { Run, Runs } from "./ledger.ts";
import type { Outcome, Plan } from "./load.ts";

export interface Measure {
  /** The row of docs/reliability.md: `R1`. */
  readonly row: string;
  readonly what: string;
  readonly unit: Unit;
  readonly value: number;
  readonly promised?: Bound | undefined;
  /** Holds however busy the machine is, so that the short form can check it. */
  readonly isCertain?: boolean;
}

export type Unit = "calls" | "ms" | "×" | "%" | "MB" | "";

export interface Bound {
  readonly most?: number;
  readonly least?: number;
}

export const keeps = ({ value, promised }: Measure): boolean =>
  value <= (promised?.most ?? Infinity) && value >= (promised?.least ?? -Infinity);

/** A shorter way to write measures of one row. */
export const rowOf =
  (row: string) =>
  (
    what: string,
    unit: Unit,
    value: number,
    promised?: Bound,
    isCertain: boolean = false,
  ): Measure => ({ row, what, unit, value, promised, isCertain });

/** The certain form: on every machine, in every run. */
export const certain = true;

export const hasFailed = ({ status }: Outcome): boolean => status !== 200;

/** Failures that say nothing of what happened: neither 502 nor 503, or without `x-svc-error`. */
export const isUnexplained = ({ status, error }: Outcome): boolean =>
  status === undefined || ![502, 503, 504].includes(status) || error === undefined;

/** How long after its deadline the latest call ended. */
export const overrun = (outcomes: readonly Outcome[], { deadlineMs }: Plan): number =>
  Math.max(0, ...outcomes.map(({ at, ended }) => ended - at - deadlineMs));

/** The greatest value, or `otherwise` of an empty list. */
export const worst = (values: readonly number[], otherwise = 0): number =>
  values.reduce(
    (most, value) => Math.max(most, value),
    values.length === 0 ? otherwise : -Infinity,
  );

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? sorted[middle]!
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? NaN;
}

/** The measures of all loads: R11, and that every call ends. */
export function always(outcomes: readonly Outcome[], runs: Runs): Measure[] {
  const r11 = rowOf("R11");
  const runsOf = ({ id }: Outcome): readonly Run[] => runs.get(id) ?? [];
  const once = outcomes.filter(({ kind }) => kind !== "stock");
  const declared = outcomes.filter(({ kind }) => kind === "stock");
  const most = (list: readonly Outcome[]): number =>
    worst(list.map((outcome) => runsOf(outcome).length));
  return [
    r11("calls made", "calls", outcomes.length),
    ...(once.length === 0
      ? []
      : [r11("times that a call ran, at most", "×", most(once), { most: 1 }, certain)]),
    ...(declared.length === 0
      ? []
      : [
          r11(
            "times that an idempotent call ran, at most",
            "×",
            most(declared),
            { most: 2 },
            certain,
          ),
        ]),
    r11(
      "calls answered without having run",
      "calls",
      outcomes.filter((outcome) => !hasFailed(outcome) && runsOf(outcome).length === 0).length,
      { most: 0 },
      certain,
    ),
    r11(
      "calls without an answer 4 s after their deadline",
      "calls",
      outcomes.filter(({ error }) => error === "hung").length,
      { most: 0 },
      certain,
    ),
  ];
}

/** Failures by kind, status and error: `order 503 NodeNotAvailable × 3`. */
export function failuresOf(outcomes: readonly Outcome[]): string {
  const counts = new Map<string, number>();
  for (const { kind, status, error } of outcomes.filter(hasFailed)) {
    const name = [kind, status, error].filter((word) => word !== undefined).join(" ");
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${name} × ${count}`).join(", ");
}

export const ofKind = (outcomes: readonly Outcome[], kind: Kind): readonly Outcome[] =>
  outcomes.filter((outcome) => outcome.kind === kind);

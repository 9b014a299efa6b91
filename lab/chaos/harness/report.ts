// Tables of what was promised and measured: in the terminal, and in docs/reliability.md.

import { readFile, writeFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";

import { type Bound, keeps, type Measure, median, type Unit } from "./measure.ts";

/** All runs of one subject. */
export interface Measured {
  readonly subject: string;
  readonly runs: readonly (readonly Measure[])[];
}

interface Line {
  readonly name: string;
  readonly unit: Unit;
  readonly promised: Bound | undefined;
  /** Of each subject: nothing if it has no such measure. */
  readonly values: readonly (readonly number[])[];
}

function linesOf(measured: readonly Measured[]): readonly Line[] {
  const all = measured.map(({ runs }) => runs.flat());
  const nameOf = ({ row, what }: Measure): string => `${row}: ${what}`;
  const first = new Map<string, Measure>();
  for (const measure of all.flat())
    if (!first.has(nameOf(measure))) first.set(nameOf(measure), measure);
  return [...first]
    .map(([name, { unit, promised }]) => ({
      name,
      unit,
      promised,
      values: all.map((list) =>
        list.filter((measure) => nameOf(measure) === name).map(({ value }) => value),
      ),
    }))
    .sort((a, b) => Number(a.name.startsWith("R11")) - Number(b.name.startsWith("R11")));
}

const digits = (value: number, unit?: Unit): string =>
  !Number.isFinite(value)
    ? "never"
    : Math.abs(value) >= 100 || Number.isInteger(value) || unit === "ms"
      ? Math.round(value).toLocaleString("en")
      : value.toFixed(Math.abs(value) >= 10 ? 0 : 2);

function bound({ promised, unit }: Pick<Measure, "promised" | "unit">): string {
  if (promised === undefined) return "–";
  const { most, least } = promised;
  const text =
    most === undefined
      ? `≥ ${digits(least ?? 0, unit)}`
      : most === 0
        ? "0"
        : `≤ ${digits(most, unit)}`;
  return unit === "calls" ? text : `${text} ${unit}`.trim();
}

/** The worst of all runs, and the median in brackets. */
function cell(values: readonly number[], { promised, unit }: Line): string {
  if (values.length === 0) return "–";
  const worst = promised?.least === undefined ? Math.max(...values) : Math.min(...values);
  const middle = median(values);
  const text =
    worst === middle ? digits(worst, unit) : `${digits(worst, unit)} (${digits(middle, unit)})`;
  const isKept = keeps({ row: "", what: "", unit: "", value: worst, promised });
  return isKept ? text : `**${text}**`;
}

export function table(measured: readonly Measured[]): string {
  const head = ["", "promised", ...measured.map(({ subject }) => subject)];
  const rows = linesOf(measured).map((line) => [
    line.name,
    bound(line),
    ...line.values.map((values) => cell(values, line)),
  ]);
  return [head, head.map(() => "---"), ...rows]
    .map((words) => `| ${words.join(" | ")} |`)
    .join("\n");
}

/** Promises that a run of Seamline broke. */
export const brokenPromises = (measured: readonly Measured[]): readonly string[] =>
  measured
    .filter(({ subject }) => subject === "Seamline")
    .flatMap(({ runs }) => runs.flat())
    .filter((measure) => !keeps(measure))
    .map(
      (measure) =>
        `${measure.row}: ${measure.what}: ${digits(measure.value)}, promised ${bound(measure)}`,
    );

export function machine(): string {
  const [first] = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${first?.model.trim() || "unknown processor"}, ${gigabytes} GB, Linux ${release().split("-")[0]}, Node ${process.versions.node}`;
}

const page = join(import.meta.dirname, "../../../docs/reliability.md");

/** Replaces the part of the page between a scenario's markers. */
export async function writeToPage(scenario: string, text: string): Promise<void> {
  const [begin, end] = [`<!-- chaos: ${scenario} -->`, "<!-- /chaos -->"];
  const old = await readFile(page, "utf8");
  const from = old.indexOf(begin);
  const to = old.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`docs/reliability.md has no '${begin}' … '${end}'`);
  await writeFile(page, `${old.slice(0, from + begin.length)}\n\n${text}\n\n${old.slice(to)}`);
}

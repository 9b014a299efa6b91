// Tables of results, and the machine that they come from.

import { cpus, loadavg, totalmem } from "node:os";

import { tool } from "./load.mjs";

/** @typedef {{ row: string, name: string, unit: string, share: boolean, results: import("./rounds.mjs").Result[] }} Table */

/** The machine, without anything that identifies it. */
export function machine() {
  const [first] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: first?.model ?? "unknown",
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 1e9),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    load: tool,
    loadBefore: Number(loadavg()[0]?.toFixed(1)),
  };
}

/** Three digits that count. @param {number} value */
export const digits = (value) =>
  Number.isInteger(value) || value >= 100
    ? Math.round(value).toLocaleString("en")
    : value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3);

/** Columns under their heads. @param {string[]} heads @param {string[][]} lines */
export function columns(heads, lines) {
  const row = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [row(heads), `|${heads.map((_, at) => (at === 0 ? "---" : "--:")).join("|")}|`]
    .concat(lines.map(row))
    .join("\n");
}

/**
 * A table as Markdown. Columns that no subject has a figure for are left out.
 * @param {Table} table
 */
export function markdown({ name, unit, share, results }, named = true) {
  const extras = [...new Set(results.flatMap(({ remarks = {} }) => Object.keys(remarks)))];
  const all = [
    [unit, ({ value }) => digits(value)],
    [share ? "share of the limit's speed" : "× limit", ({ ratio }) => ratio?.toFixed(2)],
    ["95 %", ({ low, high }) => low && `${low.toFixed(2)} – ${high.toFixed(2)}`],
    ...extras.map((key) => [
      key,
      ({ remarks }) => remarks?.[key] !== undefined && digits(remarks[key]),
    ]),
  ];
  const measured = results.filter(({ problem }) => problem === undefined);
  const shownColumns = all.filter(([, cell], at) => at === 0 || measured.some(cell));
  const lines = results.map((result) => [
    result.subject,
    ...shownColumns.map(([, cell], at) => {
      if (result.problem === undefined) return cell(result) || "";
      return at === 0 ? `not measured: ${result.problem.replaceAll("|", "\\|")}` : "";
    }),
  ]);
  const text = columns(["subject", ...shownColumns.map(([head]) => head)], lines);
  return `${named ? `${name}\n\n` : ""}${text}\n`;
}

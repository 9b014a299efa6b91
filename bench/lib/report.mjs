// Tables of results, and the machine that they come from.

import { cpus, loadavg, totalmem } from "node:os";

import { tool } from "./load.mjs";

/** @typedef {{ row: string, title: string, name: string, unit: string, share: boolean, command: string, results: import("./rounds.mjs").Result[] }} Table */

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
  value >= 100
    ? Math.round(value).toLocaleString("en")
    : value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3);

/** @param {number | undefined} value */
const ratioText = (value) => (value === undefined ? "" : value.toFixed(2));

/** Columns under their heads. @param {string[]} heads @param {string[][]} lines */
export function columns(heads, lines) {
  const row = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [row(heads), `|${heads.map((_, at) => (at === 0 ? "---" : "--:")).join("|")}|`]
    .concat(lines.map(row))
    .join("\n");
}

/** A table as Markdown. @param {Table} table */
export function markdown({ name, unit, share, results }) {
  const extras = [...new Set(results.flatMap(({ remarks = {} }) => Object.keys(remarks)))];
  const lines = results.map(({ subject, value, ratio, low, high, remarks, problem }) => [
    subject,
    ...(problem === undefined
      ? [
          digits(value ?? NaN),
          ratioText(ratio),
          low === undefined ? "" : `${ratioText(low)} – ${ratioText(high)}`,
          ...extras.map((key) => (remarks?.[key] === undefined ? "" : digits(remarks[key]))),
        ]
      : [`not measured: ${problem.replaceAll("|", "\\|")}`, "", "", ...extras.map(() => "")]),
  ]);
  const word = share ? "share of the limit's speed" : "× limit";
  return `${name}\n\n${columns(["", unit, word, "95 %", ...extras], lines)}\n`;
}

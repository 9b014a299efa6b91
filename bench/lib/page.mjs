// docs/performance.md: the tables of one run, and where others are better.

import { writeFile } from "node:fs/promises";

import { chart } from "./chart.mjs";
import { digits, markdown } from "./report.mjs";

const docs = new URL("../../docs/", import.meta.url);

/** The part of a table that is about Seamline, and the part that is about others. */
function sides({ results }) {
  const measured = results.filter(({ problem }) => problem === undefined);
  const ours = measured.find(({ subject }) => subject.startsWith("Seamline"));
  const others = measured.filter(
    (result) => result !== measured[0] && !/^Seamline|procedures/.test(result.subject),
  );
  return { ours, others };
}

/** Whether a peer needs less: by intervals that don't touch, where there are any. */
function isBetter(peer, ours, share) {
  if (peer.low === undefined) return peer.value < ours.value;
  return share ? peer.low > ours.high : peer.high < ours.low;
}

/** One line for each case in which a peer is better, with the figures. */
function better(tables) {
  const lines = [];
  for (const table of tables) {
    const { ours, others } = sides(table);
    if (!ours) continue;
    const found = others.filter((peer) => isBetter(peer, ours, table.share));
    if (found.length === 0) continue;
    const figure = ({ ratio, value }) =>
      ratio === undefined ? `${digits(value)} ${table.unit}` : ratio.toFixed(2);
    const names = found.map((peer) => `${peer.subject} ${figure(peer)}`).join(", ");
    lines.push(
      `- **${table.row.toUpperCase()}, ${table.name}:** ${names}; ${ours.subject} ${figure(ours)}.`,
    );
  }
  return lines.join("\n");
}

/** Figures of a growing number of things, as ratios to the smallest. */
function growth(tables) {
  return tables
    .filter(({ row, results }) => row === "p8" && results[0]?.subject.endsWith("procedures"))
    .map(({ name, results }) => ({
      name,
      points: results
        .filter(({ low, subject }) => low !== undefined && subject.endsWith("procedures"))
        .map(({ subject, ratio }) => [Number(subject.replaceAll(/\D/g, "")), ratio]),
    }))
    .filter(({ points }) => points.length > 1);
}

/** @param {{ machine: any, options: any, tables: any[] }} found */
export async function writePage({ machine, options, tables }) {
  const rows = [...new Set(tables.map(({ row }) => row))];
  const { date, cpu, cores, memoryGB, node, platform, load, loadBefore } = machine;
  const busy =
    loadBefore > 0.3 * cores
      ? `Others worked on it at the same time (a load of ${loadBefore} before the run): trust the ratios with their intervals, and no figure by itself.`
      : "Nothing else ran on it.";
  const curves = growth(tables);
  if (curves.length > 0) await writeFile(new URL("images/growth.svg", docs), chart(curves));
  const sections = [];
  for (const row of rows) {
    const { title, about } = await import(`../rows/${row}.mjs`);
    const all = tables.filter((table) => table.row === row);
    const picture =
      row === "p8" && curves.length > 0
        ? "\n![Cost by the number of procedures, as a ratio to ten](images/growth.svg)\n"
        : "";
    const parts = all.map((table) => `**${table.name}**\n\n${markdown(table, false)}`);
    sections.push(
      `## ${row.toUpperCase()}: ${title}\n\n${about}\n\n\`npm run bench -- --only ${row}\`\n${picture}\n${parts.join("\n")}`,
    );
  }
  const text = `# Performance

What calls, starts, builds and pages cost: in Seamline, in others, and at the limit of the machine. \`npm run bench -- --page\` measures all of it
and writes this page. [How it measures](../bench/README.md), with what the words and columns mean, is worth reading before any figure.

This run: ${date}, ${cpu}, ${cores} cores, ${memoryGB} GB, Node ${node} on ${platform}, load by ${load}; ${options.rounds} rounds of ${options.seconds} s after ${options.warmup} s.
${busy}

- A ratio is to the limit, the first line of a table, in the same round. The limit does nothing but the one thing that is measured: no names, no
  limits, no access, no versions. Below 1.00 is noise.
- Seamline runs with the configuration that ships. Versions of the others are in [bench/package.json](../bench/package.json).

## Where others are better

By more than the noise of this run:

${better(tables) || "Nowhere."}

${sections.join("\n")}`;
  await writeFile(new URL("performance.md", docs), `${text.trimEnd()}\n`);
}

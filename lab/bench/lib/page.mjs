// docs/performance.md: the tables of one run, and where others are better.

import { readFile, writeFile } from "node:fs/promises";

import { chart } from "./chart.mjs";
import { digits, markdown } from "./report.mjs";

const docs = new URL("../../../docs/", import.meta.url);

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

/** Pictures that a row draws of its tables, in words and files. */
async function drawn(pictures) {
  const lines = [];
  for (const { file, ...picture } of pictures) {
    if (picture.curves.length === 0) continue;
    await writeFile(new URL(`images/${file}.svg`, docs), chart(picture));
    lines.push(`![${picture.title}](images/${file}.svg)\n`);
  }
  return lines.join("\n");
}

/** The section of a row. */
async function section(row, tables, about = "") {
  const found = await import(`../rows/${row}.mjs`);
  const all = tables.filter((table) => table.row === row);
  const pictures = await drawn(found.pictures?.(all) ?? []);
  const parts = all.map((table) => `**${table.name}**\n\n${markdown(table, false)}`);
  const head = [
    `## ${row.toUpperCase()}: ${found.title}`,
    found.about,
    `\`npm run bench -- --only ${row}\``,
  ].join("\n\n");
  const notes = found.notes === undefined ? "" : `\n${found.notes}\n`;
  return `${head}\n${about}\n${pictures === "" ? "" : `${pictures}\n`}${parts.join("\n")}${notes}`;
}

/** The machine and the run of these figures. */
function ofRun({ machine, options }) {
  const { date, cpu, cores, memoryGB, node, platform, load, loadBefore } = machine;
  const busy =
    loadBefore > 0.3 * cores
      ? `Others worked on it at the same time (a load of ${loadBefore} before the run): trust the ratios with their intervals, and no figure by itself.`
      : "Nothing else ran on it.";
  return `${date}, ${cpu}, ${cores} cores, ${memoryGB} GB, Node ${node} on ${platform}, load by ${load}; ${options.rounds} rounds of ${options.seconds} s after ${options.warmup} s.
${busy}`;
}

/**
 * Replaces the sections of these rows in the page of a whole run.
 * @param {{ machine: any, options: any, tables: any[] }} found
 */
export async function replaceRows(found) {
  const path = new URL("performance.md", docs);
  const [top = "", ...sections] = (await readFile(path, "utf8")).split(/^(?=## )/m);
  const about = `\nMeasured by itself: ${ofRun(found)}\n`;
  for (const row of new Set(found.tables.map((table) => table.row))) {
    const text = `${(await section(row, found.tables, about)).trimEnd()}\n\n`;
    const at = sections.findIndex((other) => other.startsWith(`## ${row.toUpperCase()}: `));
    sections.splice(at < 0 ? sections.length : at, 1, text);
  }
  await writeFile(path, `${[top, ...sections].join("").trimEnd()}\n`);
}

/** @param {{ machine: any, options: any, tables: any[] }} found */
export async function writePage(found) {
  const { tables } = found;
  const rows = [...new Set(tables.map(({ row }) => row))];
  const sections = [];
  for (const row of rows) sections.push(await section(row, tables));
  const text = `# Performance

What calls, starts, builds and pages cost: in Seamline, in others, and at the limit of the machine. \`npm run bench -- --page\` measures all of it
and writes this page. [How it measures](../lab/bench/README.md), with what the words and columns mean, is worth reading before any figure.

This run: ${ofRun(found)}

- A ratio is to the limit, the first line of a table, in the same round. The limit does nothing but the one thing that is measured: no names, no
  limits, no access, no versions. Below 1.00 is noise.
- Seamline runs with the configuration that ships. Versions of the others are in [lab/bench/package.json](../lab/bench/package.json).

## Where others are better

By more than the noise of this run:

${better(tables) || "Nowhere."}

${sections.join("\n")}`;
  await writeFile(new URL("performance.md", docs), `${text.trimEnd()}\n`);
}

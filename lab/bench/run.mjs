// The bench: what calls, starts, builds and pages cost, beside the limits of the machine and what
// others need for the same. `npm run bench -- --only p1,p3 --rounds 10 --seconds 2`; --help says more.

import { readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseArgs } from "node:util";

import { replaceRows, writePage } from "./lib/page.mjs";
import { machine, markdown } from "./lib/report.mjs";
import { run } from "./lib/rounds.mjs";

/** The times that people wait for come first. */
const pages = ["p11", "p12"];

const help = `npm run bench -- [options]

  --only p1,p3      these rows (all: ${rowNames().join(", ")})
  --cases add,1 KB  of these, the cases whose name begins so
  --subjects seam   of each case, the limit and the subjects whose name contains one of these words
  --against FOLDER  also measures the dist/ of another checkout, called "before", in the same rounds
  --rounds N        interleaved rounds (10)
  --seconds N       seconds a subject has in each (2)
  --warmup N        seconds before the first (10)
  --quick           3 rounds of 1 second after 2
  --json FILE       where to write figures of every round
  --markdown FILE   where to write the tables
  --page            writes docs/performance.md; with --only, these rows of it
  --from FILE       with --page: from the figures in this file, without measuring
`;

const { values: given } = parseArgs({
  options: {
    only: { type: "string" },
    cases: { type: "string" },
    subjects: { type: "string" },
    against: { type: "string" },
    rounds: { type: "string" },
    seconds: { type: "string" },
    warmup: { type: "string" },
    quick: { type: "boolean" },
    json: { type: "string" },
    markdown: { type: "string" },
    page: { type: "boolean" },
    from: { type: "string" },
    help: { type: "boolean" },
  },
});

function rowNames() {
  const names = readdirSync(new URL("rows", import.meta.url))
    .filter((name) => /^p\d+\.mjs$/.test(name))
    .map((name) => name.slice(0, -".mjs".length))
    .toSorted((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
  return [...pages, ...names.filter((name) => !pages.includes(name))];
}

/** @param {string | undefined} text */
const list = (text) => text?.split(",").map((word) => word.trim().toLowerCase());

/** @param {"rounds" | "seconds" | "warmup"} name @param {number} usual @param {number} quick */
function numberOf(name, usual, quick) {
  const number = Number(given[name] ?? (given.quick ? quick : usual));
  if (number > 0 || (name === "warmup" && number === 0)) return number;
  throw new Error(`--${name} must be a number above 0, not ${given[name]}`);
}

async function main() {
  if (given.page && (given.cases || given.subjects))
    throw new Error("--page takes no --cases or --subjects: the page shows whole rows");
  const options = {
    rounds: numberOf("rounds", 10, 3),
    seconds: numberOf("seconds", 2, 1),
    warmup: numberOf("warmup", 10, 2),
    subjects: list(given.subjects),
  };
  const wanted = list(given.only) ?? rowNames();
  const unknown = wanted.find((name) => !rowNames().includes(name));
  if (unknown) throw new Error(`There is no row ${unknown}; there are ${rowNames().join(", ")}`);
  const prefixes = list(given.cases) ?? [""];
  const found = { machine: machine(), options, tables: [] };
  const text = [];
  for (const row of wanted) {
    const { title, cases } = await import(`./rows/${row}.mjs`);
    text.push(`## ${row.toUpperCase()}: ${title}\n`);
    console.log(`\n## ${row.toUpperCase()}: ${title}\n`);
    for (const compared of cases({ against: given.against })) {
      const { name, unit, share = false } = compared;
      if (!prefixes.some((prefix) => name.toLowerCase().startsWith(prefix))) continue;
      const results = await run(compared, options, (line) => console.error(line));
      const table = { row, name, unit, share, results };
      found.tables.push(table);
      text.push(markdown(table));
      console.log(markdown(table));
      // After each, so that an interrupted run has what it measured.
      if (given.json) await write(given.json, `${JSON.stringify(found, undefined, 1)}\n`);
    }
  }
  if (given.markdown) await write(given.markdown, text.join("\n"));
  if (given.page) await (given.only ? replaceRows(found) : writePage(found));
}

/** @param {string} path @param {string} text */
async function write(path, text) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

if (given.help) console.log(help);
else if (given.from) {
  const found = JSON.parse(await readFile(given.from, "utf8"));
  await (given.only ? replaceRows(found) : writePage(found));
} else {
  await main();
  // Sockets of the last calls would keep it for a while.
  process.exit();
}

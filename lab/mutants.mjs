// `npm run mutants -- --seed 1 --count 600 src/split src/runtime/seam.ts`: plants a seeded sample of small
// bugs, one at a time, and lists those that no related test detects. Related tests are those of
// `test/unit` and `test/spec` that reach the function, quickest first, within a time budget. Files
// on disk don't change.
//
//   --seed 1         selects the sample
//   --count 600      the sample's size, spread over the functions by their weight
//   --budget 20      seconds of tests for one mutant
//   --only id,id     runs only these, and shows the change and the first test that fails
//   --survivors      runs the survivors of the last run again
//   --tests a,b      test files or folders to choose the related tests from
//   --keep-table     keeps the table of which test reaches what, after small changes of the sources
//
// lab/mutants/equivalent.json lists mutants without an observable change, with the reasons.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createCompiler } from "./mutants/compiler.mjs";
import { apply, mutantsOf } from "./mutants/mutators.mjs";
import { relatedTests } from "./mutants/related.mjs";
import { Runner } from "./mutants/runner.mjs";
import { sampleOf } from "./mutants/sample.mjs";

/**
 * @typedef {import("./mutants/mutators.mjs").Mutant} Mutant
 * @typedef {"killed" | "timed out" | "not compiled" | "survived" | "no tests" | "equivalent"} Outcome
 * @typedef {{ mutant: Mutant, outcome: Outcome, test?: string, why?: string }} Verdict
 */

const root = join(import.meta.dirname, "..");
const reportFile = join(root, "node_modules/.cache/seamline-mutants/last.json");
// After this many mutants, checks that the failed tests pass in the same worker without a mutant.
const blockSize = 50;
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "600" },
    budget: { type: "string", default: "20" },
    only: { type: "string" },
    tests: { type: "string", default: "test/unit,test/spec" },
    survivors: { type: "boolean", default: false },
    "keep-table": { type: "boolean", default: false },
  },
});
const log = console.log;

/**
 * @param {string} path
 * @param {string} ending
 */
function filesOf(path, ending = ".ts") {
  const names = statSync(join(root, path)).isDirectory()
    ? readdirSync(join(root, path), { recursive: true, encoding: "utf8" }).map(
        (name) => `${path}/${name}`,
      )
    : [path];
  return names.filter((name) => name.endsWith(ending) && !name.endsWith(".d.ts")).toSorted();
}

/** @type {Map<string, string>} */
const texts = new Map();

/** A file's text when the run started, so that the files can be edited meanwhile.
 * @param {string} path
 */
function textOf(path) {
  const text = texts.get(path) ?? readFileSync(join(root, path), "utf8");
  texts.set(path, text);
  return text;
}

/** @returns {Mutant[]} */
function chosenMutants() {
  const places = positionals.length > 0 ? positionals : ["src"];
  const paths = new Set(places.flatMap((path) => filesOf(path.replace(/\/$/, ""))));
  const sources = [...paths].map((path) => ({ path, text: textOf(path) }));
  /** @type {string[] | undefined} */
  const ids = options.survivors
    ? JSON.parse(readFileSync(reportFile, "utf8")).survivors
    : options.only?.split(",");
  if (ids === undefined)
    return sampleOf(sources, { seed: Number(options.seed), count: Number(options.count) });
  const found = sources
    .flatMap(({ path, text }) => mutantsOf(path, text))
    .filter(({ id }) => ids.includes(id));
  const gone = ids.filter((id) => !found.some((mutant) => mutant.id === id));
  if (gone.length > 0) log(`Not in these sources: ${gone.join(", ")}`);
  return found;
}

/** @type {Readonly<Record<string, string>>} Reasons by the mutants' ids. */
const equivalent = Object.fromEntries(
  /** @type {{ id: string, reason: string }[]} */ (
    JSON.parse(textOf("lab/mutants/equivalent.json"))
  ).map(({ id, reason }) => [id, reason]),
);

const mutants = chosenMutants();
const runner = new Runner();
const compile = createCompiler(root);
const related = await relatedTests(root, {
  runner,
  tests: options.tests.split(",").flatMap((path) => filesOf(path, ".test.ts")),
  sources: ["src", "server", "client", "console"].flatMap((room) => filesOf(room)),
  isKept: options["keep-table"],
  log,
});

/**
 * @param {Mutant} mutant
 * @returns {Promise<Verdict>}
 */
async function judge(mutant) {
  const tests = related.of(mutant, Number(options.budget) * 1000);
  const text = apply(textOf(mutant.path), mutant);
  if (tests.length > 0) {
    const usualMs = tests.reduce((sum, test) => sum + related.ms(test), 0);
    const replacement = { path: join(root, mutant.path), text };
    const results = await runner.run({ tests, replacement, bail: true }, 5_000 + 5 * usualMs);
    if (results === "hung") return { mutant, outcome: "timed out" };
    const failed = results.find(({ errors }) => errors.length > 0);
    if (failed !== undefined)
      return { mutant, outcome: "killed", test: failed.test, why: failed.errors[0] ?? "" };
  }
  const error = compile(mutant.path, text);
  if (error !== undefined) return { mutant, outcome: "not compiled", why: error };
  return { mutant, outcome: tests.length === 0 ? "no tests" : "survived" };
}

/** Runs a block of mutants; those whose test fails without a mutant too run again in a fresh worker.
 * @param {readonly Mutant[]} block
 */
async function judgeBlock(block) {
  /** @type {Verdict[]} */
  const verdicts = [];
  for (const mutant of block) {
    const isEquivalent = equivalent[mutant.id] !== undefined && options.only === undefined;
    const started = performance.now();
    const verdict = isEquivalent
      ? { mutant, outcome: /** @type {const} */ ("equivalent") }
      : await judge(mutant);
    verdicts.push(verdict);
    report(verdict, performance.now() - started);
  }
  const tests = [...new Set(verdicts.flatMap(({ test }) => test ?? []))];
  const results = tests.length > 0 ? await runner.run({ tests, bail: false }, 600_000) : [];
  if (results !== "hung" && results.every(({ errors }) => errors.length === 0)) return verdicts;
  const isSuspect = (/** @type {string | undefined} */ test) =>
    test !== undefined &&
    (results === "hung" ||
      results.some((result) => result.test === test && result.errors.length > 0));
  for (const [index, { mutant, test }] of verdicts.entries()) {
    if (!isSuspect(test)) continue;
    await runner.restart();
    const again = await judge(mutant);
    verdicts[index] = again;
    log(`again, as ${test} failed without a mutant too: ${again.outcome} ${mutant.id}`);
  }
  return verdicts;
}

let judged = 0;

/**
 * @param {Verdict} verdict
 * @param {number} ms
 */
function report({ mutant, outcome, test, why }, ms) {
  const place = `${mutant.path}:${mutant.line}:${mutant.column}`;
  const seconds = (ms / 1000).toFixed(1);
  log(
    `${++judged}/${mutants.length} ${outcome} ${seconds} s ${mutant.id} ${place} ${mutant.mutator}${test ? ` (${test})` : ""}`,
  );
  if (options.only !== undefined) log(`${difference(mutant)}\n${why ?? ""}`);
}

/** @param {Mutant} mutant */
function difference({ path, original, text, start, end }) {
  const source = textOf(path);
  const from = source.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = source.indexOf("\n", end);
  const to = lineEnd === -1 ? source.length : lineEnd;
  const marked = (/** @type {string} */ sign, /** @type {string} */ words) =>
    (source.slice(from, start) + words + source.slice(end, to)).replace(/^/gm, `  ${sign} `);
  return `${marked("-", original)}\n${marked("+", text)}`;
}

/** @type {Verdict[]} */
const verdicts = [];
for (let at = 0; at < mutants.length; at += blockSize)
  verdicts.push(...(await judgeBlock(mutants.slice(at, at + blockSize))));
await runner.restart();

/** @param {Outcome} outcome */
const count = (outcome) => verdicts.filter((verdict) => verdict.outcome === outcome).length;
const alive = verdicts.filter(({ outcome }) => outcome === "survived" || outcome === "no tests");
for (const { mutant, outcome } of alive) {
  const { id, path, line, column, mutator, fn } = mutant;
  log(`\n${outcome}: ${id} ${path}:${line}:${column} (${mutator}, ${fn || "module"})`);
  log(difference(mutant));
}
mkdirSync(join(reportFile, ".."), { recursive: true });
writeFileSync(reportFile, JSON.stringify({ survivors: alive.map(({ mutant }) => mutant.id) }));
const caught = count("killed") + count("timed out") + count("not compiled");
const score = (100 * caught) / Math.max(1, verdicts.length - count("equivalent"));
log(`
${verdicts.length} mutants: ${count("killed")} killed, ${count("timed out")} timed out, ${count("not compiled")} refused by the compiler alone,
${count("survived")} survived, ${count("no tests")} without tests, ${count("equivalent")} equivalent. Score ${score.toFixed(1)} %.`);

// Finds out which tests reach which function: runs every test file once with probes in the sources,
// and caches the result in node_modules/.cache until a source or a test changes.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

// Slower test files don't run for mutants.
const mostMs = 60_000;

/**
 * @typedef {import("./runner.mjs").Runner} Runner
 * @typedef {{ hash: string, ms: number, failed: boolean, loaded: string[], reached: string[] }} Entry
 * @typedef {{ sources: string, tests: Record<string, Entry> }} Table
 */

/**
 * @param {string} root
 * @param {{ runner: Runner, tests: readonly string[], sources: readonly string[], isKept: boolean, log: (line: string) => void }} options
 * `isKept`: sources may have changed a little, so only tests that changed themselves are run again.
 */
export async function relatedTests(root, { runner, tests, sources, isKept, log }) {
  const file = join(root, "node_modules/.cache/seamline-mutants/related.json");
  const table = readTable(file);
  const sourcesHash = hashOf(sources.map((path) => readFileSync(join(root, path), "utf8")).join());
  if (table.sources !== sourcesHash && !isKept) table.tests = {};
  table.sources = sourcesHash;
  for (const test of tests) {
    const hash = hashOf(readFileSync(join(root, test), "utf8"));
    if (table.tests[test]?.hash === hash) continue;
    const outcome = await runner.run({ tests: [test], bail: false, isProbed: true }, mostMs);
    const result = outcome === "hung" ? undefined : outcome[0];
    const { ms = mostMs, errors = ["hung"], loaded = [], reached = [] } = result ?? {};
    table.tests[test] = { hash, ms, failed: errors.length > 0, loaded, reached };
    log(`${test}: ${errors.length > 0 ? `left out, ${errors[0]}` : `${ms} ms`}`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(table));
  }
  return new Related(tests, table);
}

class Related {
  #tests;
  #table;

  /**
   * @param {readonly string[]} tests
   * @param {Table} table
   */
  constructor(tests, table) {
    this.#tests = tests;
    this.#table = table;
  }

  /**
   * Tests that reach a function, the quickest first, until they would take longer than the budget.
   * @param {{ path: string, fn: string }} mutant
   * @param {number} budgetMs
   */
  of({ path, fn }, budgetMs) {
    const name = `${path}:${fn}`;
    const exact = this.#reaching(({ reached }) => reached.includes(name));
    // For code that runs while the file loads, and for functions newer than the table: every test
    // that reaches the file.
    const found =
      exact.length > 0
        ? exact
        : this.#reaching(
            ({ loaded, reached }) =>
              loaded.includes(name) || reached.some((probe) => probe.startsWith(`${path}:`)),
          );
    let ms = 0;
    return found
      .toSorted((a, b) => this.ms(a) - this.ms(b))
      .filter((test, index) => (ms += this.ms(test)) <= budgetMs || index === 0);
  }

  /** A test file's duration.
   * @param {string} test
   */
  ms(test) {
    return this.#table.tests[test]?.ms ?? 0;
  }

  /** @param {(entry: Entry) => boolean} matches */
  #reaching(matches) {
    return this.#tests.filter((test) => {
      const entry = this.#table.tests[test];
      return entry !== undefined && !entry.failed && matches(entry);
    });
  }
}

/**
 * @param {string} file
 * @returns {Table}
 */
function readTable(file) {
  try {
    return /** @type {Table} */ (JSON.parse(readFileSync(file, "utf8")));
  } catch {
    // There is no cached table yet.
    return { sources: "", tests: {} };
  }
}

/** @param {string} text */
function hashOf(text) {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

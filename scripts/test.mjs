// `npm test`: runs the unit and specification tests, then the browser tests in a Chromium that it
// finds or installs. The last lines have the failed tests and the totals.
//
// Many tests run real processes beside each other, and now and then a busy machine is too late for
// one of them. So a few files that fail run once more, alone. What passes then doesn't count as
// failed, and is named, as it may also be a fault that comes and goes.
import { spawnSync } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { requireBrowser } from "./browser.mjs";
import { requireCommands } from "./commands.mjs";
import { nameOf, playwrightFailures, vitestFailures } from "./failures.mjs";

const root = join(import.meta.dirname, "..");
const results = join(root, "test-results");
/** When more files fail, they do for a reason. */
const mostFilesAgain = 3;
/** @typedef {import("./failures.mjs").VitestReport} VitestReport */
/** @typedef {import("./failures.mjs").PlaywrightReport} PlaywrightReport */
/** @typedef {import("./failures.mjs").Failure} Failure */
/** @typedef {{ passed: number, failed: number, skipped: number, failures: Failure[] }} Run */

/**
 * @param {string[]} words
 * @param {Record<string, string>} environment
 */
function node(words, environment = {}) {
  return (
    spawnSync(process.execPath, words, {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "inherit", "inherit"],
    }).status === 0
  );
}

/**
 * What a reporter has written, counted. A run that fails without a failed test (no tests at all, an
 * error outside of them) counts as one failure.
 * @template Report
 * @param {string} runner
 * @param {string} file
 * @param {boolean} succeeded
 * @param {(report: Report) => Run} read
 * @returns {Promise<Run>}
 */
async function resultOf(runner, file, succeeded, read) {
  const text = await readFile(file, "utf8").catch(() => undefined);
  /** @type {Run} */
  const none = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const run = text === undefined ? none : read(JSON.parse(text));
  if (run.failures.length === 0 && (!succeeded || run.passed === 0))
    run.failures.push({ file: runner, test: "", error: "no test failed: see what it printed" });
  return { ...run, failed: Math.max(run.failed, run.failures.length) };
}

/**
 * @param {string} name of the report's file
 * @param {string[]} words
 */
async function vitest(name, words) {
  const file = join(results, name);
  const succeeded = node([
    "node_modules/vitest/vitest.mjs",
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${file}`,
    ...words,
  ]);
  return await resultOf("vitest", file, succeeded, (/** @type {VitestReport} */ report) => ({
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: vitestFailures(report, root),
  }));
}

/** @param {string[]} words */
async function playwright(words) {
  const file = join(results, "playwright.json");
  // Chromium and Playwright write to the home and temporary folders, so the tests get their own.
  const home = join(root, "node_modules/.cache/seamline-test");
  const succeeded = node(
    ["node_modules/@playwright/test/cli.js", "test", "--reporter=list,json", ...words],
    {
      XDG_CACHE_HOME: home,
      XDG_CONFIG_HOME: home,
      PWTEST_CACHE_DIR: join(home, "playwright"),
      CHROMIUM_PATH: browser.path,
      PLAYWRIGHT_JSON_OUTPUT_FILE: file,
    },
  );
  return await resultOf(
    "playwright",
    file,
    succeeded,
    (/** @type {PlaywrightReport} */ report) => ({
      passed: report.stats.expected,
      failed: report.stats.unexpected,
      skipped: report.stats.skipped,
      failures: playwrightFailures(report),
    }),
  );
}

/**
 * Runs the files again that failed, if they are few.
 * @param {Run} first
 * @param {(files: string[]) => Promise<Run>} runAgain
 * @returns {Promise<Run & { late: Failure[] }>}
 */
async function withSecondRun(first, runAgain) {
  const files = [...new Set(first.failures.map(({ file }) => file))];
  const isForTests = first.failures.every(({ test }) => test !== "");
  if (!isForTests || files.length === 0 || files.length > mostFilesAgain)
    return { ...first, late: [] };
  console.log(`\nonce more, alone: ${files.join(", ")}\n`);
  const { failed, failures } = await runAgain(files);
  const names = new Set(failures.map(nameOf));
  return {
    passed: first.passed + Math.max(0, first.failed - failed),
    failed,
    skipped: first.skipped,
    failures,
    late: first.failures.filter((failure) => !names.has(nameOf(failure))),
  };
}

await rm(results, { recursive: true, force: true });
await mkdir(results, { recursive: true });
// The guide's examples need curl, tests of TLS openssl, those of the directory a server, and those of
// metrics the tool of Prometheus.
requireCommands(["curl", "openssl", "nats-server", "promtool"]);
const browser = requireBrowser();
console.log(`browser: ${browser.path} (${browser.from})`);

// The browser tests use the built package.
if (!node(["scripts/build.mjs"])) process.exit(1);

const inNode = await vitest("vitest.json", []);
const inBrowsers = await playwright([]);
const runs = [
  await withSecondRun(
    inNode,
    async (files) => await vitest("vitest-again.json", ["--maxWorkers=1", ...files]),
  ),
  await withSecondRun(inBrowsers, async (files) => await playwright(["--workers=1", ...files])),
];

/** @param {"passed" | "failed" | "skipped"} count */
const sum = (count) => runs.reduce((total, run) => total + run[count], 0);
/** @param {string} mark @param {readonly Failure[]} failures */
const lines = (mark, failures) =>
  failures.map((failure) => `${mark} ${nameOf(failure)}: ${failure.error}\n`).join("");
const late = runs.flatMap((run) => run.late);
const skipped = sum("skipped") === 0 ? "" : `, ${sum("skipped")} skipped`;
const onlyAlone = late.length === 0 ? "" : `, ${late.length} passed only alone`;
// At the end, as somebody may have no more than the last lines of a log.
console.log(`\n${lines("late, passed alone:", late)}`);
console.log(
  lines(
    "✗",
    runs.flatMap(({ failures }) => failures),
  ),
);
console.log(`${sum("passed")} passed, ${sum("failed")} failed${skipped}${onlyAlone}`);
process.exitCode = sum("failed") === 0 ? 0 : 1;

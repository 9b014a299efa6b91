// `npm test`: runs the unit and specification tests, then the browser tests in a Chromium that it
// finds or installs. `-- --no-browser` leaves those out. The last lines have the failed tests and the
// totals.
//
// A few files that fail run once more, alone. What passes then doesn't fail the run: a busy machine may
// be too late for a test of real processes. But it is more often a race, so the last lines name the file.
import { spawnSync } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { requireBrowser } from "./browser.mjs";
import { requireCommands } from "./commands.mjs";
import {
  closingLines,
  playwrightFailures,
  unhandledFailures,
  vitestFailures,
  withSecondRun,
} from "./failures.mjs";
import { unhandledFile } from "./unhandled-errors.mjs";

const root = join(import.meta.dirname, "..");
const results = join(root, "test-results");
/** @typedef {import("./failures.mjs").VitestReport} VitestReport */
/** @typedef {import("./failures.mjs").PlaywrightReport} PlaywrightReport */
/** @typedef {import("./failures.mjs").Run} Run */
const withBrowser = !process.argv.includes("--no-browser");

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
 * Counts the results that a reporter has written. A run that fails without a failed test (no tests at all, an
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
  const file = join(results, `${name}.json`);
  const outside = join(results, `${name}-unhandled.json`);
  const succeeded = node(
    [
      "node_modules/vitest/vitest.mjs",
      "run",
      "--reporter=default",
      "--reporter=json",
      "--reporter=./scripts/unhandled-errors.mjs",
      `--outputFile.json=${file}`,
      ...words,
    ],
    { [unhandledFile]: outside },
  );
  /** @type {import("./unhandled-errors.mjs").UnhandledError[]} */
  const unhandled = JSON.parse(await readFile(outside, "utf8").catch(() => "[]"));
  return await resultOf("vitest", file, succeeded, (/** @type {VitestReport} */ report) => ({
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: [...vitestFailures(report, root), ...unhandledFailures(unhandled, root)],
  }));
}

/** @param {string} browserPath @param {string[]} words */
async function playwright(browserPath, words) {
  const file = join(results, "playwright.json");
  // Chromium and Playwright write to the home and temporary folders, so the tests get their own.
  const home = join(root, "node_modules/.cache/seamline-test");
  const succeeded = node(
    ["node_modules/@playwright/test/cli.js", "test", "--reporter=list,json", ...words],
    {
      XDG_CACHE_HOME: home,
      XDG_CONFIG_HOME: home,
      PWTEST_CACHE_DIR: join(home, "playwright"),
      CHROMIUM_PATH: browserPath,
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

await rm(results, { recursive: true, force: true });
await mkdir(results, { recursive: true });
// The guide's examples need curl, tests of TLS openssl, those of the directory a server, those of
// metrics the tool of Prometheus, and those of OpenAPI a client in another language.
requireCommands(["curl", "openssl", "nats-server", "promtool", "OpenAPI::Client"]);
const browser = withBrowser ? requireBrowser() : undefined;
if (browser !== undefined) console.log(`browser: ${browser.path} (${browser.from})`);

// The tests use the built package. Behind `npm run check`, as in .ci/run, it is there.
if (!node(["scripts/build.mjs", "--if-needed"])) process.exit(1);

const inNode = await vitest("vitest", []);
const inBrowsers = browser && (await playwright(browser.path, []));
const runs = [
  await withSecondRun(
    inNode,
    async (files) => await vitest("vitest-again", ["--maxWorkers=1", ...files]),
  ),
];
if (browser && inBrowsers)
  runs.push(
    await withSecondRun(
      inBrowsers,
      async (files) => await playwright(browser.path, ["--workers=1", ...files]),
    ),
  );
console.log(`\n${closingLines(runs).join("\n")}`);
process.exitCode = runs.every(({ failed }) => failed === 0) ? 0 : 1;

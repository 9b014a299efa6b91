// `npm test`: runs the unit and specification tests, then the browser tests in a Chromium that it
// finds or installs. The last line has the totals.
import { spawnSync } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { requireBrowser } from "./browser.mjs";
import { requireCommands } from "./commands.mjs";

const root = join(import.meta.dirname, "..");
const results = join(root, "test-results");
/** @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number }} VitestReport */
/** @typedef {{ stats: { expected: number, unexpected: number, flaky: number, skipped: number } }} PlaywrightReport */

const counts = { passed: 0, failed: 0, skipped: 0 };

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
 * Adds a reporter's counts. A run that fails without a failed test (a broken import, no tests at
 * all) counts as one failure.
 * @template Report
 * @param {string} file
 * @param {boolean} succeeded
 * @param {(report: Report) => typeof counts} read
 */
async function add(file, succeeded, read) {
  const text = await readFile(file, "utf8").catch(() => undefined);
  const found = text === undefined ? { passed: 0, failed: 0, skipped: 0 } : read(JSON.parse(text));
  counts.passed += found.passed;
  counts.failed += found.failed === 0 && (!succeeded || found.passed === 0) ? 1 : found.failed;
  counts.skipped += found.skipped;
}

await rm(results, { recursive: true, force: true });
await mkdir(results, { recursive: true });
// The guide's examples need curl, and tests of TLS need openssl.
requireCommands(["curl", "openssl"]);
const browser = requireBrowser();
console.log(`browser: ${browser.path} (${browser.from})`);

// The browser tests use the built package.
if (!node(["scripts/build.mjs"])) process.exit(1);

const vitest = join(results, "vitest.json");
const unit = node([
  "node_modules/vitest/vitest.mjs",
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${vitest}`,
]);
await add(vitest, unit, (/** @type {VitestReport} */ report) => ({
  passed: report.numPassedTests,
  failed: report.numFailedTests,
  skipped: report.numPendingTests + report.numTodoTests,
}));

const playwright = join(results, "playwright.json");
// Chromium and Playwright write to the home and temporary folders, so the tests get their own.
const home = join(root, "node_modules/.cache/seamline-test");
const folders = {
  XDG_CACHE_HOME: home,
  XDG_CONFIG_HOME: home,
  PWTEST_CACHE_DIR: join(home, "playwright"),
};
const environment = {
  ...folders,
  CHROMIUM_PATH: browser.path,
  PLAYWRIGHT_JSON_OUTPUT_FILE: playwright,
};
const e2e = node(
  ["node_modules/@playwright/test/cli.js", "test", "--reporter=list,json"],
  environment,
);
await add(playwright, e2e, (/** @type {PlaywrightReport} */ { stats }) => ({
  passed: stats.expected + stats.flaky,
  failed: stats.unexpected,
  skipped: stats.skipped,
}));

console.log(
  `\n${counts.passed} passed, ${counts.failed} failed${counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`}`,
);
process.exitCode = counts.failed === 0 ? 0 : 1;

// The failed tests of a run, from the JSON reports of Vitest and Playwright, with the first line of
// their errors; which of their files pass when they run again; and the last lines of `npm test`.
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

/**
 * @typedef {{ name: string, message?: string, assertionResults: { fullName: string, status: string, failureMessages?: string[] | null }[] }} VitestFile
 * @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number, testResults: VitestFile[] }} VitestReport
 * @typedef {{ message?: string }} PlaywrightError
 * @typedef {{ status: string, results: { status: string, errors: PlaywrightError[] }[] }} PlaywrightTest
 * @typedef {{ title: string, file: string, line: number, tests: PlaywrightTest[] }} PlaywrightSpec
 * @typedef {{ title: string, specs: PlaywrightSpec[], suites?: PlaywrightSuite[] }} PlaywrightSuite
 * @typedef {{ stats: { expected: number, unexpected: number, flaky: number, skipped: number }, suites: PlaywrightSuite[], errors: PlaywrightError[] }} PlaywrightReport
 * @typedef {{ file: string, test: string, error: string }} Failure `test` is empty if the file failed as a whole
 * @typedef {{ passed: number, failed: number, skipped: number, failures: Failure[] }} Run
 * @typedef {Run & { failedOnce?: readonly Failure[] }} FinalRun `failedOnce` has the first failure of each file that failed and then passed alone
 */

/** Longer lines are cut: an error may show a whole value. */
const longestLine = 300;

/**
 * The first line of an error that says something, without colours.
 * @param {string | undefined} message
 */
function firstLine(message) {
  const lines = stripVTControlCharacters(message ?? "").split("\n");
  const line = lines.find((text) => text.trim() !== "")?.trim() ?? "no error was reported";
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}

/** @param {Failure} failure */
export const nameOf = ({ file, test }) => `${file}${test && ` > ${test}`}`;

/**
 * Files that failed as a whole (an import that doesn't resolve) are among them.
 * @param {Pick<VitestReport, "testResults">} report
 * @param {string} root files are relative to it
 * @returns {Failure[]}
 */
export function vitestFailures({ testResults }, root) {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter(({ status }) => status === "failed");
    if (failed.length === 0) return message ? [{ file, test: "", error: firstLine(message) }] : [];
    return failed.map(({ fullName, failureMessages }) => ({
      file,
      test: fullName,
      error: firstLine(failureMessages?.[0]),
    }));
  });
}

/**
 * Failures outside of the tests: a process that ended, an unhandled rejection.
 * @param {readonly import("./unhandled-errors.mjs").UnhandledError[]} errors
 * @param {string} root files are relative to it
 * @returns {Failure[]}
 */
export function unhandledFailures(errors, root) {
  return errors.map(({ file, message }) => ({
    file: file === undefined ? "vitest" : relative(root, file),
    test: "",
    error: firstLine(message),
  }));
}

/**
 * @param {Pick<PlaywrightReport, "suites" | "errors">} report
 * @returns {Failure[]}
 */
export function playwrightFailures({ suites, errors }) {
  const failures = errors.map(({ message }) => ({
    file: "e2e",
    test: "",
    error: firstLine(message),
  }));
  /** @type {(suite: PlaywrightSuite, titles: readonly string[]) => void} */
  const visit = ({ specs, suites: inner = [] }, titles) => {
    for (const { title, file, line: at, tests } of specs)
      for (const { results } of tests.filter(({ status }) => status === "unexpected")) {
        const error = results.flatMap((result) => result.errors)[0];
        failures.push({
          file: `e2e/${file}:${at}`,
          test: [...titles, title].join(" "),
          error: firstLine(error?.message ?? results.at(-1)?.status),
        });
      }
    for (const suite of inner) visit(suite, [...titles, suite.title]);
  };
  // The outermost suites are files, which the line names anyway.
  for (const suite of suites) visit(suite, []);
  return failures;
}

/** If more files fail, it isn't by chance. */
const mostFilesAgain = 3;

/** Playwright's failures have the line of their test. @param {Failure} failure */
const fileOf = ({ file }) => file.replace(/:\d+$/, "");

/**
 * Runs the files again that failed, if they are few.
 * @param {Run} first
 * @param {(files: string[]) => Promise<Run>} runAgain
 * @returns {Promise<FinalRun>}
 */
export async function withSecondRun(first, runAgain) {
  const files = [...new Set(first.failures.map(fileOf))];
  const areTests = files.every((file) => /\.(?:test|spec)\.ts$/.test(file));
  if (!areTests || files.length === 0 || files.length > mostFilesAgain) return first;
  console.log(`\nonce more, alone: ${files.join(", ")}\n`);
  const { failed, failures } = await runAgain(files);
  const broken = new Set(failures.map(fileOf));
  const failedOnce = files
    .filter((file) => !broken.has(file))
    .flatMap((file) => first.failures.find((failure) => fileOf(failure) === file) ?? []);
  return {
    passed: first.passed + Math.max(0, first.failed - failed),
    failed,
    skipped: first.skipped,
    failures,
    failedOnce,
  };
}

/** How the line of a file begins that failed once, and passed alone. */
export const onceMark = "failed once, passed alone:";

/**
 * The last lines of a log, as a reader may have no more of it. A file that failed once hides a race, so
 * its name is also in the line that counts.
 * @param {readonly FinalRun[]} runs
 * @returns {string[]}
 */
export function closingLines(runs) {
  const failedOnce = runs.flatMap((run) => run.failedOnce ?? []);
  /** @param {string} mark @param {readonly Failure[]} failures */
  const lines = (mark, failures) =>
    failures.map((failure) => `${mark} ${nameOf(failure)}: ${failure.error}`);
  /** @param {"passed" | "failed" | "skipped"} count */
  const sum = (count) => runs.reduce((total, run) => total + run[count], 0);
  const counts = [`${sum("passed")} passed`, `${sum("failed")} failed`];
  if (sum("skipped") > 0) counts.push(`${sum("skipped")} skipped`);
  if (failedOnce.length > 0)
    counts.push(`failed once and passed alone: ${failedOnce.map(fileOf).join(", ")}`);
  return [
    ...lines(onceMark, failedOnce),
    ...lines(
      "✗",
      runs.flatMap(({ failures }) => failures),
    ),
    counts.join(", "),
  ];
}

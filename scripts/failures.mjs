// The failed tests of a run, from the JSON reports of Vitest and Playwright, with the first line of
// their errors.
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

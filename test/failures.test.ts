// The report of failed tests at the end of `npm test`.

import { describe, expect, it } from "vitest";

import {
  closingLines,
  nameOf,
  playwrightFailures,
  unhandledFailures,
  vitestFailures,
  withSecondRun,
} from "../scripts/failures.mjs";

type Result = readonly [fullName: string, status: string, ...messages: readonly string[]];

const file = (name: string, results: readonly Result[]) => ({
  name: `/project/test/${name}`,
  assertionResults: results.map(([fullName, status, ...failureMessages]) => ({
    fullName,
    status,
    failureMessages,
  })),
});

/** As `npm test` prints them. */
const lines = (failures: ReturnType<typeof vitestFailures>): string[] =>
  failures.map((failure) => `${nameOf(failure)}: ${failure.error}`);

describe("the end of npm test", () => {
  it("names each failed test of Vitest with its file and the first line of its first error", () => {
    const testResults = [
      file("sums.test.ts", [
        ["sums of two", "passed"],
        ["sums of three", "failed", "AssertionError: expected 3\n    at line", "a second one"],
        ["sums of four", "skipped"],
      ]),
      file("words.test.ts", [["words", "failed", "\n\u001B[31mError:\u001B[39m no word"]]),
    ];
    expect(lines(vitestFailures({ testResults }, "/project"))).toEqual([
      "test/sums.test.ts > sums of three: AssertionError: expected 3",
      "test/words.test.ts > words: Error: no word",
    ]);
  });

  it("names a file that can't be run, and a test that failed without an error", () => {
    const testResults = [
      { ...file("broken.test.ts", []), message: "Failed to resolve import './none.ts'\nat" },
      file("silent.test.ts", [["a test", "failed"]]),
      file("fine.test.ts", [["a test", "passed"]]),
    ];
    expect(lines(vitestFailures({ testResults }, "/project"))).toEqual([
      "test/broken.test.ts: Failed to resolve import './none.ts'",
      "test/silent.test.ts > a test: no error was reported",
    ]);
  });

  it("names a file whose process ended, and errors that no test had", () => {
    const errors = [
      { file: "/project/test/ends.test.ts", message: "its process ended before it did" },
      { message: "no disk\n  at line" },
    ];
    expect(lines(unhandledFailures(errors, "/project"))).toEqual([
      "test/ends.test.ts: its process ended before it did",
      "vitest: no disk",
    ]);
  });

  it("cuts a long line", () => {
    const testResults = [file("a.test.ts", [["a", "failed", "x".repeat(10_000)]])];
    const [line = ""] = lines(vitestFailures({ testResults }, "/project"));
    expect(line).toHaveLength("test/a.test.ts > a: …".length + 300);
  });

  it("names each failed test of Playwright, in suites of any depth, and errors of no test", () => {
    const spec = (title: string, status: string, messages: readonly string[]) => ({
      title,
      file: "demo.spec.ts",
      line: 7,
      tests: [{ status, results: [{ status, errors: messages.map((message) => ({ message })) }] }],
    });
    const suites = [
      {
        title: "demo.spec.ts",
        specs: [spec("opens", "expected", [])],
        suites: [
          {
            title: "the demo",
            specs: [
              spec("moves", "unexpected", ["Error: \u001B[2mexpect(\u001B[22m)\n\nCall log"]),
              spec("waits", "unexpected", []),
              spec("comes back", "flaky", ["Error: at first"]),
            ],
          },
        ],
      },
    ];
    const errors = [{ message: "Error: no tests found" }];
    expect(lines(playwrightFailures({ suites, errors }))).toEqual([
      "e2e: Error: no tests found",
      "e2e/demo.spec.ts:7 > the demo moves: Error: expect()",
      "e2e/demo.spec.ts:7 > the demo waits: unexpected",
    ]);
  });
});

const run = (passed: number, ...failures: ReturnType<typeof vitestFailures>) => ({
  passed,
  failed: failures.length,
  skipped: 0,
  failures,
});
const failure = (path: string, title: string, error = "Error: late") => ({
  file: path,
  test: title,
  error,
});

describe("files that fail once and pass when they run again", () => {
  const first = run(
    7,
    failure("test/a.test.ts", "waits"),
    failure("test/a.test.ts", "waits longer"),
    failure("test/b.test.ts", "adds", "AssertionError: expected 3"),
  );

  it("are named by the last lines, with their first failure, and by the line that counts", async () => {
    const asked: string[][] = [];
    const result = await withSecondRun(first, async (files) => {
      asked.push(files);
      return run(5);
    });
    expect(asked).toEqual([["test/a.test.ts", "test/b.test.ts"]]);
    expect(closingLines([result, run(2)])).toEqual([
      "failed once, passed alone: test/a.test.ts > waits: Error: late",
      "failed once, passed alone: test/b.test.ts > adds: AssertionError: expected 3",
      "12 passed, 0 failed, failed once and passed alone: test/a.test.ts, test/b.test.ts",
    ]);
  });

  it("are those alone that pass then: others are failures, also where another test of the file fails then", async () => {
    const result = await withSecondRun(first, async () =>
      run(
        3,
        failure("test/b.test.ts", "adds again", "Error: no"),
        failure("test/b.test.ts", "adds"),
      ),
    );
    expect(closingLines([result])).toEqual([
      "failed once, passed alone: test/a.test.ts > waits: Error: late",
      "✗ test/b.test.ts > adds again: Error: no",
      "✗ test/b.test.ts > adds: Error: late",
      "8 passed, 2 failed, failed once and passed alone: test/a.test.ts",
    ]);
  });

  it("are those too whose tests couldn't begin", async () => {
    const result = await withSecondRun(run(7, failure("test/c.test.ts", "")), async () => run(4));
    expect(closingLines([result])).toEqual([
      "failed once, passed alone: test/c.test.ts: Error: late",
      "8 passed, 0 failed, failed once and passed alone: test/c.test.ts",
    ]);
  });

  it.each([
    ["many files fail", ["a", "b", "c", "d"].map((name) => failure(`test/${name}.test.ts`, "it"))],
    ["the runner itself fails", [failure("vitest", "")]],
    ["nothing fails", []],
  ])("aren't looked for if %s", async (_, failures) => {
    const result = await withSecondRun(run(7, ...failures), async () => {
      throw new Error("it ran again");
    });
    expect(closingLines([result])).toEqual([
      ...failures.map((one) => `✗ ${nameOf(one)}: ${one.error}`),
      `7 passed, ${failures.length} failed`,
    ]);
  });
});

// `seamline check`: reports everything that is wrong with an application, to people and to CI.

import { resolve } from "node:path";

import type { Command } from "commander";
import { type Problem, formatProblem } from "../../src/base/problem.ts";
import { configVariable } from "../config/config-file.ts";
import { createLog } from "../base/log.ts";
import { count, createPaint, wantsColour } from "../base/paint.ts";
import type { Terminal } from "../base/terminal.ts";
import { AlreadyReported } from "./failure.ts";
import { readCount, withRoot } from "./options.ts";
import { withProgress } from "./progress.ts";

interface CheckCommandOptions {
  readonly build?: true;
  readonly against?: string;
  readonly maxWarnings?: number;
  readonly config?: string;
  readonly root: string;
  readonly json?: true;
}

/** The output of `--json`. Lines and columns count from 1, files are relative to the application folder. */
export interface CheckReport {
  /** Whether the exit code is 0. */
  readonly ok: boolean;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly checked: {
    readonly modules: number;
    readonly procedures: number;
    readonly routes: number;
    /** With `--against`: how many changes callers notice, may notice, and don't. */
    readonly changes?: { readonly breaking: number; readonly risky: number; readonly fine: number };
    readonly segments: readonly string[];
    readonly configurations: readonly string[];
  };
  readonly ms: number;
}

const examples = `
Examples:
  seamline check                    before a commit
  seamline check --max-warnings 0   in CI, where a warning is a failure
  seamline check --build --json     everything that can be found, for a program
  seamline check --against ../live  also changes that callers of an earlier build notice

Exit codes:
  0  no problem, and not more warnings than --max-warnings allows
  1  there are problems, or more warnings
  2  the command line is wrong
`;

export function addCheck(program: Command, terminal: Terminal): void {
  withRoot(
    program
      .command("check")
      .description(
        "look for mistakes in all segment files, configurations and modules, without building",
      )
      .option("--build", "also run a build and discard it, to find what only a bundler sees")
      .option(
        "--against <build>",
        "also compare with an earlier build: its folder, or the address of a service that runs it",
      )
      .option("--max-warnings <number>", "fail if there are more warnings", readCount)
      .option("-c, --config <file>", "one more configuration to check, wherever it is"),
  )
    .option("--json", "print one JSON object, for programs")
    .addHelpText("after", examples)
    .action(async (options: CheckCommandOptions) => await check(options, terminal));
}

/** Prints all problems and warnings; throws {@link AlreadyReported} if there are too many. */
async function check(options: CheckCommandOptions, terminal: Terminal): Promise<void> {
  const started = performance.now();
  const root = resolve(options.root);
  const { stdout, stderr, env } = terminal;
  // With --json, standard output has nothing but the report.
  const log = createLog({
    out: stderr,
    err: stderr,
    env,
    level: options.json === true ? "error" : "warn",
  });
  const { checkApplication } = await import("../report/check.ts");
  const config = options.config ?? configVariable(env);
  const against =
    options.against === undefined
      ? undefined
      : await (await import("./against.ts")).readEarlierBuild(options.against, options, terminal);
  const { problems, warnings, ...checked } = await withProgress("checking", terminal, async () =>
    checkApplication({ root, env, log, config, build: options.build, against }),
  );
  const hasTooManyWarnings =
    problems.length === 0 && warnings.length > (options.maxWarnings ?? Number.POSITIVE_INFINITY);
  const ok = problems.length === 0 && !hasTooManyWarnings;
  const ms = Math.round(performance.now() - started);
  if (options.json === true)
    stdout.write(
      `${JSON.stringify({ ok, problems, warnings, checked, ms } satisfies CheckReport, null, 2)}\n`,
    );
  else {
    const paint = createPaint(wantsColour(stdout, env));
    for (const problem of problems)
      stdout.write(`${paint("red", "error:")} ${formatProblem(problem)}\n\n`);
    for (const warning of warnings)
      stdout.write(`${paint("yellow", "warning:")} ${formatProblem(warning)}\n\n`);
    const configurations = count(checked.configurations.length, "configuration");
    const parts = [
      count(checked.procedures, "procedure"),
      ...(checked.routes === 0 ? [] : [count(checked.routes, "route")]),
      count(checked.modules, "module"),
      count(checked.segments.length, "segment file"),
    ].join(", ");
    const found =
      problems.length + warnings.length === 0
        ? "nothing wrong"
        : `${count(problems.length, "problem")}, ${count(warnings.length, "warning")}`;
    stdout.write(`${found} in ${parts} and ${configurations}\n`);
    if (checked.unchecked > 0)
      stdout.write(
        `${count(checked.unchecked, "procedure")} with arguments that aren't checked: seamline inspect lists them\n`,
      );
    if (checked.changes !== undefined) {
      const { breaking, risky, fine } = checked.changes;
      stdout.write(
        `since ${options.against}: ${count(breaking, "breaking change")}, ${risky} risky, ${fine} that callers don't notice\n`,
      );
    }
    if (hasTooManyWarnings) stdout.write(`--max-warnings allows ${options.maxWarnings}\n`);
  }
  if (!ok) throw new AlreadyReported();
}

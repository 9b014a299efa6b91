// `seamline check`: everything that is wrong with an application, for people and for CI.

import { resolve } from "node:path";
import { styleText } from "node:util";

import { type Problem, formatProblem } from "../../src/problem.ts";
import { createLog, wantsColour } from "../log.ts";
import type { CheckCommandOptions } from "./program.ts";
import { withProgress } from "./progress.ts";
import { AlreadyTold, type Terminal } from "./terminal.ts";

/** What `--json` prints. Lines and columns count from 1, files are relative to the application folder. */
export interface CheckReport {
  /** Whether the exit code is 0. */
  readonly ok: boolean;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly checked: {
    readonly modules: number;
    readonly procedures: number;
    readonly segments: readonly string[];
    readonly configurations: readonly string[];
  };
  readonly ms: number;
}

/** Prints all problems and warnings; throws {@link AlreadyTold} where there are too many. */
export async function check(options: CheckCommandOptions, terminal: Terminal): Promise<void> {
  const started = performance.now();
  const root = resolve(options.root);
  const { stdout, stderr, env } = terminal;
  // A report for programs is nothing but the report.
  const log = createLog({
    out: stderr,
    err: stderr,
    env,
    level: options.json === true ? "error" : "warn",
  });
  const { checkApplication } = await import("../build/check.ts");
  const config = options.config ?? (env["SVC_CONFIG"] === "" ? undefined : env["SVC_CONFIG"]);
  const { problems, warnings, ...checked } = await withProgress("checking", terminal, async () =>
    checkApplication({ root, env, log, config, build: options.build }),
  );
  const isTooMuch =
    problems.length === 0 && warnings.length > (options.maxWarnings ?? Number.POSITIVE_INFINITY);
  const ok = problems.length === 0 && !isTooMuch;
  const ms = Math.round(performance.now() - started);
  if (options.json === true)
    stdout.write(
      `${JSON.stringify({ ok, problems, warnings, checked, ms } satisfies CheckReport, null, 2)}\n`,
    );
  else {
    const paint = (colour: "red" | "yellow", text: string): string =>
      wantsColour(stdout, env) ? styleText(colour, text, { validateStream: false }) : text;
    for (const problem of problems)
      stdout.write(`${paint("red", "error:")} ${formatProblem(problem)}\n\n`);
    for (const warning of warnings)
      stdout.write(`${paint("yellow", "warning:")} ${formatProblem(warning)}\n\n`);
    const looked = [
      count(checked.modules, "module"),
      count(checked.segments.length, "segment file"),
      count(checked.configurations.length, "configuration"),
    ];
    const found =
      problems.length + warnings.length === 0
        ? "nothing wrong"
        : `${count(problems.length, "problem")}, ${count(warnings.length, "warning")}`;
    stdout.write(`${found} in ${looked.slice(0, 2).join(", ")} and ${looked[2] ?? ""}\n`);
    if (isTooMuch) stdout.write(`--max-warnings allows ${options.maxWarnings}\n`);
  }
  if (!ok) throw new AlreadyTold();
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

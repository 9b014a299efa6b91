// `seamline inspect`: what runs where, what browsers receive, and why.

import { styleText } from "node:util";

import { nearest } from "../../src/problem.ts";
import type { Inspected, Inspection } from "../build/inspection.ts";
import type { BuildOptions } from "../build/build.ts";
import { createLog, wantsColour } from "../log.ts";
import { buildSettings } from "./build.ts";
import { type Style, overview, procedureDetails, whyLines } from "./inspect-text.ts";
import type { InspectCommandOptions } from "./program.ts";
import { withProgress } from "./progress.ts";
import { type Terminal, UsageError } from "./terminal.ts";

/** Prints what is asked for. */
export async function inspect(options: InspectCommandOptions, terminal: Terminal): Promise<void> {
  const { stdout, stderr, env } = terminal;
  const log = createLog({ out: stderr, err: stderr, env, level: "error" });
  const settings: BuildOptions = { ...(await buildSettings(options, terminal)), log };
  const { inspectApplication } = await import("../build/inspection.ts");
  const inspected = await withProgress("reading", terminal, async () =>
    inspectApplication(settings),
  );
  const style = styleFor(terminal);
  const print = (value: object, lines: () => readonly string[]): void =>
    void stdout.write(
      `${options.json === true ? JSON.stringify(value, null, 2) : lines().join("\n")}\n`,
    );
  if (options.why !== undefined) {
    const why = await explain(inspected, options.why);
    print(why, () => whyLines(why, style));
    return;
  }
  const chosen = choose(inspected.inspection, options);
  if (options.procedure !== undefined) print(chosen, () => procedureDetails(chosen, style));
  else print(chosen, () => overview(chosen, style, options.segment !== undefined));
}

async function explain(
  inspected: Inspected,
  asked: string,
): Promise<Extract<ReturnType<typeof import("../build/why.ts").whyInBrowser>, { name: string }>> {
  const { whyInBrowser } = await import("../build/why.ts");
  const why = whyInBrowser(inspected, asked);
  if ("name" in why) return why;
  const meant =
    why.near === undefined
      ? "Name a file of the source folder, a package or a module of Node"
      : `Did you mean ${why.near}?`;
  throw new UsageError(
    `"${asked}" is no module of this application, and none of its modules imports it\n  → ${meant}`,
  );
}

/** The part of an inspection that was asked for; throws {@link UsageError} where there is none. */
function choose(all: Inspection, { segment, procedure }: InspectCommandOptions): Inspection {
  const names = all.segments.map((one) => one.name);
  if (segment !== undefined && !names.includes(segment)) throw missing("segment", segment, names);
  const procedures = all.procedures
    .filter((one) => segment === undefined || one.segments.some(({ name }) => name === segment))
    .filter(({ fqn }) => procedure === undefined || fqn === procedure || fqn.startsWith(procedure));
  if (procedure !== undefined && procedures.length === 0)
    throw missing(
      "procedure",
      procedure,
      all.procedures.map((one) => one.fqn),
    );
  return {
    ...all,
    procedures,
    segments: all.segments.filter((one) => segment === undefined || one.name === segment),
  };
}

function missing(what: string, name: string, known: readonly string[]): UsageError {
  const near = nearest(name, known);
  const some = `${known.slice(0, 8).join(", ") || "none"}${known.length > 8 ? ` and ${known.length - 8} more` : ""}`;
  return new UsageError(
    `there is no ${what} "${name}"\n  → ${near === undefined ? `There are: ${some}` : `Did you mean ${near}?`}`,
  );
}

function styleFor({ stdout, env }: Terminal): Style {
  const isColoured = wantsColour(stdout, env);
  return {
    width: Math.min(Math.max(stdout.columns ?? 80, 60), 120),
    paint: (format, text) =>
      isColoured ? styleText(format, text, { validateStream: false }) : text,
  };
}

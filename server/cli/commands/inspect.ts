// `seamline inspect`: prints what runs where, what browsers receive, and why.

import { nearest } from "../../../src/base/problem.ts";
import type { Inspected, Inspection } from "../../report/inspection.ts";
import type { BuildOptions } from "../../vite/build.ts";
import { createLog } from "../../base/log.ts";
import { createPaint, wantsColour } from "../../base/paint.ts";
import type { Terminal } from "../../base/terminal.ts";
import { buildSettings } from "./build.ts";
import { UsageError } from "./failure.ts";
import { type Style, overview, procedureDetails, whyLines } from "./inspect-text.ts";
import { withProgress } from "./progress.ts";

export interface InspectCommandOptions {
  readonly segment?: string;
  readonly procedure?: string;
  readonly why?: string;
  /** The members of a running gateway instead, at this address or the configured one. */
  readonly running?: string | true;
  readonly config?: string;
  readonly root: string;
  readonly json?: true;
}

/** Prints the whole application, one segment, some procedures, or why a module reaches browsers. */
export async function inspect(options: InspectCommandOptions, terminal: Terminal): Promise<void> {
  const { running } = options;
  if (running !== undefined) {
    const { inspectMembers } = await import("./inspect-members.ts");
    return await inspectMembers({ ...options, running }, terminal);
  }
  const { stdout, stderr, env } = terminal;
  const log = createLog({ out: stderr, err: stderr, env, level: "error" });
  const settings: BuildOptions = { ...(await buildSettings(options, terminal)), log };
  const { inspectApplication } = await import("../../report/inspection.ts");
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
  const selected = select(inspected.inspection, options);
  if (options.procedure !== undefined) print(selected, () => procedureDetails(selected, style));
  else print(selected, () => overview(selected, style, options.segment !== undefined));
}

async function explain(
  inspected: Inspected,
  module: string,
): Promise<
  Extract<ReturnType<typeof import("../../report/why.ts").whyInBrowser>, { name: string }>
> {
  const { whyInBrowser } = await import("../../report/why.ts");
  const why = whyInBrowser(inspected, module);
  if ("name" in why) return why;
  const hint =
    why.near === undefined
      ? "Name a file of the source folder, a package or a module of Node"
      : `Did you mean ${why.near}?`;
  throw new UsageError(
    `"${module}" isn't a module of this application, and none of its modules imports it\n  → ${hint}`,
  );
}

/** The part of an inspection that the options name; throws {@link UsageError} if there is none. */
function select(all: Inspection, { segment, procedure }: InspectCommandOptions): Inspection {
  const names = all.segments.map(({ name }) => name);
  if (segment !== undefined && !names.includes(segment)) throw missing("segment", segment, names);
  const procedures = all.procedures
    .filter(
      ({ segments }) => segment === undefined || segments.some(({ name }) => name === segment),
    )
    .filter(({ fqn }) => procedure === undefined || fqn.startsWith(procedure));
  const routes = all.routes
    .filter(
      ({ segments }) => segment === undefined || segments.some(({ name }) => name === segment),
    )
    .filter(({ name }) => procedure === undefined || name.startsWith(procedure));
  if (procedure !== undefined && procedures.length + routes.length === 0)
    throw missing("procedure", procedure, [
      ...all.procedures.map(({ fqn }) => fqn),
      ...all.routes.map(({ name }) => name),
    ]);
  return {
    ...all,
    procedures,
    routes,
    segments: all.segments.filter(({ name }) => segment === undefined || name === segment),
  };
}

function missing(kind: string, name: string, names: readonly string[]): UsageError {
  const near = nearest(name, names);
  const shown = names.slice(0, 8).join(", ") || "none";
  const more = names.length > 8 ? ` and ${names.length - 8} more` : "";
  return new UsageError(
    `there is no ${kind} "${name}"\n  → ${near === undefined ? `There are: ${shown}${more}` : `Did you mean ${near}?`}`,
  );
}

function styleFor({ stdout, env }: Terminal): Style {
  return {
    width: Math.min(Math.max(stdout.columns ?? 80, 60), 120),
    paint: createPaint(wantsColour(stdout, env)),
  };
}

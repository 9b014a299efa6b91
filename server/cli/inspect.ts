// `seamline inspect`: prints the places of procedures, and the files that browsers receive.

import type { Command } from "commander";
import { formatProblem } from "../../src/base/problem.ts";
import type { IncomingResponse } from "../../src/base/ports.ts";
import { paths } from "../../src/base/protocol.ts";
import { trustKeyHeader } from "../../src/http/trust.ts";
import type { ListedMember } from "../../src/roles/members/member-endpoints.ts";
import { createLog } from "../base/log.ts";
import { count, createPaint, type Paint, thousands, wantsColour } from "../base/paint.ts";
import { printable } from "../base/printable.ts";
import type { Terminal } from "../base/terminal.ts";
import { addressProblem } from "../config/config-address.ts";
import type { Config } from "../config/config.ts";
import { readAuthorities } from "../config/tls.ts";
import type {
  InspectedBrowser,
  InspectedProcedure,
  InspectedSegment,
  Inspection,
} from "../report/inspection.ts";
import type { BuildOptions } from "../vite/build.ts";
import { settingsOf } from "./build.ts";
import { UsageError } from "./failure.ts";
import { withRoot } from "./options.ts";
import { withProgress } from "./progress.ts";
import { answerMs } from "./times.ts";

interface InspectCommandOptions {
  /** The members of a running gateway instead, at this address or the configured one. */
  readonly running?: string | true;
  readonly config?: string;
  readonly root: string;
  readonly json?: true;
}

const examples = `
Examples:
  seamline inspect            segments, what browsers receive, warnings
  seamline inspect --json     everything: also parameters, importers and places of procedures
  seamline inspect --running  the members of the running gateway that the configuration names

Exit codes:
  0  done, with or without warnings
  1  the application can't be read: the problems are printed
  2  the command line is wrong
`;

export function addInspect(program: Command, terminal: Terminal): void {
  withRoot(
    program
      .command("inspect")
      .description("what runs where, what browsers receive, and warnings")
      .option(
        "-c, --config <file>",
        "configuration of a repository or standalone, for source and output folder",
      )
      .option(
        "--running [address]",
        "instead: the members of a running gateway, and whether they get calls",
      ),
  )
    .option("--json", "print everything as one JSON object, for programs")
    .addHelpText("after", examples)
    .action(async (options: InspectCommandOptions) => await inspect(options, terminal));
}

/** Prints an overview, or everything as JSON. */
async function inspect(options: InspectCommandOptions, terminal: Terminal): Promise<void> {
  const { running } = options;
  if (running !== undefined) return await inspectMembers({ ...options, running }, terminal);
  const { stdout, stderr, env } = terminal;
  const log = createLog({ out: stderr, err: stderr, env, level: "error" });
  const settings: BuildOptions = { ...(await settingsOf(options, terminal)), log };
  const { inspectApplication } = await import("../report/inspection.ts");
  const inspection = await withProgress("reading", terminal, async () =>
    inspectApplication(settings),
  );
  const text =
    options.json === true
      ? JSON.stringify(inspection, null, 2)
      : overview(inspection, styleFor(terminal)).join("\n");
  stdout.write(`${text}\n`);
}

interface Style {
  readonly width: number;
  readonly paint: Paint;
}

function styleFor({ stdout, env }: Terminal): Style {
  return {
    width: Math.min(Math.max(stdout.columns ?? 80, 60), 120),
    paint: createPaint(wantsColour(stdout, env)),
  };
}

// With more procedures, the overview has one line per segment.
const maxProcedures = 40;
const maxModules = 15;
const maxWarnings = 10;

/** Segments and their procedures, modules of browsers, warnings: lines that fit the terminal. */
function overview(inspection: Inspection, style: Style): readonly string[] {
  const { segments, procedures, routes, browser, warnings } = inspection;
  const lines = [
    `${count(procedures.length, "procedure")}${routes.length === 0 ? "" : ` and ${count(routes.length, "route")}`} in ${count(segments.length, "segment")}`,
  ];
  if (procedures.length > maxProcedures)
    lines.push(
      "",
      ...table(segments.map(segmentRow), style),
      "",
      style.paint("dim", "seamline inspect --json lists the procedures of each segment"),
    );
  else for (const segment of segments) lines.push("", ...segmentLines(segment, inspection, style));
  lines.push(...uncheckedLines(procedures, style), "", ...browserLines(browser, style));
  for (const warning of warnings.slice(0, maxWarnings))
    lines.push("", `${style.paint("yellow", "warning:")} ${formatProblem(warning)}`);
  if (warnings.length > maxWarnings)
    lines.push(
      "",
      style.paint(
        "dim",
        `and ${warnings.length - maxWarnings} more warnings. Run seamline check to see all of them`,
      ),
    );
  return lines;
}

function segmentRow({
  name,
  file,
  browsers,
  procedures,
  access,
}: InspectedSegment): readonly string[] {
  const levels = Object.entries(access).filter(([, number]) => number > 0);
  return [
    name,
    count(procedures, "procedure"),
    levels.map(([level, number]) => `${thousands(number)} ${level}`).join(", "),
    where(browsers),
    file,
  ];
}

function segmentLines(
  { name, browsers, file }: InspectedSegment,
  { procedures, routes }: Inspection,
  style: Style,
): readonly string[] {
  const accessOf = ({ segments }: Pick<InspectedProcedure, "segments">): readonly string[] =>
    segments
      .filter((segment) => segment.name === name)
      .map(({ access, guard }) =>
        typeof guard === "string" ? `${access}, guard ${guard}` : access,
      );
  const members = procedures.flatMap((procedure) =>
    accessOf(procedure).map((access) => ({
      procedure,
      access: procedure.stream ? `${access}, stream` : access,
    })),
  );
  const procedureRows = members.map(({ procedure, access }) => [
    `  ${nameOf(procedure)}`,
    access,
    procedure.signature,
  ]);
  const routeRows = routes.flatMap((route) =>
    accessOf(route).map((access) => [`  ${route.method} ${route.path}`, access, route.name]),
  );
  return [
    `${style.paint("bold", name)}  ${where(browsers)}  ${style.paint("dim", file)}`,
    ...table(procedureRows, style).flatMap((line, index) => [
      line,
      ...importedBy(members[index]?.procedure.importers ?? [], style),
    ]),
    ...table(routeRows, style),
  ];
}

/** Arguments that callers from outside may send as they like. */
function uncheckedLines(
  procedures: readonly InspectedProcedure[],
  style: Style,
): readonly string[] {
  const rows = procedures
    .filter(({ unchecked }) => unchecked.length > 0)
    .map((procedure) => [
      `  ${nameOf(procedure)}`,
      procedure.unchecked
        .map(({ path, reason }) =>
          reason === "validate" ? '"validate": false' : `${path} (${reason})`,
        )
        .join(", "),
    ]);
  if (rows.length === 0) return [];
  const more = rows.length - maxProcedures;
  return [
    "",
    style.paint("bold", "arguments that aren't checked"),
    ...table(rows.slice(0, maxProcedures), style),
    ...(more > 0 ? [style.paint("dim", `  and of ${more} more: seamline inspect --json`)] : []),
  ];
}

function importedBy(importers: InspectedProcedure["importers"], style: Style): readonly string[] {
  if (importers.length === 0) return [];
  const [first, second] = importers.map(placeOf);
  const more = importers.length > 2 ? ` and ${importers.length - 2} more` : "";
  return [
    style.paint(
      "dim",
      clip(`    from ${first}${second === undefined ? "" : `, ${second}`}${more}`, style.width),
    ),
  ];
}

function browserLines(
  { modules, files, sizes, build }: InspectedBrowser,
  style: Style,
): readonly string[] {
  const grouped = byPackage(modules);
  if (grouped.length === 0)
    return ["Browsers receive nothing: there is no page and no browser segment"];
  const bytes = sum((sizes === "built" ? files : modules).map((entry) => entry.bytes));
  const gzip = files.length === 0 ? "" : `, ${size(sum(files.map((file) => file.gzip)))} gzipped`;
  const inFiles = files.length === 0 ? " of source" : ` in ${count(files.length, "file")}${gzip}`;
  const lines = [
    style.paint(
      "bold",
      `Browsers receive ${count(modules.length, "module")}: ${size(bytes)}${inFiles}`,
    ),
  ];
  if (sizes === "source") {
    const reason = build === "none" ? "there is no build" : "the build is older than the sources";
    lines.push(
      style.paint("dim", `  sizes are those of the sources: ${reason}. Run seamline build`),
    );
  }
  const widest = Math.max(...grouped.map((entry) => size(entry.bytes).length));
  for (const entry of grouped.slice(0, maxModules))
    lines.push(clip(`  ${size(entry.bytes).padStart(widest)}  ${entry.name}`, style.width));
  if (grouped.length > maxModules)
    lines.push(
      style.paint("dim", `  and ${grouped.length - maxModules} smaller ones, listed by --json`),
    );
  return lines;
}

/** Sums up the files of a package, largest entry first. */
function byPackage(
  modules: InspectedBrowser["modules"],
): readonly { readonly name: string; readonly bytes: number }[] {
  const groups = new Map<string, { name: string; bytes: number; files: number }>();
  for (const { name, package: packageName, part, bytes } of modules) {
    const key = packageName ?? `${name}${part === undefined ? "" : ` (${part})`}`;
    const group = groups.get(key) ?? { name: key, bytes: 0, files: 0 };
    groups.set(key, { name: key, bytes: group.bytes + bytes, files: group.files + 1 });
  }
  return [...groups.values()]
    .map(({ name, bytes, files }) => ({
      name: files > 1 ? `${name}, ${files} files` : name,
      bytes,
    }))
    .sort((left, right) => right.bytes - left.bytes);
}

function placeOf({ file, line }: { readonly file: string; readonly line?: number }): string {
  return line === undefined ? file : `${file}:${line}`;
}

function where(browsers: boolean): string {
  return browsers ? "browsers" : "nodes";
}

function nameOf({ fqn, version }: InspectedProcedure): string {
  return version === "0.0.0" ? fqn : `${fqn} ${version}`;
}

/** Pads each column to its widest cell and clips the last one at the terminal's edge. */
function table(rows: readonly (readonly string[])[], { width }: Style): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    clip(
      row
        .map((cell, column) =>
          column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0),
        )
        .join("  "),
      width,
    ),
  );
}

function clip(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

function size(bytes: number): string {
  return bytes < 1_000
    ? `${bytes} B`
    : bytes < 1_000_000
      ? `${(bytes / 1_000).toFixed(1)} kB`
      : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Prints a line for each member of running gateways, or one JSON object. */
async function inspectMembers(
  { running, ...options }: InspectCommandOptions & { readonly running: string | true },
  terminal: Terminal,
): Promise<void> {
  const { findConfig, findTrustKey } = await import("./call.ts");
  const config = await findConfig({ ...options, trustKey: true }, terminal);
  const addresses = addressesOf(running, config);
  const trustKey = await findTrustKey(options, config);
  const ca = config?.tls?.ca;
  const authorities = ca === undefined ? undefined : await readAuthorities(ca);
  const headers = trustKeyHeader(trustKey);
  const outcomes = await Promise.allSettled(
    addresses.map(async (gateway) => ({
      gateway,
      members: read(gateway, await ask(gateway, headers, authorities)),
    })),
  );
  const failures = outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [outcome.reason as Error] : [],
  );
  const found = outcomes.flatMap((outcome) =>
    outcome.status === "fulfilled" ? [outcome.value] : [],
  );
  const lines = options.json
    ? [JSON.stringify(addresses.length === 1 ? found[0] : { gateways: found }, null, 2)]
    : found.flatMap(({ gateway, members }) => [
        `${count(members.length, "member")} of the gateway at ${gateway}`,
        ...table(members.map(memberRow), styleFor(terminal)),
      ]);
  // Members of gateways that answer are shown, and the command fails if a gateway doesn't.
  if (found.length > 0) terminal.stdout.write(`${printable(lines.join("\n"))}\n`);
  if (failures.length > 0) throw new Error(failures.map(({ message }) => message).join("\n"));
}

function addressesOf(running: string | true, config: Config | undefined): readonly string[] {
  const named =
    typeof running === "string"
      ? running
      : config?.mode === "gateway"
        ? config.url
        : config !== undefined && "gateway" in config
          ? config.gateway
          : undefined;
  if (named === undefined)
    throw new UsageError(
      "no configuration names a gateway\n  → Give its address: seamline inspect --running http://127.0.0.1:3002",
    );
  return [named].flat().map((address) => {
    const problem = addressProblem(address);
    if (problem !== undefined) throw new UsageError(`--running: ${problem}`);
    return address.replace(/\/+$/, "");
  });
}

async function ask(
  address: string,
  headers: Readonly<Record<string, string>>,
  authorities: readonly string[] | undefined,
): Promise<IncomingResponse> {
  const { send } = await import("./call.ts");
  const signal = AbortSignal.timeout(answerMs);
  try {
    return await send(
      { url: address + paths.nodes, method: "GET", headers },
      { signal, authorities },
    );
  } catch (error) {
    throw signal.aborted
      ? new Error(`${address} gave no answer in ${answerMs / 1000} s`, { cause: error })
      : error;
  }
}

function read(address: string, { status, body }: IncomingResponse): readonly ListedMember[] {
  if (status === 401)
    throw new Error(
      `The gateway at ${address} refuses this trust key: run the command in the gateway's application folder, or name a configuration with its 'trustKey'`,
    );
  const text = new TextDecoder().decode(body);
  const members =
    status === 200 && text.startsWith("{")
      ? (JSON.parse(text) as { members?: unknown }).members
      : undefined;
  if (!Array.isArray(members))
    throw new Error(`The server at ${address} isn't a gateway: it answered ${status}`);
  return members as readonly ListedMember[];
}

const states = {
  ready: "in rotation",
  unhealthy: "out: its health checks say so",
  silent: "out: it doesn't answer",
};

function memberRow({ url, state, procedures, routes, name }: ListedMember): readonly string[] {
  const parts = [
    count(procedures, "procedure"),
    ...(routes === 0 ? [] : [count(routes, "route")]),
    ...(name === undefined ? [] : [name]),
  ];
  return [`  ${url}`, states[state], parts.join(", ")];
}

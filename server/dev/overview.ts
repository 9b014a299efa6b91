// The first lines of `seamline dev`: addresses, segments and where they run, procedures by access.

import { isAbsolute, relative } from "node:path";

import { accesses } from "../../src/base/access.ts";
import { count, type Paint, thousands } from "../base/paint.ts";
import type { DevProcedure, DevSession } from "./session.ts";
import { duration } from "./terminal-lines.ts";

// Sorts `node-10` after `node-9`.
const byName = new Intl.Collator("en", { numeric: true }).compare;

/** Rows of the table. If there are more segments, it shows the largest. */
const maxSegments = 12;
/** Names in one line. */
const maxNames = 8;

export interface Overview {
  readonly root: string;
  readonly version: string;
  /** Milliseconds since the command was started. */
  readonly ms: number;
  readonly paint: Paint;
  /** Whether keys are read. */
  readonly keys: boolean;
}

export function overview(
  session: DevSession,
  { root, version, ms, paint, keys }: Overview,
): string {
  const watched = session.watched.map((folder) => shortOf(folder, root));
  const blocks = [
    [`${paint("bold", "Seamline")} ${version} ${paint("dim", `is ready after ${duration(ms)}`)}`],
    addressLines(session, paint),
    segmentLines(session, paint).map((line) => `  ${line}`),
    accessLines(session.procedures(), paint),
    [named("Watching", some(watched), paint)],
    ...(keys ? [[`  ${keyLine(paint)}`]] : []),
  ];
  const text = blocks.filter((lines) => lines.length > 0).map((lines) => lines.join("\n"));
  return `\n${text.join("\n\n")}\n`;
}

const keyNames: readonly (readonly [key: string, short: string, long: string])[] = [
  ["o", "open", "open the page in the browser"],
  ["c", "console", "open the console: call procedures, kill nodes, move procedures"],
  ["h", "help", "this help"],
  ["q", "quit", "quit; so does Ctrl-C"],
];

function keyLine(paint: Paint): string {
  return keyNames.map(([key, short]) => `${paint("bold", key)} ${paint("dim", short)}`).join("   ");
}

/** The keys and their actions, with the addresses. */
export function helpLines(session: DevSession, paint: Paint): string {
  const keys = keyNames.map(([key, , long]) => `  ${paint("bold", key)}  ${long}`);
  return ["", ...keys, "", ...addressLines(session, paint), ""].join("\n");
}

function named(name: string, value: string, paint: Paint): string {
  return `  ${paint("dim", name.padEnd(9))}  ${value}`;
}

function addressLines(session: DevSession, paint: Paint): readonly string[] {
  const page = named("Page", paint("cyan", session.url), paint);
  const link = session.consoleUrl();
  return link === undefined ? [page] : [page, named("Console", paint("cyan", link), paint)];
}

/** Relative to the application folder if it is inside. */
function shortOf(folder: string, root: string): string {
  const path = relative(root, folder);
  if (path.startsWith("..") || isAbsolute(path)) return folder;
  return path === "" ? "." : `./${path}`;
}

/** The first names, and how many more there are. */
function some(names: readonly string[]): string {
  const more = names.length - maxNames;
  const shown = names.slice(0, maxNames).join(", ");
  return more > 0 ? `${shown} and ${thousands(more)} more` : shown;
}

/** Where a segment's procedures are: on nodes, in pages. */
function placesOf(
  segment: string,
  held: readonly DevProcedure[],
  session: DevSession,
): readonly string[] {
  const nodes = session.nodes().filter((node) => node.segments.includes(segment));
  const inPage = held.length > 0 && held.every((procedure) => procedure.nodes.includes("page"));
  return [
    ...nodes.map((node) =>
      node.state === "ready" ? `node ${node.name}` : `node ${node.name} (${node.state})`,
    ),
    ...(inPage ? ["page"] : []),
  ];
}

function segmentLines(session: DevSession, paint: Paint): readonly string[] {
  const procedures = session.procedures();
  const held = new Map<string, DevProcedure[]>(
    session.nodes().flatMap((node) => node.segments.map((name) => [name, []] as const)),
  );
  for (const procedure of procedures)
    for (const name of procedure.segments) held.set(name, [...(held.get(name) ?? []), procedure]);
  if (!session.isRead) return ["Nothing runs yet: fix the problems below to start."];
  if (held.size === 0)
    return ["There is no segment file yet, so every function runs where it is called."];
  const largest = [...held].toSorted(([, a], [, b]) => b.length - a.length).slice(0, maxSegments);
  const hasRoutes = procedures.some(({ route }) => route !== undefined);
  const rows = largest
    .toSorted(([a], [b]) => byName(a, b))
    .map(([name, list]) => {
      const routes = list.filter(({ route }) => route !== undefined).length;
      const counts = [thousands(list.length - routes), ...(hasRoutes ? [thousands(routes)] : [])];
      return [name, some(placesOf(name, list, session)) || "nowhere", ...counts];
    });
  const titles = ["Segment", "Where", "Procedures", ...(hasRoutes ? ["Routes"] : [])];
  const [head = "", ...lines] = table([titles, ...rows]);
  const hidden = held.size - rows.length;
  return [
    paint("dim", head),
    ...lines,
    ...(hidden > 0 ? [paint("dim", `and ${count(hidden, "segment")} more`)] : []),
  ];
}

/** Columns below each other: two of text, then numbers. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widthOf = (column: number): number =>
    Math.max(...rows.map((cells) => cells[column]?.length ?? 0));
  return rows.map((cells) =>
    cells
      .map((cell, at) => (at < 2 ? cell.padEnd(widthOf(at)) : cell.padStart(widthOf(at))))
      .join("  "),
  );
}

/** A line for each access: names, and patterns of routes. */
function accessLines(procedures: readonly DevProcedure[], paint: Paint): readonly string[] {
  return accesses.flatMap((access) => {
    const held = procedures.filter((procedure) => procedure.access === access);
    const names = [...new Set(held.map(({ fqn, route }) => route ?? fqn))].toSorted(byName);
    const title = access.slice(0, 1).toUpperCase() + access.slice(1);
    return names.length === 0 ? [] : [named(title, some(names), paint)];
  });
}

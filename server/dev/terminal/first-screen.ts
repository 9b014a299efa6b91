// What `seamline dev` prints when it is ready: addresses, and what runs where.

import { isAbsolute, relative } from "node:path";
import { accesses } from "../../../src/base/access.ts";
import type { DevProcedure, DevSession } from "../session/session.ts";
import { count, fit, pad, type Paint, some, thousands, widthOf } from "./text.ts";

// Sorts `node-10` after `node-9`.
const byName = new Intl.Collator("en", { numeric: true }).compare;

/** Rows of the table. If there are more segments, it shows the largest. */
const maxSegments = 12;

export interface FirstScreen {
  readonly root: string;
  readonly version: string;
  /** Milliseconds since the command was started. */
  readonly ms: number;
  readonly width: number;
  readonly paint: Paint;
  /** Whether keys are read. */
  readonly keys: boolean;
}

export function firstScreen(
  session: DevSession,
  { root, version, ms, width, paint, keys }: FirstScreen,
): string {
  const procedures = session.procedures();
  const consoleUrl = session.consoleUrl();
  const watched = session.watched.map((folder) => shortOf(folder, root));
  const named = (name: string, value: string): string =>
    `  ${paint("dim", pad(name, 9))}  ${value}`;
  const blocks = [
    [`${paint("bold", "Seamline")} ${version} ${paint("dim", `is ready after ${duration(ms)}`)}`],
    [
      named("Page", paint("cyan", session.url)),
      // Not shortened to fit: a shortened link wouldn't work.
      ...(consoleUrl === undefined ? [] : [named("Console", paint("cyan", consoleUrl))]),
    ],
    segmentLines(session, width - 2, paint).map((line) => `  ${line}`),
    accessLines(procedures, width - 13).map(([access, names]) => named(capital(access), names)),
    [named("Watching", some(watched, width - 13))],
    ...(keys ? [[`  ${keyLine(paint)}`]] : []),
  ];
  return `\n${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
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

/** What each key does. */
export function helpLines(session: DevSession, paint: Paint): string {
  const consoleUrl = session.consoleUrl();
  const addresses = [
    ["Page", session.url] as const,
    ...(consoleUrl === undefined ? [] : [["Console", consoleUrl] as const]),
  ];
  return [
    "",
    ...keyNames.map(([key, , long]) => `  ${paint("bold", key)}  ${long}`),
    "",
    ...addresses.map(([name, url]) => `  ${paint("dim", pad(name, 9))}  ${paint("cyan", url)}`),
    "",
  ].join("\n");
}

/** Relative to the application folder if it is inside. */
function shortOf(folder: string, root: string): string {
  const path = relative(root, folder);
  if (path.startsWith("..") || isAbsolute(path)) return folder;
  return path === "" ? "." : `./${path}`;
}

export function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
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

function segmentLines(session: DevSession, width: number, paint: Paint): readonly string[] {
  const procedures = session.procedures();
  const held = new Map<string, DevProcedure[]>(
    session.nodes().flatMap((node) => node.segments.map((name) => [name, []] as const)),
  );
  for (const procedure of procedures)
    for (const name of procedure.segments) {
      const list = held.get(name);
      if (list === undefined) held.set(name, [procedure]);
      else list.push(procedure);
    }
  if (!session.isRead) return ["Nothing runs yet: fix the problems below to start."];
  if (held.size === 0)
    return ["There is no segment file yet, so every function runs where it is called."];
  const largest = [...held].toSorted(([, a], [, b]) => b.length - a.length).slice(0, maxSegments);
  const shown = new Set(largest.map(([name]) => name));
  const rows = [...held].filter(([name]) => shown.has(name)).toSorted(([a], [b]) => byName(a, b));
  const nameWidth = Math.min(
    Math.max(7, ...rows.map(([name]) => widthOf(name))),
    Math.floor(width / 2),
  );
  const hasRoutes = procedures.some(({ route }) => route !== undefined);
  const placeWidth = width - nameWidth - (hasRoutes ? 22 : 14);
  const places = rows.map(
    ([name, list]) => some(placesOf(name, list, session), placeWidth) || "nowhere",
  );
  const used = Math.min(placeWidth, Math.max(5, ...places.map(widthOf)));
  const head = `${pad("Segment", nameWidth)}  ${pad("Where", used)}  Procedures${hasRoutes ? "  Routes" : ""}`;
  const counts = (list: readonly DevProcedure[]): string => {
    const routes = list.filter(({ route }) => route !== undefined).length;
    const called = pad(thousands(list.length - routes), 10, "left");
    return hasRoutes ? `${called}  ${pad(thousands(routes), 6, "left")}` : called;
  };
  const lines = rows.map(
    ([name, list], index) =>
      `${pad(fit(name, nameWidth), nameWidth)}  ${pad(fit(places[index] ?? "", used), used)}  ${counts(list)}`,
  );
  const hidden = held.size - rows.length;
  return [
    paint("dim", head),
    ...lines,
    ...(hidden > 0 ? [paint("dim", `and ${count(hidden, "segment")} more`)] : []),
  ];
}

/** A line for each access: as many names, and patterns of routes, as fit, and how many more. */
function accessLines(
  procedures: readonly DevProcedure[],
  width: number,
): readonly (readonly [string, string])[] {
  return accesses.flatMap((access) => {
    const names = [
      ...new Set(
        procedures
          .filter((procedure) => procedure.access === access)
          .map(({ fqn, route }) => route ?? fqn),
      ),
    ].toSorted(byName);
    return names.length === 0 ? [] : [[access, some(names, width)] as const];
  });
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

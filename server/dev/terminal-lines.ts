// The lines of a session: for people, in the terminal of `seamline dev` and in Vite's log.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";

import type { Log } from "../../src/base/ports.ts";
import { formatProblem, type Problem, Problems } from "../../src/base/problem.ts";
import { traceOf } from "../../src/base/trace.ts";
import { frameOf } from "../../src/split/read/code-frame.ts";
import { count, type Paint } from "../base/paint.ts";
import { oneEntry } from "../base/printable.ts";
import { stackOf } from "../base/stacks.ts";
import type { DevEvent, Move } from "./session.ts";

/** One broken file may cause hundreds, and the first ones need fixing first. */
const maxProblems = 8;
/** Names in one line; the segment file lists all of them. */
const maxNames = 3;

export interface LineContext {
  /** The application folder. */
  readonly root: string;
  readonly paint: Paint;
  /** Whether an application without problems runs, or has run. */
  readonly hasRun: () => boolean;
}

/** Where lines go. */
export type Write = (level: keyof Log, text: string) => void;

/** A log that also takes the events of a session. */
export interface DevLog extends Log {
  readonly event: (event: DevEvent) => void;
}

export function createDevLog(context: LineContext, write: Write): DevLog {
  const { root, paint } = context;
  const log: Log = {
    info: (line) => write("info", line),
    warn: (line) => write("warn", `${paint("yellow", "warning:")} ${line}`),
    error: (line, cause) =>
      write(
        "error",
        `${paint("red", "error:")} ${line}${cause === undefined ? "" : `: ${failure(cause, root)}`}`,
      ),
  };
  return { ...log, event: (event) => writeEvent(event, log, context) };
}

function writeEvent(event: DevEvent, log: Log, { root, paint, hasRun }: LineContext): void {
  const done = (verb: string, what: string, ms: number): void =>
    log.info(`${paint("green", verb)} ${what}, ${duration(ms)}`);
  switch (event.kind) {
    case "replaced": {
      const state = `${event.procedures.length === 1 ? "its" : "their"} own state starts anew`;
      const what = `${fewOf(event.procedures)}${onWhere(event.where)}`;
      return log.info(`${paint("green", "replaced")} ${what}, ${duration(event.ms)}; ${state}`);
    }
    case "reloaded":
      return done("reloaded", `${event.file}${onWhere(event.where)}`, event.ms);
    case "moved":
      for (const { verb, what } of movements(event.procedures)) done(verb, what, event.ms);
      return;
    case "node":
      return writeNode(event, log, { root, paint });
    case "problems": {
      const { problems, isLive } = event;
      for (const line of problemLines(problems, root)) log.error(line);
      const effect =
        isLive === true
          ? "everything else runs as it is written"
          : hasRun()
            ? "what ran before keeps running"
            : `it starts when ${problems.length === 1 ? "it is" : "they are"} fixed`;
      return log.info(paint("dim", `${count(problems.length, "problem")}: ${effect}`));
    }
    case "unsolved": {
      const heads = event.problems.slice(0, maxProblems).map((problem) => headOf(problem));
      const more = event.problems.length - heads.length;
      if (more > 0) heads.push(count(more, "more problem"));
      const left = `${count(event.problems.length, "problem")} left:`;
      return log.info([paint("red", left), ...heads].join(heads.length === 1 ? " " : "\n  "));
    }
    case "mended":
      return log.info(`${paint("green", "mended:")} no problem is left`);
    case "warning":
      for (const line of problemLines([event.problem], root)) log.warn(line);
      return;
    case "failed":
      return log.error(`${event.fqn} failed ${place(event.node)}`, event.error);
  }
}

function writeNode(
  { node, state, why, error }: Extract<DevEvent, { kind: "node" }>,
  log: Log,
  { root, paint }: Pick<LineContext, "root" | "paint">,
): void {
  const reason = why === undefined ? "" : `: ${why}`;
  switch (state) {
    case "ready":
      return log.info(`node ${node} ${paint("green", "is ready")}${reason}`);
    case "stopped":
      return log.info(`node ${node} ${paint("yellow", "is stopped")}${reason}`);
    case "failed":
      if (error instanceof Problems)
        return log.error(
          `node ${node} can't start: ${problemLines(error.problems, root).join("\n")}`,
        );
      if (error !== undefined) return log.error(`node ${node} can't start`, error);
      return log.error(`node ${node} can't start${reason}`);
    case "starting":
      // The next line reports it ready.
      if (why !== undefined) log.info(`node ${node} ${paint("yellow", "restarts")}${reason}`);
  }
}

/** An error with its causes and its trace of calls. Files below `root` have relative paths. */
function failure(thrown: unknown, root: string): string {
  const stack = stackOf(thrown)
    .replaceAll(`${pathToFileURL(root).href}/`, "")
    .replaceAll(`${root}/`, "");
  // Callers may influence the message.
  const lines = [stripVTControlCharacters(stack), ...traceOf(thrown).map((line) => `  ${line}`)];
  return oneEntry(lines.join("\n"));
}

/** A text for each problem as builds print it, with a code frame even if the build has none. */
function problemLines(problems: readonly Problem[], root: string): readonly string[] {
  const shown = problems.slice(0, maxProblems).map((problem) => {
    const frame = problem.frame ?? frameFrom(root, problem);
    return formatProblem(frame === undefined ? problem : { ...problem, frame });
  });
  const more = problems.length - shown.length;
  return more > 0 ? [...shown, count(more, "more problem")] : shown;
}

/** The problem without its code frame and its hint. */
function headOf({ frame: _, hint: __, ...problem }: Problem): string {
  return formatProblem(problem);
}

/** Reads the current file: the problem was found a moment ago. */
function frameFrom(root: string, { file, line, column }: Problem): string | undefined {
  if (line === undefined) return undefined;
  try {
    return frameOf(readFileSync(join(root, file), "utf8"), line, column ?? 1);
  } catch {
    // Not a file, or gone. The text still has the position.
    return undefined;
  }
}

export function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** `a`, `a and b`, `a, b and c`. */
function listOf(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

function fewOf(names: readonly string[], what = "procedure"): string {
  if (names.length <= maxNames) return listOf(names);
  return `${names.slice(0, maxNames - 1).join(", ")} and ${count(names.length - maxNames + 1, `more ${what}`)}`;
}

/** ` on node orders and in the page`. */
function onWhere(where: readonly string[]): string {
  const nodes = nodesOf(where);
  const places = [
    ...(nodes === "" ? [] : [`on ${nodes}`]),
    ...(where.includes("page") ? ["in the page"] : []),
  ];
  return places.length === 0 ? ", which runs nowhere now" : ` ${listOf(places)}`;
}

function nodesOf(where: readonly string[]): string {
  const nodes = where.filter((name) => name !== "page");
  if (nodes.length === 0) return "";
  return nodes.length === 1 ? `node ${nodes[0]}` : `nodes ${fewOf(nodes, "node")}`;
}

/** `node orders and the page`. */
function placesOf(where: readonly string[]): string {
  const pages = where.includes("page") ? "the page" : "";
  return listOf([nodesOf(where), pages].filter((text) => text !== ""));
}

/** `on node orders`, `in the page`. */
function place(node: string): string {
  return node === "page" ? "in the page" : `on node ${node}`;
}

/** One line for all procedures with the same origin and target. */
function movements(moves: readonly Move[]): readonly { verb: string; what: string }[] {
  const routes = new Map<string, { verb: string; route: string; fqns: Set<string> }>();
  for (const { fqn, from, to } of moves) {
    const added = placesOf(to.filter((name) => !from.includes(name)));
    const gone = placesOf(from.filter((name) => !to.includes(name)));
    if (added === "" && gone === "") continue;
    const [verb, route] =
      gone === ""
        ? ["added", ` to ${added}`]
        : added === ""
          ? ["removed", ` from ${gone}`]
          : ["moved", ` from ${gone} to ${added}`];
    const movement = routes.get(verb + route) ?? { verb, route, fqns: new Set() };
    movement.fqns.add(fqn);
    routes.set(verb + route, movement);
  }
  return [...routes.values()].map(({ verb, route, fqns }) => ({
    verb,
    what: `${fewOf([...fqns])}${route}`,
  }));
}

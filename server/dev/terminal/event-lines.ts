// The lines for each event of a session.

import { Problems } from "../../../src/base/problem.ts";
import type { DevEvent, Move } from "../session/session.ts";
import { failureLines } from "./failure-lines.ts";
import { duration } from "./first-screen.ts";
import { problemLines } from "./problem-lines.ts";
import { count, join, type Paint } from "./text.ts";

export interface EventContext {
  /** The application folder. */
  readonly root: string;
  readonly width: number;
  readonly paint: Paint;
  /** Whether an application without problems has run. */
  readonly hasRun: () => boolean;
}

/** What is printed for an event. */
export interface EventLine {
  readonly text: string;
  /** Equal for lines that differ only in how long something took. */
  readonly same?: string;
}

/** Empty for an event that needs no line. */
export function eventLines(event: DevEvent, context: EventContext): readonly EventLine[] {
  const { paint, root } = context;
  switch (event.kind) {
    case "replaced": {
      const owner = event.procedures.length === 1 ? "its" : "their";
      const what = `${fewOf(event.procedures)}${onWhere(event.where)}`;
      return [
        timed(paint("green", "replaced"), what, event.ms, `; ${owner} own state starts anew`),
      ];
    }
    case "reloaded":
      return [timed(paint("green", "reloaded"), `${event.file}${onWhere(event.where)}`, event.ms)];
    case "moved":
      return movements(event.procedures).map(({ verb, what }) =>
        timed(paint("green", verb), what, event.ms),
      );
    case "node":
      return nodeLines(event, context);
    case "problems": {
      const lines = problemLines(event.problems, context);
      const after =
        event.isLive === true
          ? "everything else runs as it is written"
          : context.hasRun()
            ? "what ran before keeps running"
            : `it starts when ${event.problems.length === 1 ? "it is" : "they are"} fixed`;
      const summary = `${count(event.problems.length, "problem")}: ${after}`;
      return [
        {
          text: `${lines.map((line) => `${paint("red", "error:")} ${line}`).join("\n\n")}\n${paint("dim", summary)}`,
        },
      ];
    }
    case "mended":
      return [{ text: `${paint("green", "mended:")} no problem is left` }];
    case "warning":
      return problemLines([event.problem], context).map((line) => ({
        text: `${paint("yellow", "warning:")} ${line}`,
      }));
    case "failed":
      return [
        failureLines(event.error, {
          root,
          paint,
          head: `${event.fqn} failed ${place(event.node)}`,
        }),
      ];
  }
}

function timed(verb: string, what: string, ms: number, suffix = ""): EventLine {
  return { text: `${verb} ${what}, ${duration(ms)}${suffix}`, same: `${verb} ${what}` };
}

function nodeLines(
  { node, state, why, error }: Extract<DevEvent, { kind: "node" }>,
  context: EventContext,
): readonly EventLine[] {
  const { paint, root } = context;
  const reason = why === undefined ? "" : `: ${why}`;
  switch (state) {
    case "ready":
      return [{ text: `node ${node} ${paint("green", "is ready")}${reason}` }];
    case "stopped":
      return [{ text: `node ${node} ${paint("yellow", "is stopped")}${reason}` }];
    case "failed":
      if (error instanceof Problems)
        return [
          {
            text: `${paint("red", `node ${node} can't start:`)} ${problemLines(error.problems, context).join("\n\n")}`,
          },
        ];
      if (error !== undefined)
        return [failureLines(error, { root, paint, head: `node ${node} can't start` })];
      return [{ text: `node ${node} ${paint("red", "can't start")}${reason}` }];
    case "starting":
      // The next line reports it ready.
      return why === undefined
        ? []
        : [{ text: `node ${node} ${paint("yellow", "restarts")}${reason}` }];
  }
}

/** Names in one line; the segment file lists all of them. */
const maxNames = 3;

function fewOf(names: readonly string[], what = "procedure"): string {
  if (names.length <= maxNames) return join(names);
  return `${names.slice(0, maxNames - 1).join(", ")} and ${count(names.length - maxNames + 1, `more ${what}`)}`;
}

/** ` on node orders and in the page`. */
function onWhere(where: readonly string[]): string {
  const nodes = nodesOf(where);
  const places = [
    ...(nodes === "" ? [] : [`on ${nodes}`]),
    ...(where.includes("page") ? ["in the page"] : []),
  ];
  return places.length === 0 ? ", which runs nowhere now" : ` ${join(places)}`;
}

function nodesOf(where: readonly string[]): string {
  const nodes = where.filter((name) => name !== "page");
  return nodes.length === 0
    ? ""
    : nodes.length === 1
      ? `node ${nodes[0]}`
      : `nodes ${fewOf(nodes, "node")}`;
}

/** `node orders and the page`. */
function placesOf(where: readonly string[]): string {
  return join(
    [nodesOf(where), where.includes("page") ? "the page" : ""].filter((text) => text !== ""),
  );
}

/** `on node orders`, `in the page`. */
export function place(node: string): string {
  return node === "page" ? "in the page" : `on node ${node}`;
}

/** One line for all procedures with the same origin and target. */
function movements(moves: readonly Move[]): readonly { verb: string; what: string }[] {
  const routes = new Map<string, { verb: string; route: string; fqns: string[] }>();
  for (const { fqn, from, to } of moves) {
    const added = placesOf(to.filter((name) => !from.includes(name)));
    const gone = placesOf(from.filter((name) => !to.includes(name)));
    if (added === "" && gone === "") continue;
    const verb = gone === "" ? "added" : added === "" ? "removed" : "moved";
    const route = {
      added: ` to ${added}`,
      removed: ` from ${gone}`,
      moved: ` from ${gone} to ${added}`,
    }[verb];
    const movement = routes.get(verb + route);
    if (movement === undefined) routes.set(verb + route, { verb, route, fqns: [fqn] });
    else movement.fqns.push(fqn);
  }
  return [...routes.values()].map(({ verb, route, fqns }) => ({
    verb,
    what: `${fewOf([...new Set(fqns)])}${route}`,
  }));
}

// What happened, in a line each.

import { Problems } from "../../../src/problem.ts";
import type { DevEvent, Move } from "../session.ts";
import { failureLines } from "./failure-lines.ts";
import { duration } from "./first-screen.ts";
import { problemLines } from "./problem-lines.ts";
import { count, join, type Paint } from "./text.ts";

export interface EventContext {
  /** The application folder. */
  readonly root: string;
  readonly width: number;
  readonly paint: Paint;
  /** Whether there is an application that was whole once. */
  readonly hasRun: () => boolean;
}

/** Lines for a person, and what makes them the same as others: the times that something took don't count. */
export interface Shown {
  readonly text: string;
  readonly same?: string;
}

/** Gives nothing for what is of no use to anyone. */
export function eventLines(event: DevEvent, context: EventContext): readonly Shown[] {
  const { paint, root } = context;
  switch (event.kind) {
    case "replaced": {
      const whose = event.procedures.length === 1 ? "its" : "their";
      const what = `${fewOf(event.procedures)}${onWhere(event.where)}`;
      return [
        timed(paint("green", "replaced"), what, event.ms, `; ${whose} own state starts anew`),
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
            ? "what ran before goes on running"
            : `it starts when ${event.problems.length === 1 ? "it is" : "they are"} mended`;
      const left = `${count(event.problems.length, "problem")}: ${after}`;
      return [
        {
          text: `${lines.map((line) => `${paint("red", "error:")} ${line}`).join("\n\n")}\n${paint("dim", left)}`,
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

function timed(verb: string, what: string, ms: number, after = ""): Shown {
  return { text: `${verb} ${what}, ${duration(ms)}${after}`, same: `${verb} ${what}` };
}

function nodeLines(
  { node, state, why, error }: Extract<DevEvent, { kind: "node" }>,
  context: EventContext,
): readonly Shown[] {
  const { paint, root } = context;
  const because = why === undefined ? "" : `: ${why}`;
  switch (state) {
    case "ready":
      return [{ text: `node ${node} ${paint("green", "is ready")}${because}` }];
    case "stopped":
      return [{ text: `node ${node} ${paint("yellow", "is stopped")}${because}` }];
    case "failed":
      if (error instanceof Problems)
        return [
          {
            text: `${paint("red", `node ${node} can't start:`)} ${problemLines(error.problems, context).join("\n\n")}`,
          },
        ];
      if (error !== undefined)
        return [failureLines(error, { root, paint, head: `node ${node} can't start` })];
      return [{ text: `node ${node} ${paint("red", "can't start")}${because}` }];
    case "starting":
      // It is ready in a moment, and says so.
      return why === undefined
        ? []
        : [{ text: `node ${node} ${paint("yellow", "starts anew")}${because}` }];
  }
}

// Names that one line holds; who wants all of them looks into the file.
const mostNames = 3;

function fewOf(names: readonly string[], what = "procedure"): string {
  if (names.length <= mostNames) return join(names);
  return `${names.slice(0, mostNames - 1).join(", ")} and ${count(names.length - mostNames + 1, `more ${what}`)}`;
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
  const nodes = where.filter((one) => one !== "page");
  return nodes.length === 0
    ? ""
    : nodes.length === 1
      ? `node ${nodes[0]}`
      : `nodes ${fewOf(nodes, "node")}`;
}

/** `node orders and the page`. */
function placesOf(where: readonly string[]): string {
  return join(
    [nodesOf(where), where.includes("page") ? "the page" : ""].filter((one) => one !== ""),
  );
}

/** `on node orders`, `in the page`. */
export function place(node: string): string {
  return node === "page" ? "in the page" : `on node ${node}`;
}

/** One line for all that went the same way. */
function movements(moves: readonly Move[]): readonly { verb: string; what: string }[] {
  const ways = new Map<string, { verb: string; way: string; fqns: string[] }>();
  for (const { fqn, from, to } of moves) {
    const added = placesOf(to.filter((one) => !from.includes(one)));
    const gone = placesOf(from.filter((one) => !to.includes(one)));
    if (added === "" && gone === "") continue;
    const verb = gone === "" ? "added" : added === "" ? "removed" : "moved";
    const way = {
      added: ` to ${added}`,
      removed: ` from ${gone}`,
      moved: ` from ${gone} to ${added}`,
    }[verb];
    const known = ways.get(verb + way);
    if (known === undefined) ways.set(verb + way, { verb, way, fqns: [fqn] });
    else known.fqns.push(fqn);
  }
  return [...ways.values()].map(({ verb, way, fqns }) => ({
    verb,
    what: `${fewOf([...new Set(fqns)])}${way}`,
  }));
}

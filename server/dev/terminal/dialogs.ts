// What the keys `c`, `k` and `m` ask, and what comes of the answers.

import { inspect } from "node:util";
import { segmentFileEnding } from "../../../src/segment.ts";
import { ranOn } from "../../../src/trace.ts";
import type { DevProcedure, DevSession } from "../session.ts";
import { asked } from "./arguments.ts";
import { place } from "./event-lines.ts";
import { failureLines, reasonOf } from "./failure-lines.ts";
import { duration } from "./first-screen.ts";
import { askChoice, askText, type Prompt } from "./prompts.ts";
import { count, type Paint } from "./text.ts";

export interface Dialog {
  readonly session: DevSession;
  /** Gives `undefined` when the person goes back. */
  readonly ask: <T>(prompt: Prompt<T>) => Promise<T | undefined>;
  readonly print: (text: string) => void;
  readonly paint: Paint;
  readonly colours: boolean;
  /** The application folder. */
  readonly root: string;
  /** What was answered before, offered again. */
  readonly answers: Map<string, string>;
}

/** What is done when all is answered: keys are commands again meanwhile. */
export type Act = () => Promise<void>;

/** Asks for a procedure and its arguments, one after the other, and calls it. */
export async function callDialog(dialog: Dialog): Promise<Act | undefined> {
  const { session, ask, print, paint, colours, root, answers } = dialog;
  const callable = session.procedures();
  const fqn = await askProcedure(dialog, "Call", callable);
  if (fqn === undefined) return undefined;
  const versions = callable.filter((one) => one.fqn === fqn);
  const choices = versions.map((one) => ({ label: `${one.version}  (${one.access})`, value: one }));
  const chosen =
    choices.length === 1 ? versions[0] : await ask(askChoice(`Version of ${fqn}`, choices));
  if (chosen === undefined) return undefined;

  const args: Record<string, unknown> = Object.create(null);
  for (const { name, note, optional, read } of asked(chosen.parameters)) {
    const key = `${fqn} ${name}`;
    const given = await ask(
      askText<{ readonly left: boolean; readonly value?: unknown }>({
        question: name,
        note,
        initial: answers.get(key) ?? "",
        read: (text) => {
          answers.set(key, text);
          if (text === "" && optional) return { value: { left: true } };
          const result = read(text);
          return "wrong" in result ? result : { value: { left: false, value: result.value } };
        },
      }),
    );
    if (given === undefined) return undefined;
    if (!given.left) args[name] = given.value;
  }
  const call = `${fqn}(${Object.entries(args)
    .map(([name, value]) => `${name}: ${brief(value)}`)
    .join(", ")})`;
  return async () => {
    try {
      const { value, node, ms } = await session.call(fqn, args, chosen.version);
      print(
        `${paint("green", call)} gave ${show(value, colours)}${node === undefined ? "" : ` ${place(node)}`}, ${duration(ms)}`,
      );
    } catch (error) {
      const node = ranOn(error);
      const head = `${call} failed${node === undefined ? "" : ` ${place(node)}`}`;
      print(failureLines(error, { root, paint, head }).text);
    }
  };
}

/** Asks for a node: one that runs is stopped, any other is started. */
export async function killDialog({ session, ask, print, paint }: Dialog): Promise<Act | undefined> {
  const choices = session.nodes().map((node) => {
    const holds = `${count(node.procedures, "procedure")}${node.state === "ready" ? "" : `, ${node.state}`}`;
    return {
      label: `${node.state === "ready" ? "kill" : "start"} ${node.name}  (${holds})`,
      value: node,
    };
  });
  if (choices.length === 0) return told(print, "There is no node: no segment is for servers.");
  const node = await ask(askChoice("Kill or start a node", choices));
  if (node === undefined) return undefined;
  const act = node.state === "ready" ? "kill" : "start";
  return async () => {
    try {
      await session[act](node.name);
    } catch (error) {
      print(`${paint("red", "error:")} can't ${act} node ${node.name}: ${reasonOf(error)}`);
    }
  };
}

/** Asks for a procedure and a segment, and has the segment files rewritten. */
export async function moveDialog(dialog: Dialog): Promise<Act | undefined> {
  const { session, ask, print, paint } = dialog;
  const procedures = session.procedures();
  const segments = [
    ...new Set([
      ...session.nodes().flatMap((node) => node.segments),
      ...procedures.flatMap((one) => one.segments),
    ]),
  ].toSorted();
  const fqn = await askProcedure(dialog, "Move", procedures);
  if (fqn === undefined) return undefined;
  const now = new Set(procedures.filter((one) => one.fqn === fqn).flatMap((one) => one.segments));
  const choices = segments
    // To the only one that it is in: nothing to do.
    .filter((name) => now.size > 1 || !now.has(name))
    .map((name) => ({
      label: `${name}${whereOf(name, session)}${now.has(name) ? "  (it is there, among others)" : ""}`,
      value: name,
    }));
  const chosen = await ask(
    askChoice(`Move ${fqn} from ${[...now].join(", ")} to`, [
      ...choices,
      { label: "a new segment", value: "" },
    ]),
  );
  const segment = chosen === "" ? await ask(askNewSegment(segments)) : chosen;
  if (segment === undefined) return undefined;
  return async () => {
    try {
      await session.move(fqn, segment);
    } catch (error) {
      print(`${paint("red", "error:")} can't move ${fqn} to ${segment}: ${reasonOf(error)}`);
    }
  };
}

async function askProcedure(
  { ask, print }: Dialog,
  what: string,
  procedures: readonly DevProcedure[],
): Promise<string | undefined> {
  if (procedures.length === 0)
    return told(print, "There is no procedure yet: a segment file names them.");
  const fqns = [...new Set(procedures.map((one) => one.fqn))].toSorted();
  return await ask(
    askText<string>({
      question: `${what} which procedure`,
      suggest: (text) => matching(fqns, text),
      read: (text) =>
        fqns.includes(text) ? { value: text } : { wrong: `there is no procedure "${text}"` },
    }),
  );
}

function askNewSegment(segments: readonly string[]): Prompt<string> {
  return askText<string>({
    question: "Its name",
    note: `(NAME${segmentFileEnding} will be its file)`,
    read(text) {
      if (segments.includes(text)) return { wrong: `"${text}" is there already` };
      // It becomes the name of a file and of a node.
      return /^\w[\w-]*$/.test(text)
        ? { value: text }
        : { wrong: "letters, digits, - and _ make a name" };
    },
  });
}

/** Those that begin with the text, then those that have it somewhere: nobody remembers all folders. */
function matching(fqns: readonly string[], text: string): readonly string[] {
  const wanted = text.toLowerCase();
  const has = fqns.filter((fqn) => fqn.toLowerCase().includes(wanted));
  const begins = (fqn: string): boolean => fqn.toLowerCase().startsWith(wanted);
  return [...has.filter(begins), ...has.filter((fqn) => !begins(fqn))];
}

function whereOf(segment: string, session: DevSession): string {
  const nodes = session.nodes().filter((node) => node.segments.includes(segment));
  return nodes.length > 0
    ? `  (${nodes.map((node) => `node ${node.name}`).join(", ")})`
    : "  (page)";
}

function told(print: Dialog["print"], text: string): undefined {
  print(text);
  return undefined;
}

function show(value: unknown, colours: boolean): string {
  return inspect(value, {
    colors: colours,
    depth: 4,
    maxArrayLength: 20,
    maxStringLength: 1_000,
    breakLength: 100,
  });
}

function brief(value: unknown): string {
  return inspect(value, {
    depth: 1,
    maxArrayLength: 3,
    maxStringLength: 40,
    breakLength: Infinity,
  });
}

// The body: the procedures that a build holds, and the private code that only they need. Errors get their line here and
// not in the seam, so that the lines are the same wherever a procedure runs (§7.1), and cost nothing when none is thrown.

import { traceLine } from "../fqn.ts";
import type { Module } from "./analyze.ts";
import { findWord, keep } from "./blank.ts";
import { type FunctionText, mayBePromise, readFunction } from "./function-text.ts";
import { exportList } from "./names.ts";
import { Draft } from "./part.ts";
import type { Placement } from "./place.ts";
import type { Procedure } from "./procedures.ts";
import { isDeclaredIn } from "./shared.ts";
import type { Part, SplitInput } from "./split-module.ts";
import { child, list, need, type Node } from "./tree.ts";

/** Names of generated things in this body. */
interface Words {
  readonly traced: string;
  readonly context: string;
  readonly error: string;
  readonly self: string;
}

/** Writes the body of a build that holds `held`; `undefined` when it holds none. */
export function writeBody(
  module: Module,
  procedures: readonly Procedure[],
  held: readonly Procedure[],
  placement: Placement,
  sharedNames: ReadonlyMap<string, string>,
  ids: SplitInput["ids"],
): Part | undefined {
  if (held.length === 0) return undefined;
  const kept = keep(module, placement.body, false);
  const draft = new Draft(module, kept.text, procedures, ids);
  const fresh = (base: string): string => draft.names.fresh(base);
  const words: Words = {
    traced: fresh("$traced"),
    context: fresh("$context"),
    error: fresh("$error"),
    self: fresh("$this"),
  };
  const writer = new Writer(module, draft, words);
  const written = held.map((procedure) => ({ procedure, ...writer.write(procedure) }));
  draft.useSeams(placement.body, (unit, procedure, call) =>
    // A function that calls itself stays where it is. Elsewhere it is the seam, the one that all others hold.
    call && unit === procedure.unit
      ? written.find((one) => one.procedure === procedure)?.name
      : undefined,
  );

  const lent = new Set(
    [...placement.body].flatMap((unit) =>
      unit.references.filter((one) => !one.soft).map((one) => one.name),
    ),
  );
  const fromShared = [...lent].filter((name) => isDeclaredIn(module, name, placement.shared));
  draft.import(
    [...writer.used].map((word): [string, string] => [
      word === words.traced ? "traced" : "context",
      word,
    ]),
    ids.graph,
  );
  draft.import(
    fromShared.map((name): [string, string] => [sharedNames.get(name) ?? name, name]),
    ids.shared,
  );
  const exported = written.map(({ procedure, name }): [string, string] => [
    name,
    procedure.record.export,
  ]);
  return draft.finish(kept, [...written.map((one) => one.wrapper), exportList(exported)]);
}

class Writer {
  /** Which of the graph's functions the text calls. */
  readonly used: Set<string> = new Set();
  readonly #module: Module;
  readonly #draft: Draft;
  readonly #words: Words;

  constructor(module: Module, draft: Draft, words: Words) {
    this.#module = module;
    this.#draft = draft;
    this.#words = words;
  }

  /** Edits a procedure in its place; gives the name to export, and what has to stand behind everything. */
  write(procedure: Procedure): { name: string; wrapper: string } {
    const name = procedure.local ?? this.#name(procedure);
    if (procedure.wrapped) return this.#writeWrapped(procedure, name);
    const fn = procedure.signature;
    const read = readFunction(fn);
    const catchable = !procedure.generator && !read.selfInParameters && read.catchable;
    if (fn.type === "ArrowFunctionExpression" && read.selves.length > 0)
      this.#arrowToFunction(fn, !catchable);
    if (procedure.generator) this.#bindSelf(procedure, read);
    else if (catchable) this.#catch(procedure, read);
    else return this.#wrap(procedure, name, read);
    return { name, wrapper: "" };
  }

  #writeWrapped(procedure: Procedure, name: string): { name: string; wrapper: string } {
    const { inner, unit } = procedure;
    const isArrow =
      inner?.type === "ArrowFunctionExpression" &&
      inner.start >= unit.node.start &&
      inner.end <= unit.node.end;
    if (isArrow && readFunction(inner).selves.length > 0) this.#arrowToFunction(inner, true);
    return procedure.generator ? { name, wrapper: "" } : this.#wrap(procedure, name);
  }

  /** A default export without a name gets one. */
  #name({ unit, wrapped, signature: fn }: Procedure): string {
    const name = this.#draft.names.fresh("$default");
    if (unit.kind === "default" || wrapped)
      this.#draft.text.appendLeft(need(unit.node, "declaration").start, `const ${name} = `);
    else {
      const head = this.#module.source.slice(
        fn.start,
        list(fn, "params")[0]?.start ?? need(fn, "body").start,
      );
      const found = /^async(?:\s|\/\*.*?\*\/)*function(?:(?:\s|\/\*.*?\*\/)*\*)?/s.exec(head);
      this.#draft.text.appendLeft(fn.start + (found?.[0].length ?? 0), ` ${name}`);
    }
    return name;
  }

  #rethrow({ record }: Procedure): string {
    const { error, traced } = this.#words;
    this.used.add(traced);
    return `catch (${error}) { throw ${traced}(${error}, ${lineOf(record)}); }`;
  }

  /** `try` and `catch` inside the function: the cheapest way, and the usual one. */
  #catch(procedure: Procedure, read: FunctionText): void {
    const { text } = this.#draft;
    const body = need(procedure.signature, "body");
    const self = this.#self(procedure, read);
    for (const value of read.returns)
      text.appendLeft(value.start, "await (").appendLeft(value.end, ")");
    if (body.type === "BlockStatement") {
      text
        .appendLeft(body.start + 1, ` try {${self}`)
        .appendLeft(body.end - 1, `} ${this.#rethrow(procedure)} `);
      return;
    }
    const [open, close] = mayBePromise(body) ? ["await (", ")"] : ["(", ")"];
    text.appendLeft(body.start, `{ try {${self} return ${open}`);
    text.appendLeft(body.end, `${close}; } ${this.#rethrow(procedure)} }`);
  }

  #bindSelf(procedure: Procedure, read: FunctionText): void {
    if (read.selfInParameters) return;
    const self = this.#self(procedure, read);
    if (self !== "") this.#draft.text.appendLeft(need(procedure.signature, "body").start + 1, self);
  }

  /** Lets the function's `this` be a context; gives the text that makes it one. */
  #self({ record }: Procedure, read: FunctionText): string {
    if (read.selves.length === 0) return "";
    const { self, context } = this.#words;
    this.used.add(context);
    for (const node of read.selves) this.#draft.text.update(node.start, node.end, self);
    return ` const ${self} = ${context}(this, ${lineOf(record)});`;
  }

  /** A function around it, for what can't be caught inside; of a function that another one made, it checks the result. */
  #wrap(
    procedure: Procedure,
    inner: string,
    read?: FunctionText,
  ): { name: string; wrapper: string } {
    const { record, wrapped } = procedure;
    const name = this.#draft.names.fresh(`$run_${inner.replace(/^\$/, "")}`);
    const needsContext = wrapped || (read?.selves.length ?? 0) > 0;
    if (needsContext) this.used.add(this.#words.context);
    const call = `${inner}.apply(${needsContext ? `${this.#words.context}(this, ${lineOf(record)})` : "this"}, arguments)`;
    const answer = this.#draft.names.fresh("$answer");
    const message = `The procedure ${record.fqn} gave no promise: what wraps it has to return an async function`;
    const run = wrapped
      ? `const ${answer} = ${call}; if (typeof ${answer}?.then !== "function") throw new TypeError(${JSON.stringify(message)}); return await ${answer};`
      : `return await ${call};`;
    return {
      name,
      wrapper: `async function ${name}() { try { ${run} } ${this.#rethrow(procedure)} }`,
    };
  }

  /** An arrow has the module's `this`, which is nothing. Chosen: one that mentions it becomes a function that has a context. */
  #arrowToFunction(fn: Node, braces: boolean): void {
    const { text } = this.#draft;
    const body = need(fn, "body");
    const [first, ...others] = list(fn, "params");
    const last = child(fn, "returnType") ?? others.at(-1) ?? first;
    text.appendLeft(fn.start + "async".length, " function");
    if (first !== undefined && !this.#module.source.slice(fn.start, first.start).includes("("))
      text.appendLeft(first.start, "(").appendLeft(first.end, ")");
    const arrow = findWord(this.#module, "=>", last?.end ?? fn.start, body.start);
    text.remove(arrow, arrow + 2);
    // An expression that is caught inside gets its braces there.
    if (braces && body.type !== "BlockStatement")
      text.appendLeft(body.start, "{ return ").appendLeft(body.end, "; }");
  }
}

/** The procedure's trace line, as text of a program. */
function lineOf({ fqn, version }: Procedure["record"]): string {
  return JSON.stringify(traceLine(fqn, version));
}

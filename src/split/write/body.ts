// The body: the procedures that a build holds, and the private code that only they need. Errors get
// their trace line here and not in the seam, so the lines are the same wherever a procedure runs,
// and a call without an error pays nothing.

import { traceLine } from "../../base/fqn.ts";
import type { Module } from "../read/analyze.ts";
import { type FunctionText, mayBePromise, readFunction } from "../procedures/function-text.ts";
import { findToken, keepUnits } from "./kept-text.ts";
import type { LocatedProcedure } from "../procedures/locate-procedures.ts";
import { exportList } from "../read/names.ts";
import { type Part, PartDraft, type PartIds } from "./part.ts";
import type { Partition } from "./partition.ts";
import { isDeclaredIn } from "./shared-part.ts";
import { child, list, nameOf, need, type Node } from "../read/tree.ts";

/** The names of generated variables in a body. */
interface GeneratedNames {
  readonly traced: string;
  readonly begun: string;
  readonly context: string;
  readonly error: string;
  readonly run: string;
  readonly self: string;
}

/** Writes the body of a build that holds `held`; `undefined` if it holds none. */
export function writeBody(
  module: Module,
  procedures: readonly LocatedProcedure[],
  held: readonly LocatedProcedure[],
  { shared, body }: Partition,
  sharedNames: ReadonlyMap<string, string>,
  ids: PartIds,
): Part | undefined {
  if (held.length === 0) return undefined;
  const kept = keepUnits(module, body, { exported: false });
  const draft = new PartDraft(module, kept.text, procedures, ids);
  const generated: GeneratedNames = {
    traced: draft.names.fresh("$traced"),
    begun: draft.names.fresh("$begun"),
    context: draft.names.fresh("$context"),
    error: draft.names.fresh("$error"),
    run: draft.names.fresh("$run"),
    self: draft.names.fresh("$this"),
  };
  const writer = new ProcedureWriter(module, draft, generated);
  const written = held.map((procedure) => ({ procedure, name: writer.write(procedure) }));
  draft.useSeams(body, (unit, procedure, isCall) =>
    // A function that calls itself stays where it is. Any other mention means its seam.
    isCall && unit === procedure.unit
      ? written.find((candidate) => candidate.procedure === procedure)?.name
      : undefined,
  );

  const mentioned = new Set(
    [...body].flatMap(({ references }) =>
      references.filter(({ soft }) => !soft).map(({ name }) => name),
    ),
  );
  draft.import(
    (["traced", "begun", "context"] as const)
      .filter((name) => writer.fromGraph.has(generated[name]))
      .map((name): [string, string] => [name, generated[name]]),
    ids.graph,
  );
  draft.import(
    [...mentioned]
      .filter((name) => isDeclaredIn(module, name, shared))
      .map((name): [string, string] => [sharedNames.get(name) ?? name, name]),
    ids.shared,
  );
  const exported = written.map(({ procedure, name }): [string, string] => [
    name,
    procedure.record.export,
  ]);
  return draft.finish(body, kept, [exportList(exported)]);
}

class ProcedureWriter {
  /** The functions of the graph that the text calls, by their names in it. */
  readonly fromGraph: Set<string> = new Set();
  readonly #module: Module;
  readonly #draft: PartDraft;
  readonly #generated: GeneratedNames;

  constructor(module: Module, draft: PartDraft, generated: GeneratedNames) {
    this.#module = module;
    this.#draft = draft;
    this.#generated = generated;
  }

  /** Edits a procedure where it stands. Returns the name to export. */
  write(procedure: LocatedProcedure): string {
    const name = procedure.local ?? this.#nameDefault(procedure);
    if (procedure.wrapped) return this.#writeWrapped(procedure, name);
    const fn = procedure.signature;
    const read = readFunction(fn);
    const catchable = !read.selfInParameters && read.catchable;
    if (fn.type === "ArrowFunctionExpression" && read.selves.length > 0)
      this.#arrowToFunction(fn, !catchable);
    if (!catchable) return this.#wrap(procedure, name, read);
    this.#catchInside(procedure, read);
    return name;
  }

  #writeWrapped(procedure: LocatedProcedure, name: string): string {
    const { inner, unit } = procedure;
    const isArrow =
      inner?.type === "ArrowFunctionExpression" &&
      inner.start >= unit.node.start &&
      inner.end <= unit.node.end;
    if (isArrow && readFunction(inner).selves.length > 0) this.#arrowToFunction(inner, true);
    this.#nameArgument(procedure);
    return this.#wrap(procedure, name);
  }

  /** Passes the argument's name to `checked`, for its messages. */
  #nameArgument({ checked, unit, signature }: LocatedProcedure): void {
    if (checked === undefined || checked.start < unit.node.start || checked.end > unit.node.end)
      return;
    const [, run, ...others] = list(checked, "arguments");
    const [first] = list(signature, "params").filter((parameter) => nameOf(parameter) !== "this");
    const name = nameOf(first?.type === "AssignmentPattern" ? child(first, "left") : first);
    if (run !== undefined && others.length === 0 && name !== undefined)
      this.#draft.text.appendLeft(run.end, `, ${JSON.stringify(name)}`);
  }

  /** Names a default export that has no name. */
  #nameDefault({ unit, signature: fn }: LocatedProcedure): string {
    const name = this.#draft.names.fresh("$default");
    if (unit.kind === "default")
      this.#draft.text.appendLeft(need(unit.node, "declaration").start, `const ${name} = `);
    else {
      const head = this.#module.source.slice(
        fn.start,
        list(fn, "params")[0]?.start ?? need(fn, "body").start,
      );
      const keywords = /^async(?:\s|\/\*.*?\*\/)*function(?:(?:\s|\/\*.*?\*\/)*\*)?/s.exec(head);
      this.#draft.text.appendLeft(fn.start + (keywords?.[0].length ?? 0), ` ${name}`);
    }
    return name;
  }

  /** Stands before `try`: an error tells by the number which runs it has come from. */
  #beginning(): string {
    const { begun, run } = this.#generated;
    this.fromGraph.add(begun);
    return `const ${run} = ${begun}();`;
  }

  #catchClause({ record }: LocatedProcedure): string {
    const { error, traced, run } = this.#generated;
    this.fromGraph.add(traced);
    return `catch (${error}) { throw ${traced}(${error}, ${lineOf(record)}, ${run}); }`;
  }

  /** Puts `try` and `catch` into the function: this costs least, and usually works. */
  #catchInside(procedure: LocatedProcedure, read: FunctionText): void {
    const { text } = this.#draft;
    const body = need(procedure.signature, "body");
    const self = this.#selfDeclaration(procedure, read);
    for (const value of read.returns)
      text.appendLeft(value.start, "await (").appendLeft(value.end, ")");
    if (body.type === "BlockStatement") {
      text
        .appendLeft(body.start + 1, ` ${this.#beginning()} try {${self}`)
        .appendLeft(body.end - 1, `} ${this.#catchClause(procedure)} `);
      return;
    }
    const [open, close] = mayBePromise(body) ? ["await (", ")"] : ["(", ")"];
    text.appendLeft(body.start, `{ ${this.#beginning()} try {${self} return ${open}`);
    text.appendLeft(body.end, `${close}; } ${this.#catchClause(procedure)} }`);
  }

  /** Replaces `this` by a variable, and returns the code that sets it to a context. */
  #selfDeclaration({ record }: LocatedProcedure, read: FunctionText): string {
    if (read.selves.length === 0) return "";
    const { self, context } = this.#generated;
    this.fromGraph.add(context);
    for (const node of read.selves) this.#draft.text.update(node.start, node.end, self);
    return ` const ${self} = ${context}(this, ${lineOf(record)});`;
  }

  /**
   * Adds a function that calls this one and catches; a wrapper's result is checked, too. It stands
   * behind this one: stacks show both, and source maps lead from there to this one's last line.
   * Around a generator it is one, too: `yield*` passes on what its caller returns or throws into it.
   */
  #wrap(procedure: LocatedProcedure, inner: string, read?: FunctionText): string {
    const { record, wrapped, stream, checked } = procedure;
    const { context } = this.#generated;
    const name = this.#draft.names.fresh(`$run_${inner.replace(/^\$/, "")}`);
    const needsContext = wrapped || (read?.selves.length ?? 0) > 0;
    if (needsContext) this.fromGraph.add(context);
    const self = needsContext ? `${context}(this, ${lineOf(record)})` : "this";
    // `checked` has the iterator only after its schema has run.
    const call = `${stream && checked ? "await " : ""}${inner}.apply(${self}, arguments)`;
    const answer = this.#draft.names.fresh("$answer");
    const [result, member, made, pass] = stream
      ? ["async iterator", "[Symbol.asyncIterator]", "function*", "yield*"]
      : ["promise", "then", "function", "await"];
    const message = `The procedure ${record.fqn} returned no ${result}: its wrapper has to return an async ${made}`;
    const run = wrapped
      ? `const ${answer} = ${call}; if (typeof ${answer}?.${member} !== "function") throw new TypeError(${JSON.stringify(message)}); return ${pass} ${answer};`
      : `return ${pass} ${call};`;
    // A method, because stacks show its name, and the name of a function would hide the inner one.
    const shown = procedure.local ?? "default";
    const code = `{ async ${stream ? "*" : ""}${shown}() { ${this.#beginning()} try { ${run} } ${this.#catchClause(procedure)} } }`;
    this.#draft.text.appendLeft(
      procedure.unit.statement.end,
      `; const ${name} = ${code}.${shown};`,
    );
    return name;
  }

  /** An arrow has the module's `this`, `undefined`. To get a context, it becomes a function. */
  #arrowToFunction(fn: Node, addBraces: boolean): void {
    const { text } = this.#draft;
    const body = need(fn, "body");
    const parameters = list(fn, "params");
    const [first] = parameters;
    const last = child(fn, "returnType") ?? parameters.at(-1);
    text.appendLeft(fn.start + "async".length, " function");
    if (first !== undefined && !this.#module.source.slice(fn.start, first.start).includes("("))
      text.appendLeft(first.start, "(").appendLeft(first.end, ")");
    const arrow = findToken(this.#module, "=>", last?.end ?? fn.start, body.start);
    text.remove(arrow, arrow + 2);
    // An expression that is caught inside gets its braces there.
    if (addBraces && body.type !== "BlockStatement")
      text.appendLeft(body.start, "{ return ").appendLeft(body.end, "; }");
  }
}

/** The procedure's trace line, as a string literal. */
function lineOf({ fqn, version }: LocatedProcedure["record"]): string {
  return JSON.stringify(traceLine(fqn, version));
}

// What an export is: a function that a segment may name, or why not.

import { nearest, type Problem } from "../problem.ts";
import type { LocalExport, Module, Unit } from "./analyze.ts";
import { declaredType } from "./declared-type.ts";
import { problemAt } from "./mark.ts";
import { bare, child, isFunction, list, nameOf, need, type Node, word } from "./tree.ts";

/** An export's value, as far as the text tells. */
export interface Callable {
  readonly kind: "async" | "async-generator" | "sync" | "wrapped" | "class" | "other";
  /** The function; of `wrapped`, an async one in the text that another function is given, if there is one. */
  readonly fn?: Node;
  /** What has the parameters that callers give, at `params`: the function, or the type of what another function made. */
  readonly signature?: Node;
  /** What it gives is no promise but one value after the other. */
  readonly generator?: true;
  /** The class. */
  readonly class?: Node;
  /** The name that it has in the source (decisions §1). */
  readonly ownName?: string;
}

/** Looks at what `found` exports. */
export function callableOf(module: Module, found: LocalExport): Callable {
  // With overloads or merged namespaces, the function or class is what counts.
  const nodes = found.units.map((unit) => valueOf(unit));
  const node =
    nodes.find((one) => one !== undefined && (isFunction(one) || isClass(one))) ?? nodes[0];
  const inner = node === undefined ? undefined : child(node, "id");
  const ownName = inner?.type === "Identifier" ? word(inner, "name") : found.local;
  const named = ownName === undefined ? {} : { ownName };
  if (node === undefined) return { kind: "other", ...named };
  if (isClass(node)) return { kind: "class", class: node, ...named };
  if (isFunction(node)) return { ...written(node), ...named };
  const local = found.local === undefined ? {} : { ownName: found.local };
  const [unit] = found.units;
  return {
    ...(unit === undefined ? { kind: "other" } : madeBy(module, unit, new Set())),
    ...local,
  };
}

/** A function, where it is written. */
function written(fn: Node): Callable {
  if (fn["async"] !== true) return { kind: "sync", fn };
  if (fn["generator"] === true)
    return { kind: "async-generator", fn, signature: fn, generator: true };
  return { kind: "async", fn, signature: fn };
}

/** What a unit binds that is no function itself: the same as another, or what some expression gives. */
function madeBy(module: Module, unit: Unit, seen: ReadonlySet<Unit>): Callable {
  const value = valueOf(unit);
  if (value === undefined || seen.has(unit)) return { kind: "other" };
  const type = declaredType(module, unit);
  const fn = asyncInside(module, value, new Set([...seen, unit]));
  const inside = fn === undefined ? {} : { fn };
  if (type?.signature !== undefined)
    return {
      kind: "wrapped",
      ...inside,
      signature: type.signature,
      ...(givesIterator(type.signature) && { generator: true }),
    };
  const same = sameAs(module, value);
  if (same !== undefined && "type" in same) {
    const { kind, ...function_ } = written(same);
    return { kind: kind === "sync" ? kind : "wrapped", ...function_ };
  }
  return same === undefined || type !== undefined
    ? { kind: "other" }
    : madeBy(module, same.unit, new Set([...seen, unit]));
}

/** The function, or the declaration, whose value an expression gives as it is: a name, or `Object.assign(f, …)`. */
function sameAs(module: Module, value: Node): Node | { readonly unit: Unit } | undefined {
  if (isFunction(value)) return value;
  if (value.type === "CallExpression") {
    const [first] = list(value, "arguments");
    const callee = need(value, "callee");
    return first !== undefined && module.source.slice(callee.start, callee.end) === "Object.assign"
      ? sameAs(module, bare(first))
      : undefined;
  }
  if (value.type !== "Identifier") return undefined;
  const [unit, ...others] = module.bindings.get(word(value, "name")) ?? [];
  if (unit === undefined || others.length > 0) return undefined;
  const declared = valueOf(unit);
  return declared !== undefined && isFunction(declared) ? declared : { unit };
}

/** The first async function among the arguments of a call, where it stands or by its name. */
function asyncInside(module: Module, node: Node, seen: ReadonlySet<Unit>): Node | undefined {
  if (isFunction(node)) return node["async"] === true ? node : undefined;
  if (node.type === "CallExpression") {
    for (const argument of list(node, "arguments")) {
      const fn = asyncInside(module, bare(argument), seen);
      if (fn !== undefined) return fn;
    }
  }
  if (node.type !== "Identifier") return undefined;
  const [unit] = module.bindings.get(word(node, "name")) ?? [];
  const value = unit === undefined || seen.has(unit) ? undefined : valueOf(unit);
  return value === undefined || unit === undefined
    ? undefined
    : asyncInside(module, value, new Set([...seen, unit]));
}

function isClass(node: Node): boolean {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression";
}

/** The function, class or expression that a unit binds, bare of type assertions. */
function valueOf(unit: Unit): Node | undefined {
  if (unit.kind === "default") return bare(need(unit.node, "declaration"));
  if (unit.kind === "declaration") return unit.node;
  if (unit.kind !== "declarator" || need(unit.node, "id").type !== "Identifier") return undefined;
  const init = child(unit.node, "init");
  return init === undefined ? undefined : bare(init);
}

function givesIterator(signature: Node): boolean {
  const type = resultOf(signature);
  return (
    type?.type === "TSTypeReference" &&
    /^Async(?:Generator|Iter)/.test(nameOf(child(type, "typeName")) ?? "")
  );
}

function resultOf(signature: Node): Node | undefined {
  const annotation = child(signature, "returnType");
  return annotation === undefined ? undefined : child(annotation, "typeAnnotation");
}

// What can be no promise, whatever an alias stands for.
const settled =
  /^TS(?:(?:String|Number|Boolean|BigInt|Symbol|Void|Undefined|Null|Object)Keyword|(?:Array|Tuple|Literal|TemplateLiteral)Type)$/;

/** What is wrong with an export of this name. */
export const thenable: Pick<Problem, "message" | "hint"> & { readonly hint: string } = {
  message:
    "a module can't export `then`: `import()` takes such a module for a promise, and waits for ever",
  hint: "Rename it",
};

/** Why a segment may not name this export; none if it may (§1.6). */
export function refusals(module: Module, found: LocalExport, callable: Callable): Problem[] {
  const at = (callable.fn ?? callable.class ?? found.node).start;
  const named =
    found.exported === "then" ? [problemAt(module, at, thenable.message, thenable.hint)] : [];
  return [...named, ...kindProblems(module, found, callable, at)];
}

function kindProblems(
  module: Module,
  found: LocalExport,
  callable: Callable,
  at: number,
): Problem[] {
  const called = found.exported === "default" ? "The default export" : `'${found.exported}'`;
  const refuse = (offset: number, message: string, hint: string): Problem[] => [
    problemAt(module, offset, message, hint),
  ];
  switch (callable.kind) {
    case "sync":
      return refuse(
        at,
        `${called} is named by a segment, but it is not async`,
        "Declare it `async`: a procedure may run on another machine",
      );
    case "class":
      return refuse(
        at,
        `${called} is named by a segment, but it is a class`,
        "Name async functions in segments; classes are available everywhere without",
      );
    case "wrapped": {
      const result = callable.signature === undefined ? undefined : resultOf(callable.signature);
      if (result === undefined || !settled.test(result.type)) return [];
      const hint = "Return a Promise: a procedure may run on another machine";
      return refuse(
        found.node.start,
        `${called} is named by a segment, but its type doesn't return a promise`,
        hint,
      );
    }
    case "other":
      return untold(module, found, called);
    default:
      return [];
  }
}

// Declarations of TypeScript that are values, and no functions.
const declarations = new Map([
  ["TSEnumDeclaration", "an enum"],
  ["TSModuleDeclaration", "a namespace"],
]);

// Values that are plainly no functions.
const noFunction = new Set([
  "Literal",
  "TemplateLiteral",
  "ObjectExpression",
  "ArrayExpression",
  "UnaryExpression",
  "BinaryExpression",
]);

/** For a value of which the text doesn't tell what callers give. A guess could let them give what a wrapper is to give. */
function untold(module: Module, found: LocalExport, called: string): Problem[] {
  const [unit] = found.units;
  const value = unit === undefined ? undefined : (valueOf(unit) ?? child(unit.node, "init"));
  const declared = declarations.get(value?.type ?? "");
  if (declared !== undefined) {
    const hint = "Name async functions in segments; whoever imports this has it without";
    return [
      problemAt(
        module,
        found.node.start,
        `${called} is named by a segment, but it is ${declared}`,
        hint,
      ),
    ];
  }
  if (unit === undefined || value === undefined || noFunction.has(value.type)) {
    const message = `${called} is named by a segment, but it is not a function that can be read from the source`;
    return [problemAt(module, found.node.start, message, "Export an async function")];
  }
  const type = declaredType(module, unit);
  const name = found.local ?? "create";
  if (type !== undefined) {
    const message = `${called} has the type ${type.text}, which isn't a function type declared in this file`;
    const hint = `Write the function type itself: const ${name}: ${example} = …; imported and computed types can't be read here`;
    return [problemAt(module, found.node.start, message, hint)];
  }
  const made = valueOf(unit) === undefined ? "…" : madeText(module, value);
  const hint = /\.m?jsx?$/.test(module.file)
    ? `Write its type in a comment above it: /** @type {${example}} */`
    : `Write its type: ${found.local === undefined ? `export default ${made} satisfies ${example}` : `const ${name}: ${example} = ${made}`}`;
  const message = `${called} comes from ${made === "…" ? "an expression" : made}: the source doesn't say which parameters callers give`;
  return [problemAt(module, found.node.start, message, hint)];
}

const example = "(title: string) => Promise<string>";

/** A call or a member by its name, and `…` for other expressions. */
function madeText({ source }: Module, value: Node): string {
  const named = value.type === "CallExpression" ? bare(need(value, "callee")) : value;
  const text = source.slice(named.start, named.end);
  if (!/^[\w$.]{1,60}$/.test(text)) return "…";
  return value.type === "CallExpression" ? `${text}(…)` : text;
}

/** For an export that a segment names and the module doesn't have. */
export function missing(module: Module, exported: string): Problem {
  const re = module.reexports.find((one) => one.exported === exported);
  if (re !== undefined)
    return problemAt(
      module,
      re.node.start,
      `'${exported}' is only passed on from '${re.specifier}'`,
      "It is split in the module that declares it: name that one in the segment",
    );
  const known = [...module.exports, ...module.reexports].map((one) => one.exported);
  const near = nearest(exported, known);
  const choice =
    known.length === 0
      ? "It exports nothing"
      : `It exports ${known.map((one) => `'${one}'`).join(", ")}`;
  return problemAt(
    module,
    0,
    exported === "default"
      ? "A segment names the default export, but the module has none"
      : `A segment names '${exported}', but the module exports no such value`,
    near === undefined ? choice : `Did you mean '${near}'? ${choice}`,
  );
}

// What an export is: a function that a segment may name, or why not.

import { nearest, type Problem } from "../problem.ts";
import type { LocalExport, Module, Unit } from "./analyze.ts";
import { problemAt } from "./mark.ts";
import { bare, child, isFunction, list, need, type Node, word } from "./tree.ts";

/** An export's value, as far as the text tells. */
export interface Callable {
  readonly kind: "async" | "async-generator" | "sync" | "wrapped" | "class" | "other";
  /** The function; of `wrapped`, the async one among the arguments. */
  readonly fn?: Node;
  /** The class. */
  readonly class?: Node;
  /** The name that it has in the source (decisions §1). */
  readonly ownName?: string;
}

/** Looks at what `found` exports. */
export function callableOf(module: Module, found: LocalExport): Callable {
  // With overloads or merged namespaces, the function or class is what counts.
  const nodes = found.units.map((unit) => valueOf(unit));
  const node = nodes.find((one) => one !== undefined && (isFunction(one) || isClass(one))) ?? nodes[0];
  const inner = node === undefined ? undefined : child(node, "id");
  const ownName = inner?.type === "Identifier" ? word(inner, "name") : found.local;
  const named = ownName === undefined ? {} : { ownName };
  if (node === undefined) return { kind: "other", ...named };
  if (isClass(node)) return { kind: "class", class: node, ...named };
  if (isFunction(node)) return { kind: kindOf(node), fn: node, ...named };
  const fn = wrappedFunction(module, node, new Set(found.units));
  const local = found.local === undefined ? {} : { ownName: found.local };
  return fn === undefined ? { kind: "other", ...local } : { kind: "wrapped", fn, ...local };
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

function kindOf(fn: Node): "async" | "async-generator" | "sync" {
  if (fn["async"] !== true) return "sync";
  return fn["generator"] === true ? "async-generator" : "async";
}

/** The async function inside `withAuth(async …)`, `withAuth(f)` with a local `f`, or a plain alias of one. */
function wrappedFunction(module: Module, node: Node, seen: ReadonlySet<Unit>): Node | undefined {
  if (isFunction(node)) return node["async"] === true ? node : undefined;
  if (node.type === "CallExpression") {
    for (const argument of list(node, "arguments")) {
      const fn = wrappedFunction(module, bare(argument), seen);
      if (fn !== undefined) return fn;
    }
  }
  if (node.type !== "Identifier") return undefined;
  const [unit] = module.bindings.get(word(node, "name")) ?? [];
  const value = unit === undefined || seen.has(unit) ? undefined : valueOf(unit);
  return value === undefined || unit === undefined ? undefined : wrappedFunction(module, value, new Set([...seen, unit]));
}

/** Why a segment may not name this export; none if it may (§1.6). */
export function refusals(module: Module, found: LocalExport, callable: Callable): Problem[] {
  const called = found.exported === "default" ? "The default export" : `'${found.exported}'`;
  const at = (callable.fn ?? callable.class ?? found.node).start;
  if (callable.kind === "sync")
    return [
      problemAt(
        module,
        at,
        `${called} is named by a segment, but it is not async`,
        "Declare it `async`: a procedure may run on another machine",
      ),
    ];
  if (callable.kind === "class")
    return [
      problemAt(
        module,
        at,
        `${called} is named by a segment, but it is a class`,
        "Name async functions in segments; classes are available everywhere without",
      ),
    ];
  if (callable.kind === "other")
    return [
      problemAt(
        module,
        found.node.start,
        `${called} is named by a segment, but it is not a function that can be read from the source`,
        "Export an async function, or `wrapper(async (…) => …)` so that its parameters can be read",
      ),
    ];
  return [];
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
  const choice = known.length === 0 ? "It exports nothing" : `It exports ${known.map((one) => `'${one}'`).join(", ")}`;
  return problemAt(
    module,
    0,
    exported === "default"
      ? "A segment names the default export, but the module has none"
      : `A segment names '${exported}', but the module exports no such value`,
    near === undefined ? choice : `Did you mean '${near}'? ${choice}`,
  );
}

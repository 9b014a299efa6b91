// Calls of `startClient("ui")`, `startClient({ segments: ["ui"] })` and `client.import("./shop.js")`: they say what browsers may load.

import type { Problem } from "../../base/problem.ts";
import { paths } from "../../base/protocol.ts";
import { problemAt, type SourceText } from "../read/code-frame.ts";
import type { Module } from "../read/analyze.ts";
import { importedName, specifierOf } from "../read/node-names.ts";
import { boundNames } from "../read/patterns.ts";
import {
  bare,
  child,
  list,
  memberName,
  nameOf,
  need,
  type Node,
  stringOf,
  word,
} from "../read/tree.ts";

export interface StartClientCall {
  readonly segments: readonly string[];
}

export interface ClientCalls {
  /** `startClient("ui", …)`: the segments that it names, or a problem if they aren't literals. */
  readonly startClientCalls: readonly (StartClientCall | { readonly problem: Problem })[];
  /** Literal arguments of `client.import("…")`. */
  readonly clientImports: readonly string[];
}

/** The modules that export `startClient`. */
const clientModules = new Set(["seamline/client", paths.client]);

/** Finds the calls anywhere in a module, or in the nodes that `holds` accepts. */
export function clientCallsOf(
  module: Module,
  holds: (node: Node) => boolean = () => true,
): ClientCalls {
  const names = namesOfClient(module);
  const startClientCalls: ClientCalls["startClientCalls"][number][] = wrongImports(module, holds);
  const clientImports = new Set<string>();
  for (const call of module.calls.filter(holds)) {
    const callee = bare(need(call, "callee"));
    const args = list(call, "arguments");
    if (isStartClient(callee, names)) startClientCalls.push(readSegments(module, call, args));
    // Any `x.import("./…")` counts, as a client is often passed from one module to another.
    const path =
      callee.type === "MemberExpression" && nameOf(child(callee, "property")) === "import"
        ? stringOf(args[0])
        : undefined;
    if (path !== undefined && /^\.{0,2}\//.test(path)) clientImports.add(path);
  }
  return { startClientCalls, clientImports: [...clientImports] };
}

/** Imports of `startClient` from `seamline`, which has it at run time only. */
function wrongImports(
  module: Module,
  holds: (node: Node) => boolean,
): { readonly problem: Problem }[] {
  const message = '"seamline" doesn\'t export "startClient"';
  const hint = 'Import it from "seamline/client".';
  return list(module.program, "body")
    .filter((node) => node.type === "ImportDeclaration" && specifierOf(node) === "seamline")
    .flatMap((node) => list(node, "specifiers"))
    .filter((specifier) => importedName(specifier) === "startClient" && holds(specifier))
    .map(({ start }) => ({ problem: problemAt(module, start, message, hint) }));
}

interface ClientNames {
  /** Local names of `startClient`. */
  readonly starters: ReadonlySet<string>;
  /** Local names of a whole client module. */
  readonly namespaces: ReadonlySet<string>;
}

function namesOfClient({ program, declarators }: Module): ClientNames {
  const starters = new Set<string>();
  const namespaces = new Set<string>();
  for (const statement of list(program, "body")) {
    if (statement.type !== "ImportDeclaration" || !clientModules.has(specifierOf(statement)))
      continue;
    for (const specifier of list(statement, "specifiers")) {
      const local = nameOf(need(specifier, "local")) ?? "";
      if (importedName(specifier) === "startClient") starters.add(local);
      if (importedName(specifier) === "*") namespaces.add(local);
    }
  }
  // `const { startClient } = await import("/svc/client.js")`, for scripts that are not modules.
  for (const node of declarators) {
    if (!isClientImport(child(node, "init"))) continue;
    const id = need(node, "id");
    if (id.type === "Identifier") namespaces.add(word(id, "name"));
    for (const property of list(id, "properties")) {
      if (nameOf(child(property, "key")) === "startClient")
        for (const name of boundNames(need(property, "value"))) starters.add(name);
    }
  }
  return { starters, namespaces };
}

function isStartClient(callee: Node, { starters, namespaces }: ClientNames): boolean {
  if (callee.type === "Identifier") return starters.has(word(callee, "name"));
  if (callee.type !== "MemberExpression" || nameOf(child(callee, "property")) !== "startClient")
    return false;
  const object = need(callee, "object");
  return (
    isClientImport(object) || (object.type === "Identifier" && namespaces.has(word(object, "name")))
  );
}

function isClientImport(node: Node | undefined): boolean {
  if (node === undefined) return false;
  const expression = bare(node);
  const imported =
    expression.type === "AwaitExpression" ? bare(need(expression, "argument")) : expression;
  return (
    imported.type === "ImportExpression" &&
    clientModules.has(stringOf(need(imported, "source")) ?? "")
  );
}

function readSegments(
  source: SourceText,
  call: Node,
  args: readonly Node[],
): ClientCalls["startClientCalls"][number] {
  const [first] = args;
  const options = args.length === 1 && first !== undefined ? bare(first) : undefined;
  const named =
    options?.type === "ObjectExpression" ? segmentsOf(options) : { nodes: args, at: call };
  const segments = named.nodes?.map((node) => stringOf(bare(node))) ?? [undefined];
  const unreadable = segments.indexOf(undefined);
  if (unreadable < 0) return { segments: segments.filter((segment) => segment !== undefined) };
  const message =
    "The build can't tell which segments browsers may load: this argument of startClient isn't a literal";
  const hintText =
    'Write the names of the segments here, or list them as "browserSegments" in the configuration';
  const start = (named.nodes?.[unreadable] ?? named.at).start;
  return { problem: problemAt(source, start, message, hintText) };
}

/**
 * The segments in `startClient({ segments: ["ui"] })`, none in `startClient({ headers })`; no
 * `nodes` if they can't be read. A property that comes later, or a spread, replaces what is before
 * it.
 */
function segmentsOf(options: Node): { readonly nodes?: readonly Node[]; readonly at: Node } {
  let found: Node | undefined;
  let unreadable: Node | undefined;
  for (const property of list(options, "properties")) {
    const name =
      property.type === "Property" ? memberName(property, need(property, "key")) : undefined;
    if (name === undefined) unreadable = property;
    else if (name === "segments") [found, unreadable] = [bare(need(property, "value")), undefined];
  }
  if (unreadable !== undefined) return { at: unreadable };
  if (found === undefined) return { nodes: [], at: options };
  return found.type === "ArrayExpression"
    ? { nodes: list(found, "elements"), at: found }
    : { at: found };
}

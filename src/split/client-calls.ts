// `startClient('ui')` and `client.import('./shop.js')`: what a build for browsers has to know of them (decisions §6).

import { importedName, specifierOf } from "./analyze.ts";
import type { ModuleDescription } from "./describe.ts";
import { problemAt, type Source } from "./mark.ts";
import {
  bare,
  boundNames,
  child,
  list,
  nameOf,
  need,
  type Node,
  stringOf,
  walk,
  word,
} from "./tree.ts";

const clients = new Set(["seamline", "seamline/client", "/svc/client.js"]);

/** Text without any of these holds neither call, in whatever way it is written: most modules needn't be searched. */
const hints = /startClient|\.\s*import|\.\/[/*]|["'`]import["'`]|\\/;

/** Finds the calls, wherever in the module they stand. */
export function clientCallsOf(
  source: Source,
  program: Node,
): Pick<ModuleDescription, "startClientCalls" | "clientImports"> {
  if (!hints.test(source.source)) return { startClientCalls: [], clientImports: [] };
  const starters = new Set<string>();
  const namespaces = new Set<string>();
  for (const statement of list(program, "body").filter(
    (one) => one.type === "ImportDeclaration" && clients.has(specifierOf(one)),
  )) {
    for (const one of list(statement, "specifiers")) {
      const local = nameOf(need(one, "local")) ?? "";
      if (importedName(one) === "startClient") starters.add(local);
      if (importedName(one) === "*") namespaces.add(local);
    }
  }
  // `const { startClient } = await import('/svc/client.js')`, the way of a script that is no module.
  walk(program, (node) => {
    if (node.type !== "VariableDeclarator" || !isClientImport(child(node, "init"))) return;
    const id = need(node, "id");
    if (id.type === "Identifier") namespaces.add(word(id, "name"));
    for (const one of list(id, "properties")) {
      if (nameOf(child(one, "key")) === "startClient")
        for (const bound of boundNames(need(one, "value"))) starters.add(word(bound, "name"));
    }
  });

  const startClientCalls: ModuleDescription["startClientCalls"][number][] = [];
  const clientImports: string[] = [];
  walk(program, (node) => {
    if (node.type !== "CallExpression") return;
    const callee = bare(need(node, "callee"));
    const given = list(node, "arguments");
    if (isStart(callee)) startClientCalls.push(readStart(node, given));
    // Chosen: every `x.import('./…')` counts, as a client is often passed from one module to another.
    const path =
      callee.type === "MemberExpression" && nameOf(child(callee, "property")) === "import"
        ? stringOf(given[0])
        : undefined;
    if (path !== undefined && /^\.{0,2}\//.test(path)) clientImports.push(path);
  });
  return { startClientCalls, clientImports: [...new Set(clientImports)] };

  function isStart(callee: Node): boolean {
    if (callee.type === "Identifier") return starters.has(word(callee, "name"));
    if (callee.type !== "MemberExpression" || nameOf(child(callee, "property")) !== "startClient")
      return false;
    const object = need(callee, "object");
    return (
      isClientImport(object) ||
      (object.type === "Identifier" && namespaces.has(word(object, "name")))
    );
  }

  function readStart(
    node: Node,
    given: readonly Node[],
  ): ModuleDescription["startClientCalls"][number] {
    const segments = given.map((one) => stringOf(bare(one)));
    const unknown = segments.findIndex((one) => one === undefined);
    if (unknown < 0) return { segments: segments.filter((one) => one !== undefined) };
    const at = given[unknown]?.start ?? node.start;
    const message =
      "The build can't tell which segments browsers may load: this argument of startClient is no literal";
    return {
      problem: problemAt(
        source,
        at,
        message,
        'Write the names of the segments here, or list them as "clients" in the configuration',
      ),
    };
  }
}

function isClientImport(node: Node | undefined): boolean {
  if (node === undefined) return false;
  const found = bare(node);
  const call = found.type === "AwaitExpression" ? bare(need(found, "argument")) : found;
  return call.type === "ImportExpression" && clients.has(stringOf(need(call, "source")) ?? "");
}

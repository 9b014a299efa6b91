// Writings that cost a call more than what they do: V8 has no quick way for them. Most calls pass
// the files below; `npm run bench` shows what a change costs them.

import type TypeScript from "typescript";
import { describe, expect, it } from "vitest";
import { type Source, sourcesIn, ts } from "./_sources.ts";

/** What every call passes, in a service or between two. */
const passed =
  /^(?:src\/wire\/(?!blob-headers|encode-error|outgoing\/remote-call)|src\/roles\/(?:receive|table|entrance|runs\/|relay\/)|src\/http\/(?:middleware|bodies|trust|relay-headers|forwarded|public-origin|chunk-queue)\b|src\/base\/(?:aborts|context)\b|src\/runtime\/(?:call-context|parameters|registry)\b|src\/link\/|server\/(?:host|http)\/)/;

/** Functions of those files that most calls don't reach, and what they are for. */
const rare: Readonly<Record<string, string>> = {
  "src/http/relay-headers.ts withoutRefusedHeader": "refusals",
  "src/wire/call-state.ts onto": "answers with cookies or headers of the application",
  "src/wire/call-state.ts withoutSettings": "answers with cookies or headers of the application",
  "src/wire/encode-result.ts respondInSuperjson": "superjson",
  "src/roles/relay/through-middleware.ts invoke": "middleware of a gateway",
  "src/roles/relay/through-middleware.ts unchangedAnswer": "middleware of a gateway",
  "src/roles/relay/through-middleware.ts passRoute": "middleware of a gateway",
  "src/http/bodies.ts watchedBody": "routes with a streamed body",
  "src/roles/relay/gateway.ts createGateway": "the start",
  "src/roles/relay/proxy.ts createProxy": "the start, and files",
  "src/roles/relay/proxy.ts fetchFile": "files",
  "src/roles/relay/reencode-call.ts postOf": "middleware that changes arguments",
  "src/runtime/parameters.ts namesOf": "a procedure's first call",
  "src/link/handshake.ts fields": "the start of a link",
  "src/link/proven-link.ts linkOf": "the start of a link",
  "src/link/proven-link.ts createAccepting": "the start of a link",
  "server/http/mounted/accept-request.ts withoutPseudoHeaders": "HTTP/2, in development",
  "server/http/http.ts listen": "the start",
  "server/http/listening.ts createTlsServer": "the start",
  "server/http/writing/write-answer.ts refusal": "refusals",
};

type Dear = "getters in a literal" | "a spread before other members" | "the rest of an object";

function dearIn(node: TypeScript.Node): Dear | undefined {
  if (ts.isObjectBindingPattern(node))
    return node.elements.some(({ dotDotDotToken }) => dotDotDotToken)
      ? "the rest of an object"
      : undefined;
  if (!ts.isObjectLiteralExpression(node)) return undefined;
  if (node.properties.some(ts.isAccessor)) return "getters in a literal";
  return node.properties.slice(0, -1).some(ts.isSpreadAssignment)
    ? "a spread before other members"
    : undefined;
}

/** The name of a function: its own, or that of the constant that it is. */
function nameOf(node: TypeScript.Node, tree: TypeScript.SourceFile): string | undefined {
  if (!ts.isFunctionLike(node) && !ts.isVariableDeclaration(node)) return undefined;
  if (ts.isVariableDeclaration(node) && !(node.initializer && ts.isFunctionLike(node.initializer)))
    return undefined;
  return node.name?.getText(tree);
}

function dear({ path, tree }: Pick<Source, "path" | "tree">): string[] {
  const found: string[] = [];
  const visit = (node: TypeScript.Node, within: string | undefined): void => {
    const name = nameOf(node, tree) ?? within ?? (ts.isFunctionLike(node) ? "a function" : within);
    const kind = name === undefined ? undefined : dearIn(node);
    if (kind !== undefined) {
      const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
      found.push(`${path} ${name}: ${kind} (line ${line + 1})`);
    }
    ts.forEachChild(node, (child) => visit(child, name));
  };
  visit(tree, undefined);
  return found;
}

const functionOf = (finding: string): string => finding.split(":", 1)[0]!;

describe("on the way of every call", () => {
  const sources = ["src", "server/host", "server/http"]
    .flatMap(sourcesIn)
    .filter(({ path }) => passed.test(path));
  const found = sources.flatMap(dear);

  it("functions have no object literals with getters, no spread before other members and no rest of an object", () => {
    // `{ more, ...fields }` and `Object.assign({}, fields, more)` cost a tenth; a class has getters.
    expect(found.filter((finding) => !(functionOf(finding) in rare))).toEqual([]);
  });

  it("each exception is still one", () => {
    expect(
      Object.keys(rare).filter((name) => !found.some((one) => functionOf(one) === name)),
    ).toEqual([]);
  });

  it.each([
    ["function f(a) { return { ...a, b: 1 }; }", "a spread before other members"],
    ["const f = (a) => ({ get b() { return a; } });", "getters in a literal"],
    ["class C { f({ a, ...rest }) { return rest; } }", "the rest of an object"],
  ])("%s is found", (text, kind) => {
    const tree = ts.createSourceFile("a.ts", text, ts.ScriptTarget.Latest, false);
    expect(dear({ path: "a.ts", tree })).toEqual([`a.ts f: ${kind} (line 1)`]);
  });

  it("what costs little isn't", () => {
    const text =
      "const base = { ...a, b: 1 };\nfunction f(a) { const { b } = a; return { b, ...a }; }";
    const tree = ts.createSourceFile("a.ts", text, ts.ScriptTarget.Latest, false);
    expect(dear({ path: "a.ts", tree })).toEqual([]);
  });
});

// The mutators of `npm run mutants`: every small bug that can be planted in a source file.
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { expressionMutants, statementMutants } from "./syntax.mjs";

/** @type {typeof import("typescript")} */
const ts = createRequire(import.meta.url)("typescript");

/**
 * @typedef {{ start: number, end: number, text: string, mutator: string }} Edit
 * @typedef {Edit & { id: string, path: string, fn: string, line: number, column: number, original: string }} Mutant
 */

/**
 * All mutants of a file, in source order. A few can't be parsed ({@link isParsable}).
 * @param {string} path From the root.
 * @param {string} source
 * @returns {Mutant[]}
 */
export function mutantsOf(path, source) {
  const tree = parse(path, source);
  /** @type {Map<string, Edit & { fn: string }>} */
  const edits = new Map();
  for (const { node, fn } of nodesIn(tree))
    for (const edit of [...expressionMutants(node, tree), ...statementMutants(node, tree)])
      if (source.slice(edit.start, edit.end) !== edit.text)
        edits.set(`${edit.start} ${edit.end} ${edit.text}`, { ...edit, fn });
  const seen = new Map();
  return [...edits.values()]
    .toSorted((a, b) => a.start - b.start || a.end - b.end || (a.text < b.text ? -1 : 1))
    .map((edit) => {
      const { line, character } = tree.getLineAndCharacterOfPosition(edit.start);
      const original = source.slice(edit.start, edit.end);
      // Without the line number, so that an id survives lines added above it.
      const lineText = lineAt(source, edit.start).trim();
      const key = [path, edit.fn, edit.mutator, lineText, original, edit.text].join("\n");
      const ordinal = seen.get(key) ?? 0;
      seen.set(key, ordinal + 1);
      const id = createHash("sha256").update(`${key}\n${ordinal}`).digest("hex").slice(0, 8);
      return { ...edit, id, path, line: line + 1, column: character + 1, original };
    });
}

/**
 * @param {string} source
 * @param {Edit} edit
 */
export function apply(source, { start, end, text }) {
  return source.slice(0, start) + text + source.slice(end);
}

/**
 * The source with a call of `globalThis.$reached` at the start of each function and of the file.
 * @param {string} path
 * @param {string} source
 */
export function withProbes(path, source) {
  const tree = parse(path, source);
  /** @type {{ at: number, text: string }[]} */
  const inserts = [];
  const names = new Set();
  for (const { node, fn } of nodesIn(tree)) {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) continue;
    const name = `${path}:${fn}`;
    if (names.has(name)) continue;
    names.add(name);
    const call = `globalThis.$reached?.(${JSON.stringify(name)})`;
    const body = /** @type {import("typescript").Node} */ (node.body);
    if (ts.isBlock(body)) inserts.push({ at: body.getStart(tree) + 1, text: `${call};` });
    else
      inserts.push(
        { at: body.getStart(tree), text: `(${call}, ` },
        { at: body.getEnd(), text: ")" },
      );
  }
  let text = source;
  // If two bodies end at the same place, the inner one closes first.
  for (const { at, text: insert } of inserts
    .map((insertion, index) => ({ ...insertion, index }))
    .toSorted((a, b) => b.at - a.at || a.index - b.index))
    text = text.slice(0, at) + insert + text.slice(at);
  return `${text}\nglobalThis.$reached?.(${JSON.stringify(`${path}:`)});\n`;
}

/**
 * Nodes that run, with the names of their functions: `createPlacement/load/1`, or "" for the module.
 * @param {import("typescript").SourceFile} tree
 */
function* nodesIn(tree) {
  /** @type {{ node: import("typescript").Node, fn: string }[]} */
  const stack = [{ node: tree, fn: "" }];
  const counts = new Map();
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { node, fn } = entry;
    if (isErased(node)) continue;
    let inner = fn;
    if (ts.isFunctionLike(node)) {
      const name = nameOf(node, tree);
      const count = counts.get(`${fn}/${name}`) ?? 0;
      counts.set(`${fn}/${name}`, count + 1);
      inner = `${fn === "" ? "" : `${fn}/`}${name}${count > 0 || name === "" ? count : ""}`;
    }
    yield { node, fn: inner };
    /** @type {import("typescript").Node[]} */
    const children = [];
    ts.forEachChild(node, (child) => void children.push(child));
    for (const child of children.toReversed()) stack.push({ node: child, fn: inner });
  }
}

/** Whether a node leaves no code: types, imports and exports.
 * @param {import("typescript").Node} node
 */
function isErased(node) {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isTypeParameterDeclaration(node) ||
    (ts.canHaveModifiers(node) &&
      ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) === true)
  );
}

/**
 * @param {import("typescript").SignatureDeclaration} node
 * @param {import("typescript").SourceFile} tree
 */
function nameOf(node, tree) {
  if (ts.isConstructorDeclaration(node)) return "constructor";
  if (node.name !== undefined) return node.name.getText(tree);
  const { parent } = node;
  return (ts.isVariableDeclaration(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isPropertyDeclaration(parent)) &&
    parent.name !== undefined
    ? parent.name.getText(tree)
    : "";
}

/**
 * @param {string} path
 * @param {string} source
 */
function parse(path, source) {
  return ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
}

/**
 * @param {string} path
 * @param {string} source
 */
export function isParsable(path, source) {
  const tree = parse(path, source);
  // Syntax errors; the property isn't in the compiler's public types.
  return (
    /** @type {{ parseDiagnostics?: readonly unknown[] }} */ (/** @type {unknown} */ (tree))
      .parseDiagnostics?.length === 0
  );
}

/**
 * @param {string} source
 * @param {number} position
 */
function lineAt(source, position) {
  const start = source.lastIndexOf("\n", position - 1) + 1;
  const end = source.indexOf("\n", position);
  return source.slice(start, end === -1 ? undefined : end);
}

// How large folders are, and which of them import each other.
import { dirname } from "node:path";
import ts from "typescript";

/** @param {string} text */
function tokensIn(text) {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, text);
  let count = 0;
  while (scanner.scan() !== ts.SyntaxKind.EndOfFileToken) count++;
  return count;
}

/**
 * Functions with a body, and exported types.
 *
 * @param {string} path
 * @param {string} text
 */
function declarationsIn(path, text) {
  let [functions, types] = [0, 0];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) functions++;
    const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
    const isExported =
      isType && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (isExported) types++;
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return { functions, types };
}

/**
 * Prints the sizes of rooms and folders, and the pairs of folders that import each other.
 *
 * @param {readonly import("../../test/_sources.ts").Source[]} sources
 */
export function printFolders(sources) {
  /** @typedef {{ files: number, lines: number, tokens: number, functions: number, types: number }} Size */
  /** @type {Record<string, Size>} */
  const sizes = {};
  /** @type {Map<string, boolean>} From folder and to folder: whether only types are imported. */
  const edges = new Map();
  for (const { path, text, imports } of sources) {
    const folder = dirname(path);
    const tokens = tokensIn(text);
    const { functions, types } = declarationsIn(path, text);
    for (const key of [`${path.split("/")[0]}/**`, folder]) {
      const size = (sizes[key] ??= { files: 0, lines: 0, tokens: 0, functions: 0, types: 0 });
      size.files++;
      size.lines += text.split("\n").length - 1;
      size.tokens += tokens;
      size.functions += functions;
      size.types += types;
    }
    for (const { path: target, typeOnly } of imports)
      if (target !== undefined) {
        const edge = `${folder} ${dirname(target)}`;
        edges.set(edge, typeOnly && (edges.get(edge) ?? true));
      }
  }
  console.table(sizes);
  const pairs = [...edges].flatMap(([edge, typeOnly]) => {
    const [from = "", to = ""] = edge.split(" ");
    const back = edges.get(`${to} ${from}`);
    if (from >= to || back === undefined) return [];
    return `  ${from} ⇄ ${to}${typeOnly || back ? " (one way only types)" : ""}`;
  });
  console.log(`${pairs.length} pairs of folders import each other:`);
  console.log(pairs.toSorted().join("\n"));
}

// Turns a source into JavaScript that calls a counter at the beginning of each function.
import { createRequire } from "node:module";

/** @type {typeof import("typescript")} */
const ts = createRequire(import.meta.url)("typescript");

/**
 * @typedef {import("typescript").Node} Node
 * @typedef {{ path: string, text: string }} Source
 */

const enter = "$enter";

/**
 * The counter gets `path:line:column name`; `(anonymous)` stands for a missing name. Functions in the
 * defaults of parameters come before the function itself, whose body begins after them.
 *
 * @param {Source} source
 * @param {string} counter What the result imports `enter` from.
 * @returns {string}
 */
export function instrument({ path, text }, counter) {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  /** @type {{ at: number, insert: string }[]} */
  const edits = [];
  /** @param {Node} node */
  const visit = (node) => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const { line, character } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
      const place = `${path}:${line + 1}:${character + 1} ${nameOf(node)}`;
      edits.push(...counting(node.body, `${enter}(${JSON.stringify(place)})`));
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  let result = text;
  for (const { at, insert } of edits.toSorted((a, b) => b.at - a.at))
    result = result.slice(0, at) + insert + result.slice(at);
  // Imports are hoisted, so this one stands last: the others keep their lines.
  result += `\nimport { enter as ${enter} } from ${JSON.stringify(counter)};\n`;
  return ts.transpileModule(result, {
    fileName: path,
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  }).outputText;
}

/**
 * @param {Node} body
 * @param {string} call
 */
function counting(body, call) {
  if (!ts.isBlock(body))
    return [
      { at: body.getStart(), insert: `(${call}, ` },
      { at: body.getEnd(), insert: ")" },
    ];
  let at = body.getStart() + 1;
  for (const statement of body.statements) {
    if (!ts.isExpressionStatement(statement) || !ts.isStringLiteral(statement.expression)) break;
    at = statement.getEnd(); // A directive.
  }
  return [{ at, insert: `;${call};` }];
}

/** @param {import("typescript").SignatureDeclaration | import("typescript").ClassLikeDeclaration} node @returns {string} */
function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) return `${nameOf(node.parent)}.constructor`;
  // `const name = () => …`, and the same in a class, an object and a list of parameters.
  const { parent } = node;
  const holds =
    ts.isVariableDeclaration(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isParameter(parent);
  const named = node.name === undefined && holds ? parent : node;
  const name = named.name?.getText() ?? "(anonymous)";
  return ts.isClassLike(named.parent) ? `${nameOf(named.parent)}.${name}` : name;
}

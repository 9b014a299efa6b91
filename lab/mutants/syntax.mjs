// The replacements for each kind of expression and statement.
import { createRequire } from "node:module";
import { regexVariants } from "./regex.mjs";

/** @type {typeof import("typescript")} */
const ts = createRequire(import.meta.url)("typescript");
const { SyntaxKind } = ts;

/**
 * @typedef {import("./mutators.mjs").Edit} Edit
 * @typedef {import("typescript").Node} Node
 * @typedef {import("typescript").SourceFile} SourceFile
 */

/** @type {Readonly<Record<string, readonly string[]>>} */
const operators = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&"],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "&": ["|"],
  "|": ["&"],
  "<<": [">>"],
  ">>": ["<<"],
  ">>>": ["<<"],
  "+=": ["-="],
  "-=": ["+="],
  "||=": ["&&="],
  "&&=": ["||="],
  "??=": ["="],
};

/** @type {Readonly<Record<string, string>>} */
const methods = {
  some: "every",
  every: "some",
  startsWith: "endsWith",
  endsWith: "startsWith",
  min: "max",
  max: "min",
  toLowerCase: "toUpperCase",
  toUpperCase: "toLowerCase",
  indexOf: "lastIndexOf",
  lastIndexOf: "indexOf",
};

/** Methods whose result has their receiver's type, so that the call can be removed. */
const removable = new Set(
  "filter slice toSorted toReversed sort reverse trim trimStart trimEnd replace replaceAll flat concat finally catch toString substring".split(
    " ",
  ),
);

/**
 * @param {Node} node
 * @param {SourceFile} tree
 * @returns {Generator<Edit>}
 */
export function* expressionMutants(node, tree) {
  /** @type {(target: Node) => string} */
  const textOf = (target) => target.getText(tree);
  /** @type {(target: Node, text: string, mutator: string) => Edit} */
  const replace = (target, text, mutator) => ({
    start: target.getStart(tree),
    end: target.getEnd(),
    text,
    mutator,
  });

  if (ts.isBinaryExpression(node)) {
    const { left, right, operatorToken } = node;
    const operator = textOf(operatorToken);
    for (const next of operators[operator] ?? [])
      yield operator.endsWith("=") && operator.length > 1 && !/^[<>!=]=/.test(operator)
        ? replace(operatorToken, next, "assignment")
        : replace(node, `((${textOf(left)}) ${next} (${textOf(right)}))`, "operator");
    if (operator === "&&" || operator === "||" || operator === "??") {
      yield replace(node, `(${textOf(left)})`, "operand dropped");
      yield replace(node, `(${textOf(right)})`, "operand dropped");
    }
    if (operator === "instanceof" || (operator === "in" && !ts.isPrivateIdentifier(left)))
      yield replace(node, `!(${textOf(node)})`, "negation");
  }
  if (ts.isPrefixUnaryExpression(node)) {
    if (node.operator === SyntaxKind.ExclamationToken || node.operator === SyntaxKind.MinusToken)
      yield replace(node, `(${textOf(node.operand)})`, "negation");
    if (node.operator === SyntaxKind.PlusPlusToken)
      yield replace(node, `--${textOf(node.operand)}`, "assignment");
  }
  if (ts.isPostfixUnaryExpression(node))
    yield replace(
      node,
      textOf(node.operand) + (node.operator === SyntaxKind.PlusPlusToken ? "--" : "++"),
      "assignment",
    );
  if (ts.isConditionalExpression(node)) {
    yield replace(node, `(${textOf(node.whenTrue)})`, "condition");
    yield replace(node, `(${textOf(node.whenFalse)})`, "condition");
  }
  if (node.kind === SyntaxKind.TrueKeyword) yield replace(node, "false", "boolean");
  if (node.kind === SyntaxKind.FalseKeyword) yield replace(node, "true", "boolean");
  if (ts.isNumericLiteral(node)) {
    yield replace(node, `(${textOf(node)} + 1)`, "number");
    yield replace(node, `(${textOf(node)} - 1)`, "number");
  }
  if (ts.isStringLiteral(node) && isValue(node) && !isProse(node, node.text))
    yield replace(node, node.text === "" ? '"mutant"' : '""', "string");
  if (ts.isTemplateExpression(node) && !isProse(node, textOf(node))) {
    const pieces = [node.head, ...node.templateSpans.map((span) => span.literal)];
    for (const piece of pieces)
      if (piece.text !== "")
        yield replace(piece, textOf(piece).replace(/^([`}]).*?(`|\$\{)$/s, "$1$2"), "template");
  }
  if (ts.isRegularExpressionLiteral(node))
    for (const text of regexVariants(textOf(node))) yield replace(node, text, "regex");

  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0)
    yield replace(node, "[]", "emptied");
  if (ts.isObjectLiteralExpression(node) && node.properties.length > 0) {
    yield replace(node, "{}", "emptied");
    if (node.properties.length > 1)
      for (const property of node.properties)
        if (!ts.isSpreadAssignment(property)) yield without(property, tree, "property dropped");
  }
  if (ts.isSpreadAssignment(node) || (ts.isSpreadElement(node) && !ts.isNewExpression(node.parent)))
    yield without(node, tree, "spread dropped");

  if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
    const list = node.arguments ?? [];
    for (const [index, second] of list.entries()) {
      const first = list[index - 1];
      if (first === undefined || ts.isSpreadElement(first) || ts.isSpreadElement(second)) continue;
      const text = `${textOf(second)}, ${textOf(first)}`;
      yield { start: first.getStart(tree), end: second.getEnd(), text, mutator: "arguments" };
    }
  }
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { name, expression } = node.expression;
    const next = methods[name.text];
    if (next !== undefined) yield replace(name, next, "method");
    if (removable.has(name.text)) yield replace(node, textOf(expression), "call dropped");
  }
  if ("questionDotToken" in node && node.questionDotToken !== undefined) {
    const token = /** @type {Node} */ (node.questionDotToken);
    yield replace(token, ts.isPropertyAccessExpression(node) ? "." : "", "optional chaining");
  }
  if (ts.isParameter(node) && node.initializer !== undefined)
    yield {
      start: (node.type ?? node.name).getEnd(),
      end: node.initializer.getEnd(),
      text: "",
      mutator: "default",
    };
}

/**
 * @param {Node} node
 * @param {SourceFile} tree
 * @returns {Generator<Edit>}
 */
export function* statementMutants(node, tree) {
  /** @type {(target: Node, text: string, mutator: string) => Edit} */
  const replace = (target, text, mutator) => ({
    start: target.getStart(tree),
    end: target.getEnd(),
    text,
    mutator,
  });
  if (
    ts.isIfStatement(node) ||
    ts.isWhileStatement(node) ||
    ts.isDoStatement(node) ||
    ts.isForStatement(node)
  ) {
    const condition = ts.isForStatement(node) ? node.condition : node.expression;
    if (condition !== undefined) {
      if (ts.isIfStatement(node)) yield replace(condition, "true", "condition");
      if (!ts.isDoStatement(node) || condition.kind !== SyntaxKind.TrueKeyword)
        yield replace(condition, "false", "condition");
    }
  }
  if (ts.isIfStatement(node) && node.elseStatement !== undefined)
    yield {
      start: node.thenStatement.getEnd(),
      end: node.elseStatement.getEnd(),
      text: "",
      mutator: "else dropped",
    };
  if (ts.isExpressionStatement(node) && !isSuperCall(node.expression) && !isDirective(node))
    yield replace(node, ";", "statement dropped");
  if (ts.isThrowStatement(node) || ts.isContinueStatement(node) || ts.isBreakStatement(node))
    yield replace(node, ";", "statement dropped");
  if (ts.isReturnStatement(node) && !isLastInFunction(node))
    yield replace(node, ";", "return dropped");
  if (ts.isForOfStatement(node) || ts.isForInStatement(node))
    yield replace(node.statement, "{}", "loop emptied");
}

/** Removes an element of a list and the comma after it.
 * @param {Node} node
 * @param {SourceFile} tree
 * @param {string} mutator
 * @returns {Edit}
 */
function without(node, tree, mutator) {
  const end = node.getEnd();
  const comma = /^\s*,/.exec(tree.text.slice(end));
  return {
    start: node.getStart(tree),
    end: end + (comma?.[0].length ?? 0),
    text: "",
    mutator,
  };
}

/** Whether a literal is neither a property's name nor a module's.
 * @param {import("typescript").StringLiteral} node
 */
function isValue({ parent }) {
  return !(
    (ts.isPropertyAssignment(parent) &&
      ts.isStringLiteral(parent.name) &&
      parent.initializer.kind !== SyntaxKind.StringLiteral) ||
    ts.isExpressionStatement(parent) ||
    (ts.isCallExpression(parent) && parent.expression.kind === SyntaxKind.ImportKeyword)
  );
}

/** Words for people: in a message three of them, or whatever is thrown.
 * @param {Node} node
 * @param {string} text
 */
function isProse(node, text) {
  if ((text.match(/[a-z]+ +(?=[a-z'’]+)/gi) ?? []).length >= 2) return true;
  for (let { parent } = node; parent !== undefined; parent = parent.parent) {
    if (ts.isThrowStatement(parent)) return true;
    if (
      ts.isNewExpression(parent) &&
      /Error$|^[A-Z]\w+(?:Found|Available|Request)$/.test(parent.expression.getText())
    )
      return true;
    if (ts.isFunctionLike(parent) || ts.isStatement(parent)) return false;
  }
  return false;
}

/** @param {Node} node */
function isSuperCall(node) {
  return ts.isCallExpression(node) && node.expression.kind === SyntaxKind.SuperKeyword;
}

/** @param {import("typescript").ExpressionStatement} node */
function isDirective(node) {
  return ts.isStringLiteral(node.expression);
}

/** The statement with which its function ends anyway.
 * @param {Node} node
 */
function isLastInFunction(node) {
  const { parent } = node;
  return (
    ts.isBlock(parent) && ts.isFunctionLike(parent.parent) && parent.statements.at(-1) === node
  );
}

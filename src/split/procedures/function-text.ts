// Reads a function's code for the body: its returns, its `this`, and whether it can be caught
// inside.

import { bare, child, children, isFunction, list, need, type Node, word } from "../read/tree.ts";

export interface FunctionText {
  /** The values of its own `return`s that may be promises. An async generator awaits them by itself. */
  readonly returns: readonly Node[];
  /** The nodes of its own `this`, including those in arrows inside. */
  readonly selves: readonly Node[];
  /** There is a `this` among the parameters, and no code can be put before them. */
  readonly selfInParameters: boolean;
  /**
   * Whether its errors can be caught inside it. They can't if a default value may throw, or if a
   * `return` stands in a `try`: awaited there, its error would be caught by the function itself.
   */
  readonly catchable: boolean;
}

/** Reads a function. */
export function readFunction(fn: Node): FunctionText {
  const parameters = list(fn, "params");
  const body = need(fn, "body");
  const selvesInParameters = parameters.flatMap(selvesIn);
  const returns: Node[] = [];
  let returnsInTry = false;
  const isGenerator = fn["generator"] === true;
  const seek = (node: Node, inTry: boolean): void => {
    if (isFunction(node)) return;
    if (node.type === "ReturnStatement") {
      const value = child(node, "argument");
      if (isGenerator || value === undefined || !mayBePromise(value)) return;
      returns.push(value);
      returnsInTry ||= inTry;
    } else if (node.type === "TryStatement") {
      const [handler, finalizer] = [child(node, "handler"), child(node, "finalizer")];
      seek(need(node, "block"), true);
      if (handler !== undefined) seek(handler, inTry || finalizer !== undefined);
      if (finalizer !== undefined) seek(finalizer, inTry);
    } else for (const below of children(node)) seek(below, inTry);
  };
  if (body.type === "BlockStatement") seek(body, false);
  return {
    returns,
    selves: [...selvesInParameters, ...selvesIn(body)],
    selfInParameters: selvesInParameters.length > 0,
    catchable: !returnsInTry && !parameters.some(mayThrow),
  };
}

function selvesIn(node: Node): Node[] {
  if (node.type === "ThisExpression") return [node];
  if (node.type === "FunctionDeclaration" || node.type === "FunctionExpression") return [];
  // A class has its own `this`, except in its `extends` and in computed names.
  if (node.type === "ClassBody")
    return list(node, "body").flatMap((member) =>
      member["computed"] === true ? selvesIn(need(member, "key")) : [],
    );
  return children(node).flatMap(selvesIn);
}

const valuesWithoutPromise = new Set([
  "Literal",
  "TemplateLiteral",
  "ArrayExpression",
  "BinaryExpression",
  "UnaryExpression",
  "UpdateExpression",
  "AwaitExpression",
  "ArrowFunctionExpression",
  "FunctionExpression",
  "JSXElement",
  "JSXFragment",
]);

/** Whether a value has to be awaited. Awaiting what plainly isn't a promise would cost a turn. */
export function mayBePromise(value: Node): boolean {
  return !valuesWithoutPromise.has(bare(value).type);
}

function mayThrow(parameter: Node): boolean {
  switch (parameter.type) {
    case "AssignmentPattern":
      return mayThrow(need(parameter, "left")) || !isInert(need(parameter, "right"));
    case "ObjectPattern":
      return list(parameter, "properties").some(
        (property) =>
          property.type !== "RestElement" &&
          (property["computed"] === true || mayThrow(need(property, "value"))),
      );
    case "ArrayPattern":
      return list(parameter, "elements").some(mayThrow);
    default:
      return false;
  }
}

/** Whether evaluating an expression surely doesn't throw. */
function isInert(value: Node): boolean {
  const node = bare(value);
  switch (node.type) {
    case "Literal":
    case "Identifier":
    case "ArrowFunctionExpression":
    case "FunctionExpression":
      return true;
    case "UnaryExpression":
      return word(node, "operator") !== "delete" && isInert(need(node, "argument"));
    case "TemplateLiteral":
      return list(node, "expressions").length === 0;
    case "ArrayExpression":
      return list(node, "elements").every(isInert);
    case "ObjectExpression":
      return list(node, "properties").every(
        (property) =>
          property.type === "Property" &&
          property["computed"] !== true &&
          isInert(need(property, "value")),
      );
    case "NewExpression":
      return (
        list(node, "arguments").length === 0 &&
        /^(?:Date|Map|Set|Object|Array)$/.test(word(need(node, "callee"), "name"))
      );
    default:
      return false;
  }
}

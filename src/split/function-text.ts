// What a function's own text says: its returns, its `this`, and whether its parameters can throw.

import { bare, child, children, isFunction, list, need, type Node, word } from "./tree.ts";

/** What the body has to know of a procedure's function before it is edited. */
export interface FunctionText {
  /** Arguments of its own `return`s that may be promises. */
  readonly returns: readonly Node[];
  /** Its own `this`, arrows inside included. */
  readonly selves: readonly Node[];
  /** `this` among the parameters, where nothing can be put before it. */
  readonly selfInParameters: boolean;
  /**
   * Whether its errors can be caught inside it. Not where a default may throw, and not where a `return` inside `try`
   * would, once awaited, have its error caught by the function itself.
   */
  readonly catchable: boolean;
}

/** Reads a function. */
export function readFunction(fn: Node): FunctionText {
  const parameters = list(fn, "params");
  const body = need(fn, "body");
  const inParameters = parameters.flatMap(selvesIn);
  const returns: Node[] = [];
  let guarded = false;
  const seek = (node: Node, inTry: boolean): void => {
    if (isFunction(node) || node.type === "ClassBody") return;
    if (node.type === "ReturnStatement") {
      const value = child(node, "argument");
      if (value === undefined || !mayBePromise(value)) return;
      returns.push(value);
      guarded ||= inTry;
    } else if (node.type === "TryStatement") {
      const [handler, finalizer] = [child(node, "handler"), child(node, "finalizer")];
      seek(need(node, "block"), true);
      if (handler !== undefined) seek(handler, inTry || finalizer !== undefined);
      if (finalizer !== undefined) seek(finalizer, inTry);
    } else for (const one of children(node)) seek(one, inTry);
  };
  if (body.type === "BlockStatement") seek(body, false);
  return {
    returns,
    selves: [...inParameters, ...selvesIn(body)],
    selfInParameters: inParameters.length > 0,
    catchable: !guarded && !parameters.some(mayThrow),
  };
}

function selvesIn(node: Node): Node[] {
  if (node.type === "ThisExpression") return [node];
  if (node.type === "FunctionDeclaration" || node.type === "FunctionExpression") return [];
  // A class has its own `this`, except in what it extends and in computed names.
  if (node.type === "ClassBody")
    return list(node, "body").flatMap((one) =>
      one["computed"] === true ? selvesIn(need(one, "key")) : [],
    );
  return children(node).flatMap(selvesIn);
}

const settled = new Set([
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

/** Whether awaiting the value could take a turn that matters: what is plainly no promise is returned as it is. */
export function mayBePromise(value: Node): boolean {
  return !settled.has(bare(value).type);
}

function mayThrow(parameter: Node): boolean {
  switch (parameter.type) {
    case "AssignmentPattern":
      return mayThrow(need(parameter, "left")) || !isInert(need(parameter, "right"));
    case "ObjectPattern":
      return list(parameter, "properties").some(
        (one) =>
          one.type !== "RestElement" && (one["computed"] === true || mayThrow(need(one, "value"))),
      );
    case "ArrayPattern":
      return list(parameter, "elements").some(mayThrow);
    default:
      return false;
  }
}

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
        (one) => one.type === "Property" && one["computed"] !== true && isInert(need(one, "value")),
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

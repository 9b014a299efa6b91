// The type of a parameter whose default value says it: as TypeScript infers it, and in JavaScript.

import type { ValueType } from "../../base/manifest.ts";
import { bare, child, list, nameOf, need, type Node, slots, word } from "../read/tree.ts";

type Single = "number" | "boolean" | "bigint" | "Date" | "string";

const arithmetic = new Set(["+", "-", "*", "/", "%", "**"]);
const numbers = new Set(["Infinity", "NaN"]);

/**
 * The type that text for a parameter with this default is converted to; `undefined` if the default
 * is text, or doesn't say.
 */
export function typeOfDefault(value: Node | undefined): ValueType | undefined {
  if (value === undefined) return undefined;
  const node = bare(value);
  if (node.type !== "ArrayExpression") {
    const type = singleType(node);
    return type === "string" ? undefined : type;
  }
  const [type, ...others] = slots(node, "elements").map(
    (element) => element && singleType(element),
  );
  return type === undefined || others.some((other) => other !== type) ? undefined : `${type}[]`;
}

/** The value of a property in an object, or of an element in an array, if it's written there. */
export function memberOfDefault(value: Node | undefined, key: string | number): Node | undefined {
  if (value === undefined) return undefined;
  const node = bare(value);
  if (typeof key === "number")
    return node.type === "ArrayExpression" ? slots(node, "elements")[key] : undefined;
  if (node.type !== "ObjectExpression") return undefined;
  const property = list(node, "properties").find(
    (each) => each["computed"] !== true && nameOf(child(each, "key")) === key,
  );
  return property && child(property, "value");
}

function singleType(value: Node): Single | undefined {
  const node = bare(value);
  switch (node.type) {
    case "Literal": {
      const type = typeof node["bigint"] === "string" ? "bigint" : typeof node["value"];
      return type === "number" || type === "boolean" || type === "bigint" || type === "string"
        ? type
        : undefined;
    }
    case "TemplateLiteral":
      return "string";
    case "Identifier":
      return numbers.has(word(node, "name")) ? "number" : undefined;
    case "NewExpression":
      return nameOf(child(node, "callee")) === "Date" ? "Date" : undefined;
    case "UnaryExpression": {
      const operator = word(node, "operator");
      if (operator === "!") return "boolean";
      const type = singleType(need(node, "argument"));
      return type === "number" || (type === "bigint" && operator === "-") ? type : undefined;
    }
    case "BinaryExpression": {
      const sides = [singleType(need(node, "left")), singleType(need(node, "right"))];
      const isNumber = sides.every((side) => side === "number");
      return isNumber && arithmetic.has(word(node, "operator")) ? "number" : undefined;
    }
    default:
      return undefined;
  }
}

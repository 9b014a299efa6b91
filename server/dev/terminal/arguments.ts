// What a person types for a parameter, as a value.

import type { Parameter, PatternName } from "../../../src/manifest.ts";
import { convertQuery } from "../../../src/parameters.ts";

/** One value to ask for. */
export interface Asked {
  /** As calls name it: `sku`, `...names`. */
  readonly name: string;
  readonly note: string;
  readonly optional: boolean;
  /** The value of a text, or what is wrong with it. */
  readonly read: (text: string) => { readonly value: unknown } | { readonly wrong: string };
}

/** Everything that a call of these parameters may be given, in their order. */
export function asked(parameters: readonly Parameter[]): readonly Asked[] {
  return parameters.flatMap((parameter) => {
    if (parameter.kind === "plain") return [fromName(parameter, parameter.optional === true)];
    if (parameter.kind === "rest") return [rest(parameter.name)];
    return parameter.names.flatMap((one) =>
      one === null ? [] : [fromName(one, one.optional === true || parameter.optional === true)],
    );
  });
}

function fromName({ name, type }: PatternName, optional: boolean): Asked {
  const kind =
    type === undefined
      ? "text or JSON"
      : type.endsWith("[]")
        ? `${type}, as JSON or with commas between`
        : type;
  return {
    name,
    note: optional ? `(${kind}, may be left empty)` : `(${kind})`,
    optional,
    read: (text) => (type === undefined ? textOrJson(text) : typed(name, type, text)),
  };
}

function rest(name: string): Asked {
  return {
    name: `...${name}`,
    note: "(a JSON array, may be left empty)",
    optional: true,
    read: (text) => {
      const result = json(text);
      return "value" in result && !Array.isArray(result.value)
        ? { wrong: 'that is no array: write [1, 2] or ["a"]' }
        : result;
    },
  };
}

// Most parameters without a type that texts are converted by are texts.
function textOrJson(text: string): { value: unknown } | { wrong: string } {
  return /^\s*[[{"]/.test(text) ? json(text) : { value: text };
}

function json(text: string): { value: unknown } | { wrong: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { wrong: `that is no JSON: ${(error as Error).message}` };
  }
}

/** By the rules for the text of a query, which are the same for everyone. */
function typed(
  name: string,
  type: NonNullable<PatternName["type"]>,
  text: string,
): { value: unknown } | { wrong: string } {
  let texts = [text.trim()];
  if (type.endsWith("[]")) {
    if (text.trim() === "" || /^\s*\[/.test(text)) {
      const list = text.trim() === "" ? { value: [] } : json(text);
      if ("wrong" in list) return list;
      texts = (list.value as readonly unknown[]).map(String);
    } else texts = text.split(",").map((one) => one.trim());
    if (texts.length === 0) return { value: [] };
  }
  try {
    const parameter: Parameter = { kind: "plain", name, type };
    return {
      value: convertQuery(
        [parameter],
        texts.map((one): [string, string] => [name, one]),
      ).get(name),
    };
  } catch (error) {
    return { wrong: (error as Error).message };
  }
}

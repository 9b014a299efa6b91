// A procedure's parameter list as callers see it (§2.1): names, and which of them may be left out.

import type { Parameter, PatternName } from "../manifest.ts";
import type { Problem } from "../problem.ts";
import { isForbidden } from "../serializer/fault.ts";
import { problemAt, type Source } from "./mark.ts";
import { child, list, nameOf, need, type Node, slots, word } from "./tree.ts";
import type { LocalTypes } from "./value-types.ts";

const flatten = "Take the object as a plain parameter and destructure it in the function's body";

/** Parameters of a function or a function type, and what in its list no call could give by name (§8). */
export function parametersOf(
  fn: Node,
  module: Source & { readonly types: LocalTypes },
): { parameters: Parameter[]; problems: Problem[] } {
  const { types } = module;
  const problems: Problem[] = [];
  const refuse = (node: Node, message: string, hint: string): null => {
    problems.push(problemAt(module, node.start, message, hint));
    return null;
  };
  const parameters: Parameter[] = [];
  for (const written of list(fn, "params")) {
    // TypeScript's way of typing `this`.
    if (written.type === "Identifier" && word(written, "name") === "this") continue;
    const parameter = one(written);
    if (parameter !== null) parameters.push(parameter);
  }
  const seen = new Set<string>();
  for (const parameter of parameters)
    for (const name of namesOf(parameter)) {
      if (seen.has(name))
        refuse(
          fn,
          `Two parameters are called '${name}', and calls give parameters by name`,
          "Rename one of them",
        );
      seen.add(name);
      // The key of a rest parameter has dots before it.
      if (parameter.kind !== "rest" && isForbidden(name))
        refuse(
          fn,
          `A parameter can't be called '${name}': no data may have such a key`,
          "Rename it",
        );
    }
  return { parameters, problems };

  function one(written: Node): Parameter | null {
    if (written.type === "RestElement") {
      const name = nameOf(child(written, "argument"));
      return name === undefined
        ? refuse(
            written,
            "A rest parameter that is a pattern has no name",
            "Give it a name: `...names`",
          )
        : { kind: "rest", name };
    }
    const hasDefault = written.type === "AssignmentPattern";
    const target = hasDefault ? need(written, "left") : written;
    const annotation = child(target, "typeAnnotation");
    const optional = hasDefault || target["optional"] === true ? { optional: true as const } : {};
    if (target.type === "ObjectPattern")
      return {
        kind: "object",
        names: list(target, "properties").flatMap((p) => property(p, annotation)),
        ...optional,
      };
    if (target.type === "ArrayPattern")
      return {
        kind: "array",
        names: slots(target, "elements").map((e, at) => element(e, annotation, at)),
        ...optional,
      };
    const type = types.valueType(annotation);
    return {
      kind: "plain",
      name: word(target, "name"),
      ...optional,
      ...(type === undefined ? {} : { type }),
    };
  }

  function property(node: Node, annotation: Node | undefined): PatternName[] {
    if (node.type === "RestElement")
      return (
        refuse(
          node,
          "A rest element inside a pattern has no name that a call could give",
          flatten,
        ) ?? []
      );
    const key = node["computed"] === true ? undefined : nameOf(child(node, "key"));
    if (key === undefined)
      return (
        refuse(
          node,
          "A computed name in a parameter's pattern can't be given by a call",
          flatten,
        ) ?? []
      );
    const inside = types.property(annotation, key);
    return [patternName(key, need(node, "value"), inside)].filter((found) => found !== null);
  }

  function element(
    node: Node | undefined,
    annotation: Node | undefined,
    index: number,
  ): PatternName | null {
    if (node === undefined) return null;
    if (node.type === "RestElement")
      return refuse(
        node,
        "A rest element inside a pattern has no name that a call could give",
        flatten,
      );
    const target = node.type === "AssignmentPattern" ? need(node, "left") : node;
    return patternName(nameOf(target) ?? "", node, types.element(annotation, index));
  }

  function patternName(
    name: string,
    value: Node,
    inside: { type: Node | undefined; optional: boolean },
  ): PatternName | null {
    const hasDefault = value.type === "AssignmentPattern";
    const target = hasDefault ? need(value, "left") : value;
    if (target.type !== "Identifier")
      return refuse(target, "A pattern inside a parameter's pattern is not supported", flatten);
    const type = types.valueType(inside.type);
    return {
      name,
      ...(hasDefault || inside.optional ? { optional: true } : {}),
      ...(type === undefined ? {} : { type }),
    };
  }
}

/** Every name by which a call may give something for this parameter. */
export function namesOf(parameter: Parameter): string[] {
  if (parameter.kind === "plain" || parameter.kind === "rest") return [parameter.name];
  return parameter.names.flatMap((one) => (one === null ? [] : [one.name]));
}

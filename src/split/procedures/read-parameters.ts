// Reads a procedure's parameter list as callers see it: names, which of them are optional, and the
// types that text in a query string is converted to.

import type { Parameter, PatternName } from "../../base/manifest.ts";
import type { Problem } from "../../base/problem.ts";
import { isForbidden } from "../../codec/values/fault.ts";
import { problemAt, type SourceText } from "../read/code-frame.ts";
import { child, list, nameOf, need, type Node, slots, word } from "../read/tree.ts";
import type { LocalTypes, MemberType } from "../read/value-types.ts";
import { memberOfDefault, typeOfDefault } from "./default-type.ts";

/** A parameter in the source. */
interface Declared {
  readonly annotation: Node | undefined;
  readonly defaultValue: Node | undefined;
}

const destructureInside =
  "Take the object as a plain parameter and destructure it in the function's body";

/** The parameters of a function or function type, and problems with those that have no name. */
export function parametersOf(
  signature: Node,
  module: SourceText & { readonly types: LocalTypes },
): { parameters: Parameter[]; problems: Problem[] } {
  const { types } = module;
  const problems: Problem[] = [];
  const refuse = (node: Node, message: string, hint: string): null => {
    problems.push(problemAt(module, node.start, message, hint));
    return null;
  };
  const parameters = list(signature, "params")
    // `this: Context` is a type, not a parameter.
    .filter((node) => !(node.type === "Identifier" && word(node, "name") === "this"))
    .map(parameterOf)
    .filter((parameter) => parameter !== null);
  const seen = new Set<string>();
  for (const parameter of parameters)
    for (const name of parameterNames(parameter)) {
      if (seen.has(name))
        refuse(
          signature,
          `Two parameters are called '${name}', and calls give parameters by name`,
          "Rename one of them",
        );
      seen.add(name);
      // The key of a rest parameter begins with dots, so it is never one of these.
      if (parameter.kind !== "rest" && isForbidden(name))
        refuse(
          signature,
          `A parameter can't be called '${name}': no data may have such a key`,
          "Rename it",
        );
    }
  return { parameters, problems };

  function parameterOf(node: Node): Parameter | null {
    if (node.type === "RestElement") {
      const name = nameOf(child(node, "argument"));
      return name === undefined
        ? refuse(
            node,
            "A rest parameter that is a pattern has no name",
            "Give it a name: `...names`",
          )
        : { kind: "rest", name };
    }
    const hasDefault = node.type === "AssignmentPattern";
    const target = hasDefault ? need(node, "left") : node;
    const annotation = child(target, "typeAnnotation");
    const defaultValue = hasDefault ? need(node, "right") : undefined;
    const optional = hasDefault || target["optional"] === true ? { optional: true as const } : {};
    if (target.type === "ObjectPattern")
      return {
        kind: "object",
        names: list(target, "properties").flatMap((property) =>
          propertyOf(property, { annotation, defaultValue }),
        ),
        ...optional,
      };
    if (target.type === "ArrayPattern")
      return {
        kind: "array",
        names: slots(target, "elements").map((element, index) =>
          elementOf(element, { annotation, defaultValue }, index),
        ),
        ...optional,
      };
    return {
      kind: "plain",
      name: word(target, "name"),
      ...optional,
      ...valueOf(annotation, defaultValue),
    };
  }

  /** One name, or none if it was refused. */
  function propertyOf(node: Node, pattern: Declared): PatternName[] {
    if (node.type === "RestElement") return refuseRest(node) ?? [];
    const key = node["computed"] === true ? undefined : nameOf(child(node, "key"));
    if (key === undefined) {
      refuse(
        node,
        "A computed name in a parameter's pattern can't be given by a call",
        destructureInside,
      );
      return [];
    }
    const name = patternName(key, need(node, "value"), {
      ...types.property(pattern.annotation, key),
      defaultValue: memberOfDefault(pattern.defaultValue, key),
    });
    return name === null ? [] : [name];
  }

  function elementOf(node: Node | undefined, pattern: Declared, index: number): PatternName | null {
    if (node === undefined) return null;
    if (node.type === "RestElement") return refuseRest(node);
    const target = node.type === "AssignmentPattern" ? need(node, "left") : node;
    return patternName(nameOf(target) ?? "", node, {
      ...types.element(pattern.annotation, index),
      defaultValue: memberOfDefault(pattern.defaultValue, index),
    });
  }

  function refuseRest(node: Node): null {
    return refuse(
      node,
      "A rest element inside a pattern has no name that a call could give",
      destructureInside,
    );
  }

  function patternName(
    name: string,
    value: Node,
    member: MemberType & Pick<Declared, "defaultValue">,
  ): PatternName | null {
    const hasDefault = value.type === "AssignmentPattern";
    const target = hasDefault ? need(value, "left") : value;
    if (target.type !== "Identifier")
      return refuse(
        target,
        "A pattern inside a parameter's pattern is not supported",
        destructureInside,
      );
    return {
      name,
      ...(hasDefault || member.optional ? { optional: true } : {}),
      ...valueOf(member.type, hasDefault ? need(value, "right") : member.defaultValue),
    };
  }

  function valueOf(
    annotation: Node | undefined,
    defaultValue: Node | undefined,
  ): Pick<PatternName, "type"> {
    const declared = types.valueType(annotation);
    const type = declared ?? (types.isKnown(annotation) ? undefined : typeOfDefault(defaultValue));
    return type === undefined ? {} : { type };
  }
}

/** The first parameter of a checked function: its annotation is the type of the schema's output. */
export function withoutTypes(parameter: Parameter): Parameter {
  const untyped = ({ type: _, ...name }: PatternName): PatternName => name;
  switch (parameter.kind) {
    case "plain":
      return { kind: "plain", ...untyped(parameter) };
    case "object":
      return { ...parameter, names: parameter.names.map(untyped) };
    case "array":
      return { ...parameter, names: parameter.names.map((name) => name && untyped(name)) };
    default:
      return parameter;
  }
}

/** The names by which a call can give values for this parameter. */
export function parameterNames(parameter: Parameter): string[] {
  if (parameter.kind === "plain" || parameter.kind === "rest") return [parameter.name];
  return parameter.names.flatMap((entry) => (entry === null ? [] : [entry.name]));
}

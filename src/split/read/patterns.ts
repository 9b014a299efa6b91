// Destructuring patterns: the names they bind, the targets they write, the code they evaluate.

import { child, isTypeWrapper, list, need, type Node, word } from "./tree.ts";

/** The identifiers that a binding pattern declares. */
export function boundIdentifiers(pattern: Node): Node[] {
  return patternParts(pattern).flatMap(({ role, node }) => (role === "target" ? [node] : []));
}

/** The names that a binding pattern declares. */
export function boundNames(pattern: Node): string[] {
  return boundIdentifiers(pattern).map((identifier) => word(identifier, "name"));
}

export interface PatternPart {
  /**
   * - `target`: an identifier that is bound or written
   * - `member`: a member that is written
   * - `expression`: a default value, a computed key, or a decorator
   * - `annotated`: a node that may carry a type annotation
   */
  readonly role: "target" | "member" | "expression" | "annotated";
  readonly node: Node;
  /** A target that stands as `{ name }`. */
  readonly shorthand: boolean;
}

/** The parts of a pattern, in the order in which they are read. */
export function patternParts(pattern: Node, shorthand = false): PatternPart[] {
  const expression = (node: Node): PatternPart => ({ role: "expression", node, shorthand: false });
  const around = (parts: readonly PatternPart[]): PatternPart[] => [
    ...parts,
    ...list(pattern, "decorators").map(expression),
    { role: "annotated", node: pattern, shorthand: false },
  ];
  switch (pattern.type) {
    case "Identifier":
      return around([{ role: "target", node: pattern, shorthand }]);
    case "ObjectPattern":
      return around(
        list(pattern, "properties").flatMap((property) => {
          const key = property["computed"] === true ? child(property, "key") : undefined;
          const value = property.type === "RestElement" ? property : need(property, "value");
          return [
            ...(key === undefined ? [] : [expression(key)]),
            ...patternParts(value, property["shorthand"] === true),
          ];
        }),
      );
    case "ArrayPattern":
      return around(list(pattern, "elements").flatMap((element) => patternParts(element)));
    case "AssignmentPattern": {
      const value = child(pattern, "right");
      return around([
        ...patternParts(need(pattern, "left"), shorthand),
        ...(value === undefined ? [] : [expression(value)]),
      ]);
    }
    case "RestElement":
      return around(patternParts(need(pattern, "argument")));
    case "TSParameterProperty":
      return around(patternParts(need(pattern, "parameter")));
    default:
      // `(a as T) = …` writes `a`; anything else is a member, whose object is read.
      return isTypeWrapper(pattern)
        ? patternParts(need(pattern, "expression"))
        : [{ role: "member", node: pattern, shorthand: false }];
  }
}

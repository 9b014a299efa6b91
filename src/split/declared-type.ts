// The type that the source gives to what it exports. Where another function made the value (`authed(async (user, title) => …)`), this alone
// says what callers give: what the function inside takes may come from its wrapper.

import type { Module, Unit } from "./analyze.ts";
import { child, isTypeWrapper, list, nameOf, need, type Node, programOf } from "./tree.ts";

export interface DeclaredType {
  /** As it is written. */
  readonly text: string;
  /** The function type or call signature that it is, if it can be read here: its parameters stand at `params`. */
  readonly signature: Node | undefined;
}

/** The type of a declarator or a default export: on the constant, on the expression, or in a JSDoc comment. */
export function declaredType(module: Module, unit: Unit): DeclaredType | undefined {
  const value =
    unit.kind === "default" ? child(unit.node, "declaration") : child(unit.node, "init");
  const annotation =
    unit.kind === "declarator" ? child(need(unit.node, "id"), "typeAnnotation") : undefined;
  const written =
    (annotation === undefined ? assertedType(value) : child(annotation, "typeAnnotation")) ??
    jsDocType(module, unit, value);
  if (written === undefined) return undefined;
  return {
    text: module.source.slice(written.start, written.end),
    signature: module.types.signature(written),
  };
}

/** The outermost type of `value as T`, `value satisfies T` and `<T>value`. */
function assertedType(value: Node | undefined): Node | undefined {
  if (value === undefined || !isTypeWrapper(value)) return undefined;
  const type = child(value, "typeAnnotation");
  const isConst = type?.type === "TSTypeReference" && nameOf(child(type, "typeName")) === "const";
  return type === undefined || isConst ? assertedType(need(value, "expression")) : type;
}

/** The type of `/** @type {…} *\/` in JavaScript, above the statement or before the value. */
function jsDocType(module: Module, unit: Unit, value: Node | undefined): Node | undefined {
  if (!/\.m?jsx?$/.test(module.file)) return undefined;
  const declaration = child(unit.statement, "declaration") ?? unit.statement;
  const isFirst = unit.kind === "default" || list(declaration, "declarations")[0] === unit.node;
  const places = [
    ...(value === undefined ? [] : [value.start]),
    ...(isFirst ? [unit.statement.start] : []),
  ];
  for (const comment of module.comments.toReversed()) {
    const isBefore = places.some(
      (at) => comment.end <= at && /^[\s(]*$/.test(module.source.slice(comment.end, at)),
    );
    const found =
      isBefore && comment.value.startsWith("*") ? /@type\s*\{/.exec(comment.value) : null;
    if (found === null) continue;
    // What the parser calls the value stands behind the two letters that open the comment.
    const start = comment.start + 2 + found.index + found[0].length;
    const type = typeAt(module, start, comment.end);
    if (type !== undefined) return type;
  }
  return undefined;
}

const head = "type T=";

/** The type whose text begins at an offset and ends before the brace that closes it, with offsets of the source. */
function typeAt({ file, source, parse }: Module, start: number, end: number): Node | undefined {
  let depth = 1;
  let close = start;
  for (; close < end; close++) {
    if (source[close] === "{") depth++;
    else if (source[close] === "}" && --depth === 0) break;
  }
  const text = source.slice(start, close).replace(/(^|\n)([ \t]*)\*/g, "$1$2 ");
  const parsed = parse(`${file}.ts`, `${" ".repeat(start - head.length)}${head}${text}`);
  const [statement] = parsed.errors.length > 0 ? [] : list(programOf(parsed), "body");
  return statement === undefined ? undefined : child(statement, "typeAnnotation");
}

// The type that the source declares for an export. If another function made the value, as in `authed(async
// (user, title) => …)`, only this type has the callers' parameters: the wrapper may add parameters of its
// own.

import type { Module } from "../read/analyze.ts";
import { child, isTypeWrapper, list, nameOf, need, type Node, programOf } from "../read/tree.ts";
import type { Unit } from "../read/units.ts";

export interface DeclaredType {
  /** The type as it is written. */
  readonly text: string;
  /**
   * The function type or call signature that it stands for, if this file declares it. Its
   * parameters are at `params`.
   */
  readonly signature: Node | undefined;
}

/** The type of a declarator or default export: on the constant, the expression, or in JSDoc. */
export function declaredType(module: Module, unit: Unit): DeclaredType | undefined {
  const value =
    unit.kind === "default" ? child(unit.node, "declaration") : child(unit.node, "init");
  const annotation =
    unit.kind === "declarator" ? child(need(unit.node, "id"), "typeAnnotation") : undefined;
  const type =
    (annotation === undefined ? assertedType(value) : child(annotation, "typeAnnotation")) ??
    jsDocType(module, unit, value);
  if (type === undefined) return undefined;
  return {
    text: module.source.slice(type.start, type.end),
    signature: module.types.signature(type),
  };
}

/** The outermost type of `value as T`, `value satisfies T` and `<T>value`. */
function assertedType(value: Node | undefined): Node | undefined {
  if (value === undefined || !isTypeWrapper(value)) return undefined;
  const type = child(value, "typeAnnotation");
  const isConst = type?.type === "TSTypeReference" && nameOf(child(type, "typeName")) === "const";
  return type === undefined || isConst ? assertedType(need(value, "expression")) : type;
}

/** The type in `/** @type {…} *\/` in JavaScript, above the statement or before the value. */
function jsDocType(module: Module, unit: Unit, value: Node | undefined): Node | undefined {
  if (!/\.m?jsx?$/.test(module.file)) return undefined;
  const declaration = child(unit.statement, "declaration") ?? unit.statement;
  const isFirst = unit.kind === "default" || list(declaration, "declarations")[0] === unit.node;
  const targets = [
    ...(value === undefined ? [] : [value.start]),
    ...(isFirst ? [unit.statement.start] : []),
  ];
  for (const comment of module.comments.toReversed()) {
    const isBefore = targets.some(
      (start) => comment.end <= start && /^[\s(]*$/.test(module.source.slice(comment.end, start)),
    );
    const isJsDoc = module.source.startsWith("/**", comment.start);
    const tag = isBefore && isJsDoc ? /@type\s*\{/.exec(comment.value) : null;
    if (tag === null) continue;
    // A comment's value begins behind its first two characters.
    const start = comment.start + 2 + tag.index + tag[0].length;
    const type = parseType(module, start, comment.end);
    if (type !== undefined) return type;
  }
  return undefined;
}

const declarationStart = "type T=";

/** Parses the type from `start` to its closing brace, with offsets of the source. */
function parseType({ file, source, parse }: Module, start: number, end: number): Node | undefined {
  let depth = 1;
  let close = start;
  for (; close < end; close++) {
    if (source[close] === "{") depth++;
    else if (source[close] === "}" && --depth === 0) break;
  }
  const text = source.slice(start, close).replace(/(^|\n)([ \t]*)\*/g, "$1$2 ");
  const padding = " ".repeat(start - declarationStart.length);
  const parsed = parse(`${file}.ts`, `${padding}${declarationStart}${text}`);
  const [statement] = parsed.errors.length > 0 ? [] : list(programOf(parsed), "body");
  return statement === undefined ? undefined : child(statement, "typeAnnotation");
}

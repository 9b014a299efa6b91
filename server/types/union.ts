// Unions in one form.

import type { Literal, Type } from "./model.ts";

/** A union of types, without arms that say nothing and with all literals in one. */
export function unionOf(types: readonly Type[]): Type {
  const flat = types.flatMap((type) => (type.kind === "union" ? type.arms : [type]));
  if (flat.some(({ kind }) => kind === "unknown")) return { kind: "unknown" };
  const values = new Map<string, Literal>();
  const others = new Map<string, Type>();
  for (const type of flat) {
    if (type.kind === "literals")
      for (const value of type.values) values.set(JSON.stringify(value), value);
    else if (type.kind !== "never") others.set(JSON.stringify(type), type);
  }
  if (values.has("true") && values.has("false")) {
    values.delete("true");
    values.delete("false");
    others.set('{"kind":"boolean"}', { kind: "boolean" });
  }
  const literals: Type[] =
    values.size === 0 ? [] : [{ kind: "literals", values: [...values.values()] }];
  const arms = [...literals, ...others.values()];
  return arms.length === 0
    ? { kind: "never" }
    : arms.length === 1
      ? arms[0]!
      : { kind: "union", arms };
}

/** The type of what is there where something may be absent. */
export function withoutUndefined(type: Type): Type {
  return type.kind === "union"
    ? unionOf(type.arms.filter(({ kind }) => kind !== "undefined"))
    : type.kind === "undefined"
      ? { kind: "never" }
      : type;
}

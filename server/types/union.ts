// Unions in one form.

import type { Literal, Type } from "./model.ts";

/** A union of types, without redundant arms and with all literals in one arm. */
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

/** The type of an optional value when it is present. */
export function withoutUndefined(type: Type): Type {
  return type.kind === "union"
    ? unionOf(type.arms.filter(({ kind }) => kind !== "undefined"))
    : type.kind === "undefined"
      ? { kind: "never" }
      : type;
}

/** The most arms of a union that can only be told apart by trying them; more are a problem of the build. */
export const maxTries = 50;

/**
 * The most arms that a value has to be tried against: those that neither their kind nor a literal member
 * tells apart. `arms` must not be references or unions.
 */
export function triesOf(arms: readonly Type[]): number {
  const count = (...kinds: Type["kind"][]): number =>
    arms.filter(({ kind }) => kinds.includes(kind)).length;
  const objects = arms.filter((arm) => arm.kind === "object");
  return Math.max(
    count("array", "tuple"),
    count("map"),
    count("set"),
    count("template"),
    hasDiscriminant(objects) ? 1 : mostAlike(objects),
  );
}

type ObjectType = Type & { readonly kind: "object" };

/** The literals that a member must have; `undefined` if it may have other values, or be absent. */
function literalsOf({ members }: ObjectType, name: string): readonly string[] | undefined {
  const member = Object.hasOwn(members, name) ? members[name] : undefined;
  return member?.type.kind === "literals" && !member.optional
    ? member.type.values.map((value) => JSON.stringify(value))
    : undefined;
}

/** Whether one member has literals of its own in each arm. */
function hasDiscriminant([first, ...others]: readonly ObjectType[]): boolean {
  return (
    first !== undefined &&
    Object.keys(first.members).some((name) => {
      const all = [first, ...others].map((arm) => literalsOf(arm, name));
      const values = all.flatMap((own) => own ?? []);
      return !all.includes(undefined) && new Set(values).size === values.length;
    })
  );
}

function mostAlike(objects: readonly ObjectType[]): number {
  const counts = objects.map(
    (arm) => objects.filter((next) => arm === next || !areTold(arm, next)).length,
  );
  return Math.max(0, ...counts);
}

function areTold(left: ObjectType, right: ObjectType): boolean {
  return Object.keys(left.members).some((name) => {
    const own = literalsOf(left, name);
    const values = own && literalsOf(right, name);
    return values !== undefined && !values.some((value) => own!.includes(value));
  });
}

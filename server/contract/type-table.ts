// The types of one build, as comparisons query them.

import { entryOf } from "../../src/base/manifest.ts";
import { createMatcher, type Matcher } from "../types/match.ts";
import type { ClassTypes, Member, Type, TypeModel } from "../types/model.ts";
import { type ObjectType, phraseOf } from "../types/values.ts";
import type { Contract } from "./contract.ts";

export interface TypeTable extends Pick<Matcher, "resolve" | "candidates"> {
  readonly model: TypeModel;
  readonly classOf: (key: string) => ClassTypes | undefined;
  /** The arms of a union, of unions in it and behind references. */
  readonly arms: (type: Type) => readonly Type[];
  /** Whether a type without members or items takes a value. */
  readonly takes: (type: Type, value: unknown) => boolean;
  /** The values of a type, in the words of a message. */
  readonly phrase: (type: Type) => string;
}

export function typeTable({
  definitions,
  classes,
}: Pick<Contract, "definitions" | "classes">): TypeTable {
  const model: TypeModel = {
    definitions: Object.fromEntries(
      Object.entries(definitions).map(([name, { type }]) => [name, type]),
    ),
    classes,
    functions: {},
  };
  const { matches, resolve, candidates } = createMatcher({
    model,
    tests: [],
    isInstance: () => false,
  });
  const known = new WeakMap<Type, readonly Type[]>();
  return { model, classOf, arms, takes: matches, phrase, resolve, candidates };

  function classOf(key: string): ClassTypes | undefined {
    return Object.hasOwn(classes, key) ? classes[key] : undefined;
  }

  function arms(type: Type): readonly Type[] {
    let found = known.get(type);
    if (found === undefined) known.set(type, (found = flat(type, new Set())));
    return found;
  }

  function flat(reference: Type, seen: ReadonlySet<Type>): readonly Type[] {
    const type = resolve(reference);
    if (type.kind === "never" || seen.has(type)) return [];
    return type.kind === "union"
      ? type.arms.flatMap((arm) => flat(arm, new Set([...seen, type])))
      : [type];
  }

  function phrase(type: Type): string {
    const objects = arms(type).filter((arm) => arm.kind === "object");
    const others = arms(type).filter((arm) => arm.kind !== "object");
    const phrases = [
      ...(others.length > 0 ? [phraseOf({ kind: "union", arms: others }, resolve, false)] : []),
      ...new Set(objects.map(objectPhrase)),
    ];
    return phrases.length === 0 ? "nothing" : phrases.join(" or ");
  }

  /** Names an object by the member whose literals tell it apart. */
  function objectPhrase({ members }: Type & { readonly kind: "object" }): string {
    const tag = Object.entries(members).find(
      ([, { type, optional }]) => type.kind === "literals" && !optional,
    );
    return tag === undefined
      ? "an object"
      : `an object with ${tag[0]} ${phraseOf(tag[1].type, resolve, false)}`;
  }
}

/** Whether some member has different literals in the two objects. */
export function areToldApart(left: ObjectType, right: ObjectType): boolean {
  return Object.entries(left.members).some(([name, member]) => {
    const other = entryOf(right.members, name);
    const [own, others] = [literalsOf(member), literalsOf(other)];
    return own !== undefined && others !== undefined && !own.some((text) => others.includes(text));
  });
}

/** The literals that a member must have, as text. */
export function literalsOf(member: Member | undefined): readonly string[] | undefined {
  if (member === undefined || member.optional) return undefined;
  if (member.type.kind === "boolean") return ["true", "false"];
  return member.type.kind === "literals"
    ? member.type.values.map((value) => JSON.stringify(value))
    : undefined;
}

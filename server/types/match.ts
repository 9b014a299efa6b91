// Finds the places where a value doesn't fit its type. Generated code passes valid arguments; calls come here
// only if they are refused, converted, or lose members.

import { cutPath, type Fault, maxFaults, pathPart } from "../../src/base/faults.ts";
import { headers } from "../../src/base/protocol.ts";
import { type Test, type TestContext, testContext } from "./memory.ts";
import type { Member, Type, TypeModel } from "./model.ts";
import { brokenRule, digitsOf, fitsTemplate, takesKey } from "./text-rules.ts";
import {
  brokenBound,
  brokenCount,
  brokenLength,
  convertedTexts,
  hasParts,
  isBinary,
  isDataObject,
  isLeaf,
  isLiteral,
  itemOf,
  kindOf,
  memberOf,
  type ObjectType,
  phraseOf,
  testedTypes,
} from "./values.ts";

export interface MatchOptions {
  readonly model: TypeModel;
  /** Tests of the types that the model has, as generated code gives them. */
  readonly tests: readonly Test[];
  readonly isInstance: TestContext["isInstance"];
  /** Messages don't show values, only their kind and the length of texts. */
  readonly masked?: boolean;
  /** The message had no form for a Date: say which text is one. */
  readonly plain?: boolean;
  /** The most digits of a bigint, which is text in such a message. */
  readonly maxDigits?: number;
  /** No object is shared or cyclic. */
  readonly isTree?: boolean;
  /** Notes of earlier tests of the same values. */
  readonly context?: TestContext | undefined;
}

/** The most characters of a value that a message shows. */
export const maxShown = 40;

/** A place inside the arguments; its path is written only if there is a fault. */
export interface Place {
  readonly outer: Place | undefined;
  /** A member, an item, or the call that returns a part of a Map or Set: `.values()`. */
  readonly key: string | number | { readonly call: string };
}

/** Compares one call's arguments with types, if the generated tests haven't passed them. */
export interface Matcher {
  /** Whether a value has a type of the model. */
  readonly matches: (type: Type, value: unknown) => boolean;
  /** The faults of a value, at most {@link maxFaults} and one more. */
  readonly faults: (type: Type, value: unknown, place: Place) => Fault[];
  /** The arms of a union that a value may be: others differ in kind, or in a literal member. */
  readonly candidates: (arms: readonly Type[], value: unknown) => Type[];
  /** The type itself, where it is a reference. */
  readonly resolve: (type: Type) => Type;
}

/** Generated tests of a model's types, by the types themselves. */
const testsOf = new WeakMap<readonly Test[], ReadonlyMap<Type, Test>>();

function testsByType({ model, tests }: MatchOptions): ReadonlyMap<Type, Test> {
  let byType = testsOf.get(tests);
  if (byType === undefined) {
    byType = new Map(testedTypes(model).map((type, index) => [type, tests[index]!]));
    testsOf.set(tests, byType);
  }
  return byType;
}

export function createMatcher(options: MatchOptions): Matcher {
  const { model, isInstance, masked = false, plain = false, isTree = false } = options;
  const { maxDigits = Infinity } = options;
  const tests = testsByType(options);
  const { context = testContext(isInstance, isTree) } = options;
  const explained = new Map<object, Set<Type>>();
  let found: Fault[] = [];

  return {
    matches,
    faults: (type, value, place) => {
      found = [];
      explained.clear();
      explain(type, value, place);
      return found;
    },
    candidates,
    resolve,
  };

  function resolve(type: Type): Type {
    let current = type;
    while (current.kind === "ref") current = model.definitions[current.to] ?? { kind: "never" };
    return current;
  }

  function matches(reference: Type, value: unknown): boolean {
    const type = resolve(reference);
    return hasParts(type) ? tests.get(type)?.(value, context) === true : matchesLeaf(type, value);
  }

  /** Whether a value without parts has a type. */
  function matchesLeaf(type: Type, value: unknown): boolean {
    switch (type.kind) {
      case "unknown":
        return true;
      case "defined":
        return value !== undefined && value !== null;
      case "nonprimitive":
        return typeof value === "object" && value !== null;
      case "null":
        return value === null;
      case "undefined":
      case "boolean":
      case "bigint":
        return typeof value === type.kind;
      case "number":
        return typeof value === "number" && brokenBound(type, value) === undefined;
      case "string":
        return typeof value === "string" && brokenRule(type, value) === undefined;
      case "template":
        return (
          typeof value === "string" &&
          fitsTemplate(type.parts, value) &&
          brokenRule(type, value) === undefined
        );
      case "literals":
        return type.values.some((literal) => isLiteral(literal, value));
      case "date":
      case "url":
      case "regexp":
      case "file":
      case "blob":
      case "form":
        return isLeaf(type.kind, value);
      case "binary":
        return isBinary(type.type, value);
      case "instance":
        return typeof value === "object" && value !== null && isInstance(type.key, value);
      default:
        return false;
    }
  }

  /** Rules arms out by kind and by literal members, without a full test. */
  function candidates(arms: readonly Type[], value: unknown): Type[] {
    const possible: Type[] = [];
    for (const { type, literals } of flat(arms))
      if (mayBe(type, literals, value)) possible.push(type);
    return possible;
  }

  function flat(arms: readonly Type[]): readonly Arm[] {
    let known = flatArms.get(arms);
    if (known === undefined) {
      known = arms
        .map(resolve)
        .flatMap((type) =>
          type.kind === "union" ? flat(type.arms) : [{ type, literals: literalMembers(type) }],
        );
      flatArms.set(arms, known);
    }
    return known;
  }

  function mayBe(arm: Type, literals: Arm["literals"], value: unknown): boolean {
    switch (arm.kind) {
      case "array":
      case "tuple":
        return Array.isArray(value);
      case "map":
        return value instanceof Map;
      case "set":
        return value instanceof Set;
      case "object":
        return (
          typeof value === "object" &&
          value !== null &&
          isDataObject(value) &&
          literals.every(([name, { type, optional }]) => {
            const item = memberOf(value, name);
            return (optional && item === undefined) || matchesLeaf(type, item);
          })
        );
      case "template":
        return typeof value === "string";
      default:
        return matchesLeaf(arm, value);
    }
  }

  // --- faults

  function explain(reference: Type, value: unknown, place: Place): void {
    if (found.length > maxFaults) return;
    const type = resolve(reference);
    if (!isTree && typeof value === "object" && value !== null && hasParts(type)) {
      const types = explained.get(value) ?? new Set();
      explained.set(value, types);
      if (types.has(type)) return;
      types.add(type);
    }
    switch (type.kind) {
      case "array":
      case "tuple": {
        if (!Array.isArray(value)) return wrongKind(type, value, place);
        const { length } = value;
        const expected =
          type.kind === "array" ? brokenLength(type, length) : brokenCount(type, length);
        if (expected !== undefined) return add(place, `expected ${expected}, got ${length}`);
        return explainItems(value, place, (index) =>
          type.kind === "array" ? { type: type.items } : itemOf(type, index, length),
        );
      }
      case "object":
        if (typeof value !== "object" || value === null || !isDataObject(value))
          return wrongKind(type, value, place);
        return explainMembers(type, value, place);
      case "map":
        if (!(value instanceof Map)) return wrongKind(type, value, place);
        for (const [key, item] of value) {
          explain(type.keys, key, { outer: place, key: { call: ".keys()" } });
          explain(type.values, item, { outer: place, key: { call: `.get(${shownKey(key)})` } });
          if (found.length > maxFaults) return;
        }
        return;
      case "set":
        if (!(value instanceof Set)) return wrongKind(type, value, place);
        for (const item of value) {
          explain(type.items, item, { outer: place, key: { call: ".values()" } });
          if (found.length > maxFaults) return;
        }
        return;
      case "union":
        return explainUnion(type, value, place);
      default:
        if (!matches(type, value)) wrongKind(type, value, place);
    }
  }

  function explainItems(
    value: readonly unknown[],
    place: Place,
    memberAt: (index: number) => Member,
  ): void {
    for (let index = 0; index < value.length; index++) {
      if (found.length > maxFaults) return;
      const { type, optional } = memberAt(index);
      if (!optional || value[index] !== undefined)
        explain(type, value[index], { outer: place, key: index });
    }
  }

  function explainMembers(type: ObjectType, value: object, place: Place): void {
    for (const [name, { type: memberType, optional }] of Object.entries(type.members)) {
      if (found.length > maxFaults) return;
      const item = memberOf(value, name);
      const at = { outer: place, key: name };
      if (item !== undefined) explain(memberType, item, at);
      else if (!optional && !matches(memberType, undefined)) add(at, "missing");
    }
    if (type.index === undefined) return;
    for (const key of Object.keys(value)) {
      if (found.length > maxFaults) return;
      for (const values of indexTypes(type, key))
        explain(values, memberOf(value, key), { outer: place, key });
    }
  }

  function explainUnion(
    type: Type & { readonly kind: "union" },
    value: unknown,
    place: Place,
  ): void {
    const arms = candidates(type.arms, value);
    // Doesn't test first whether the value fits: at each level, that would visit all levels below.
    if (arms.length === 1) return explain(arms[0]!, value, place);
    if (arms.length > 1 && matches(type, value)) return;
    if (context.memory?.exhausted || context.unions?.exhausted)
      return add(place, "has too many types to try");
    if (arms.length > 1) {
      const nearest = nearestOf(arms, value);
      return nearest === undefined
        ? add(place, `fits none of the ${arms.length} types that it may have`)
        : explain(nearest, value, place);
    }
    const told = toldApart(type.arms, value);
    if (told === undefined) return wrongKind(type, value, place);
    return explain(told.type, memberOf(value as object, told.name), {
      outer: place,
      key: told.name,
    });
  }

  /** The arm of which the value lacks the fewest members; `undefined` if not all arms have members. */
  function nearestOf(arms: readonly Type[], value: unknown): Type | undefined {
    let nearest: Type | undefined;
    let fewest = Infinity;
    for (const arm of arms) {
      if (arm.kind !== "object") return undefined;
      const misfits = Object.entries(arm.members).filter(([name, { type, optional }]) => {
        const item = memberOf(value as object, name);
        return !(optional && item === undefined) && !matches(type, item);
      });
      if (misfits.length < fewest) [nearest, fewest] = [arm, misfits.length];
    }
    return nearest;
  }

  /** The discriminant of a union: a member whose literals tell all object arms apart. */
  function toldApart(
    arms: readonly Type[],
    value: unknown,
  ): { name: string; type: Type } | undefined {
    const objects = arms.map(resolve).filter((arm) => arm.kind === "object");
    const [first] = objects;
    if (first === undefined || typeof value !== "object" || value === null || !isDataObject(value))
      return undefined;
    for (const name of Object.keys(first.members)) {
      const types = objects.map(({ members }) =>
        Object.hasOwn(members, name) ? members[name]?.type : undefined,
      );
      const values = types.flatMap((type) => (type?.kind === "literals" ? type.values : []));
      const isTold = types.every((type) => type?.kind === "literals");
      if (isTold) return { name, type: { kind: "literals", values: [...new Set(values)] } };
    }
    return undefined;
  }

  function wrongKind(type: Type, value: unknown, place: Place): void {
    const texts = plain && typeof value === "string" ? convertedTexts(armsOf(type)) : [];
    if (texts.length > 1) {
      const phrases = texts.map((arm) => phraseOf(arm, resolve, plain)).join(" from ");
      return add(place, `plain JSON can't tell ${phrases}: send it with ${headers.encoding}`);
    }
    const isBigint = texts.some(({ kind }) => kind === "bigint");
    if (isBigint && (digitsOf(value as string) ?? 0) > maxDigits)
      return add(place, `more than ${maxDigits} digits (limit 'maxDigits')`);
    const wrong = `expected ${expectation(type, value)}, got ${shown(type, value)}`;
    add(place, `${wrong}${formHint(type, value)}`);
  }

  /** A hint about sending an instance, for a plain object in its place. */
  function formHint(type: Type, value: unknown): string {
    const instance = armsOf(type).find((arm) => arm.kind === "instance");
    if (instance === undefined || kindOf(value) !== "an object") return "";
    const form = `{"serialized":true,"name":"class","key":${JSON.stringify(instance.key)},"args":{…},"fields":{…}}`;
    return `: send ${form} with ${headers.encoding}: serialized`;
  }

  function expectation(type: Type, value: unknown): string {
    if (type.kind === "number" && typeof value === "number")
      return brokenBound(type, value) ?? "number";
    if (type.kind === "string" && typeof value === "string")
      return brokenRule(type, value) ?? "text";
    if (type.kind === "template" && typeof value === "string" && fitsTemplate(type.parts, value))
      return brokenRule(type, value) ?? "text";
    return phraseOf(type, resolve, plain);
  }

  /** The value where its kind is right, and its kind where it is wrong. */
  function shown(type: Type, value: unknown): string {
    const isRightKind = armsOf(type).some((arm) =>
      arm.kind === "literals"
        ? arm.values.some((literal) =>
            typeof literal === "object"
              ? typeof value === "bigint"
              : typeof literal === typeof value,
          )
        : arm.kind === typeof value || (arm.kind === "template" && typeof value === "string"),
    );
    return isRightKind ? shownValue(value) : kindOf(value);
  }

  function armsOf(type: Type): readonly Type[] {
    return type.kind === "union" ? type.arms.map(resolve) : [type];
  }

  function shownValue(value: unknown): string {
    if (typeof value === "string") {
      if (masked) return `text of ${characters(value.length)}`;
      return value.length > maxShown
        ? `${JSON.stringify(value.slice(0, maxShown))}… (${characters(value.length)})`
        : JSON.stringify(value);
    }
    if (typeof value === "bigint" && !masked) return `${String(value).slice(0, maxShown)}n`;
    const isShown = typeof value === "number" || typeof value === "boolean";
    return masked || !isShown ? kindOf(value) : String(value).slice(0, maxShown);
  }

  function shownKey(key: unknown): string {
    return typeof key === "string" || typeof key === "number" ? shownValue(key) : "…";
  }

  function add(place: Place, message: string): void {
    found.push({ path: pathOf(place), message });
  }
}

/** The types that index signatures give to a member; none for one that is declared. */
export function indexTypes({ members, index = [] }: ObjectType, key: string): Type[] {
  return Object.hasOwn(members, key)
    ? []
    : index.filter(({ keys }) => takesKey(keys, key)).map(({ values }) => values);
}

/** An arm that is neither a reference nor a union, and its members whose values are literals. */
interface Arm {
  readonly type: Type;
  readonly literals: readonly [string, Member][];
}

const flatArms = new WeakMap<readonly Type[], readonly Arm[]>();

function literalMembers(type: Type): Arm["literals"] {
  return type.kind === "object"
    ? Object.entries(type.members).filter(([, member]) => member.type.kind === "literals")
    : [];
}

function characters(count: number): string {
  return count === 1 ? "1 character" : `${count} characters`;
}

/** `lines[0].metres` */
export function pathOf(place: Place): string {
  const keys: Place["key"][] = [];
  for (let current: Place | undefined = place; current !== undefined; current = current.outer)
    keys.push(current.key);
  const path = keys
    .toReversed()
    .map((key, index) =>
      typeof key === "object"
        ? key.call
        : // The first is the name of a parameter. Others may be from the message, with any character.
          typeof key === "string" && index === 0
          ? key
          : pathPart(key),
    )
    .join("");
  return cutPath(path);
}

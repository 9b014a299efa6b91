// Whether a type takes all values of another. For parameters, the later build's type must take what callers
// of the earlier one send; for results, the earlier build's type must take the later one's answers.

import { pathPart } from "../../src/base/faults.ts";
import { entryOf, type ExtraMembers } from "../../src/base/manifest.ts";
import type { BinaryType, ClassTypes, IndexRule, Literal, Member, Type } from "../types/model.ts";
import { takesKey } from "../types/text-rules.ts";
import { unionOf, withoutUndefined } from "../types/union.ts";
import { itemOf, type ArrayType, type ObjectType, type TupleType } from "../types/values.ts";
import {
  advice,
  breaking,
  type Difference,
  distinct,
  inside,
  isBreaking,
  type Level,
  type OpenPair,
  risky,
  worse,
  worstOf,
} from "./difference.ts";
import { createReadings, type Readings } from "./readings.ts";
import { fitsParts, newBounds, type NewRule, newTextRules } from "./rules.ts";
import { areToldApart, literalsOf, type TypeTable } from "./type-table.ts";

export interface Comparison {
  /** The build whose values are sent. */
  readonly source: TypeTable;
  /** The build that receives them. */
  readonly target: TypeTable;
  readonly of: "parameter" | "result";
  /** For parameters: the treatment of members that the target doesn't declare. */
  readonly extra?: ExtraMembers | undefined;
}

/** The differences between two types, each of a table of its own. */
export type CompareTypes = (from: Type, to: Type) => readonly Difference[];

export interface TypeComparison {
  readonly ofTypes: CompareTypes;
  /** The same for a parameter's text in a query or form, which is read by the types of all overloads. */
  readonly ofFields: Readings["ofFields"];
}

/** The arm of a union that a type fits best. */
interface Fit {
  readonly arm: Type;
  readonly differences: readonly Difference[];
}

const nothing: Type = { kind: "undefined" };

export function compareTypes({ source, target, of, extra = "drop" }: Comparison): TypeComparison {
  const isParameter = of === "parameter";
  const readings = createReadings(source, target, compare);

  // Recursive types are compared under the assumption that an open pair fits. If that proves wrong,
  // everything is compared again with the levels known by then. Levels only get worse, so this ends.
  const known = new PairMap<Level>();
  const settled = new PairMap<readonly Difference[]>();
  let round = new Round();

  return { ofTypes, ofFields: readings.ofFields };

  function ofTypes(from: Type, to: Type): readonly Difference[] {
    let found: readonly Difference[];
    do {
      round = new Round();
      found = compare(from, to);
    } while (!round.isStable);
    for (const [one, other, differences] of round.whole) settled.set(one, other, differences);
    return found.filter(({ repeats }) => repeats === undefined);
  }

  /** Compares two things once, however often and wherever types lead to them. */
  function once<From extends object, To extends object>(
    from: From,
    to: To,
    act: (from: From, to: To) => readonly Difference[],
  ): readonly Difference[] {
    const before = settled.get(from, to) ?? round.results.get(from, to);
    if (before !== undefined) return before;
    const open = round.open.get(from, to);
    if (open !== undefined) {
      open.assumed = known.get(from, to) ?? "fine";
      return open.assumed === "fine"
        ? []
        : [{ level: open.assumed, path: "", message: "", advice: "", repeats: open }];
    }
    const own: OpenPair = { depth: round.depth++ };
    round.open.set(from, to, own);
    const all = act(from, to);
    round.depth--;
    // Never better than before, or rounds could contradict each other for ever.
    const level = worse(worstOf(all), known.get(from, to) ?? "fine");
    known.set(from, to, level);
    if ((own.assumed ?? level) !== level) round.isStable = false;
    const others = all.filter(({ repeats }) => repeats !== own);
    const found = worstOf(others) === worstOf(all) ? others : all;
    round.results.set(from, to, found);
    if (found.every(({ repeats }) => repeats === undefined)) round.whole.push([from, to, found]);
    return found;
  }

  function compare(from: Type, to: Type): readonly Difference[] {
    const targets = target.arms(to);
    const fits = armsFor(from, targets).map((arm) => [arm, bestFit(arm, targets)] as const);
    const fitted = new Set(
      fits.flatMap(([, fit]) => (fit === undefined || isBreaking(fit.differences) ? [] : fit.arm)),
    );
    const found = fits.flatMap(([arm, fit]) => {
      // If another arm fits the same target, it is the arm of before and this one is new.
      const isNew = fit !== undefined && isBreaking(fit.differences) && fitted.has(fit.arm);
      return fit === undefined || (isNew && !isParameter) ? misfit(arm, targets) : fit.differences;
    });
    if (isParameter && !isBreaking(found)) found.push(...readings.ofPlain(from, to));
    return distinct(found);
  }

  /** The arms of a type; literals are one for each kind of value, and without those that the targets take. */
  function armsFor(type: Type, targets: readonly Type[]): readonly Type[] {
    const takesBooleans = targets.some(({ kind }) => kind === "boolean");
    const literals: Literal[] = [];
    const others: Type[] = [];
    for (const arm of source.arms(type))
      if (arm.kind === "literals") literals.push(...arm.values);
      else if (arm.kind === "boolean" && !takesBooleans) literals.push(true, false);
      else others.push(arm);
    const left = literals.filter(
      (literal) => !targets.some((arm) => target.takes(arm, valueOf(literal))),
    );
    return left.length > 0 ? [...others, { kind: "literals", values: left }] : others;
  }

  /** `undefined`: no arm takes values of this kind. */
  function bestFit(arm: Type, targets: readonly Type[]): Fit | undefined {
    const fits = targets.flatMap((one): Fit[] => {
      const differences = compareKinds(arm, one);
      return differences === undefined ? [] : [{ arm: one, differences }];
    });
    const rank = ({ differences }: Fit): number =>
      differences.length + (isBreaking(differences) ? 1000 : 0);
    const [best] = fits.toSorted((left, right) => rank(left) - rank(right));
    if (best === undefined || isBreaking(best.differences)) {
      const parts = splitByLiterals(arm, targets).map((part) => bestFit(part, targets));
      const differences = parts.flatMap((fit) => fit?.differences ?? []);
      const [first] = parts;
      return first === undefined || parts.includes(undefined) || isBreaking(differences)
        ? best
        : { arm: first.arm, differences };
    }
    // Of a union, members of all arms that a value has arrive.
    const others = fits.filter((fit) => fit !== best && !isBreaking(fit.differences));
    const differences = best.differences.filter(
      ({ dropped, path }) =>
        dropped === undefined ||
        others.every((fit) =>
          fit.differences.some((one) => one.dropped && path.startsWith(one.path)),
        ),
    );
    return { arm: best.arm, differences };
  }

  /** Values that none of the arms take. */
  function misfit(arm: Type, targets: readonly Type[]): readonly Difference[] {
    const takes = target.phrase({ kind: "union", arms: targets });
    const isAbsence = arm.kind === "undefined";
    if (isParameter)
      return isAbsence
        ? [breaking("is required now", advice.required)]
        : [breaking(`no longer takes ${source.phrase(arm)}: it takes ${takes}`, advice.narrower)];
    if (arm.kind === "unknown")
      return [risky("has a type that can't be read any more, so it isn't compared", advice.result)];
    const text = `may be ${isAbsence ? "missing" : source.phrase(arm)} now: it was ${takes}`;
    // Pages of the earlier build can't build instances of a class that they lack.
    return alternativesOf(targets) > 1 && arm.kind !== "instance"
      ? [risky(text, advice.wider)]
      : [breaking(text, advice.result)];
  }

  /** `undefined`: the second type takes no value of the first one's kind. */
  function compareKinds(from: Type, to: Type): readonly Difference[] | undefined {
    if (to.kind === "unknown") return [];
    if (to.kind === "defined")
      return ["undefined", "null", "unknown"].includes(from.kind) ? undefined : [];
    if (to.kind === "nonprimitive") return primitives.has(from.kind) ? undefined : [];
    switch (from.kind) {
      // Those that a target takes have been left out.
      case "literals":
        return undefined;
      case "string":
        return to.kind === "string" ? ruled(newTextRules(from, to)) : undefined;
      case "template": {
        const fits =
          to.kind === "string" || (to.kind === "template" && fitsParts(from.parts, to.parts));
        return fits ? ruled(newTextRules(from, to)) : undefined;
      }
      case "number":
        return to.kind === "number" ? ruled(newBounds(from, to)) : undefined;
      case "array":
      case "tuple":
        return isList(to) ? once(from, to, compareLists) : undefined;
      case "object":
        return to.kind === "object" && !areToldApart(from, to)
          ? once(from, to, compareMembers)
          : undefined;
      case "map":
        return to.kind === "map" ? once(from, to, compareMaps) : undefined;
      case "set":
        return to.kind === "set" ? once(from, to, compareSets) : undefined;
      case "binary":
        return to.kind === "binary" && isOfBinary(from.type, to.type) ? [] : undefined;
      case "file":
        return to.kind === "file" || to.kind === "blob" ? [] : undefined;
      case "instance":
        return to.kind === "instance" && from.key === to.key
          ? compareInstances(from.key)
          : undefined;
      default:
        return from.kind === to.kind ? [] : undefined;
    }
  }

  /** Constraints are checked in arguments only: a result that breaks one still arrives. */
  function ruled(rules: readonly NewRule[]): readonly Difference[] {
    return rules.map(({ text, unclear }) => {
      if (!isParameter) return risky(`isn't always ${text} any more`, advice.wider);
      return unclear
        ? risky(`takes only ${text} now: patterns can't be compared`, advice.narrower)
        : breaking(`takes only ${text} now`, advice.narrower);
    });
  }

  function compareMaps(from: MapType, to: MapType): readonly Difference[] {
    return [
      ...inside(".keys()", compare(from.keys, to.keys)),
      ...inside(".values()", compare(from.values, to.values)),
    ];
  }

  function compareSets(from: SetType, to: SetType): readonly Difference[] {
    return inside(".values()", compare(from.items, to.items));
  }

  function compareLists(from: ListType, to: ListType): readonly Difference[] {
    if (from.kind === "array" && to.kind === "array")
      return [...compareLengths(from, to), ...inside("[]", compare(from.items, to.items))];
    const found = [...compareLengths(from, to)];
    const [shortest, longest] = lengthsOf(from);
    // Longer lists have items of no other types than these.
    const enough = Math.max(shortest, namedItems(from), namedItems(to)) + 1;
    for (let length = shortest; length <= Math.min(longest, enough); length++)
      for (let index = 0; index < length; index++) {
        const taken = itemAt(to, index, length);
        if (taken.type.kind === "never") continue;
        const item = itemAt(from, index, length);
        found.push(...inside(`[${index}]`, compare(typeOf(item), typeOf(taken))));
      }
    return distinct(found);
  }

  function compareLengths(from: ListType, to: ListType): readonly Difference[] {
    const [[shortest, longest], [least, most]] = [lengthsOf(from), lengthsOf(to)];
    const rules: NewRule[] = [
      ...(shortest < least ? [{ text: `a list of at least ${count(least, "item")}` }] : []),
      ...(longest > most ? [{ text: `a list of at most ${count(most, "item")}` }] : []),
    ];
    // Callers read the items of a tuple by their places.
    return isParameter || (from.kind === "array" && to.kind === "array")
      ? ruled(rules)
      : rules.map(({ text }) => breaking(`isn't always ${text} any more`, advice.result));
  }

  function compareMembers(from: ObjectType, to: ObjectType): readonly Difference[] {
    const found: Difference[] = [];
    for (const [name, member] of Object.entries(to.members)) {
      const [own, taken] = [entryOf(from.members, name), typeOf(member)];
      const sent =
        own === undefined
          ? [nothing, ...rulesFor(from, name).map(({ values }) => values)]
          : [typeOf(own)];
      const differences = sent.flatMap((type) => compare(type, taken));
      found.push(
        ...inside(
          pathPart(name),
          own === undefined && isBreaking(differences) ? [absent(taken)] : differences,
        ),
      );
    }
    for (const [name, member] of Object.entries(from.members)) {
      if (Object.hasOwn(to.members, name)) continue;
      const rules = rulesFor(to, name);
      const differences = rules.flatMap(({ values }) =>
        compare(withoutNothing(member.type), values),
      );
      found.push(...inside(pathPart(name), rules.length > 0 ? differences : unnamed(member)));
    }
    for (const rule of from.index ?? []) found.push(...inside("[]", compareRule(rule, to)));
    return distinct(found);
  }

  /** The members whose keys an index signature takes. */
  function compareRule({ keys, values }: IndexRule, to: ObjectType): readonly Difference[] {
    const rules = (to.index ?? []).filter((rule) => mayShareKeys(keys, rule.keys));
    const isTaken = rules.some((rule) => takesAllKeys(rule.keys, keys));
    return [
      ...rules.flatMap((rule) => compare(values, rule.values)),
      ...(isTaken ? [] : unnamed({ type: values })),
    ];
  }

  /** A member that the target doesn't declare. */
  function unnamed({ type }: Member): readonly Difference[] {
    const isNothing = source.arms(type).every(({ kind }) => kind === "undefined");
    if (!isParameter || isNothing || extra === "keep") return [];
    if (extra === "refuse")
      return [breaking("is gone, and unknown members are refused", advice.narrower)];
    const message = "is gone: callers still send it, and it is dropped in silence";
    return [{ ...risky(message, advice.dropped), dropped: true }];
  }

  /** A member that the source never has, and the target needs. */
  function absent(taken: Type): Difference {
    return isParameter
      ? breaking("is new and required: callers of the earlier build don't send it", advice.required)
      : breaking(`is gone: it was ${target.phrase(taken)}`, advice.result);
  }

  function compareInstances(key: string): readonly Difference[] {
    const [from, to] = [source.classOf(key), target.classOf(key)];
    if (to === undefined)
      return [breaking(`needs the class '${key}', which is gone`, advice.class)];
    return from === undefined ? [] : once(from, to, compareClasses);
  }

  /** An instance travels as the members that hold its constructor's arguments, by position, and as its other fields. */
  function compareClasses(from: ClassTypes, to: ClassTypes): readonly Difference[] {
    const [sent, taken] = [argumentsOf(from), argumentsOf(to)];
    const found: Difference[] = [];
    const rest = to.parameters.findIndex(({ kind }) => kind === "rest");
    for (const [index, { name, value, parameter }] of sent) {
      const isTaken = index < to.parameters.length || rest >= 0;
      const argument = taken.get(index);
      const differences = !isTaken
        ? [breaking("is one more argument than the other build's constructor takes", advice.class)]
        : argument === undefined
          ? []
          : isParameter
            ? // Callers in other languages send what its parameter takes, which may be left out.
              compare(parameter, argument.parameter)
            : compare(value, argument.value);
      found.push(...inside(pathPart(name), differences));
    }
    for (const [index, { name, value, parameter }] of taken)
      if (!sent.has(index)) {
        const type = isParameter ? parameter : value;
        if (isBreaking(compare(nothing, type)))
          found.push(...inside(pathPart(name), [absent(type)]));
      }
    const [own, others] = [fieldsOf(from), fieldsOf(to)];
    for (const [name, member] of Object.entries(own)) {
      const field = entryOf(others, name);
      found.push(
        ...inside(
          pathPart(name),
          field === undefined
            ? [breaking(unknownField, advice.class)]
            : compare(typeOf(member), typeOf(field)),
        ),
      );
    }
    // A constructor sets members that a message lacks, but readers of a result expect the sender's value.
    if (!isParameter)
      for (const [name, member] of Object.entries(others))
        if (!Object.hasOwn(own, name) && isBreaking(compare(nothing, typeOf(member))))
          found.push(...inside(pathPart(name), [absent(typeOf(member))]));
    return distinct(found);
  }
}

const unknownField = "is a field that the class of the other build doesn't have, which refuses it";

type ListType = ArrayType | TupleType;
type MapType = Type & { readonly kind: "map" };
type SetType = Type & { readonly kind: "set" };

function isList(type: Type): type is ListType {
  return type.kind === "array" || type.kind === "tuple";
}

/** The fewest and the most items. */
function lengthsOf(list: ListType): readonly [least: number, most: number] {
  if (list.kind === "array") return [list.minLength ?? 0, list.maxLength ?? Infinity];
  const { first, rest, last = [] } = list;
  const required = first.filter(({ optional }) => !optional).length;
  return [required + last.length, rest === undefined ? first.length + last.length : Infinity];
}

/** Items with a type of their own. */
function namedItems(list: ListType): number {
  return list.kind === "array" ? 0 : list.first.length + (list.last?.length ?? 0);
}

function itemAt(list: ListType, index: number, length: number): Member {
  return list.kind === "array" ? { type: list.items } : itemOf(list, index, length);
}

const memberTypes = new WeakMap<Member, Type>();

/** With `undefined` if it may be absent: the same type each time, as types are told apart by identity. */
export function typeOf(member: Member): Type {
  if (!member.optional) return member.type;
  let type = memberTypes.get(member);
  if (type === undefined) memberTypes.set(member, (type = unionOf([member.type, nothing])));
  return type;
}

const definite = new WeakMap<Type, Type>();

/** Of a member that a message doesn't have if it is `undefined`. */
function withoutNothing(type: Type): Type {
  let found = definite.get(type);
  if (found === undefined) definite.set(type, (found = withoutUndefined(type)));
  return found;
}

interface Argument {
  readonly name: string;
  /** Of the member that holds it. */
  readonly value: Type;
  readonly parameter: Type;
}

/** The arguments of a constructor that travel, by position: those that a member of their name holds. */
function argumentsOf({ parameters, fields }: ClassTypes): ReadonlyMap<number, Argument> {
  return new Map(
    parameters.flatMap((parameter, index): [number, Argument][] => {
      if (parameter.kind !== "plain" && parameter.kind !== "rest") return [];
      const { name } = parameter;
      const field = entryOf(fields, name);
      if (field === undefined) return [];
      return [
        [
          index,
          parameter.kind === "rest"
            ? { name, value: parameter.type, parameter: parameter.type }
            : { name, value: typeOf(field), parameter: typeOf(parameter) },
        ],
      ];
    }),
  );
}

/** The members that travel by their names. */
function fieldsOf({ parameters, fields }: ClassTypes): Readonly<Record<string, Member>> {
  const names = new Set(parameters.map((parameter) => ("name" in parameter ? parameter.name : "")));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
}

function rulesFor({ members, index = [] }: ObjectType, name: string): readonly IndexRule[] {
  return Object.hasOwn(members, name) ? [] : index.filter(({ keys }) => takesKey(keys, name));
}

function takesAllKeys(to: Type, from: Type): boolean {
  return (
    (to.kind === "string" && newTextRules({}, to).length === 0) ||
    JSON.stringify(to) === JSON.stringify(from)
  );
}

/** A number and a template may have a common key, as far as this says. */
function mayShareKeys(left: Type, right: Type): boolean {
  return (
    left.kind === "string" ||
    right.kind === "string" ||
    left.kind !== "template" ||
    right.kind !== "template" ||
    mayStartAlike(left.parts[0], right.parts[0])
  );
}

function mayStartAlike(left: string | Type | undefined, right: string | Type | undefined): boolean {
  if (typeof left !== "string" || typeof right !== "string") return true;
  return left.startsWith(right) || right.startsWith(left);
}

const splits = new WeakMap<Type, Map<string, readonly Type[]>>();

/** An object whose member has several literals, as one object for each of them, if arms are told apart by it. */
function splitByLiterals(arm: Type, targets: readonly Type[]): readonly Type[] {
  if (arm.kind !== "object") return [];
  const objects = targets.filter((one) => one.kind === "object");
  const found = Object.entries(arm.members).find(
    ([name, member]) =>
      (literalsOf(member)?.length ?? 0) > 1 &&
      objects.filter((one) => literalsOf(entryOf(one.members, name)) !== undefined).length > 1,
  );
  if (found === undefined) return [];
  const [name, { type }] = found;
  const known = splits.get(arm) ?? new Map<string, readonly Type[]>();
  splits.set(arm, known);
  let parts = known.get(name);
  if (parts === undefined) {
    const values = type.kind === "literals" ? type.values : [true, false];
    parts = values.map((value) => ({
      ...arm,
      members: { ...arm.members, [name]: { type: { kind: "literals", values: [value] } } },
    }));
    known.set(name, parts);
  }
  return parts;
}

/** The number of values or kinds that callers tell apart; `null` and `undefined` count as one. */
function alternativesOf(arms: readonly Type[]): number {
  const isNothing = ({ kind }: Type): boolean => kind === "null" || kind === "undefined";
  const counts = arms.map((arm) =>
    arm.kind === "literals" ? arm.values.length : isNothing(arm) ? 0 : 1,
  );
  return counts.reduce((sum, each) => sum + each, arms.some(isNothing) ? 1 : 0);
}

const primitives: ReadonlySet<Type["kind"]> = new Set([
  "bigint",
  "boolean",
  "defined",
  "literals",
  "null",
  "number",
  "string",
  "template",
  "undefined",
  "unknown",
]);

function isOfBinary(from: BinaryType, to: BinaryType): boolean {
  return from === to || (to === "ArrayBufferView" && from !== "ArrayBuffer");
}

function valueOf(literal: Literal): unknown {
  return typeof literal === "object" ? BigInt(literal.bigint) : literal;
}

function count(items: number, word: string): string {
  return items === 1 ? `1 ${word}` : `${items} ${word}s`;
}

/** One comparison of everything reachable from two types. */
class Round {
  readonly open: PairMap<OpenPair> = new PairMap();
  readonly results: PairMap<readonly Difference[]> = new PairMap();
  /** Complete results, which hold wherever else the pair is met. */
  readonly whole: [object, object, readonly Difference[]][] = [];
  /** All assumptions of this round have held. */
  isStable = true;
  depth = 0;
}

/** Values by two objects, told apart by identity. */
class PairMap<T> {
  readonly #values = new WeakMap<object, WeakMap<object, T>>();

  get(left: object, right: object): T | undefined {
    return this.#values.get(left)?.get(right);
  }

  set(left: object, right: object, value: T): void {
    const row = this.#values.get(left) ?? new WeakMap<object, T>();
    this.#values.set(left, row.set(right, value));
  }
}

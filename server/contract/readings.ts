// Plain JSON, queries and forms are read by type, so a wider type may read a caller's text differently. Some
// values are read by the types of both builds, with the code that reads messages, and the results compared.

import { isDeepStrictEqual } from "node:util";
import { defaultLimits } from "../../src/base/limits.ts";
import { converts, createConvert, fromFields } from "../types/convert.ts";
import type { Literal, Type } from "../types/model.ts";
import { hasParts, kindOf } from "../types/values.ts";
import { advice, breaking, type Difference, isBreaking, risky } from "./difference.ts";
import { areToldApart, literalsOf, type TypeTable } from "./type-table.ts";

export interface Readings {
  /** Of a value in plain JSON. */
  readonly ofPlain: (from: Type, to: Type) => readonly Difference[];
  /** Of a parameter in a query or form. */
  readonly ofFields: (from: Type, to: Type, reading: ReadingTypes) => readonly Difference[];
}

/** The types by which a text is read. The value then has to be of the type that is compared. */
interface ReadingTypes {
  readonly before: Type;
  readonly after: Type;
}

/** One text of each form that a type may read. Eight bytes fit each kind of binary data. */
const texts = [
  "0",
  "1",
  "12345678",
  "1.5",
  "true",
  "2026-11-20T10:00:00Z",
  "https://example.com/",
  "AQIDBAUGBwg=",
];

/** The most literals of a type that are tried. */
const maxLiterals = 100;

export function createReadings(
  source: TypeTable,
  target: TypeTable,
  compare: (from: Type, to: Type) => readonly Difference[],
): Readings {
  const [before, after] = [readerOf(source), readerOf(target)];
  return { ofPlain, ofFields };

  function ofPlain(from: Type, to: Type): readonly Difference[] {
    const [own, others] = [source.arms(from), target.arms(to)];
    const found =
      isRead(own) || isRead(others)
        ? ofTexts(from, to, { before: from, after: to }, "plain JSON")
        : [];
    return found.length > 0 ? found : ofParts(own, others);
  }

  function ofFields(from: Type, to: Type, reading: ReadingTypes): readonly Difference[] {
    return ofTexts(from, to, reading, "a query or form");
  }

  /** The first text that the later type refuses; if there is none, the first that it reads differently. */
  function ofTexts(
    from: Type,
    to: Type,
    reading: ReadingTypes,
    where: "plain JSON" | "a query or form",
  ): Difference[] {
    let found: Difference | undefined;
    for (const text of probes(source.arms(reading.before), target.arms(reading.after)))
      for (const form of where === "plain JSON" ? jsonForms(text) : [[text], [text, text]]) {
        const [read, reads] = Array.isArray(form)
          ? [before.fields(reading.before, form), after.fields(reading.after, form)]
          : [before.plain(reading.before, form), after.plain(reading.after, form)];
        if (!before.takes(from, read)) continue;
        const isTaken = after.takes(to, reads);
        if (isTaken && isDeepStrictEqual(read, reads)) continue;
        const given = `${JSON.stringify(text)} in ${where}`;
        const message = isTaken
          ? `reads ${given} as ${kindOf(reads)} now, and read it as ${kindOf(read)}`
          : `can't tell any more what ${given} is, and refuses it`;
        if (!isTaken) return [breaking(message, advice.reading)];
        found ??= risky(message, advice.reading);
      }
    return found === undefined ? [] : [found];
  }

  /** Lists and objects: their values can't be tried without generated checks. */
  function ofParts(own: readonly Type[], others: readonly Type[]): readonly Difference[] {
    const converted = own.filter((arm) => isStructured(arm) && converts(source.model, arm));
    if (converted.length === 0) return [];
    if (others.some(isUntyped) && !own.some(isUntyped))
      return [
        risky(
          "takes plain JSON as it is now: dates and the like in it aren't read by type",
          advice.reading,
        ),
      ];
    const [lists, collections] = [others.filter(isList), others.filter(isCollection)];
    const isCollected = own.some(isCollection) && !own.some(isList);
    // An empty list is each of them.
    const isChanged = JSON.stringify(own.filter(isCollection)) !== JSON.stringify(collections);
    if (isCollected && collections.length > 1 && isChanged)
      return [
        breaking(
          "can't tell a Set from a Map in plain JSON any more, and refuses lists",
          advice.reading,
        ),
      ];
    if (isCollected && lists.length > 0) return [listed(own, lists)];
    const isUnclear = converted.some((arm) => alike(arm, others) > alike(arm, own));
    return isUnclear
      ? [risky("may read plain JSON as another arm of the union now", advice.reading)]
      : [];
  }

  /** A JSON list that was read as a Set is read as a list if the target takes one. */
  function listed(own: readonly Type[], lists: readonly Type[]): Difference {
    const fits = own.every(
      (arm) =>
        arm.kind !== "map" &&
        (arm.kind !== "set" ||
          lists.every(
            (list) => list.kind === "array" && !isBreaking(compare(arm.items, list.items)),
          )),
    );
    return fits
      ? risky("takes a list of plain JSON as a list now, and made a Set of it", advice.reading)
      : breaking("takes a list of plain JSON for a list now, and refuses it", advice.reading);
  }
}

/** Whether these types convert texts or numbers of plain JSON. */
function isRead(arms: readonly Type[]): boolean {
  return arms.some((arm) => !hasParts(arm) && converts({ definitions: {} }, arm));
}

interface Reader {
  readonly takes: (type: Type, value: unknown) => boolean;
  readonly plain: (type: Type, value: unknown) => unknown;
  readonly fields: (type: Type, fields: readonly string[]) => unknown;
}

function readerOf({ model, resolve, candidates, takes: takesLeaf }: TypeTable): Reader {
  const matcher = { resolve, candidates, matches: takes };
  const options = { model, matcher, maxDigits: defaultLimits.maxDigits };
  return {
    takes,
    // Each value needs a reader of its own, as a reader remembers its results.
    plain: (type, value) => createConvert(options)(type, value),
    fields: (type, fields) => fromFields(type, fields, options),
  };

  /** Of values without members: texts, numbers and the like, and lists of them. */
  function takes(reference: Type, value: unknown): boolean {
    const type = resolve(reference);
    switch (type.kind) {
      case "union":
        return type.arms.some((arm) => takes(arm, value));
      case "array":
        return Array.isArray(value) && value.every((item) => takes(type.items, item));
      case "set":
        return value instanceof Set && [...value].every((item) => takes(type.items, item));
      case "tuple":
      case "object":
      case "map":
        return false;
      default:
        return takesLeaf(type, value);
    }
  }
}

/** Texts that one of the types may read, and those of their literals. */
function probes(...types: readonly (readonly Type[])[]): readonly string[] {
  const literals = types
    .flat()
    .flatMap((arm): readonly Literal[] =>
      arm.kind === "literals" ? arm.values.slice(0, maxLiterals) : [],
    )
    .map((value) => (typeof value === "object" ? value.bigint : String(value)));
  const bounds = types
    .flat()
    .flatMap((arm) => (arm.kind === "number" ? [arm.min, arm.max] : []))
    .flatMap((bound) => (bound === undefined ? [] : String(bound)));
  return [...new Set([...texts, ...literals, ...bounds])];
}

function isUntyped({ kind }: Type): boolean {
  return kind === "unknown" || kind === "defined" || kind === "nonprimitive";
}

/** The number of arms that a plain JSON value of a type can belong to, by its kind and literals. */
function alike(type: Type, arms: readonly Type[]): number {
  return arms.filter((arm) => {
    if (type.kind !== "object" || arm.kind !== "object") return isList(type) && isList(arm);
    const hasLiterals = Object.entries(arm.members).every(
      ([name, member]) => literalsOf(member) === undefined || Object.hasOwn(type.members, name),
    );
    return hasLiterals && !areToldApart(type, arm);
  }).length;
}

function isStructured(type: Type): boolean {
  return type.kind === "object" || isList(type) || isCollection(type);
}

function isList({ kind }: Type): boolean {
  return kind === "array" || kind === "tuple";
}

function isCollection({ kind }: Type): boolean {
  return kind === "map" || kind === "set";
}

/** A text as JSON may have it. */
function jsonForms(text: string): readonly (string | number)[] {
  const number = Number(text);
  return Number.isFinite(number) ? [text, number] : [text];
}

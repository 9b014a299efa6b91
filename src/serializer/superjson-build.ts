// From superjson's json to values (decisions §3), once its meta is read. Nothing is constructed but what superjson's types mean, and
// instances by the rules of the first encoding.

import { binaryFrom, binaryMembers } from "./binary.ts";
import type { Reading } from "./decode.ts";
import { decodeErrorForm } from "./error-form.ts";
import { Fault, faultAt, isForbidden } from "./fault.ts";
import { argumentOf, construct, type Members, setField } from "./instance.ts";
import type { Place } from "./superjson-meta.ts";
import { numberArrayFrom, scalarFrom } from "./superjson-scalars.ts";
import { mostLevels } from "./walk.ts";

/** One message on its way in. */
export interface Building extends Reading {
  readonly place: Place;
  /** It may hold keys that are refused. */
  readonly suspicious: boolean;
  level: number;
  /** References that are still to be set. */
  open: number;
}

type Take = (value: unknown) => void;

/** Gives `take` the value of `raw`, of which `place` says more: at once, or when the instance that it is has been constructed. */
export function put(raw: unknown, place: Place | undefined, build: Building, take: Take): void {
  if (place === undefined) {
    if (build.suspicious) refuseKeys(raw);
    take(raw);
    return;
  }
  const { whole } = place;
  if (whole.state === "built") take(whole.value);
  else if (whole.state === "open") {
    build.open++;
    whole.takers.push(take);
  } else take(valueOf(whole, build));
}

function valueOf(place: Place, build: Building): unknown {
  // A reference may lead forward to what holds the next one: such a chain is as long as its sender likes.
  if (++build.level > mostLevels) throw new Fault(`more than ${mostLevels} levels of nesting`);
  place.state = "open";
  const value = make(place, build);
  if (place.state === "open") settle(place, value, build);
  build.level--;
  return value;
}

/** From here on there is a value, though it may not hold all of its parts yet. */
function settle(place: Place, value: unknown, build: Building): void {
  place.state = "built";
  place.value = value;
  build.open -= place.takers.length;
  for (const take of place.takers.splice(0)) take(value);
}

function make(place: Place, build: Building): unknown {
  const { raw, type } = place;
  if (type === undefined) {
    settle(place, raw, build);
    if (typeof raw === "object" && raw !== null)
      putMembers(raw as Members, place, build, raw as Members);
    return raw;
  }
  if (
    type !== "undefined" &&
    type !== "number" &&
    type !== "bigint" &&
    ++build.objects > build.limits.objects
  )
    throw new Fault(`more than ${build.limits.objects} constructed objects (limit 'objects')`);
  if ((type === "regexp" || type === "Error") && !build.trusted)
    throw new Fault("this type is taken from services only");
  switch (type) {
    case "set":
      return makeSet(place, build);
    case "map":
      return makeMap(place, build);
    case "Error":
      return makeError(
        place,
        partsOf(place, ["name", "message", "trace", "fields", "cause", "stack", "dom"]),
        build,
      );
    case "class":
      return makeInstance(place, build);
    default:
      if (place.parts !== undefined) throw new Fault("what 'meta' names has no parts");
      return type === "typed-array"
        ? numberArrayFrom(place.of, raw)
        : type === "custom"
          ? makeBinary(raw)
          : scalarFrom(type, raw, build.limits);
  }
}

function makeBinary(raw: unknown): object {
  const form =
    typeof raw === "object" && raw !== null && !Array.isArray(raw) ? (raw as Members) : {};
  const binary = Object.keys(form).every((key) =>
    (binaryMembers as readonly string[]).includes(key),
  )
    ? binaryFrom(form)
    : undefined;
  if (binary === undefined) throw new Fault("this is no Binary form");
  return binary;
}

/** Every member of `raw`, put into `holder`; in place where both are the same. */
function putMembers(
  raw: Members | readonly unknown[],
  place: Place | undefined,
  build: Building,
  holder: Members,
): void {
  const from = raw as Members;
  const list = Array.isArray(raw);
  const named =
    build.suspicious || from !== holder ? Object.keys(from) : (place?.parts?.keys() ?? []);
  for (const key of named)
    within(list ? Number(key) : key, raw, () => {
      if (isForbidden(key)) throw new Fault("this key is not allowed");
      put(from[key], place?.parts?.get(key), build, (value) => (holder[key] = value));
    });
}

function makeSet(place: Place, build: Building): Set<unknown> {
  const items = listOf(place.raw, "set");
  const set = new Set<unknown>();
  settle(place, set, build);
  let missing = items.length;
  items.forEach((raw, index) =>
    within(index, items, () =>
      put(raw, place.parts?.get(String(index)), build, (item) => {
        items[index] = item;
        // Only when all are there, so that they stand in their order.
        if (--missing > 0) return;
        for (const one of items) set.add(one);
        if (set.size < items.length) throw new Fault("a set can't hold the same twice");
      }),
    ),
  );
  return set;
}

function makeMap(place: Place, build: Building): Map<unknown, unknown> {
  const pairs = listOf(place.raw, "map") as unknown[][];
  const map = new Map<unknown, unknown>();
  settle(place, map, build);
  let missing = pairs.length * 2;
  pairs.forEach((pair, index) =>
    within(index, pairs, () => {
      const row = place.parts?.get(String(index));
      if (
        !Array.isArray(pair) ||
        pair.length !== 2 ||
        (row !== undefined && (row.type !== undefined || row.shared || row.whole !== row))
      )
        throw new Fault("a map must be a list of pairs");
      for (const side of [0, 1])
        within(side, pair, () =>
          put(pair[side], row?.parts?.get(String(side)), build, (one) => {
            pair[side] = one;
            if (--missing > 0) return;
            for (const [key, value] of pairs) map.set(key, value);
            if (map.size < pairs.length) throw new Fault("a map can't hold the same key twice");
          }),
        );
    }),
  );
  return map;
}

function makeInstance(place: Place, build: Building): object {
  const key = place.of;
  if (typeof place.raw === "object" && place.raw !== null && Object.hasOwn(place.raw, "message")) {
    if (!build.trusted) throw new Fault("this type is taken from services only");
    return makeError(
      place,
      partsOf(place, ["args", "fields", "name", "message", "trace", "cause", "stack"]),
      build,
    );
  }
  const parts = partsOf(place, ["args", "fields"]);
  const args = membersOf(parts, "args");
  const fields = membersOf(parts, "fields");
  const opaque = build.classes.passOn?.(undefined, { key, args: args.raw, fields: fields.raw });
  if (opaque !== undefined) {
    settle(place, opaque, build);
    for (const [name, part] of [
      ["args", args],
      ["fields", fields],
    ] as const)
      within(name, place.raw, () => putMembers(part.raw, part.place, build, part.raw));
    return opaque;
  }
  const known = build.classes.get(key);
  if (!known || known.record.error) throw new Fault(`there is no class '${key.slice(0, 256)}'`);
  const unfinished = within("args", place.raw, () => putArguments(args, build));
  const instance = construct(known, args.raw);
  for (const position of unfinished)
    // It was given what is not whole yet. If it took a copy, the copy will never be.
    if (!Object.is(argumentOf(instance, known, Number(position)), args.raw[position]))
      throw faultAt(faultAt(unbuildable(), Number(position), args.raw), "args", place.raw);
  settle(place, instance, build);
  within("fields", place.raw, () => {
    for (const [name, raw] of Object.entries(fields.raw))
      within(name, instance, () =>
        put(raw, fields.place?.parts?.get(name), build, (value) =>
          setField(instance, known, name, value),
        ),
      );
  });
  return instance;
}

/** In place; gives the positions of those that refer to what is still to be constructed. */
function putArguments({ raw, place }: Part, build: Building): string[] {
  const unfinished: string[] = [];
  for (const [position, one] of Object.entries(raw))
    within(Number(position), raw, () => {
      const part = place?.parts?.get(position);
      if (part?.whole.state === "open") throw unbuildable();
      const before = build.open;
      put(one, part, build, (value) => (raw[position] = value));
      if (build.open > before) unfinished.push(position);
    });
  return unfinished;
}

const unbuildable = (): Fault => new Fault("a cycle goes through an argument of a constructor");

const ofEveryError = new Set(["name", "message", "stack", "cause", "trace"]);

function makeError(place: Place, parts: Place, build: Building): Error {
  const content = parts.raw as Members;
  const key = place.type === "class" ? place.of : undefined;
  const known = key === undefined ? undefined : build.classes.get(key);
  if (known && !known.record.error) throw new Fault(`class '${key}' is no error`);
  for (const name of ["name", "message", "trace", "stack", "dom"])
    if (parts.parts?.has(name)) {
      // What superjson writes where there is none.
      if (parts.parts.get(name)?.type !== "undefined" || name === "name" || name === "message")
        throw new Fault(`'${name}' must be as it stands`);
      delete content[name];
    }
  const args = membersOf(parts, "args");
  const fields = membersOf(parts, "fields");
  const made: { error?: Error } = {};
  const given: Members = {};
  let cause: unknown;
  within("args", content, () => putArguments(args, build));
  within("fields", content, () => {
    for (const [name, raw] of Object.entries(fields.raw))
      within(name, fields.raw, () => {
        if (ofEveryError.has(name) || (known && !known.record.fields.includes(name)))
          throw new Fault("there is no such field");
        put(raw, fields.place?.parts?.get(name), build, (value) => {
          if (made.error) Reflect.set(made.error, name, value);
          else given[name] = value;
        });
      });
  });
  if (Object.hasOwn(content, "cause"))
    within("cause", content, () =>
      put(content["cause"], parts.parts?.get("cause"), build, (value) => {
        if (made.error)
          Reflect.defineProperty(made.error, "cause", {
            value,
            configurable: true,
            writable: true,
          });
        else cause = value;
      }),
    );
  const { name: type, message, trace, stack, dom } = content;
  const form = { type, message, trace, stack, dom, key, cause, args: args.raw, fields: given };
  made.error = decodeErrorForm(form, known, place === build.place ? build.status : undefined);
  return made.error;
}

/** A part of an instance that is no value itself: its arguments, or its fields. */
interface Part {
  readonly raw: Members;
  readonly place: Place | undefined;
}

function membersOf(place: Place, name: string): Part {
  const from = place.raw as Members;
  const raw = name in from ? from[name] : {};
  const part = place.parts?.get(name);
  if (part?.type === "undefined") return { raw: {}, place: undefined };
  if (
    typeof raw !== "object" ||
    raw === null ||
    Array.isArray(raw) ||
    (part !== undefined && (part.type !== undefined || part.shared || part.whole !== part))
  )
    throw new Fault(`'${name}' must be an object`);
  for (const key of Object.keys(raw))
    if (isForbidden(key))
      throw faultAt(faultAt(new Fault("this key is not allowed"), key, raw), name, place.raw);
  return { raw: raw as Members, place: part };
}

function partsOf(place: Place, allowed: readonly string[]): Place {
  const { raw } = place;
  if (typeof raw !== "object" || raw === null || Array.isArray(raw))
    throw new Fault(`what is annotated '${place.type}' must be an object`);
  if (!Object.keys(raw).every((key) => allowed.includes(key)))
    throw new Fault(`it has no members but ${allowed.join(", ")}`);
  return place;
}

function listOf(raw: unknown, type: string): unknown[] {
  if (!Array.isArray(raw)) throw new Fault(`a ${type} must be a list`);
  return raw as unknown[];
}

function within<T>(key: string | number, holder: unknown, act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    throw faultAt(thrown, key, holder);
  }
}

function refuseKeys(raw: unknown): void {
  if (typeof raw !== "object" || raw === null) return;
  for (const [key, one] of Object.entries(raw))
    within(Array.isArray(raw) ? Number(key) : key, raw, () => {
      if (isForbidden(key)) throw new Fault("this key is not allowed");
      refuseKeys(one);
    });
}

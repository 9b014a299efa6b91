// From superjson's json to values, once its meta has been read. Constructs only the types that
// superjson knows, and registered classes.

import { binaryFrom, binaryMembers } from "../values/binary.ts";
import { Fault } from "../values/fault.ts";
import type { Properties } from "../instance.ts";
import { makeError, makeInstance } from "./superjson-instance.ts";
import type { Slot } from "./superjson-meta.ts";
import { type Building, put, putMembers, settle, within } from "./superjson-put.ts";
import { numberArrayFrom, scalarFrom } from "./superjson-scalars.ts";

/** The value of a slot. */
export function make(slot: Slot, build: Building): unknown {
  const { raw, type } = slot;
  if (type === undefined) {
    settle(slot, raw, build);
    if (typeof raw === "object" && raw !== null)
      putMembers(raw as Properties, slot, build, raw as Properties);
    return raw;
  }
  if (
    type !== "undefined" &&
    type !== "number" &&
    type !== "bigint" &&
    ++build.objects > build.limits.maxObjects
  )
    throw new Fault(
      `more than ${build.limits.maxObjects} constructed objects (limit 'maxObjects')`,
    );
  if (type === "regexp" && !build.trusted)
    throw new Fault("this type is accepted from services only");
  switch (type) {
    case "set":
      return makeSet(slot, build);
    case "map":
      return makeMap(slot, build);
    case "Error":
      return makeError(slot, build);
    case "class":
      return makeInstance(slot, build);
    default:
      if (slot.parts !== undefined)
        throw new Fault("'meta' describes a part of a value without parts");
      return type === "typed-array"
        ? numberArrayFrom(slot.of, raw)
        : type === "custom"
          ? makeBinary(raw)
          : scalarFrom(type, raw, build.limits);
  }
}

function makeBinary(raw: unknown): object {
  const form =
    typeof raw === "object" && raw !== null && !Array.isArray(raw) ? (raw as Properties) : {};
  const binary = Object.keys(form).every((key) =>
    (binaryMembers as readonly string[]).includes(key),
  )
    ? binaryFrom(form)
    : undefined;
  if (binary === undefined) throw new Fault("this is not a valid Binary form");
  return binary;
}

function makeSet(slot: Slot, build: Building): Set<unknown> {
  const items = listOf(slot.raw, "set");
  const set = new Set<unknown>();
  settle(slot, set, build);
  let missing = items.length;
  items.forEach((raw, index) =>
    within(index, items, () =>
      put(raw, slot.parts?.get(String(index)), build, (item) => {
        items[index] = item;
        // Add them only when all have arrived, to keep their order.
        if (--missing > 0) return;
        for (const value of items) set.add(value);
        if (set.size < items.length) throw new Fault("a set can't hold the same value twice");
      }),
    ),
  );
  return set;
}

function makeMap(slot: Slot, build: Building): Map<unknown, unknown> {
  const pairs = listOf(slot.raw, "map") as unknown[][];
  const map = new Map<unknown, unknown>();
  settle(slot, map, build);
  let missing = pairs.length * 2;
  pairs.forEach((pair, index) =>
    within(index, pairs, () => {
      const row = slot.parts?.get(String(index));
      if (!Array.isArray(pair) || pair.length !== 2 || (row !== undefined && !row.isBare))
        throw new Fault("a map must be a list of pairs");
      for (const side of [0, 1])
        within(side, pair, () =>
          put(pair[side], row?.parts?.get(String(side)), build, (item) => {
            pair[side] = item;
            if (--missing > 0) return;
            for (const [key, value] of pairs) map.set(key, value);
            if (map.size < pairs.length) throw new Fault("a map can't hold the same key twice");
          }),
        );
    }),
  );
  return map;
}

function listOf(raw: unknown, type: string): unknown[] {
  if (!Array.isArray(raw)) throw new Fault(`a ${type} must be a list`);
  return raw as unknown[];
}

// Puts the value of each slot where it belongs, once there is one: a reference may lead to a value
// that is still being built.

import type { Reading } from "../decode.ts";
import { Fault, faultAt, isForbidden } from "../values/fault.ts";
import type { Properties } from "../instance.ts";
import type { Slot } from "./superjson-meta.ts";
import { maxLevels } from "../values/walk.ts";

/** The decoding of one superjson message. */
export interface Building extends Reading {
  readonly root: Slot;
  /** Makes the value of a slot. May settle the slot early, so that its parts can refer to it. */
  readonly make: (slot: Slot, build: Building) => unknown;
  /** The message contains forbidden keys. */
  readonly suspicious: boolean;
  level: number;
  /** References that are not set yet. */
  open: number;
}

/** Passes the value of `raw` to `take`: now, or once the instance that it refers to exists. */
export function put(
  raw: unknown,
  slot: Slot | undefined,
  build: Building,
  take: (value: unknown) => void,
): void {
  if (slot === undefined) {
    if (build.suspicious) refuseKeys(raw);
    take(raw);
    return;
  }
  const { target } = slot;
  if (target.state === "built") take(target.value);
  else if (target.state === "open") {
    build.open++;
    target.takers.push(take);
  } else take(valueOf(target, build));
}

function valueOf(slot: Slot, build: Building): unknown {
  // References may form a chain as long as the sender likes.
  if (++build.level > maxLevels) throw new Fault(`more than ${maxLevels} levels of nesting`);
  slot.state = "open";
  const value = build.make(slot, build);
  if (slot.state === "open") settle(slot, value, build);
  build.level--;
  return value;
}

/** Gives a slot its value, which may still lack some of its parts. */
export function settle(slot: Slot, value: unknown, build: Building): void {
  slot.state = "built";
  slot.value = value;
  build.open -= slot.takers.length;
  for (const take of slot.takers.splice(0)) take(value);
}

/** Puts every member of `raw` into `holder`, which may be `raw` itself. */
export function putMembers(
  raw: Properties | readonly unknown[],
  slot: Slot | undefined,
  build: Building,
  holder: Properties,
): void {
  const source = raw as Properties;
  const isList = Array.isArray(raw);
  // In place, members without a slot stay as they are.
  const keys =
    build.suspicious || source !== holder ? Object.keys(source) : (slot?.parts?.keys() ?? []);
  for (const key of keys)
    within(isList ? Number(key) : key, raw, () => {
      if (isForbidden(key)) throw new Fault("this key is not allowed");
      put(source[key], slot?.parts?.get(key), build, (value) => (holder[key] = value));
    });
}

/** Adds `key` to the path of faults that `act` throws. */
export function within<T>(key: string | number, holder: unknown, act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    throw faultAt(thrown, key, holder);
  }
}

function refuseKeys(raw: unknown): void {
  if (typeof raw !== "object" || raw === null) return;
  for (const [key, member] of Object.entries(raw))
    within(Array.isArray(raw) ? Number(key) : key, raw, () => {
      if (isForbidden(key)) throw new Fault("this key is not allowed");
      refuseKeys(member);
    });
}

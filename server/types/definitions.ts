// Decides which types of a model become named definitions; the others are written where they are used.

import type { ClassTypes, Type } from "./model.ts";

/** A type with parts, as it was read. A `ref` in it holds the `id` of another slot. */
export interface Slot {
  readonly id: string;
  readonly name: {
    readonly text: string;
    /** The same with its module: the name of a definition if another module's type has the same text. */
    readonly qualified?: string;
    readonly ofObject: boolean;
    readonly doc?: string;
  };
  /** It contains itself. */
  recursive: boolean;
  type: Type | undefined;
}

export interface Settled<Functions> {
  readonly functions: Readonly<Record<string, Functions>>;
  readonly classes: Readonly<Record<string, ClassTypes>>;
  readonly definitions: Readonly<Record<string, Type>>;
  /** Definition → its comment in the source. */
  readonly docs: Readonly<Record<string, string>>;
}

/**
 * The longest anonymous type that is repeated at each use, in characters of JSON. Checks are shorter with
 * fewer types; in a published document, a name that isn't in the source means nothing.
 */
export const maxRepeated = { checks: 200, contract: 2_000 } as const;

/**
 * Named objects and recursive types become definitions, and so do large types that are used several times.
 * Types of the same name in two modules have their modules in it, whichever comes first: clients are generated
 * with these names. Others of the same name get a number.
 */
export function settle<Functions>(
  slots: readonly Slot[],
  classes: ReadonlyMap<string, ClassTypes>,
  functions: ReadonlyMap<string, Functions>,
  mostRepeated: number = maxRepeated.checks,
): Settled<Functions> {
  const byId = new Map(slots.map((slot) => [slot.id, slot]));
  const uses = usesOf(byId, [...functions.values(), ...classes.values()]);
  const named = new Map<Slot, boolean>();
  const needsName = (slot: Slot): boolean => {
    const known = named.get(slot) ?? (isNamedObject(slot) || containsItself(slot, byId));
    named.set(slot, known);
    return known;
  };
  const settled = new Map<string, Type>();
  const counts = new Map<string, number>();
  const definitions = new Map<string, Type>();
  const docs = new Map<string, string>();
  /** Those whose parts aren't settled: one inside the other, hundreds of tables would be deeper than the stack. */
  const unsettled: (readonly [string, Type])[] = [];
  const put = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(put);
    if (typeof value !== "object" || value === null) return value;
    if ((value as Type).kind === "ref") return use((value as { to: string }).to);
    const copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, put(part)]));
    const sortedKey =
      copy["kind"] === "union" ? "arms" : copy["kind"] === "literals" ? "values" : undefined;
    // The compiler's order of arms depends on the order in which it met them, which differs between builds.
    return sortedKey === undefined
      ? copy
      : { ...copy, [sortedKey]: sortedByText(copy[sortedKey] as unknown[]) };
  };
  const use = (id: string): Type => {
    const known = settled.get(id);
    if (known !== undefined) return known;
    const slot = byId.get(id)!;
    if (slot.type === undefined) return { kind: "never" };
    // Only these are settled before their parts are.
    if (needsName(slot)) {
      const ref = { kind: "ref", to: freeName(slot) } as const;
      settled.set(id, ref);
      unsettled.push([ref.to, slot.type]);
      return ref;
    }
    // A new object at each use, as types are told apart by identity.
    const whole = put(slot.type) as Type;
    if (uses.get(id) === 1 || JSON.stringify(whole).length <= mostRepeated) return whole;
    const ref = { kind: "ref", to: freeName(slot) } as const;
    settled.set(id, ref);
    definitions.set(ref.to, whole);
    return ref;
  };
  const modules = new Map<string, Set<string>>();
  for (const slot of slots) {
    const { text, qualified } = slot.name;
    if (qualified === undefined || !uses.has(slot.id) || !needsName(slot)) continue;
    modules.set(text, (modules.get(text) ?? new Set()).add(qualified));
  }
  const freeName = ({ name: { text: short, qualified = short, doc } }: Slot): string => {
    const text = (modules.get(short)?.size ?? 0) > 1 ? qualified : short;
    let count = counts.get(text) ?? 1;
    let name = count === 1 ? text : `${text}${count}`;
    // `Line2` may be a name in the source.
    while (definitions.has(name)) name = `${text}${++count}`;
    counts.set(text, count + 1);
    definitions.set(name, { kind: "never" });
    if (doc !== undefined) docs.set(name, doc);
    return name;
  };
  const settledFunctions = put(Object.fromEntries(functions)) as Settled<Functions>["functions"];
  const settledClasses = put(Object.fromEntries(classes)) as Settled<Functions>["classes"];
  // It grows meanwhile.
  for (const [name, type] of unsettled) definitions.set(name, put(type) as Type);
  return {
    functions: settledFunctions,
    classes: settledClasses,
    definitions: Object.fromEntries(definitions),
    docs: Object.fromEntries(docs),
  };
}

function isNamedObject({ name, type }: Slot): boolean {
  return name.ofObject && type?.kind === "object";
}

/**
 * Whether a type leads to itself without a type on the way that has a name anyway. A list in which a `Tree` was
 * met first contains itself as well, but the name of `Tree` is enough.
 */
function containsItself(slot: Slot, slots: ReadonlyMap<string, Slot>): boolean {
  const hasName = ({ name }: Slot): boolean => name.qualified !== undefined;
  // Only the first one that was met of a circle is marked.
  if (!slot.recursive && !hasName(slot)) return false;
  const seen = new Set<Slot>();
  const open: unknown[] = [slot.type];
  for (const to of refsIn(open)) {
    const next = slots.get(to)!;
    if (next === slot) return true;
    if (seen.has(next) || isNamedObject(next) || (!hasName(slot) && hasName(next))) continue;
    seen.add(next);
    open.push(next.type);
  }
  return false;
}

/** The slots that values refer to, each as often as it is. Takes all values out of `open`, and further ones meanwhile. */
function* refsIn(open: unknown[]): Generator<string> {
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== "object" || value === null) continue;
    if ((value as Type).kind === "ref") yield (value as { to: string }).to;
    else open.push(...(Object.values(value) as unknown[]));
  }
}

/**
 * The number of references to each slot. Counted at the end, since reading takes types apart and puts their
 * parts into others.
 */
function usesOf(
  slots: ReadonlyMap<string, Slot>,
  roots: readonly unknown[],
): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  const open: unknown[] = [...roots];
  for (const to of refsIn(open)) {
    const count = uses.get(to) ?? 0;
    uses.set(to, count + 1);
    if (count === 0) open.push(slots.get(to)?.type);
  }
  return uses;
}

function sortedByText(values: readonly unknown[]): unknown[] {
  return values
    .map((value) => [JSON.stringify(value), value] as const)
    .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
    .map(([, value]) => value);
}

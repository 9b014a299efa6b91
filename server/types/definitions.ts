// Which types of a model have a name, and which stand where they are used.

import type { ClassTypes, Type } from "./model.ts";

/** A type with parts, as it was read: `ref` in it has the `id` of another slot. */
export interface Slot {
  readonly id: string;
  readonly name: { readonly text: string; readonly ofObject: boolean; readonly doc?: string };
  uses: number;
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
 * An anonymous type that is written at each of its uses, in characters of JSON. Checks are shorter with few
 * types; in a document for others, a name that isn't in the source says nothing.
 */
export const maxRepeated = { checked: 200, told: 2_000 } as const;

/**
 * Named objects and types that contain themselves become definitions, and so do large ones that are
 * used several times. A number tells definitions of one name apart.
 */
export function settle<Functions>(
  slots: readonly Slot[],
  classes: ReadonlyMap<string, ClassTypes>,
  functions: ReadonlyMap<string, Functions>,
  mostRepeated: number = maxRepeated.checked,
): Settled<Functions> {
  const byId = new Map(slots.map((slot) => [slot.id, slot]));
  const settled = new Map<string, Type>();
  const counts = new Map<string, number>();
  const definitions = new Map<string, Type>();
  const docs = new Map<string, string>();
  const put = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(put);
    if (typeof value !== "object" || value === null) return value;
    if ((value as Type).kind === "ref") return use((value as { to: string }).to);
    const copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, put(part)]));
    const sortedKey =
      copy["kind"] === "union" ? "arms" : copy["kind"] === "literals" ? "values" : undefined;
    // The compiler sorts arms by when it met them, which differs from one build to the next.
    return sortedKey === undefined
      ? copy
      : { ...copy, [sortedKey]: (copy[sortedKey] as unknown[]).toSorted(byText) };
  };
  const use = (id: string): Type => {
    const known = settled.get(id);
    if (known !== undefined) return known;
    const slot = byId.get(id)!;
    if (slot.type === undefined) return { kind: "never" };
    // Only these are settled before their parts are.
    const isNamed = slot.recursive || (slot.name.ofObject && slot.type.kind === "object");
    if (isNamed) {
      const ref = { kind: "ref", to: freeName(slot) } as const;
      settled.set(id, ref);
      definitions.set(ref.to, put(slot.type) as Type);
      return ref;
    }
    // Written anew at each use, as a type is told apart by where it stands.
    const whole = put(slot.type) as Type;
    if (slot.uses === 1 || JSON.stringify(whole).length <= mostRepeated) return whole;
    const ref = { kind: "ref", to: freeName(slot) } as const;
    settled.set(id, ref);
    definitions.set(ref.to, whole);
    return ref;
  };
  const freeName = ({ name: { text, doc } }: Slot): string => {
    let count = counts.get(text) ?? 1;
    let name = count === 1 ? text : `${text}${count}`;
    // `Line2` may be a name in the source.
    while (definitions.has(name)) name = `${text}${++count}`;
    counts.set(text, count + 1);
    definitions.set(name, { kind: "never" });
    if (doc !== undefined) docs.set(name, doc);
    return name;
  };
  return {
    functions: put(Object.fromEntries(functions)) as Settled<Functions>["functions"],
    classes: put(Object.fromEntries(classes)) as Settled<Functions>["classes"],
    definitions: Object.fromEntries(definitions),
    docs: Object.fromEntries(docs),
  };
}

function byText(left: unknown, right: unknown): number {
  const [first, second] = [JSON.stringify(left), JSON.stringify(right)];
  return first < second ? -1 : first > second ? 1 : 0;
}

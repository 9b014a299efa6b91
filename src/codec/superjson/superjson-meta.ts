// Reads superjson's `meta`, which describes its `json`: types by path, and paths that lead to the same value.
// Everything is checked against the json before anything is built. superjson's own reader writes to
// any path that a message names.

import { Fault, faultAt, isForbidden } from "../values/fault.ts";

/** A value in the json that `meta` describes, or that contains such a value. */
export class Slot {
  readonly raw: unknown;
  parts: Map<string, Slot> | undefined;
  /** `Date`, `map`, `class` … */
  type: string | undefined;
  /** Key of the class, or name of the typed array. */
  of = "";
  /** Another slot has the same value as this one. */
  shared = false;
  /** Open while its value is being built. Takers get the value as soon as it exists. */
  state: "unbuilt" | "open" | "built" = "unbuilt";
  value: unknown;
  readonly takers: ((value: unknown) => void)[] = [];
  #same: Slot | undefined;

  constructor(raw: unknown) {
    this.raw = raw;
  }

  /** The slot whose value this one has: itself, unless `meta` names another. */
  get target(): Slot {
    return this.#same?.target ?? this;
  }

  /** Whether `meta` only describes parts of it. */
  get isBare(): boolean {
    return this.type === undefined && !this.shared && this.#same === undefined;
  }

  /** Gives this slot the value of `other`; its own `raw` is then ignored. */
  become(other: Slot): void {
    if (this === other || this.target === other) return;
    if (this.#same !== undefined || this.shared)
      throw new Fault("'referentialEqualities' names this path twice");
    other.shared = true;
    this.#same = other;
  }

  /** The part under a segment of a path. Throws a {@link Fault} if the json doesn't have it. */
  part(segment: string): Slot {
    const slot = this.target;
    const known = slot.parts?.get(segment);
    if (known !== undefined) return known;
    const part = new Slot(memberOf(slot.raw, segment));
    (slot.parts ??= new Map<string, Slot>()).set(segment, part);
    return part;
  }
}

/**
 * The root of the json, with all that `meta` says. Throws a {@link Fault} with the path if `meta`
 * doesn't fit the json, or goes deeper than `depth`.
 */
export function readMeta(json: unknown, meta: unknown, depth: number): Slot {
  const root = new Slot(json);
  if (meta === undefined) return root;
  const { values, referentialEqualities, v = 0, ...others } = membersOf(meta, "'meta'");
  if (Object.keys(others).length > 0)
    throw new Fault(`'meta' has no member '${Object.keys(others)[0]}'`);
  // Before version 1, superjson didn't escape backslashes in paths.
  if (v !== 0 && v !== 1) throw new Fault("'meta.v' must be 0 or 1");
  const parse = (path: string): string[] => {
    const segments = parsePath(path, v === 0);
    // A path can go round a cycle any number of times, and be the prefix of thousands of others.
    if (segments.length > depth)
      throw new Fault(`a path of more than ${depth} parts (limit 'maxDepth')`);
    return segments;
  };
  if (values !== undefined) readTree(values, root, parse);
  if (referentialEqualities !== undefined) readEqualities(referentialEqualities, root, parse);
  return root;
}

type Parse = (path: string) => string[];

/** `["Date"]`, `["map", { … }]`, or an object of such trees by path. */
function readTree(tree: unknown, slot: Slot, parse: Parse): void {
  let inner = tree;
  if (Array.isArray(tree)) {
    if (tree.length === 0 || tree.length > 2)
      throw new Fault("an annotation must be a list of one or two");
    annotate(slot, tree[0]);
    if (tree.length === 1) return;
    inner = tree[1] as unknown;
  }
  for (const [path, subtree] of Object.entries(membersOf(inner, "'meta.values'")))
    follow(slot, parse(path), (part) => readTree(subtree, part, parse));
}

/** Annotations of types that need nothing else. @internal */
export const simpleTypes: ReadonlySet<string> = new Set([
  "undefined",
  "bigint",
  "Date",
  "Error",
  "regexp",
  "set",
  "map",
  "number",
  "URL",
]);

function annotate(slot: Slot, annotation: unknown): void {
  if (slot.type !== undefined) throw new Fault("'meta.values' names this path twice");
  if (typeof annotation === "string" && simpleTypes.has(annotation)) {
    slot.type = annotation;
    return;
  }
  const [type, of, ...others] = Array.isArray(annotation) ? (annotation as unknown[]) : [];
  const known =
    type === "class" || type === "typed-array" || (type === "custom" && of === "Binary");
  if (!known || typeof of !== "string" || others.length > 0)
    throw new Fault(`there is no annotation ${JSON.stringify(annotation).slice(0, 64)}`);
  slot.type = type;
  slot.of = of;
}

/**
 * `{ path: [other paths of the same value] }`, or `[[other paths of the root], { … }?]` if the root
 * is among them.
 */
function readEqualities(equalities: unknown, root: Slot, parse: Parse): void {
  const pairs: { readonly path: readonly string[]; readonly same: readonly string[] }[] = [];
  const add = (path: readonly string[], others: unknown): void => {
    if (!Array.isArray(others) || !others.every((other) => typeof other === "string"))
      throw new Fault("'referentialEqualities' must hold lists of paths");
    for (const other of others) pairs.push({ path, same: parse(other) });
  };
  let rest = equalities;
  if (Array.isArray(equalities)) {
    if (equalities.length === 0 || equalities.length > 2)
      throw new Fault("'referentialEqualities' must be an object, or a list of one or two");
    add([], equalities[0]);
    rest = (equalities[1] as unknown) ?? {};
  }
  for (const [path, others] of Object.entries(membersOf(rest, "'referentialEqualities'")))
    add(parse(path), others);
  // Shortest first, so that longer paths are followed through the values that shorter ones share.
  pairs.sort((a, b) => a.same.length - b.same.length);
  for (const { path, same } of pairs)
    follow(root, path, (slot) => follow(root, same, (other) => other.become(slot.target)));
}

/** Calls `act` with the slot that a path leads to. */
function follow(from: Slot, path: readonly string[], act: (slot: Slot) => void): void {
  let slot = from;
  let done = 0;
  try {
    for (; done < path.length; done++) slot = slot.part(path[done]!);
    act(slot);
  } catch (thrown) {
    let fault = thrown;
    for (let index = Math.min(done, path.length - 1); index >= 0; index--)
      fault = faultAt(fault, keyOf(path[index]!), {});
    throw fault;
  }
}

const keyOf = (segment: string): string | number =>
  /^\d{1,9}$/.test(segment) ? Number(segment) : segment;

function memberOf(raw: unknown, segment: string): unknown {
  if (isForbidden(segment)) throw new Fault("this key is not allowed");
  if (Array.isArray(raw)) {
    if (/^(0|[1-9]\d{0,8})$/.test(segment) && Number(segment) < raw.length)
      return raw[Number(segment)];
  } else if (typeof raw === "object" && raw !== null && Object.hasOwn(raw, segment))
    return (raw as Record<string, unknown>)[segment];
  throw new Fault("'json' has no value at this path of 'meta'");
}

/** The segments of a path. Dots separate them; a backslash escapes a dot or a backslash. */
function parsePath(path: string, legacy: boolean): string[] {
  const segments: string[] = [];
  let segment = "";
  for (let index = 0; index < path.length; index++) {
    const char = path[index]!;
    const next = path[index + 1];
    if (char === "\\" && (next === "." || (next === "\\" && !legacy))) {
      segment += next;
      index++;
    } else if (char === "\\" && !legacy) throw new Fault(`'${path.slice(0, 64)}' is not a path`);
    else if (char === ".") {
      segments.push(segment);
      segment = "";
    } else segment += char;
  }
  segments.push(segment);
  return segments;
}

function membersOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Fault(`${what} must be an object`);
  return value as Record<string, unknown>;
}

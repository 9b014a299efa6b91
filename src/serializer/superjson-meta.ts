// What superjson's `meta` says of its `json` (decisions §3): types by path, and paths that are one and the same value. Each is checked against
// the json before anything is built of it; superjson's own reader writes wherever a path from a message leads it.

import { Fault, faultAt, isForbidden } from "./fault.ts";

/** A value of the json of which `meta` says something, or that such a value stands in. */
export class Place {
  readonly raw: unknown;
  parts: Map<string, Place> | undefined;
  /** `Date`, `map`, `class` … */
  type: string | undefined;
  /** Key of the class, or name of the typed array. */
  of = "";
  /** Another place says that it is this one. */
  shared = false;
  /** Open while what it is made of is built; takers are given the value as soon as there is one. */
  state: "unbuilt" | "open" | "built" = "unbuilt";
  value: unknown;
  readonly takers: ((value: unknown) => void)[] = [];
  #same: Place | undefined;

  constructor(raw: unknown) {
    this.raw = raw;
  }

  /** The place whose value this one has: itself, if no other was named. */
  get whole(): Place {
    return this.#same?.whole ?? this;
  }

  /** This place has the value of `other`; what stands here is not read. */
  become(other: Place): void {
    if (this === other || this.whole === other) return;
    if (this.#same !== undefined || this.shared)
      throw new Fault("referentialEqualities say two things of this place");
    other.shared = true;
    this.#same = other;
  }

  /** The part under a segment of a path. Throws a {@link Fault} where the json has none. */
  part(segment: string): Place {
    const place = this.whole;
    const known = place.parts?.get(segment);
    if (known !== undefined) return known;
    const part = new Place(memberOf(place.raw, segment));
    (place.parts ??= new Map<string, Place>()).set(segment, part);
    return part;
  }
}

/** The root of the json, with all that `meta` says. Throws a {@link Fault} with the path for whatever makes no sense, or is deeper than `depth`. */
export function readMeta(json: unknown, meta: unknown, depth: number): Place {
  const root = new Place(json);
  if (meta === undefined) return root;
  const { values, referentialEqualities, v = 0, ...others } = membersOf(meta, "'meta'");
  if (Object.keys(others).length > 0)
    throw new Fault(`'meta' has no member '${Object.keys(others)[0]}'`);
  // Before its version 1, superjson wrote a backslash in a path as it was.
  if (v !== 0 && v !== 1) throw new Fault("'meta.v' must be 0 or 1");
  const parse = (path: string): string[] => {
    const segments = parsePath(path, v === 0);
    // Round a cycle a path may go as long as its sender likes, and be the start of thousands.
    if (segments.length > depth)
      throw new Fault(`a path of more than ${depth} parts (limit 'depth')`);
    return segments;
  };
  if (values !== undefined) readTree(values, root, parse);
  if (referentialEqualities !== undefined) readEqualities(referentialEqualities, root, parse);
  return root;
}

type Parse = (path: string) => string[];

/** `["Date"]`, `["map", { … }]`, or an object of further ones by path. */
function readTree(tree: unknown, place: Place, parse: Parse): void {
  let inner = tree;
  if (Array.isArray(tree)) {
    if (tree.length === 0 || tree.length > 2)
      throw new Fault("an annotation is a list of one or two");
    annotate(place, tree[0]);
    if (tree.length === 1) return;
    inner = tree[1] as unknown;
  }
  for (const [path, one] of Object.entries(membersOf(inner, "what 'meta.values' says")))
    follow(place, parse(path), (part) => readTree(one, part, parse));
}

const simple = new Set([
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

function annotate(place: Place, annotation: unknown): void {
  if (place.type !== undefined) throw new Fault("'meta.values' says two things of this place");
  if (typeof annotation === "string" && simple.has(annotation)) {
    place.type = annotation;
    return;
  }
  const [type, of, ...others] = Array.isArray(annotation) ? (annotation as unknown[]) : [];
  const known =
    type === "class" || type === "typed-array" || (type === "custom" && of === "Binary");
  if (!known || typeof of !== "string" || others.length > 0)
    throw new Fault(`there is no annotation ${JSON.stringify(annotation).slice(0, 64)}`);
  place.type = type;
  place.of = of;
}

/** `{ path: [paths of the same value] }`; with the root among them `[[paths of the root], { … }?]`. */
function readEqualities(equalities: unknown, root: Place, parse: Parse): void {
  const pairs: { readonly one: readonly string[]; readonly same: readonly string[] }[] = [];
  const add = (one: readonly string[], others: unknown): void => {
    if (!Array.isArray(others) || !others.every((path) => typeof path === "string"))
      throw new Fault("'referentialEqualities' must hold lists of paths");
    for (const path of others) pairs.push({ one, same: parse(path) });
  };
  let rest = equalities;
  if (Array.isArray(equalities)) {
    if (equalities.length === 0 || equalities.length > 2)
      throw new Fault("'referentialEqualities' is a list of one or two");
    add([], equalities[0]);
    rest = (equalities[1] as unknown) ?? {};
  }
  for (const [path, others] of Object.entries(membersOf(rest, "'referentialEqualities'")))
    add(parse(path), others);
  // The shortest first: what a longer path leads through is then known to be somewhere else.
  pairs.sort((a, b) => a.same.length - b.same.length);
  for (const { one, same } of pairs)
    follow(root, one, (place) => follow(root, same, (other) => other.become(place.whole)));
}

/** Calls `act` with the place that a path leads to. */
function follow(from: Place, path: readonly string[], act: (place: Place) => void): void {
  let place = from;
  let done = 0;
  try {
    for (; done < path.length; done++) place = place.part(path[done]!);
    act(place);
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
  throw new Fault("'meta' names what 'json' doesn't have");
}

/** The segments of a path: dots part them, a backslash goes before a dot or a backslash that is none of the path's. */
function parsePath(path: string, legacy: boolean): string[] {
  const segments: string[] = [];
  let segment = "";
  for (let index = 0; index < path.length; index++) {
    const char = path[index]!;
    const next = path[index + 1];
    if (char === "\\" && (next === "." || (next === "\\" && !legacy))) {
      segment += next;
      index++;
    } else if (char === "\\" && !legacy) throw new Fault(`'${path.slice(0, 64)}' is no path`);
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

import fc from "fast-check";
import { SuperJSON } from "superjson";
import { describe, expect, it } from "vitest";

import { BadRequest } from "../../../src/base/errors.ts";
import { simpleTypes } from "../../../src/codec/superjson/superjson-meta.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import {
  decodeSuperjson,
  decodeSuperjsonMembers,
  encodeSuperjson,
} from "../../../src/codec/superjson/superjson.ts";
import { createWireClasses, Employee, Person } from "../../_wire-classes.ts";

const classes = createWireClasses();
const options = { classes, limits: { ...defaultLimits, maxDepth: 2000 }, trusted: true };
const decode = (text: string): unknown => decodeSuperjson(text, options);
/** Without a Blob in the value. */
const encode = (value: unknown): string => encodeSuperjson(value, { classes }) as string;

// Halves of surrogate pairs among them.
const anyText = fc
  .array(fc.nat(0xffff), { maxLength: 8 })
  .map((codes) => String.fromCharCode(...codes));
const leaf = fc.oneof(
  fc.string({ unit: "binary" }),
  anyText,
  fc.double(),
  fc.bigInt(),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0),
  fc.date({ noInvalidDate: true }),
  fc.uint8Array(),
  fc.int16Array(),
  fc.webUrl().map((url) => new URL(url)),
  fc.constantFrom(/a\/b/gi, /[/\\]/u),
);
const key = fc
  .oneof(
    fc.string(),
    anyText,
    fc.constantFrom("a.b", "\\", "a\\.b", "", "0", "json", "meta", "then", "args", "fields"),
  )
  .filter((one) => !["__proto__", "constructor", "prototype"].includes(one));

/** The containers on which a reference may be set. */
type Node = unknown[] | Record<string, unknown> | Map<unknown, unknown> | Set<unknown> | Employee;

/** Containers that hold leaves and each other, cycles included: `links` says what is put where. */
function graph(
  kinds: readonly string[],
  leaves: readonly unknown[],
  links: readonly (readonly [number, number, string])[],
): Node[] {
  const nodes = kinds.map((kind): Node => {
    if (kind === "map") return new Map();
    if (kind === "set") return new Set();
    if (kind === "instance") return Object.assign(new Employee(kind), { salary: undefined });
    return kind === "list" ? [] : {};
  });
  const put = (into: Node, name: string, one: unknown): void => {
    if (Array.isArray(into)) into.push(one);
    else if (into instanceof Map) into.set(into.size % 2 === 0 ? one : name, one);
    else if (into instanceof Set) into.add(one);
    else if (into instanceof Employee) into.tags.set(name, one);
    else into[name] = one;
  };
  leaves.forEach((one, index) => put(nodes[index % nodes.length]!, `leaf${index}`, one));
  for (const [from, to, name] of links)
    put(nodes[from % nodes.length]!, name, nodes[to % nodes.length]);
  return nodes;
}

const graphOf = (...kinds: string[]): fc.Arbitrary<Node[]> =>
  fc
    .tuple(
      fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 8 }),
      fc.array(leaf, { maxLength: 12 }),
      fc.array(fc.tuple(fc.nat(20), fc.nat(20), key), { maxLength: 24 }),
    )
    .map(([nodes, leaves, links]) => graph(nodes, leaves, links));

/**
 * The first path at which two graphs differ: in a type, a text, or in which of their objects is
 * which.
 */
function difference(
  one: unknown,
  other: unknown,
  twins = new Map<object, unknown>(),
  back = new Map<object, unknown>(),
  path = "value",
): string | undefined {
  if (typeof one !== "object" || one === null || typeof other !== "object" || other === null)
    return Object.is(one, other) ? undefined : path;
  if (twins.has(one) || back.has(other))
    return twins.get(one) === other && back.get(other) === one ? undefined : `${path} (which)`;
  twins.set(one, other);
  back.set(other, one);
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return `${path} (type)`;
  for (const Kind of [Date, URL, RegExp] as const)
    if (one instanceof Kind && other instanceof Kind)
      return String(one) === String(other) ? undefined : path;
  const parts = (of: object): [string, unknown][] => {
    if (of instanceof Map)
      return [...(of as Map<unknown, unknown>)].flatMap(([a, b], row) => [
        [`${row}.key`, a],
        [`${row}.value`, b],
      ]);
    if (of instanceof Set)
      return [...(of as Set<unknown>)].map((item, index) => [String(index), item]);
    if (of instanceof Person)
      return [
        ["name", of.name],
        ["born", of.born],
        ["salary", (of as Employee).salary],
        ["tags", (of as Employee).tags],
      ];
    return Object.entries(of);
  };
  const [mine, theirs] = [parts(one), parts(other)];
  if (mine.length !== theirs.length) return `${path} (length)`;
  for (const [index, [name, part]] of mine.entries()) {
    const found = theirs[index]!;
    if (found[0] !== name) return `${path}.${name} (name)`;
    const inside = difference(part, found[1], twins, back, `${path}.${name}`);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

// Many runs, and machines that do other things beside them.
describe("properties", { timeout: 120_000 }, () => {
  it("decode(encode(x)) is x, with every reference where it was", () => {
    fc.assert(
      fc.property(graphOf("list", "object", "map", "set", "instance"), (nodes) => {
        expect(difference(nodes, decode(encode(nodes)))).toBeUndefined();
        expect(difference(nodes[0], decode(encode(nodes[0])))).toBeUndefined();
      }),
      { numRuns: 600 },
    );
  });

  it("a decoded graph is encoded as the text that it came from", () => {
    fc.assert(
      fc.property(graphOf("list", "object", "map", "set", "instance"), (nodes) => {
        const text = encode(nodes);
        expect(encode(decode(text))).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it.each([true, false])(
    "what superjson writes is decoded to the same graph (dedupe: %s)",
    (dedupe) => {
      fc.assert(
        fc.property(graphOf("list", "object", "map", "set"), (nodes) => {
          const text = new SuperJSON({ dedupe }).stringify(nodes);
          expect(difference(nodes, decode(text))).toBeUndefined();
        }),
        { numRuns: 600 },
      );
    },
  );

  it("superjson decodes what is encoded here to the same graph", () => {
    // Among the items of a set and the keys of a map superjson itself loses references: it takes an
    // item out, and adds it at the end.
    fc.assert(
      fc.property(graphOf("list", "object"), (nodes) => {
        expect(difference(nodes, SuperJSON.parse(encode(nodes)))).toBeUndefined();
      }),
      { numRuns: 600 },
    );
  });

  const segment = fc.constantFrom(
    "a",
    "b",
    "0",
    "1",
    "args",
    "fields",
    "message",
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "length",
    "\\",
    "",
  );
  const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("."));
  const annotation = fc.constantFrom<unknown>(
    ...simpleTypes,
    "nope",
    null,
    5,
    ["class", "people/Person"],
    ["class", "people/Refused"],
    ["class", "people/Team"],
    ["class", "__proto__"],
    ["class", "Object"],
    ["typed-array", "Uint8Array"],
    ["typed-array", "Array"],
    ["custom", "x"],
    ["symbol", "iterator"],
  );
  const json = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(
        null,
        1e9,
        -1,
        "12",
        "NaN",
        "/a/g",
        "http://a.b",
        "2021-01-01T00:00:00.000Z",
        true,
      ),
      fc.array(tie("any"), { maxLength: 3 }),
      fc
        .array(fc.tuple(segment, tie("any")), { maxLength: 4 })
        .map((pairs) => Object.fromEntries(pairs)),
    ),
  })).any;
  const tree = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      annotation.map((one) => [one]),
      fc.tuple(annotation, tie("object")),
      tie("object"),
    ),
    object: fc.dictionary(path, tie("any"), { maxKeys: 4 }),
  })).any;
  const paths = fc.dictionary(path, fc.array(path, { maxLength: 3 }), { maxKeys: 3 });
  const meta = fc.record(
    {
      values: tree,
      referentialEqualities: fc.oneof(
        paths,
        fc.tuple(fc.array(path, { maxLength: 2 }), paths),
        fc.jsonValue(),
      ),
      v: fc.constantFrom<unknown>(0, 1, 2, "1"),
      more: fc.constant(1),
    },
    { requiredKeys: [] },
  );

  /** Every path of a json, as superjson writes it. */
  const pathsOf = (value: unknown, before = ""): string[] =>
    typeof value !== "object" || value === null
      ? []
      : Object.entries(value).flatMap(([name, one]) => {
          const here = before + name.replace(/[\\.]/g, "\\$&");
          return [here, ...pathsOf(one, `${here}.`)];
        });
  /** Annotations and references at places that are there. */
  const fitting = fc
    .tuple(
      json,
      fc.array(fc.tuple(fc.nat(), annotation), { maxLength: 2 }),
      fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 3 }),
    )
    .map(([value, annotated, same]) => {
      const all = pathsOf(value);
      const at = (index: number): string => all[index % all.length] ?? "";
      const values = Object.fromEntries(annotated.map(([index, one]) => [at(index), [one]]));
      const referentialEqualities = Object.fromEntries(
        same.map(([one, other]) => [at(one), [at(other)]]),
      );
      return {
        json: value,
        meta: { values, ...(all.length === 0 ? {} : { referentialEqualities }), v: 1 },
      };
    });

  it("decode(anything) is a listed error or a value, and changes nothing", () => {
    const census = (): string =>
      JSON.stringify(
        [
          Object.prototype,
          Array.prototype,
          Map.prototype,
          Function.prototype,
          Person.prototype,
          globalThis,
        ].map((one) => Reflect.ownKeys(one).map(String)),
      );
    const before = census();
    let values = 0;
    const texts = fc.oneof(
      fitting.map((one) => JSON.stringify(one)),
      fc.record({ json, meta }).map((one) => JSON.stringify(one)),
      fc.json(),
      fc.string(),
    );
    fc.assert(
      fc.property(texts, fc.boolean(), (text, trusted) => {
        for (const act of [decodeSuperjson, decodeSuperjsonMembers])
          try {
            act(text, { ...options, trusted });
            values++;
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(BadRequest);
          }
      }),
      { numRuns: 6000 },
    );
    // So that it is not only about refusals.
    expect(values).toBeGreaterThan(300);
    expect(census()).toBe(before);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

import { inspect } from "node:util";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { decodeSerialized, encodeSerialized } from "../../../src/codec/serialized.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { dateFrom, isoOf } from "../../../src/codec/values/dates.ts";
import { createWireClasses, Employee, Money, Person, Team } from "../../_wire-classes.ts";
import { decode, mark, outside, trusted } from "./_codec.ts";

const classes = createWireClasses();

type Tree = Record<string, unknown>;

/** All objects that say that they are forms. */
function formsIn(tree: unknown): readonly Tree[] {
  if (typeof tree !== "object" || tree === null) return [];
  const inner = Object.values(tree).flatMap(formsIn);
  return (tree as Tree)["serialized"] === true ? [tree as Tree, ...inner] : inner;
}

describe("members of forms", { timeout: 60_000 }, () => {
  const text = fc
    .array(fc.nat(0xffff), { maxLength: 6 })
    .map((codes) => String.fromCharCode(...codes));
  const key = fc.oneof(text, fc.constantFrom("serialized", "name", "toJSON", "0", "base64"));
  const values = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      fc.oneof(text, fc.string(), fc.double(), fc.bigInt(), fc.date({ noInvalidDate: false })),
      fc.constantFrom(
        null,
        undefined,
        true,
        -0,
        /a"\\/g,
        () => 1,
        Symbol.iterator,
        Object.assign([], { length: 2 }),
      ),
      fc.uint8Array(),
      fc.array(tie("any")),
      fc.dictionary(key, tie("any")),
      fc.dictionary(key, tie("any")).map((members) => ({ ...members, serialized: true })),
      fc.array(fc.tuple(tie("any"), tie("any"))).map((entries) => new Map(entries)),
      fc.array(tie("any")).map((items) => new Set(items)),
      fc.tuple(text, fc.date()).map(([name, born]) => new Person(name, born)),
      tie("any").map((salary) => Object.assign(new Employee("Ada"), { salary })),
      fc.array(tie("any")).map((people) => new Team("a", 1, ...(people as never[]))),
      fc.bigInt().map((cents) => new Money(cents)),
      tie("any").map((cause) => new TypeError("text", { cause })),
    ),
  })).any;
  const encoded = (value: unknown): unknown => {
    try {
      return JSON.parse(encodeSerialized(value, { classes, stacks: false }) as string);
    } catch (thrown) {
      return String(thrown);
    }
  };

  it("what is read doesn't depend on the order of a form's members, by which complete forms are told", () => {
    // Names that aren't indexes: engines order those themselves.
    const turned = (tree: unknown): unknown =>
      Array.isArray(tree)
        ? tree.map(turned)
        : typeof tree === "object" && tree !== null
          ? Object.fromEntries(
              Object.entries(tree)
                .reverse()
                .map(([name, member]) => [name, turned(member)]),
            )
          : tree;
    const read = (tree: unknown, plain: boolean): unknown => {
      const limits = { ...defaultLimits, maxDepth: 9 };
      try {
        const text = JSON.stringify(tree);
        return inspect(decodeSerialized(text, { ...trusted, limits, plain }), options);
      } catch (thrown) {
        // Of two mistakes, the order decides which is found.
        return (thrown as Error).name;
      }
    };
    const options = { depth: 20, sorted: true };
    const damaged = fc.record({
      at: fc.nat(),
      part: fc.constantFrom("args", "fields", "key", "name", "value"),
      name: fc.constantFrom("0", "1", "7", "x", "constructor", "__proto__", "serialized"),
      member: fc.constantFrom<unknown>(1, true, {}, [], { constructor: 1 }, mark("Undefined")),
    });
    fc.assert(
      fc.property(values, fc.option(damaged), fc.boolean(), (value, damage, plain) => {
        const tree = encoded(value);
        fc.pre(typeof tree === "object");
        if (damage !== null) {
          const forms = formsIn(tree);
          const form = forms[damage.at % forms.length];
          const part: unknown = form?.[damage.part];
          const define = (holder: object, name: string): unknown =>
            Object.defineProperty(holder, name, {
              value: damage.member,
              enumerable: true,
              configurable: true,
              writable: true,
            });
          if (typeof part === "object" && part !== null) define(part, damage.name);
          else if (form !== undefined) define(form, damage.part);
        }
        const seen = read(tree, plain);
        expect(read(turned(tree), plain)).toEqual(seen);
      }),
      { numRuns: 500, seed: 12 },
    );
  });
  it.each(["constructor", "__proto__", "prototype"])(
    "the key '%s' among an instance's arguments is refused, in data that isn't encoded, too",
    (key) => {
      const text = `[{"serialized":true,"key":"people/Person","name":"class","args":{"0":"Ada","${key}":{}},"fields":{}}]`;
      for (const plain of [false, true])
        expect(() => decodeSerialized(text, { ...outside, plain })).toThrow(
          "this key is not allowed",
        );
    },
  );
  it("dates have the platform's text, and text has the platform's dates", () => {
    const time = fc.oneof(
      fc.date({ noInvalidDate: false }).map(Number),
      fc.integer({ min: 0, max: 4_000_000_000_000 }),
    );
    fc.assert(
      fc.property(time, (ms) => {
        const iso = new Date(ms).toJSON() as string | null;
        expect(isoOf(new Date(ms))).toBe(iso);
        if (iso !== null) expect(dateFrom(iso)).toEqual(new Date(ms));
      }),
      { numRuns: 5000, seed: 12 },
    );
  });
  it.each([
    "2021-02-29T00:00:00.000Z",
    "2021-04-31T00:00:00.000Z",
    "2021-13-01T00:00:00.000Z",
    "2021-00-01T00:00:00.000Z",
    "2021-01-00T00:00:00.000Z",
    "2021-01-01T24:00:00.000Z",
    "2021-01-01T00:60:00.000Z",
    "2021-01-01T00:00:60.000Z",
    "2021-01-01T00:00:00.00xZ",
    "2021-01-01 00:00:00.000Z",
    "2021/01/01T00:00:00.000Z",
  ])("text that isn't a date is refused: %s", (value) => {
    expect(() => decode(mark("Date", { value }))).toThrow("not a valid Date form");
  });
});

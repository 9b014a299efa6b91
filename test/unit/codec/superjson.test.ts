import { SuperJSON } from "superjson";
import { describe, expect, it } from "vitest";

import { defaultLimits } from "../../../src/base/limits.ts";
import { decodeSuperjson, encodeSuperjson } from "../../../src/codec/superjson/superjson.ts";
import { expectSame } from "../../_same.ts";
import { wireCases } from "../../_wire-cases.ts";
import { createWireClasses, Employee, Person, Team } from "../../_wire-classes.ts";

const classes = createWireClasses();
const options = { classes, limits: defaultLimits, trusted: true };
/** Without a Blob in the value. */
const encode = (value: unknown): string => encodeSuperjson(value, { classes }) as string;
const back = (value: unknown): unknown => decodeSuperjson(encode(value), options);
const read = (value: unknown, more = {}): unknown =>
  decodeSuperjson(JSON.stringify(value), { ...options, ...more });

const refused: Readonly<Record<string, string>> = {
  "invalid date": "value: superjson can't carry an invalid date",
  buffer: "value[0]: superjson can't carry an ArrayBuffer",
  "typed arrays": "value[2]: superjson can't carry a BigInt64Array",
  "only the bytes of the view": "value[0]: superjson can't carry a DataView",
};

describe.each(wireCases)("$name", ({ name, value, trusted, ...more }) => {
  // An object without a prototype arrives as a plain one in superjson, as in the first encoding.
  const expected =
    "decoded" in more && name === "object without a prototype" ? more.decoded : value;
  it("the value comes back with its own type in superjson, or is refused with the path", async () => {
    const why = refused[name];
    if (why === undefined)
      await expectSame(
        decodeSuperjson(await encodeSuperjson(value, { classes }), options),
        expected,
      );
    else expect(() => encode(value)).toThrow(why);
  });
  if (refused[name] === undefined)
    it("the value is accepted from outside only if it needs no trust", async () => {
      const text = await encodeSuperjson(value, { classes });
      const decode = () => decodeSuperjson(text, { ...options, trusted: false });
      if (trusted) expect(decode).toThrow("accepted from services only");
      else await expectSame(decode(), expected);
    });
});

describe("references", () => {
  it("a cycle through objects, arrays, maps, sets and fields of instances is the same cycle", () => {
    const ada = new Employee("Ada");
    const all: Record<string, unknown> = { ada, list: [ada] };
    ada.tags.set("all", all);
    (ada.tags as Map<unknown, unknown>).set(ada, new Set([all, ada]));
    all["self"] = all;
    const got = back(all) as typeof all;
    const other = got["ada"] as Employee;
    expect(other).toBeInstanceOf(Employee);
    expect(got["self"]).toBe(got);
    expect((got["list"] as unknown[])[0]).toBe(other);
    expect(other.tags.get("all")).toBe(got);
    expect([...(other.tags.get(other as unknown as string) as Set<unknown>)]).toEqual([got, other]);
    expect([...(other.tags.get(other as unknown as string) as Set<unknown>)][1]).toBe(other);
  });

  it("an instance may be referred to by a field of its own argument", () => {
    const bob = new Employee("Bob");
    const team = new Team("core", 7, bob);
    bob.tags.set("team", team);
    const fromTeam = back({ team }) as { team: Team };
    expect((fromTeam.team.people[0] as Employee).tags.get("team")).toBe(fromTeam.team);
    const fromBob = back(bob) as Employee;
    expect((fromBob.tags.get("team") as Team).people[0]).toBe(fromBob);
  });

  it("errors and their causes keep references", () => {
    const one = new TypeError("one");
    const two = new RangeError("two", { cause: one });
    one.cause = two;
    const got = back(one) as Error;
    expect(got).toBeInstanceOf(TypeError);
    expect((got.cause as Error).cause).toBe(got);
  });

  it("a date or URL in two places is one object", () => {
    const date = new Date(0);
    const got = back([date, { date }]) as [Date, { date: Date }];
    expect(got[1].date).toBe(got[0]);
  });

  it("bigints and NaN, which superjson treats as references too, are decoded", () => {
    expect(
      back([1n, Number.NaN, new Set([1n, Number.NaN, null, 2n]), new Map([[2n, 1n]])]),
    ).toStrictEqual([1n, Number.NaN, new Set([1n, Number.NaN, null, 2n]), new Map([[2n, 1n]])]);
  });

  it("the text is as long as the graph, however often its parts are referred to", () => {
    let list: unknown[] = [];
    for (let level = 0; level < 60; level++) list = [list, list];
    const text = encode(list);
    expect(text.length).toBeLessThan(20_000);
  });

  it("a cycle through an argument of a constructor is refused", () => {
    const json = { args: { 0: null }, fields: {} };
    const meta = { values: ["class", "people/Person"], v: 1 };
    expect(() =>
      read({
        json: [json],
        meta: {
          ...meta,
          values: { 0: [["class", "people/Person"]] },
          referentialEqualities: { 0: ["0.args.0"] },
        },
      }),
    ).toThrow("value[0].args[0]: a cycle goes through an argument of a constructor");
    const inside = { args: { 0: "core", 2: { args: { 0: "Ada", 1: null } } } };
    expect(() =>
      read({
        json: inside,
        meta: {
          v: 1,
          values: [["class", "people/Team"], { "args.2": [["class", "people/Person"]] }],
          referentialEqualities: [["args.2.args.1"]],
        },
      }),
    ).toThrow("value.args[2].args[1]: a cycle goes through an argument of a constructor");
  });
});

describe("what superjson itself writes", () => {
  const real = (value: unknown, dedupe = false): unknown => {
    const superjson = new SuperJSON({ dedupe });
    return decodeSuperjson(superjson.stringify(value), options);
  };
  it.each([false, true])(
    "what superjson itself writes is decoded, references and escapes included (dedupe: %s)",
    (dedupe) => {
      const shared = { "a.b\\c": new Date(5), "": [undefined] };
      const value: Record<string, unknown> = {
        shared,
        "x.y": new Map([[shared, new Set([shared, 1n])]]),
        r: /a\/b/gi,
      };
      value["self"] = value;
      const got = real(value, dedupe) as typeof value;
      expect(got["self"]).toBe(got);
      const [key, set] = [...(got["x.y"] as Map<unknown, Set<unknown>>)][0]!;
      expect(key).toBe(got["shared"]);
      expect([...set][0]).toBe(key);
      expect(key).toStrictEqual(shared);
      expect(got["r"]).toEqual(/a\/b/gi);
    },
  );
  it("paths from before superjson's version 1 have unescaped backslashes", () => {
    expect(
      read({
        json: { "a\\b": "1", "c.d": "2" },
        meta: { values: { "a\\b": ["bigint"], "c\\.d": ["bigint"] } },
      }),
    ).toEqual({
      "a\\b": 1n,
      "c.d": 2n,
    });
  });
  it("an error of any superjson client is decoded", () => {
    const got = real(new Error("no", { cause: 5 })) as Error;
    expect([got.constructor, got.message, got.cause]).toEqual([Error, "no", 5]);
  });
});

it("an instance in superjson is args and fields under its key", () => {
  expect(JSON.parse(encode([new Person("Ada")]))).toEqual({
    json: [{ args: { 0: "Ada", 1: null }, fields: { email: null } }],
    meta: {
      values: {
        0: [["class", "people/Person"], { "args.1": ["undefined"], "fields.email": ["undefined"] }],
      },
      v: 1,
    },
  });
});

// The value that the console's form makes of typed JSON, by the type of the parameter.

import { describe, expect, it } from "vitest";

import type { Type } from "../../console/console-state.ts";
import { armsOf, serialized } from "../../console/page/calls/serialized.ts";
import { textOf } from "../../console/page/calls/type-text.ts";

const date: Type = { kind: "date" };
const text: Type = { kind: "string" };
const number: Type = { kind: "number" };
const form = (name: string, members: object) => ({ serialized: true, name, ...members });
const day = form("Date", { value: "2026-01-01T00:00:00.000Z" });
const union = (...arms: Type[]): Type => ({ kind: "union", arms });
const object = (members: Record<string, Type>): Type => ({
  kind: "object",
  members: Object.fromEntries(Object.entries(members).map(([key, type]) => [key, { type }])),
});
const tagged = (tag: string, value: Type) =>
  object({ tag: { kind: "literals", values: [tag] }, value });

const definitions = {
  Node: object({ at: date, next: { kind: "array", items: { kind: "ref", to: "Node" } } }),
};

describe("JSON of a parameter", () => {
  it.each<[what: string, type: Type, value: unknown, sent: unknown]>([
    ["a date", date, "2026-01-01", day],
    ["a date with a zone", date, "2026-01-01T01:00:00+01:00", day],
    ["a date without one", date, "2026-01-01T01:00", "2026-01-01T01:00"],
    ["no date", date, "2026-99-01", "2026-99-01"],
    ["a bigint", { kind: "bigint" }, "12", form("BigInt", { value: "12" })],
    ["a bigint as a number", { kind: "bigint" }, 12, form("BigInt", { value: "12" })],
    ["a URL", { kind: "url" }, "http://a/", form("Url", { value: "http://a/" })],
    [
      "bytes",
      { kind: "binary", type: "ArrayBufferView" },
      "AQ==",
      form("Binary", { type: "Uint8Array", base64: "AQ==" }),
    ],
    ["a set", { kind: "set", items: date }, ["2026-01-01"], form("Set", { values: [day] })],
    [
      "a map",
      { kind: "map", keys: text, values: date },
      [["a", "2026-01-01"]],
      form("Map", { entries: { keys: ["a"], values: [day] } }),
    ],
    [
      "a tuple",
      { kind: "tuple", first: [{ type: text }], rest: date },
      ["2026-01-01", "2026-01-01"],
      ["2026-01-01", day],
    ],
    [
      "members of a recursive type",
      { kind: "ref", to: "Node" },
      { at: "2026-01-01", next: [{ at: "2026-01-01", next: [] }] },
      { at: day, next: [{ at: day, next: [] }] },
    ],
    [
      "members of an index signature",
      { kind: "object", members: {}, index: [{ keys: text, values: date }] },
      { a: "2026-01-01" },
      { a: day },
    ],
    ["a text that may be a date", union(date, text), "2026-01-01", "2026-01-01"],
    ["a date that may be a number", union(date, number), "2026-01-01", day],
    [
      "the arm that a literal names",
      union(tagged("a", text), tagged("b", date)),
      { tag: "b", value: "2026-01-01" },
      { tag: "b", value: day },
    ],
    ["null", union(date, { kind: "null" }), null, null],
    ["a form that was written by hand", text, day, day],
    [
      "a member that is called serialized",
      object({ serialized: { kind: "boolean" }, at: date }),
      { serialized: true, at: "2026-01-01" },
      form("Object", { value: { serialized: true, at: day } }),
    ],
    [
      "what doesn't fit, which the service refuses",
      { kind: "set", items: date },
      { a: 1 },
      { a: 1 },
    ],
  ])("%s", (_, type, value, sent) => {
    expect(serialized(type, value, definitions)).toEqual(sent);
  });

  it("a union's arms are those of unions in it, without undefined", () => {
    const nested = union(union(text, { kind: "undefined" }), { kind: "ref", to: "Node" });
    expect(armsOf(nested, definitions)).toEqual([text, { kind: "ref", to: "Node" }]);
  });
});

describe("the words of a type", () => {
  it.each<[type: Type, words: string]>([
    [{ kind: "number", min: 1 }, "number, at least 1"],
    [{ kind: "number", int: true, max: 9 }, "whole number, at most 9"],
    [
      { kind: "string", minLength: 1, maxLength: 3, pattern: "^a", case: "upper" },
      "string, upper case, /^a/, 1 to 3 characters",
    ],
    [{ kind: "string", format: "email", case: "capitalized" }, "string, email, capitalized"],
    [{ kind: "template", parts: [{ kind: "number" }, " m"] }, "`${number} m`"],
    [{ kind: "literals", values: ["a", 1, true, { bigint: "2" }] }, '"a" | 1 | true | 2n'],
    [{ kind: "literals", values: [1, 2, 3, 4, 5, 6] }, "1 | 2 | 3 | 4 | 5 | …"],
    [{ kind: "array", items: text, maxLength: 5 }, "list of string, at most 5 items"],
    [
      { kind: "tuple", first: [{ type: text, optional: true }], rest: date, last: [number] },
      "[string?, ...Date, number]",
    ],
    [
      { kind: "map", keys: text, values: { kind: "set", items: { kind: "url" } } },
      "Map of string to Set of URL",
    ],
    [{ kind: "object", members: {}, index: [{ keys: text, values: number }] }, "object of number"],
    [union({ kind: "null" }, { kind: "instance", key: "shop/Money" }), "Money | null"],
    [{ kind: "ref", to: "Order" }, "Order"],
    [{ kind: "regexp" }, "RegExp"],
  ])("%j: %s", (type, words) => {
    expect(textOf(type)).toBe(words);
  });
});

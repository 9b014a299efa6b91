import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { definitionSchemas, jsonSchema } from "../../../server/types/json-schema.ts";
import type { Type } from "../../../server/types/model.ts";

const string = { kind: "string" } as const;
const number = { kind: "number" } as const;

/** A type, values of its plain JSON, and JSON that isn't one. */
const rows: [name: string, type: Type, right: unknown[], wrong: unknown[]][] = [
  ["unknown", { kind: "unknown" }, [1, null, {}], []],
  ["never", { kind: "never" }, [], [1, null]],
  ["{}", { kind: "defined" }, [1, {}], [null]],
  ["object", { kind: "nonprimitive" }, [[], {}], [1, null]],
  ["null", { kind: "null" }, [null], [0]],
  ["boolean", { kind: "boolean" }, [true], ["true"]],
  ["number", { kind: "number", min: 0, max: 1.5 }, [0, 1.5], [-1, 2, "1"]],
  ["Int", { kind: "number", int: true }, [2], [1.5]],
  ["bigint", { kind: "bigint" }, [1, "-12"], ["a", 1.5]],
  [
    "string",
    { kind: "string", minLength: 2, maxLength: 3, pattern: "^a" },
    ["a😀", "abc"],
    ["a", "abcd", "bb", 1],
  ],
  ["email", { kind: "string", format: "email" }, ["a@b.org"], [1]],
  [
    "template",
    { kind: "template", parts: ["a.", number, "/", string, ""] },
    ["a.1/", "a.-1.5/x\ny"],
    ["ab1/", "a.x/", "a.1"],
  ],
  ["literals", { kind: "literals", values: ["a", 1, { bigint: "2" }] }, ["a", 1, "2"], ["b", "1"]],
  [
    "array",
    { kind: "array", items: number, minLength: 1, maxLength: 2 },
    [[1]],
    [[], [1, 2, 3], ["1"]],
  ],
  [
    "tuple",
    { kind: "tuple", first: [{ type: string }, { type: number, optional: true }] },
    [["a"], ["a", 1]],
    [[], [1], ["a", 1, 1]],
  ],
  [
    "variadic tuple",
    { kind: "tuple", first: [{ type: string }], rest: number },
    [["a"], ["a", 1, 2]],
    [["a", "b"]],
  ],
  [
    "object",
    { kind: "object", members: { a: { type: string }, b: { type: number, optional: true } } },
    [{ a: "" }, { a: "", b: 1 }],
    [{}, { a: "", c: 1 }, []],
  ],
  [
    "record",
    {
      kind: "object",
      members: { a: { type: string } },
      index: [
        { keys: { kind: "template", parts: ["n-", string, ""] }, values: number },
        { keys: string, values: { kind: "union", arms: [string, number] } },
      ],
    },
    [{ a: "", "n-1": 1, more: "" }],
    [{ a: 1 }, { a: "", "n-1": "" }, { a: "", more: null }],
  ],
  ["Map", { kind: "map", keys: string, values: number }, [[["a", 1]]], [[["a"]], { a: 1 }]],
  ["Set", { kind: "set", items: string }, [["a"]], [["a", "a"]]],
  ["Date", { kind: "date" }, ["2026-01-01T00:00:00Z"], [1]],
  ["URL", { kind: "url" }, ["https://a.b"], [1]],
  ["binary", { kind: "binary", type: "Uint8Array" }, ["AA=="], [1]],
  [
    "class",
    { kind: "instance", key: "shop/Money" },
    [{ serialized: true, name: "class", key: "shop/Money", args: {} }],
    [{ serialized: true, name: "class", key: "shop/Other" }],
  ],
  ["union", { kind: "union", arms: [string, { kind: "null" }] }, ["", null], [1]],
];

describe("JSON Schema", () => {
  it.each(rows)("of %s takes what its plain JSON can be", (_name, type, right, wrong) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validate = ajv.compile(jsonSchema(type) as object);
    expect(right.filter((value) => !validate(value))).toEqual([]);
    expect(wrong.filter((value) => validate(value))).toEqual([]);
  });

  it("of a model has its definitions, to which references lead from where they are put", () => {
    const model = {
      definitions: {
        Tree: {
          kind: "object",
          members: { children: { type: { kind: "array", items: { kind: "ref", to: "Tree" } } } },
        },
      },
      classes: {},
      functions: {},
    } as const;
    expect(definitionSchemas(model, "#/components/schemas/")).toEqual({
      Tree: {
        type: "object",
        properties: { children: { type: "array", items: { $ref: "#/components/schemas/Tree" } } },
        required: ["children"],
        additionalProperties: false,
      },
    });
  });
});

// Arguments of 1 KB that fit their types, beside code that others write for the same check: ajv's
// standalone code for the JSON Schema of these types, and zod's `safeParse`.
import { createRequire } from "node:module";
import { runInThisContext } from "node:vm";

import { bench, describe } from "vitest";
import { z } from "zod";

import { checkHelpers } from "../../../server/types/check.ts";
import { generateChecks } from "../../../server/types/generate-checks.ts";
import { definitionSchemas, jsonSchema } from "../../../server/types/json-schema.ts";
import { FunctionTypes } from "../../../server/types/open-types.ts";
import { readAll } from "../../../test/unit/types/_read.ts";

const require = createRequire(import.meta.url);
const { Ajv2020 } = require("ajv/dist/2020.js");
const standalone = require("ajv/dist/standalone").default;

const declarations = `
interface Line { sku: string; metres: number; price: number; inStock: boolean; note: string }
interface Customer { name: string; city: string; since: number }
export interface Order { customer: Customer; lines: Line[]; total: number }
interface Cloth { kind: "cloth"; sku: string; metres: number; colour: "moss" | "peat" | "slate" }
interface Voucher { kind: "voucher"; code: string | number; percent: number; note: string | null }
export interface Basket { customer: Customer | null; lines: (Cloth | Voucher)[]; total?: number }
`;

const customer = z.object({ name: z.string(), city: z.string(), since: z.number() });
const schemas = {
  Order: z.object({
    customer,
    lines: z.array(
      z.object({
        sku: z.string(),
        metres: z.number(),
        price: z.number(),
        inStock: z.boolean(),
        note: z.string(),
      }),
    ),
    total: z.number(),
  }),
  Basket: z.object({
    customer: customer.nullable(),
    lines: z.array(
      z.discriminatedUnion("kind", [
        z.object({
          kind: z.literal("cloth"),
          sku: z.string(),
          metres: z.number(),
          colour: z.enum(["moss", "peat", "slate"]),
        }),
        z.object({
          kind: z.literal("voucher"),
          code: z.union([z.string(), z.number()]),
          percent: z.number(),
          note: z.string().nullable(),
        }),
      ]),
    ),
    total: z.number().optional(),
  }),
};

const buyer = { name: "Ailsa Munro", city: "Inverness", since: 2019 };
const note = "woven in the hills, washed twice";
const values = {
  Order: {
    customer: buyer,
    lines: Array.from({ length: 9 }, (_, at) => ({
      sku: `tweed-${at}`,
      metres: at + 0.5,
      price: 19.5,
      inStock: at % 3 > 0,
      note,
    })),
    total: 812.25,
  },
  Basket: {
    customer: buyer,
    lines: Array.from({ length: 14 }, (_, at) =>
      at % 2 > 0
        ? { kind: "cloth", sku: `tweed-${at}`, metres: at + 0.5, colour: "moss" }
        : { kind: "voucher", code: at % 4 > 0 ? `code-${at}` : at, percent: 10, note },
    ),
    total: 80,
  },
};

const types = Object.keys(values);
const { model, problems } = readAll(declarations, types);
if (problems.length > 0) throw new Error(problems[0].message);
const checks = runInThisContext(`(${generateChecks(model)})`)(checkHelpers);
const options = { source: "json", extra: "drop", maxDigits: 1_000, masked: false, isTree: true };

for (const [index, name] of types.entries()) {
  const text = JSON.stringify(values[name]);
  const own = new FunctionTypes(model, checks, `f${index}`);
  const [signature] = model.functions[`f${index}`];
  const ajv = new Ajv2020({ code: { source: true }, strict: false });
  const schema = { ...jsonSchema(signature.parameters[0].type), $defs: definitionSchemas(model) };
  const compiled = { exports: {} };
  runInThisContext(`(function (module, require) {${standalone(ajv, ajv.compile(schema))}\n})`)(
    compiled,
    require,
  );
  const validate = compiled.exports;
  // A call decodes its body first, so each has objects of its own.
  const arrived = Array.from({ length: 64 }, () => JSON.parse(text));
  if ("refusal" in own.check([arrived[0]], options)) throw new Error("it should fit");
  if (!validate(arrived[0])) throw new Error(JSON.stringify(validate.errors));
  if (!schemas[name].safeParse(arrived[0]).success) throw new Error("zod refuses it");

  describe(`${name}, ${text.length} characters`, () => {
    bench("Seamline", () => {
      for (const value of arrived) own.check([value], options);
    });
    bench("ajv, standalone code", () => {
      for (const value of arrived) validate(value);
    });
    bench("zod, safeParse", () => {
      for (const value of arrived) schemas[name].safeParse(value);
    });
  });
}

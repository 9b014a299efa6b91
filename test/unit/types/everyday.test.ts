// Types as applications have them: of libraries, of generated code, of JavaScript, behind aliases.

import { describe, expect, it } from "vitest";
import { type CheckOptions, createCheck } from "../../../server/types/check.ts";
import { faultText } from "../../../src/base/faults.ts";
import { generateChecks } from "../../../server/types/generate-checks.ts";
import type { ReadTypes } from "../../../server/types/read-types.ts";
import { loadChecks } from "./_check.ts";
import { read, strictConfig } from "./_read.ts";

type Files = Parameters<typeof read>[0];

/** Calls of functions of `src/f.ts`: the message of the refusal, or the arguments that arrive. */
function callsOf(files: Files, names: readonly string[], file = "src/f.ts") {
  const result = read(
    files,
    names.map((name) => `${file}#${name}`),
  );
  expect(result.problems).toEqual([]);
  const checks = loadChecks(generateChecks(result.model));
  const call = (name: string, positions: unknown[], options?: Partial<CheckOptions>): unknown => {
    const check = createCheck(result.model, checks, name);
    const checked = check(positions, { isInstance: () => false, ...options });
    return "faults" in checked ? faultText(checked.faults, checked.more) : checked.positions;
  };
  return { ...result, call };
}

function messages({ problems }: ReadTypes): string[] {
  return problems.map(({ message, hint }) => `${message} → ${hint}`);
}

describe("zod", () => {
  const { call, unchecked } = callsOf(
    {
      "src/schemas.ts": `import { z } from "zod";
const base = z.object({ id: z.uuid().brand<"id">(), at: z.date(), note: z.string().nullish() });
export const event = z.discriminatedUnion("kind", [
  base.extend({ kind: z.literal("order"), lines: z.array(z.object({ sku: z.string(), metres: z.number() })).min(1) }),
  base.pick({ id: true }).extend({ kind: z.literal("ping"), tags: z.record(z.string(), z.enum(["a", "b"])) }),
]);
export const partial = base.partial().omit({ at: true }).strict();
export const withDefault = z.object({ page: z.number().default(1), size: z.coerce.number() });
export const category = z.object({ name: z.string(), get children() { return z.array(category); } });
export const pair = z.tuple([z.string(), z.int()]).rest(z.boolean());
export const sizes = z.map(z.string(), z.set(z.bigint()));`,
      "src/f.ts": `import type { z } from "zod";
import type * as schemas from "./schemas.ts";
export async function event(value: z.infer<typeof schemas.event>) {}
export async function partial(value: z.infer<typeof schemas.partial>) {}
export async function input(value: z.input<typeof schemas.withDefault>) {}
export async function output(value: z.output<typeof schemas.withDefault>) {}
export async function category(value: z.infer<typeof schemas.category>) {}
export async function pair(value: z.infer<typeof schemas.pair>) {}
export async function sizes(value: z.infer<typeof schemas.sizes>) {}`,
    },
    ["event", "partial", "input", "output", "category", "pair", "sizes"],
  );

  it("Inferred types are checked, and what they don't say isn't", () => {
    const order = { kind: "order", id: "not a uuid", at: new Date(), lines: [] };
    expect(call("event", [order])).toEqual([order]);
    expect(call("event", [{ ...order, lines: [{ sku: 1 }] }])).toBe(
      "value.lines[0].sku: expected text, got number\nvalue.lines[0].metres: missing",
    );
    expect(call("event", [{ kind: "ping", id: "", tags: { x: "c" }, more: 1 }])).toBe(
      'value.tags.x: expected "a" or "b", got "c"',
    );
    expect(call("event", [{ kind: "pong" }])).toBe(
      'value.kind: expected "order" or "ping", got "pong"',
    );
    expect(call("partial", [{ note: null, at: 1 }])).toEqual([{ note: null }]);
  });

  it("Input and output differ where a schema has a default", () => {
    expect(call("input", [{ size: "7" }])).toEqual([{ size: "7" }]);
    expect(unchecked).toEqual({ input: [{ path: "value.size", reason: "unknown" }] });
    expect(call("output", [{ size: "7" }])).toBe(
      "value.page: missing\nvalue.size: expected number, got text",
    );
  });

  it("Recursive schemas, tuples, maps and sets are checked", () => {
    const tree = { name: "a", children: [{ name: "b", children: [] }] };
    expect(call("category", [tree])).toEqual([tree]);
    expect(call("category", [{ name: "a", children: [{ name: "b" }] }])).toBe(
      "value.children[0].children: missing",
    );
    expect(call("pair", [["a", 1, true]])).toEqual([["a", 1, true]]);
    expect(call("pair", [["a", 1, 1]])).toBe("value[2]: expected boolean, got number");
    expect(call("sizes", [[["a", ["1", "2"]]]], { plain: true })).toEqual([
      new Map([["a", new Set([1n, 2n])]]),
    ]);
  });
});

// Output of the generator `prisma-client` of Prisma 7, cut down to two models; it was read as a whole, too.
const prisma: Files = {
  "tsconfig.json": {
    ...strictConfig,
    compilerOptions: {
      ...strictConfig.compilerOptions,
      paths: { "@prisma/client/runtime/client": ["./packages/runtime.d.ts"] },
    },
    include: ["src"],
  },
  "packages/runtime.d.ts": `
export declare class Decimal { readonly d: number[]; readonly e: number; readonly s: number; constructor(value: number | string); toFixed(): string; }
export interface DecimalJsLike { d: number[]; e: number; s: number; toFixed(): string; }
export declare class DbNullClass { readonly #private; private _brand_DbNull: "db"; }
export type Bytes = Uint8Array<ArrayBuffer>;
export interface JsonObject { [key: string]: JsonValue | undefined; }
export interface JsonArray extends Array<JsonValue> {}
export type JsonValue = string | number | boolean | JsonObject | JsonArray | null;
export type InputJsonObject = { readonly [Key in string]?: InputJsonValue | null; };
export interface InputJsonArray extends ReadonlyArray<InputJsonValue | null> {}
export type InputJsonValue = string | number | boolean | InputJsonObject | InputJsonArray | { toJSON(): unknown };
type Payload = { objects: Record<string, unknown>; scalars: Record<string, unknown>; composites: Record<string, unknown> };
type UnwrapPayload<P> = {} extends P ? unknown : { [K in keyof P]: P[K] };
export type DefaultSelection<P extends Payload> = P extends { scalars: infer S; composites: infer C } ? S & UnwrapPayload<C> : never;
export type Optional<T, K extends keyof any = keyof T> = { [P in K & keyof T]?: T[P] } & { [P in Exclude<keyof T, K>]: T[P] };
export type AtLeast<O extends object, K extends string> = O extends unknown ? (K extends keyof O ? { [P in K]: O[P] } & O : O) | ({ [P in keyof O as P extends K ? P : never]-?: O[P] } & O) : never;
`,
  "src/generated/enums.ts": `
export const Status = { open: "open", paid: "paid" } as const
export type Status = (typeof Status)[keyof typeof Status]
`,
  "src/generated/models.ts": `
import type * as runtime from "@prisma/client/runtime/client"
import type * as $Enums from "./enums.ts"
export type $OrderPayload = {
  name: "Order"
  objects: { customer: $CustomerPayload }
  scalars: { id: number; status: $Enums.Status; due: Date; total: runtime.Decimal; bytes: runtime.Bytes | null; big: bigint; details: runtime.JsonValue | null; customerId: number }
  composites: {}
}
export type $CustomerPayload = { name: "Customer"; objects: { orders: $OrderPayload[] }; scalars: { id: number; email: string }; composites: {} }
export type OrderModel = runtime.DefaultSelection<$OrderPayload>
export type CustomerModel = runtime.DefaultSelection<$CustomerPayload>
export type OrderCreateInput = {
  status?: $Enums.Status
  due: Date | string
  total: runtime.Decimal | runtime.DecimalJsLike | number | string
  bytes?: runtime.Bytes | null
  big: bigint | number
  details?: runtime.DbNullClass | runtime.InputJsonValue
  customer: { connect?: CustomerWhereUniqueInput }
}
export type CustomerWhereUniqueInput = runtime.AtLeast<{
  id?: number
  email?: string
  AND?: CustomerWhereInput | CustomerWhereInput[]
}, "id" | "email">
export type CustomerWhereInput = {
  AND?: CustomerWhereInput | CustomerWhereInput[]
  NOT?: CustomerWhereInput | CustomerWhereInput[]
  email?: StringFilter | string
  total?: DecimalFilter | runtime.Decimal | number
}
export type StringFilter = { equals?: string; in?: string[]; not?: StringFilter | string }
export type DecimalFilter = { equals?: runtime.Decimal | number; in?: runtime.Decimal[] | number[] }
`,
};

describe("Prisma", () => {
  it("Models, parts of them and inputs are checked; of Decimal or number the number arrives", () => {
    const { call, notes } = callsOf(
      {
        ...prisma,
        "src/f.ts": `
import type { CustomerModel, CustomerWhereInput, CustomerWhereUniqueInput, OrderCreateInput, OrderModel } from "./generated/models.ts";
import type { Status } from "./generated/enums.ts";
export async function customer(value: CustomerModel, status: Status) {}
export async function part(value: Pick<OrderModel, "id" | "status" | "due" | "bytes" | "big"> & { details?: OrderModel["details"] }) {}
export async function create(value: OrderCreateInput) {}
export async function where(value: CustomerWhereInput) {}
export async function unique(value: CustomerWhereUniqueInput) {}`,
      },
      ["customer", "part", "create", "where", "unique"],
    );
    expect(call("customer", [{ id: 1, email: "a", isAdmin: true }, "paid"])).toEqual([
      { id: 1, email: "a" },
      "paid",
    ]);
    expect(call("customer", [{ id: 1, email: "a" }, "lost"])).toBe(
      'status: expected "open" or "paid", got "lost"',
    );
    expect(
      call("part", [{ id: 1, status: "open", due: "2026-01-01", bytes: "AQ==", big: "1" }], {
        plain: true,
      }),
    ).toEqual([
      {
        id: 1,
        status: "open",
        due: new Date("2026-01-01"),
        bytes: new Uint8Array([1]),
        big: 1n,
      },
    ]);
    const order = { due: "2026-01-01", total: 1, big: 1, details: { a: [1, null] }, customer: {} };
    expect(call("create", [order])).toEqual([order]);
    expect(call("create", [{ ...order, total: true }])).toMatch(/^value\.total: expected /);
    expect(
      call("where", [{ AND: [{ email: { in: ["a"], mode: 1 } }], total: { in: [1] } }]),
    ).toEqual([{ AND: [{ email: { in: ["a"] } }], total: { in: [1] } }]);
    expect(call("where", [{ NOT: { email: { not: 1 } } }])).toMatch(/^value\.NOT/);
    expect(call("unique", [{ email: "a" }])).toEqual([{ email: "a" }]);
    expect(notes.map(({ message }) => message)).toContain(
      "create: value.total: an instance of 'Decimal' can't arrive: no module of the application exports this class; calls give another type of the union",
    );
  });

  it("A Decimal alone is a problem, and so is a union of which nothing else is left", () => {
    const result = read(
      {
        ...prisma,
        "src/f.ts": `
import type { OrderModel } from "./generated/models.ts";
export async function f(value: OrderModel, other: OrderModel["total"] | null, callback: string | (() => string)) {}`,
      },
      ["src/f.ts#f"],
    );
    expect(result.problems.map(({ message }) => message)).toEqual([
      "f: value.total: an instance of 'Decimal' can't arrive: no module of the application exports this class",
      "f: other: an instance of 'Decimal' can't arrive: no module of the application exports this class",
      "f: callback: a function can't arrive: '() => string'",
    ]);
  });
});

describe("notes", () => {
  it("never take the place of a problem", () => {
    const members = Array.from({ length: 9 }, (_, index) => `/** @minimum 1 */ m${index}: number;`);
    const { problems, notes } = read(
      { "src/f.ts": `export async function f(a: { ${members.join("\n")} }, b: symbol) {}` },
      ["src/f.ts#f"],
    );
    expect(problems.map(({ message }) => message)).toEqual([
      "f: b: a symbol can't arrive: 'symbol'",
    ]);
    expect(notes).toHaveLength(5);
  });
});

describe("declarations", () => {
  it("Interfaces that merge, in a module, over files and with a package's, have all members", () => {
    const { call } = callsOf(
      {
        "src/line.ts":
          "export interface Line { sku: string }\nexport interface Line { metres: number }",
        "src/more.ts":
          'import "./line.ts";\ndeclare module "./line.ts" { interface Line { colour?: string } }',
        "src/globals.d.ts":
          "interface Account { id: number }\ndeclare namespace Shop { interface Basket { lines: number[] } }",
        "src/globals-too.d.ts": "interface Account { name: string }",
        "src/f.ts":
          'import type { Line } from "./line.ts";\nimport "./more.ts";\nexport async function f(line: Line, account: Account, basket: Shop.Basket) {}',
      },
      ["f"],
    );
    const all = [{ sku: "a", metres: 1, colour: "red" }, { id: 1, name: "a" }, { lines: [1] }];
    expect(call("f", all)).toEqual(all);
    expect(call("f", [{ sku: "a", colour: 1 }, { id: 1 }, {}])).toBe(
      "line.metres: missing\nline.colour: expected text, got number\naccount.name: missing\nbasket.lines: missing",
    );
  });

  it("A declaration file beside JavaScript has its types, and functions that it declares", () => {
    const { call } = callsOf(
      {
        "src/line.js": "export const limit = 3;",
        "src/line.d.ts": "export interface Line { sku: string }\nexport const limit: 3;",
        "src/f.js":
          '/** @param {import("./line.js").Line} line @param {typeof import("./line.js").limit} limit */\nexport async function f(line, limit) {}',
      },
      ["f"],
      "src/f.js",
    );
    expect(call("f", [{ sku: "a" }, 3])).toEqual([{ sku: "a" }, 3]);
    expect(call("f", [{}, 4])).toBe("line.sku: missing\nlimit: expected 3, got 4");
  });

  it.each([
    ["with", true],
    ["without", false],
  ])("JSDoc counts %s checkJs", (_, checkJs) => {
    const { call, unchecked } = callsOf(
      {
        "tsconfig.json": {
          ...strictConfig,
          compilerOptions: { ...strictConfig.compilerOptions, allowJs: true, checkJs },
        },
        "src/f.js": `
/** @typedef {{ sku: string, metres?: number }} Line */
/** @template T @typedef {{ items: T[], next: T | null }} Page */
/** @enum {string} */ export const Colour = { red: "red" };
/**
 * @param {Page<Line>} page
 * @param {Object} options
 * @param {boolean} options.all
 * @param {number} [options.count]
 * @param {(string|number)=} id
 * @param {...Date} dates
 */
export async function f(page, options, id, ...dates) {}
/** @type {(line: Line) => Promise<void>} */
export const g = async (line) => {};
export async function h(anything) {}`,
      },
      checkJs ? ["f", "g"] : ["f", "g", "h"],
      "src/f.js",
    );
    expect(call("f", [{ items: [{ sku: "a" }], next: null }, { all: true }])).toHaveLength(2);
    expect(call("f", [{ items: [{}] }, {}, true, 1])).toBe(
      "page.items[0].sku: missing\npage.next: missing\noptions.all: missing\nid: expected number or text, got boolean\n...dates[0]: expected a Date, got number",
    );
    expect(call("g", [{ sku: 1 }])).toBe("line.sku: expected text, got number");
    if (!checkJs) expect(unchecked).toEqual({ h: [{ path: "anything", reason: "no JSDoc" }] });
  });
});

describe("files that the compiler doesn't read", () => {
  const component = {
    "src/Panel.vue": "<script lang='ts'>export type Row = { id: number }</script>",
  };
  const shim =
    'declare module "*.vue" { const component: { readonly name: string }; export default component; }';

  it.each([
    ["without a shim", {}, "vue"],
    ["with a shim", { "src/shims.d.ts": shim }, "vue"],
    ["of Svelte", { "src/shims.d.ts": shim.replace("vue", "svelte") }, "svelte"],
  ])("are a problem only where a parameter's type needs one: %s", (_, files, extension) => {
    const result = read(
      {
        ...component,
        ...files,
        "src/f.ts": `import Panel, { type Row } from "./Panel.${extension}";
export async function free(id: number): Promise<Row | undefined> { void Panel; return undefined; }
export async function needs(rows: Row[]) {}
export async function inside(filter: { row?: Row }) {}`,
      },
      ["src/f.ts#free", "src/f.ts#needs", "src/f.ts#inside"],
    );
    expect(Object.keys(result.model.functions)).toEqual(["free"]);
    const hint = `The compiler doesn't read ./Panel.${extension}: declare the type in a .ts file, or write \`unknown\`, or \`"validate": false\` in the segment file`;
    expect(messages(result)).toEqual([
      `needs: rows[]: its type can't be resolved: 'Row' → ${hint}`,
      `inside: filter.row: its type can't be resolved: 'Row' → ${hint}`,
    ]);
  });
});

describe("names of modules", () => {
  it("Aliases of tsconfig, of its base, of package.json's imports and of Vite lead to types", () => {
    const line = "export interface Line { sku: string }";
    const result = read(
      {
        "tsconfig.base.json": {
          compilerOptions: {
            ...strictConfig.compilerOptions,
            paths: { "@shop/*": ["./src/shop/*"] },
          },
        },
        "tsconfig.json": { extends: "./tsconfig.base.json", include: ["src"] },
        "package.json": { name: "app", type: "module", imports: { "#own/*": "./src/own/*" } },
        "src/shop/line.ts": line,
        "src/own/line.ts": line,
        "src/vite/line.ts": line,
        "src/f.ts": `import type { Line as A } from "@shop/line.ts";
import type { Line as B } from "#own/line.ts";
import type { Line as C } from "~/line.ts";
export async function f(a: A, b: B, c: C) {}`,
      },
      ["src/f.ts#f"],
      [{ find: "~", replacement: "./src/vite" }],
    );
    expect(messages(result)).toEqual([]);
    expect(
      result.model.functions["f"]![0]!.parameters.map(
        (one) => one.kind === "plain" && one.type.kind,
      ),
    ).toEqual(["ref", "ref", "ref"]);
  });

  it("A root of references leads to the project that includes a module, through another one too", () => {
    const { compilerOptions } = strictConfig;
    const result = read(
      {
        "tsconfig.json": {
          files: [],
          references: [{ path: "./tsconfig.app.json" }, { path: "./server" }],
        },
        "tsconfig.app.json": {
          compilerOptions: { ...compilerOptions, noEmit: true },
          include: ["src"],
          exclude: ["src/api"],
        },
        "server/tsconfig.json": { files: [], references: [{ path: "./tsconfig.api.json" }] },
        "server/tsconfig.api.json": {
          compilerOptions: {
            ...compilerOptions,
            noEmit: false,
            composite: true,
            lib: ["ES2023", "DOM"],
          },
          include: ["../src/api"],
        },
        "src/f.ts": "export async function f(file: number) {}",
        "src/api/g.ts": "export async function g(file: File) {}",
      },
      ["src/f.ts#f", "src/api/g.ts#g"],
    );
    expect(messages(result)).toEqual([]);
    expect(result.model.functions["g"]).toEqual([
      { parameters: [{ kind: "plain", name: "file", type: { kind: "file" } }] },
    ]);
  });
});

it("Filters of tables that refer to each other are as long as their number, and no longer", () => {
  // As Prisma writes them: each relation is one of two objects, and may be absent.
  const filters = (count: number): string => `
type Without<T, U> = { [P in Exclude<keyof T, keyof U>]?: never };
type XOR<T, U> = T extends object ? (U extends object ? (Without<T, U> & U) | (Without<U, T> & T) : U) : T;
${Array.from(
  { length: count },
  (_, at) => `
export type Is${at} = { is?: Where${at} | null; isNot?: Where${at} | null };
export type Where${at} = {
  AND?: Where${at} | Where${at}[]; name?: string | { contains?: string }; price?: number | string | { gt?: number };
  next?: XOR<Is${(at + 1) % count}, Where${(at + 1) % count}> | null;
  other?: XOR<Is${(at * 7) % count}, Where${(at * 7) % count}> | null;
};`,
).join("")}
export async function find(where: Where0) {}
`;
  const size = (count: number): number =>
    JSON.stringify(read({ "src/f.ts": filters(count) }, ["src/f.ts#find"]).model).length;
  expect(size(80) / size(20)).toBeLessThan(4.2);
});

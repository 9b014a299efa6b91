// OpenAPI documents of contracts, and the part of a contract that others are told.

import { describe, expect, it } from "vitest";
import {
  type Contract,
  contractFormat,
  type ContractProcedure,
  parseContract,
} from "../../server/contract/contract.ts";
import { openApiOf } from "../../server/contract/openapi.ts";
import { publicContract } from "../../server/contract/public-contract.ts";
import { platformConfig, read } from "../unit/types/_read.ts";
import { expectValid } from "./_openapi.ts";

type Told = Partial<Omit<ContractProcedure, "signatures" | "fqn">>;

/** The contract of the functions of a module, as entries say of them. */
function contractOf(
  source: string,
  entries: Readonly<Record<string, Told>>,
  routes: Contract["routes"] = [],
): Contract {
  const { contract } = read(
    { "tsconfig.json": platformConfig, "src/shop.ts": source },
    Object.keys(entries).map((name) => `src/shop.ts#${name}`),
  );
  return {
    format: contractFormat,
    application: { name: "shop", version: "1.2.3" },
    procedures: Object.entries(entries).map(([name, entry]) => {
      const { signatures, doc, deprecated } = contract.functions[name]!;
      return {
        fqn: `shop/${name.replace(/_v.*/, "")}`,
        version: "0.0.0",
        access: "public",
        signatures,
        ...(doc !== undefined && { doc }),
        ...(deprecated && { deprecated }),
        ...entry,
      };
    }),
    routes,
    definitions: Object.fromEntries(
      Object.entries(contract.definitions).map(([name, type]) => [
        name,
        { type, ...(name in contract.docs && { doc: contract.docs[name]! }) },
      ]),
    ),
    classes: contract.classes,
  };
}

interface Operation {
  readonly [field: string]: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

async function documentOf(
  source: string,
  entries: Readonly<Record<string, Told>>,
  routes?: Contract["routes"],
): Promise<{
  readonly openapi: string;
  readonly text: string;
  readonly schemas: Readonly<Record<string, unknown>> | undefined;
  operation(path: string, method: string): Operation;
}> {
  const { document } = openApiOf(contractOf(source, entries, routes));
  await expectValid(document);
  return {
    openapi: document.openapi,
    text: JSON.stringify(document),
    schemas: (document["components"] as { schemas: Record<string, unknown> } | undefined)?.schemas,
    operation: (path, method) => document.paths[path]?.[method] as Operation,
  };
}

interface Properties {
  readonly properties: Readonly<Record<string, unknown>>;
}

const json = (schema: unknown): unknown => ({ "application/json": { schema } });

describe("operations", () => {
  it("openapi-1: A safe procedure whose arguments fit into a query is a GET, any other a POST with a JSON body", async () => {
    const { operation, openapi } = await documentOf(
      `export async function find(term: string, limit = 20, tags?: ("a" | "b")[]) { return 1; }
export async function about(line: { sku: string }) { return "a"; }
export async function order(sku: string) {}`,
      { find: { safe: true }, about: { safe: true }, order: {} },
    );
    expect(openapi).toBe("3.1.1");
    expect(operation("/rpc/shop/find", "get")).toMatchObject({
      operationId: "shop_find",
      tags: ["shop"],
      parameters: [
        { name: "term", in: "query", required: true, schema: { type: "string" } },
        { name: "limit", in: "query", schema: { type: "number", default: 20 } },
        {
          name: "tags",
          in: "query",
          schema: { type: "array", items: { enum: ["a", "b"] } },
        },
      ],
      responses: { "200": { content: json({ type: "number" }) } },
    });
    expect(operation("/rpc/shop/about", "post")["requestBody"]).toEqual({
      required: true,
      content: json({
        type: "object",
        properties: {
          line: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] },
        },
        required: ["line"],
        additionalProperties: false,
      }),
    });
    expect(operation("/rpc/shop/about", "get")).toBeUndefined();
    expect(operation("/rpc/shop/about", "query")).toBeUndefined();
    expect(operation("/rpc/shop/order", "post").responses).toHaveProperty("204");
    expect(operation("/rpc/shop/order", "post").responses).not.toHaveProperty("200");
  });

  it("openapi-2: A document with a stream is of OpenAPI 3.2, with the schema of its items and QUERY; others are of 3.1", async () => {
    const { operation, openapi } = await documentOf(
      `export async function* watch(sku: string): AsyncGenerator<{ price: number }> {}
export async function about(line: { sku: string }) { return "a"; }`,
      { watch: {}, about: { safe: true } },
    );
    expect(openapi).toBe("3.2.0");
    expect(operation("/rpc/shop/watch", "post").responses["200"]).toMatchObject({
      content: {
        "text/event-stream": {
          itemSchema: {
            properties: {
              data: { contentSchema: { properties: { price: { type: "number" } } } },
            },
          },
        },
      },
    });
    expect(operation("/rpc/shop/about", "query")).toMatchObject({
      operationId: "shop_about_query",
      requestBody: operation("/rpc/shop/about", "post")["requestBody"],
    });
  });

  it("openapi-3: Each version has a path, and all but the highest are deprecated", async () => {
    const { operation } = await documentOf(
      `export async function quote() { return 1; }
export async function quote_v2() { return 1; }
export async function quote_v10() { return 1; }`,
      { quote: {}, quote_v2: { version: "2.0.0" }, quote_v10: { version: "10.0.0" } },
    );
    expect(operation("/rpc/shop/quote", "post")).toMatchObject({
      operationId: "shop_quote",
      deprecated: true,
    });
    expect(operation("/rpc/shop/quote@2.0.0", "post")).toMatchObject({
      operationId: "shop_quote_2.0.0",
      deprecated: true,
    });
    expect(operation("/rpc/shop/quote@10.0.0", "post")).not.toHaveProperty("deprecated");
  });

  it("openapi-4: Files come as a form, and go out as they are", async () => {
    const { operation } = await documentOf(
      "export async function swap(file: File, more: Blob[], note: string): Promise<Blob> { return file; }",
      { swap: {} },
    );
    expect(operation("/rpc/shop/swap", "post")).toMatchObject({
      requestBody: { content: { "multipart/form-data": {} } },
      responses: { "200": { content: { "application/octet-stream": {} } } },
    });
  });

  it("openapi-5: An operation says that it is guarded, and not by which guard", async () => {
    const { operation } = await documentOf("/** Cancels. */ export async function cancel() {}", {
      cancel: { guarded: true },
    });
    const { description, responses } = operation("/rpc/shop/cancel", "post");
    expect(description).toBe("Cancels.\n\nA guard decides who may call it.");
    expect(Object.keys(responses)).toEqual(["204", "400", "401", "403", "default"]);
  });

  it("A procedure that isn't checked takes anything under its names", async () => {
    const contract = contractOf("export async function f(a: string) {}", { f: {} });
    const [procedure] = contract.procedures;
    const parameters = [{ kind: "plain", name: "a", type: { kind: "unknown" } }] as const;
    const signatures = [{ parameters, result: { kind: "unknown" } }] as const;
    const { document } = openApiOf({ ...contract, procedures: [{ ...procedure!, signatures }] });
    await expectValid(document);
    expect(document.paths["/rpc/shop/f"]?.["post"]).toMatchObject({
      requestBody: { content: json({ properties: { a: {} } }) },
    });
  });

  it("openapi-6: Routes have their methods, with one path for patterns that only differ in names", async () => {
    const { operation, text } = await documentOf("", {}, [
      { name: "shop/show", access: "public", method: "GET", path: "/orders/:id", doc: "Shows." },
      { name: "shop/put", access: "public", method: "PUT", path: "/orders/:number" },
      { name: "shop/all", access: "public", method: "*", path: "/files/*rest" },
      { name: "shop/inner", access: "protected", method: "GET", path: "/inner" },
    ]);
    expect(operation("/orders/{id}", "get")).toMatchObject({
      operationId: "shop_show",
      summary: "Shows.",
    });
    expect(operation("/orders/{id}", "put")).toMatchObject({ operationId: "shop_put" });
    expect(operation("/files/{rest}", "delete")).toMatchObject({ operationId: "shop_all_delete" });
    expect(text).not.toContain("inner");
  });

  it("Two with one id are told apart by nobody", () => {
    const contract = contractOf("export async function f() {}", { f: {} });
    const [procedure] = contract.procedures;
    const procedures = ["shop/a_b", "shop_a/b"].map((fqn) => ({ ...procedure!, fqn }));
    expect(openApiOf({ ...contract, procedures }).clashes).toEqual([
      { operationId: "shop_a_b", names: ["shop/a_b", "shop_a/b"] },
    ]);
  });
});

describe("schemas", () => {
  it("openapi-7: Types that are read in another form than they are written have two schemas", async () => {
    const { schemas, operation } = await documentOf(
      `export interface Money { amount: bigint }
/** A bill. */
export interface Bill { of: Money; on: Date; note?: string | undefined }
export async function pay(bill: Bill): Promise<Bill> { return bill; }`,
      { pay: {} },
    );
    expect(schemas).toMatchObject({
      Bill: {
        description: "A bill.",
        properties: {
          of: { $ref: "#/components/schemas/Money" },
          on: { type: "string", format: "date-time" },
          note: { type: "string" },
        },
        required: ["of", "on"],
      },
      BillInput: { properties: { of: { $ref: "#/components/schemas/MoneyInput" } } },
      Money: { properties: { amount: { type: "string" } } },
      MoneyInput: { properties: { amount: { anyOf: [{ type: "integer" }, { type: "string" }] } } },
    });
    expect(operation("/rpc/shop/pay", "post").responses["200"]).toMatchObject({
      content: json({ $ref: "#/components/schemas/Bill" }),
    });
  });

  it("A second schema isn't in the way of a type of its name", async () => {
    const { schemas } = await documentOf(
      `export interface Money { amount: bigint }
export interface MoneyInput { mine: string }
export async function pay(money: Money, input: MoneyInput): Promise<Money> { return money; }`,
      { pay: {} },
    );
    expect(schemas).toMatchObject({
      Money: { properties: { amount: { type: "string" } } },
      MoneyInput: { properties: { mine: { type: "string" } } },
      MoneyInput2: { properties: { amount: { anyOf: [{ type: "integer" }, { type: "string" }] } } },
    });
  });

  it("openapi-13: An operation whose arguments hold an instance needs the encoding 'serialized', and says nothing of answers in plain JSON", async () => {
    const { operation } = await documentOf(
      `export class Roll { constructor(public cloth: string, public due: Date) {} }
export async function cut(roll: Roll, metres: number, due: Date, others?: Roll[]): Promise<Roll> { return roll; }
export async function show(): Promise<Roll> { return null!; }`,
      { cut: {}, show: {} },
    );
    const { parameters, requestBody, responses } = operation("/rpc/shop/cut", "post");
    expect(parameters).toEqual([
      {
        name: "x-svc-data-encoding",
        in: "header",
        required: true,
        schema: { const: "serialized" },
      },
    ]);
    const { properties } = (requestBody as { content: { [type: string]: { schema: Properties } } })
      .content["application/json"]!.schema;
    expect(properties).toMatchObject({
      roll: { properties: { serialized: { const: true }, key: { const: "app/Roll" } } },
      metres: { type: "number" },
    });
    const encoded = { description: expect.stringContaining("'serialized'") };
    expect([properties["due"], properties["others"]]).toEqual([encoded, encoded]);
    expect(responses).toEqual({ "200": encoded, "400": encoded, default: encoded });
    expect(operation("/rpc/shop/show", "post")).not.toHaveProperty("parameters");
    expect(operation("/rpc/shop/show", "post").responses["200"]).toHaveProperty("content");
  });

  it("A result of any type may be nothing, which is a 204", async () => {
    const { operation } = await documentOf(
      "export async function f(): Promise<unknown> { return; }",
      { f: {} },
    );
    expect(operation("/rpc/shop/f", "post").responses).toMatchObject({
      "200": { content: json({}) },
      "204": {},
    });
  });

  it("A type of ours isn't in the way of one of the application", async () => {
    const { schemas } = await documentOf(
      "export interface Problem { mine: string } export async function f(): Promise<Problem> { return null!; }",
      { f: {} },
    );
    expect(Object.keys(schemas ?? {})).toEqual(["Problem", "Problem_details"]);
    expect(schemas?.["Problem"]).toMatchObject({ properties: { mine: { type: "string" } } });
  });

  it("Each form of types is valid", async () => {
    await documentOf(
      `export class Point { constructor(public x: number, public y: bigint) {} }
export interface Tree { of: Tree[]; "a/b~c"?: Tree }
export type Shape = { kind: "circle"; r: number } | { kind: "square"; a: number };
enum Level { low, high }
export async function f(
  a: Point, b: Tree, c: Shape, d: [string, number?, ...boolean[]], e: Map<string, Set<Date>>,
  f: Record<\`x-\${string}\`, number>, g: Uint8Array, h: Level, i: unknown, j: URL, k: null | undefined,
  l: readonly string[], m: Partial<Tree>, n: object, o: {},
): Promise<[Point, Tree, Shape, Map<string, bigint>, RegExp, unknown, Level, Record<string, Point>] | undefined> { return; }`,
      { f: {} },
    );
  });
});

describe("what is told", () => {
  const source = `
export interface Secret { of: Inner }
export interface Inner { a: 1 }
export interface Told { b: string }
export async function open(): Promise<Told> { return null!; }
export async function closed(secret: Secret): Promise<Told> { return null!; }`;

  it("openapi-8: Only what is public is told, with the types of this", () => {
    const whole = contractOf(source, { open: {}, closed: { access: "protected" } });
    expect(Object.keys(whole.definitions).sort()).toEqual(["Inner", "Secret", "Told"]);
    for (const text of [publicContract(whole), openApiOf(whole).document].map((told) =>
      JSON.stringify(told),
    ))
      expect(text).not.toMatch(/Secret|Inner|closed/);
  });
});

describe("a contract's text", () => {
  it.each([
    ["", /isn't the contract of a build/],
    ["[]", /isn't the contract/],
    ["null", /isn't the contract/],
    [JSON.stringify({ format: 2, procedures: [], routes: [] }), /its format is 2/],
  ])("%s", (text, message) => {
    expect(() => parseContract(text, "dist/server/contract.json")).toThrow(message);
  });
});

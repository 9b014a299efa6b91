// The part of a function's type that callers see: results and comments, but no name that the application keeps to itself.

import { describe, expect, it } from "vitest";
import type { ContractFunction, ContractTypes } from "../../../server/types/model.ts";
import { platformConfig, read } from "./_read.ts";

function told(source: string, name = "f"): ContractTypes & { readonly f: ContractFunction } {
  const { contract } = read({ "tsconfig.json": platformConfig, "src/f.ts": source }, [
    `src/f.ts#${name}`,
  ]);
  return { ...contract, f: contract.functions[name]! };
}

function result(source: string): unknown {
  return told(source).f.signatures.map(({ result: type, streams }) =>
    streams ? { streams, type } : type,
  );
}

const string = { kind: "string" };
const number = { kind: "number" };

describe("results", () => {
  it.each([
    ["export async function f() { return 1; }", number],
    [
      "export async function f(): Promise<Date | undefined> { return; }",
      {
        kind: "union",
        arms: [{ kind: "date" }, { kind: "undefined" }],
      },
    ],
    ["export async function f() {}", { kind: "undefined" }],
    ["export function f(): string { return ''; }", string],
    [
      "const secret = async () => ({ a: 1 }); export const f = async () => await secret();",
      {
        kind: "object",
        members: { a: { type: number } },
      },
    ],
    // A promise of a value that no message can hold is no mistake of its types.
    ["export async function f(): Promise<() => void> { return () => {}; }", { kind: "unknown" }],
    [
      "export async function f(): Promise<{ a: symbol }> { return null!; }",
      {
        kind: "object",
        members: { a: { type: { kind: "unknown" } } },
      },
    ],
  ])("%s", (source, type) => {
    expect(result(source)).toEqual([type]);
  });

  it("A stream has the type of its items", () => {
    for (const source of [
      "export async function* f() { yield 1; }",
      "export async function* f(): AsyncGenerator<number, string> { return ''; }",
      "export async function f(): Promise<AsyncIterable<number>> { return null!; }",
      "export function f(): AsyncIterableIterator<number> { return null!; }",
    ])
      expect(result(source), source).toEqual([{ streams: true, type: number }]);
  });

  it("Each overload has its own", () => {
    expect(
      result(`export async function f(a: string): Promise<string>;
export async function f(a: number): Promise<number>;
export async function f(a: never): Promise<never> { return a; }`),
    ).toEqual([string, number]);
  });

  it("A wrapper that says nothing has the result of the function in it", () => {
    const source = `const guarded = (f: (...all: any[]) => any): any => f;
export const f = guarded(async (x: number): Promise<string> => String(x));`;
    const { contract } = read({ "src/f.ts": source }, [
      { id: "f", file: "src/f.ts", export: "f", code: source.indexOf("async") },
    ]);
    expect(contract.functions["f"]?.signatures).toMatchObject([{ result: string }]);
  });
});

describe("names", () => {
  it("openapi-9: Only exported types have their name, and internal ones count as not exported", () => {
    const { definitions, f } = told(`
interface Secret { a: number; b: Told }
/** @internal */
export interface Inner { c: number }
export interface Told { x: string }
export async function f(s: Secret, i: Inner): Promise<Told> { return s.b; }`);
    expect(Object.keys(definitions)).toEqual(["Told"]);
    expect(f.signatures[0]?.parameters).toEqual([
      {
        kind: "plain",
        name: "s",
        type: {
          kind: "object",
          members: { a: { type: number }, b: { type: { kind: "ref", to: "Told" } } },
        },
      },
      { kind: "plain", name: "i", type: { kind: "object", members: { c: { type: number } } } },
    ]);
  });

  it("A private type that contains itself has another name", () => {
    const { definitions } = told(
      "interface SecretTree { of: SecretTree[] } export async function f(): Promise<SecretTree> { return null!; }",
    );
    expect(JSON.stringify(definitions)).not.toContain("Secret");
    expect(Object.keys(definitions)).toEqual(["Type"]);
  });

  it("Types of packages have no name", () => {
    const { definitions } = told(
      "import type { RequestInit } from 'undici-types'; export async function f(): Promise<Pick<RequestInit, 'method'>> { return {}; }",
    );
    expect(definitions).toEqual({});
  });

  it("openapi-14: The name of a type has its type arguments, and if two modules have one, its module; others don't change it", () => {
    const files = {
      "src/blog/posts.ts":
        "export interface Page { body: string }\nexport async function g(): Promise<Page> { return null!; }",
      "src/shop/f.ts": `
export interface Page { lines: Line[] }
export interface Line { sku: string; of: Of<Date[]> }
export interface Of<T> { of: T }
export type List<T> = { items: T[]; next?: List<T> };
export async function f(): Promise<[Page, List<Line>, List<Page>, List<"a">, Of<{ a: 1 }>, Partial<Line>]> { return null!; }`,
    };
    const ids = ["src/blog/posts.ts#g", "src/shop/f.ts#f"];
    const [one, other] = [ids, ids.toReversed()].map((all) => read(files, all).contract);
    expect(one!.definitions).toEqual(other!.definitions);
    expect(Object.keys(one!.definitions).toSorted()).toEqual([
      "Line",
      "List_Line",
      "List_Page",
      "List_a",
      "Of",
      "Of_Array_Date",
      "blog_posts_Page",
      "shop_f_Page",
    ]);
    const alone = read(files, ["src/shop/f.ts#f"]).contract;
    expect(Object.keys(alone.definitions)).toContain("Page");
  });

  it("A list of an exported type that contains itself needs no name, whichever is met first", () => {
    const { definitions } = told(
      "export interface Tree { of: Tree[] } export async function f(): Promise<Tree[]> { return []; }",
    );
    expect(Object.keys(definitions)).toEqual(["Tree"]);
    const json = "export type Json = string | Json[] | { [key: string]: Json };";
    for (const type of ["Json", "Json[]", "{ [key: string]: Json }"]) {
      const found = told(`${json} export async function f(): Promise<${type}> { return null!; }`);
      expect(Object.keys(found.definitions), type).toEqual(["Json"]);
    }
  });

  it("One that is exported by a list at the end has its name", () => {
    const { definitions } = told(
      "interface Told { x: string } export async function f(): Promise<Told> { return null!; } export type { Told };",
    );
    expect(Object.keys(definitions)).toEqual(["Told"]);
  });
});

describe("comments", () => {
  const source = `
/** A line of an order. */
export interface Line {
  /** How long. */
  metres: number;
  /** For us alone. @internal */
  cost: number;
}
/** For us alone. */
interface Hidden {
  /** For us alone. */
  a: Line;
}
/**
 * Orders lines.
 *
 * They are cut on the next day.
 * @deprecated
 */
export async function f(of: Hidden, limit = 20, by = Math.random(), { page = "one" } = {}) {}`;

  it("openapi-10: Comments are those of the function and of exported types, and never internal ones", () => {
    const { f, docs, definitions } = told(source);
    expect(f).toMatchObject({
      doc: "Orders lines.\n\nThey are cut on the next day.",
      deprecated: true,
    });
    expect(docs).toEqual({ Line: "A line of an order." });
    expect(definitions).toEqual({
      Line: {
        kind: "object",
        members: { metres: { type: number, doc: "How long." }, cost: { type: number } },
      },
    });
    expect(JSON.stringify(f)).not.toContain("alone");
  });

  it("No comment that is internal, of a function neither", () => {
    expect(told("/** Secret. @internal */ export async function f() {}").f.doc).toBeUndefined();
  });

  it("Defaults that are literals", () => {
    const [, limit, by, pattern] = told(source).f.signatures[0]!.parameters;
    expect(limit).toEqual({
      kind: "plain",
      name: "limit",
      type: number,
      optional: true,
      default: 20,
    });
    expect(by).toEqual({ kind: "plain", name: "by", type: number, optional: true });
    expect(pattern).toMatchObject({ names: [{ name: "page", default: "one" }] });
  });

  it("Checks know nothing of it", () => {
    const { model } = read({ "src/f.ts": source }, ["src/f.ts#f"]);
    expect(JSON.stringify(model)).not.toMatch(/"doc|"default|result/);
  });
});

it("Of a route only its comment is read", () => {
  const { contract, model, problems } = read(
    { "src/f.ts": "/** Takes hooks. */ export async function f(request: NoSuchType) {}" },
    [{ id: "f", file: "src/f.ts", export: "f", route: true }],
  );
  expect({ problems, functions: model.functions }).toEqual({ problems: [], functions: {} });
  expect(contract.functions).toEqual({ f: { doc: "Takes hooks.", signatures: [] } });
});

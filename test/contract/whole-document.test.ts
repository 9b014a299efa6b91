// The document of an application that has each kind of declaration, as others' tools judge it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Contract } from "../../server/contract/contract.ts";
import { openApiOf, type OpenApiDocument } from "../../server/contract/openapi.ts";
import { readContract } from "../../server/report/read-contract.ts";
import { TestLog } from "../../server/testing/index.ts";
import { createFixture } from "../build/_fixture.ts";
import { shop } from "../testing/_shop.ts";
import { platformConfig } from "../unit/types/_read.ts";
import { expectValid } from "./_openapi.ts";

const files = {
  ...Object.fromEntries(Object.entries(shop).filter(([name]) => name.startsWith("node_modules/"))),
  "package.json": JSON.stringify({
    name: "@tailor/nasty",
    version: "1.0.0-beta.1",
    type: "module",
  }),
  "tsconfig.json": JSON.stringify(platformConfig),
  "src/guards.ts": `import { getContext } from "seamline";
export async function signedIn(): Promise<void> { getContext(); }`,
  "src/shop/catalogue/items.ts": `import { getContext } from "seamline";
import type { Format, Int, MaxLength, Min } from "seamline/types";
/** A page of a list: \`items\` & "next" <b>as it is</b>.
 * @deprecated */
export interface Page<T> { items: T[]; next?: Page<T> | null; total: number & Int & Min<0> }
export interface Tree { "a/b~c": Tree[]; parent?: Tree; [key: \`x-\${string}\`]: unknown }
export type Shape = { kind: "circle"; r: number } | { kind: "square"; a: bigint } | { kind: 3 | true | null };
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export class Point { constructor(public x: number, public on: Date = new Date()) {} }
export enum Level { low, high = "high" }
interface Hidden { of: Hidden[]; at: Date }
/** Finds.
 *
 * @param term some of it
 */
export async function find(term: string & MaxLength<20>, limit = -1.5e3, ...tags: ("a" | "b" | 3)[]): Promise<Page<Tree>> { return null!; }
export async function search(term: string, mail?: string & Format<"email">, level: Level = Level.low, ids: bigint[] = []): Promise<Page<Shape> | undefined> { return; }
export async function pick(id: string): Promise<Page<string>>;
export async function pick(id: number, strict?: boolean): Promise<Page<Date>>;
export async function pick(id: unknown): Promise<never> { throw id; }
export async function mix(map: Map<string, Set<Date>>, bytes: Uint8Array, { a, b = 2n }: { a: URL; b?: bigint }, tuple: [string, ...number[], boolean]): Promise<Map<Date, Uint8Array>> { return new Map(); }
export async function draw(at: Point, others: Set<Point>): Promise<Point[]> { return [at]; }
export async function store(file: File, names: string[] = []): Promise<Blob | null> { return file; }
export async function any(json: Json, hidden: Hidden, all?: unknown): Promise<Json | Hidden> { return json; }
export async function nothing(): Promise<void> {}
/** Counts. */
export async function* count(from = 0): AsyncGenerator<{ at: Date; of: Page<Point> }, bigint> {
  yield { at: new Date(Number(getContext().lastEventId ?? from)), of: null! };
  return 1n;
}
export async function* plain(): AsyncGenerator<Uint8Array | undefined> {}
export async function show(): Promise<Response> { return new Response("a"); }
export async function hook(request: Request): Promise<Response> { return new Response(request.method); }
export async function shown(): Promise<Response> { return new Response("b"); }`,
  "src/shop/catalogue/items-2.ts": `export interface Page { cursor: string }
export async function find(page: Page): Promise<Page> { return page; }`,
  "src/blog/catalogue/items.ts": `/** Of the blog. */
export interface Page { title: string; Problem: Problem }
export interface Problem { mine: bigint }
export interface ProblemInput { mine: Date }
export async function find(page?: Page): Promise<Page> { return page!; }
export async function loose(page: Page): Promise<Page> { return page; }
export async function solve(input: ProblemInput, problem: Problem): Promise<void> {}`,
  "segments/all.segment.json": JSON.stringify({
    "./shop/catalogue/items": {
      ...Object.fromEntries(
        ["mix", "draw", "store", "any", "nothing", "pick", "plain"].map((name) => [
          name,
          { access: "public" },
        ]),
      ),
      find: { access: "public", safe: true },
      search: { access: "public", safe: true, guard: "./guards.ts#signedIn" },
      count: { access: "public", resume: true },
      show: { access: "public", route: "GET /images/:id" },
      hook: { access: "public", route: "* /images/:name/*rest", guard: "./guards.ts#signedIn" },
      shown: { access: "public", route: "GET /images/new" },
    },
    "./shop/catalogue/items-2": { find: { access: "public", version: "2.1", extra: "refuse" } },
    "./blog/catalogue/items": {
      find: { access: "public" },
      loose: { access: "public", validate: false },
      solve: { access: "public" },
    },
  }),
};

let contract: Contract;
let document: OpenApiDocument;
const removals: (() => void)[] = [];

beforeAll(async () => {
  const app = createFixture(files, (remove) => removals.push(remove));
  ({ contract } = await readContract({ root: app.root, log: new TestLog() }));
  document = openApiOf(contract).document;
}, 60_000);

afterAll(() => {
  for (const remove of removals) remove();
});

describe("the document of an application with each kind of declaration", () => {
  it("is valid, and a linter has nothing to say about it", async () => {
    await expectValid(document);
    expect(Object.keys(document.paths)).toHaveLength(17);
  });

  it("is valid without its streams, as 3.1", async () => {
    const procedures = contract.procedures.filter(({ signatures }) =>
      signatures.every(({ streams }) => !streams),
    );
    const { document: plain } = openApiOf({ ...contract, procedures });
    expect(plain.openapi).toBe("3.1.1");
    await expectValid(plain);
  });

  it("has a schema for each name, and none that isn't referred to", () => {
    const text = JSON.stringify(document);
    const { schemas } = document["components"] as { schemas: Record<string, unknown> };
    const references = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)];
    expect(new Set(references.map(([, name]) => name))).toEqual(new Set(Object.keys(schemas)));
    expect(Object.keys(schemas)).toMatchInlineSnapshot(`
      [
        "Json",
        "Page_Date",
        "Page_Point",
        "Page_Shape",
        "Page_Tree",
        "Page_string",
        "Problem",
        "ProblemInput",
        "ProblemInput2",
        "Tree",
        "Type",
        "blog_catalogue_items_Page",
        "blog_catalogue_items_PageInput",
        "shop_catalogue_items_2_Page",
        "Problem_details",
      ]
    `);
    expect(text).not.toContain("Hidden");
  });
});

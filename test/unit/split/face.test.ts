import { describe, expect, it } from "vitest";

import { lines, split, strip } from "./_harness.ts";

/** The code of a face after its first line, which imports the seam. */
const face = (source: string, ...procedures: string[]): string[] =>
  lines(split(source, { procedures }).face);

/** The `length` of the functions of a face. */
function lengthOf(source: string, name: string): number {
  const code = strip(split(source, { procedures: [name] }).face.code, "shop/m.ts")
    .replace(/^import .*$/gm, "")
    .replace(/^export .*$/gm, "");
  // oxlint-disable-next-line no-implied-eval -- a face that is no module any more: its function alone
  const make = new Function("$seam", `${code}; return ${name};`) as (
    seam: unknown,
  ) => () => unknown;
  return make(() => ({ run: async () => undefined })).length;
}

describe("a face", () => {
  it.each([
    ["sku: string, metres: number", 2],
    ["sku: string, metres = 1, colour?: string", 1],
    ["sku: string, ...others: string[]", 1],
    ["this: Context, sku: string", 1],
    ["{ sku }: Item, [first]: string[]", 2],
    ["{ sku }: Item = {}, metres: number", 0],
    ["", 0],
  ])("keeps the length of a function with the parameters (%s): %i", (parameters, length) => {
    expect(lengthOf(`export async function quote(${parameters}) {}`, "quote")).toBe(length);
  });

  it("keeps the names of plain parameters, and has no defaults or patterns", () => {
    const [, first] = face(
      "export async function quote(sku: string, { margin = 7 }: X) {}",
      "quote",
    );
    expect(first).toMatch(/^function quote\(sku, arg1\) \{/);
    const [, second] = face("export async function quote(sku: string, margin = 7) {}", "quote");
    expect(second).toMatch(/^function quote\(sku\) \{/);
  });

  it("gives a parameter without a name one that the module doesn't use", () => {
    const source = "const arg0 = 1; export async function quote({ a }: X) { return arg0; }";
    expect(face(source, "quote")[1]).toMatch(/^function quote\((?!arg0\b)\$?arg\w+\) \{/);
  });

  it("doesn't show how long the module is", () => {
    const short = "export async function quote() { return 1; }";
    const long =
      "export async function quote() {\n  const a = 1;\n\n  return a;\n}\n\n// The end.\n";
    expect(split(long, { procedures: ["quote"] }).face.code).toBe(
      split(short, { procedures: ["quote"] }).face.code,
    );
  });

  it("re-exports with the attributes of the module's statements", () => {
    const source = [
      'export * from "./a.ts";',
      'export * as all from "./b.json" with { type: "json" };',
      'export { one, two as second, default as third } from "./c.ts";',
      'import data, { part } from "./d.json" with { "type": "json" };',
      "export { data, part };",
      "export async function quote() {}",
    ].join("\n");
    expect(face(source, "quote")).toEqual(
      expect.arrayContaining([
        'export * as all from "./b.json" with { type: "json" };',
        'export { one } from "./c.ts";',
        'export { two as second } from "./c.ts";',
        'export { default as third } from "./c.ts";',
        'export { default as data } from "./d.json" with { "type": "json" };',
        'export { part } from "./d.json" with { "type": "json" };',
        'export * from "./a.ts";',
      ]),
    );
  });

  it("has the seams in source order, under all names by which they are exported", () => {
    const source =
      "export async function b() {}\nasync function a() {}\nexport { a, a as also };\nexport const shared = 1;";
    const code = face(source, "a", "b");
    expect(code.findIndex((line) => line.startsWith("function b("))).toBeLessThan(
      code.findIndex((line) => line.startsWith("function a(")),
    );
    expect(code).toContain("export { b, a, a as also };");
    expect(code).toContain('export { shared } from "./m.shared.mjs";');
  });
});

describe("the face of a procedure that is an async generator", () => {
  const made = "const w = (f: any): any => f;\nexport const quote";
  it.each([
    ["a function", "export async function* quote(sku: string) { yield sku }"],
    ["a constant", "export const quote = async function* (sku: string) { yield sku }"],
    ["a wrapped one", `${made}: (sku: string) => AsyncIterable<string> = w(async function* () {})`],
    ["its type", `${made} = w(1) as (sku: string) => AsyncGenerator<string>`],
    ["an imported type", `${made} = w(async function* () {}) as (sku: string) => Rows<string>`],
  ])("says that it is a stream, and has the same function as any other: %s", (_what, source) => {
    const [, code = ""] = face(source, "quote");
    const other = face("export async function quote(sku: string) {}", "quote")[1];
    // `withOptions` gets nothing but the function.
    expect(code).toContain(',"stream":true}, quote)');
    expect(code.replace(',"stream":true}, quote)', "})")).toBe(other);
  });

  it("says nothing of it for one that collects what a generator yields", () => {
    const source = `${made}: (sku: string) => Promise<string[]> = w(async function* () {})`;
    expect(face(source, "quote")[1]).not.toContain("stream");
  });
});

describe("a face that keeps procedures back", () => {
  const source =
    "export async function quote() {}\nexport async function order() {}\nexport const shared = 1;\nexport { other, left } from './other.ts';";
  const kept = (
    closed: readonly [string, "ProcedureNotFound" | "Unauthorized"][],
    ...unnamed: string[]
  ): string =>
    split(source, {
      procedures: ["quote", "order"],
      keptBack: { closed: new Map(closed), unnamed: new Set(unnamed) },
    }).face.code;

  it("has a function that rejects and no seam for a closed procedure", () => {
    const code = kept([["quote", "ProcedureNotFound"]]);
    expect(code).toContain(
      `throw new $ProcedureNotFound("Procedure 'quote' not found: pages can't call it")`,
    );
    expect(code).not.toContain('"fqn":"shop/quote"');
    expect(code).toContain('"fqn":"shop/order"');
  });

  it("has an async generator that throws for a closed one that is a stream", () => {
    const { face: part } = split("export async function* quote() {}", {
      procedures: ["quote"],
      keptBack: { closed: new Map([["quote", "Unauthorized"]]), unnamed: new Set() },
    });
    expect(part.code).toContain("async function* $closed() { throw new $Unauthorized(); }");
  });

  it("says only Unauthorized for a protected procedure", () => {
    expect(kept([["quote", "Unauthorized"]])).toContain("throw new $Unauthorized()");
  });

  it("imports each error once, and `seam` only if a seam is left", () => {
    const code = kept([
      ["quote", "ProcedureNotFound"],
      ["order", "ProcedureNotFound"],
    ]);
    expect(code.split("\n")[0]).toBe(
      'import { ProcedureNotFound as $ProcedureNotFound } from "./graph.mjs";',
    );
    expect(code.match(/throw new \$ProcedureNotFound\(/g)).toHaveLength(2);
  });

  it("has no unnamed export, declared or re-exported", () => {
    const code = kept([["quote", "ProcedureNotFound"]], "quote", "left");
    expect(code).not.toMatch(/quote|left/);
    expect(code).toContain("other");
    expect(code).toContain("export { order };");
  });
});

// Checks of whole calls: positions, patterns, rests, overloads; and what generated code is made of.

import { faultText } from "../../../src/base/faults.ts";
import { describe, expect, it } from "vitest";
import { createCheck, type CheckOptions, instanceFaults } from "../../../server/types/check.ts";
import { generateChecks } from "../../../server/types/generate-checks.ts";
import { Memory, testContext } from "../../../server/types/memory.ts";
import type { TypeModel } from "../../../server/types/model.ts";
import { loadChecks } from "./_check.ts";
import { read } from "./_read.ts";

function caller(
  source: string,
): (positions: unknown[], options?: Partial<CheckOptions>) => unknown {
  const { model, problems } = read({ "src/f.ts": source }, ["src/f.ts#f"]);
  expect(problems).toEqual([]);
  const check = createCheck(model, loadChecks(generateChecks(model)), "f");
  return (positions, options) => {
    const result = check(positions, { isInstance: () => false, ...options });
    return "faults" in result ? faultText(result.faults, result.more) : result.positions;
  };
}

describe("calls", () => {
  it("may leave out what is optional, and nothing else", () => {
    const call = caller("export async function f(a: string, b?: number, c = 1) {}");
    expect(call(["a"])).toEqual(["a"]);
    expect(call(["a", undefined, 2])).toEqual(["a", undefined, 2]);
    expect(call([])).toBe("a: expected text, got undefined");
    expect(call(["a", null, ""])).toBe(
      "b: expected number, got null\nc: expected number, got text",
    );
  });

  it("name the parts of patterns as callers send them", () => {
    const call = caller(
      "interface Line { sku: string }\nexport async function f({ lines, n: m = 1 }: { lines: Line[]; n?: number }, [first, , third]: string[] = []) {}",
    );
    expect(call([{ lines: [] }])).toEqual([{ lines: [] }]);
    expect(call([{ lines: [{ sku: "a", more: 1 }], n: 2 }, ["a", 1, "b"]])).toEqual([
      { lines: [{ sku: "a" }], n: 2 },
      ["a", 1, "b"],
    ]);
    expect(call([{ lines: [{}], n: "" }, [1]])).toBe(
      "lines[0].sku: missing\nn: expected number, got text\nfirst: expected text, got number",
    );
  });

  it("have rests of their type", () => {
    const call = caller("export async function f(a: string, ...more: { n: bigint }[]) {}");
    expect(call(["a"])).toEqual(["a"]);
    expect(call(["a", { n: "1" }, { n: 2, x: 1 }], { plain: true })).toEqual([
      "a",
      { n: 1n },
      { n: 2n },
    ]);
    expect(call(["a", { n: 1n }, {}])).toBe("...more[1].n: missing");
  });

  it("have to fit one overload as a whole, and the nearest one explains", () => {
    const call = caller(
      "export async function f(a: string): Promise<void>; export async function f(a: number, b: { c: string }): Promise<void>; export async function f(a: unknown, b?: unknown) {}",
    );
    expect(call(["a"])).toEqual(["a"]);
    expect(call([1, { c: "", d: 1 }])).toEqual([1, { c: "" }]);
    expect(call(["a", { c: "" }])).toBe("b: expected undefined, got an object");
    expect(call([1, { c: 1 }])).toBe("b.c: expected text, got number");
  });

  it("may hold an object that contains itself, also beside plain JSON: a middleware set it", () => {
    const call = caller(
      "interface Node { next?: Node; at?: Date }\nexport async function f(node: Node, at?: Date) {}",
    );
    const node: { next?: object; more?: number } = { more: 1 };
    node.next = node;
    const [copy] = call([node, "2026-01-01"], { plain: true, isTree: false }) as [typeof node];
    expect(copy).toEqual({ next: copy });
    expect(copy.next).toBe(copy);
  });

  it("of a function that the model doesn't have are refused", () => {
    const model: TypeModel = { definitions: {}, classes: {}, functions: {} };
    const checks = loadChecks(generateChecks(model));
    for (const id of ["f", "toString", "__proto__"])
      expect(createCheck(model, checks, id)([], { isInstance: () => true })).toEqual({
        faults: [{ path: "", message: "doesn't fit the types of the parameters" }],
        more: false,
      });
  });
});

describe("generated code", () => {
  it("holds texts of the application as texts only", () => {
    const evil = '"]; globalThis.broken = true; //`${globalThis.broken = true}\n\u2028\\';
    const name = JSON.stringify(evil);
    const call = caller(
      `export async function f(a: { ${name}: ${name} | 1 | 2 | 3 | 4 | 5 } | \`x\${number}\${${name}}\`, b: Record<${name}, { [k: \`\${${name}}\${string}\`]: number }>) {}`,
    );
    expect(call([{ [evil]: evil }, { [evil]: { [`${evil}x`]: 1 } }])).toEqual([
      { [evil]: evil },
      { [evil]: { [`${evil}x`]: 1 } },
    ]);
    expect(call([{ [evil]: "" }, { [evil]: {} }])).toMatch(/^a\["/);
    expect("broken" in globalThis).toBe(false);
  });

  it("is the same for the same model", () => {
    const { model } = read(
      {
        "src/f.ts":
          "type L = [string[], 'a' | number];\nexport async function f(a: { b: string[] } | { c: 'x' | 'y' }, l: L, m: L) {}",
      },
      ["src/f.ts#f"],
    );
    expect(generateChecks(JSON.parse(JSON.stringify(model)) as TypeModel)).toBe(
      generateChecks(model),
    );
  });
});

describe("instances", () => {
  const { model, problems } = read(
    {
      "src/f.ts": `
export class Line { constructor(readonly sku: string, readonly sizes: number[] = []) {} }
export class Order {
  note?: string;
  lines: Line[] = [];
  private secret = 1;
  constructor(readonly id: string, seed: number, readonly due?: Date) {}
  get count() { return this.lines.length; }
}
export async function f(order: Order) {}`,
    },
    ["src/f.ts#f"],
  );
  const checks = loadChecks(generateChecks(model));
  class Line {}
  const faultsOf = (key: string, args: object, fields: object = {}): unknown =>
    faultText(
      instanceFaults(
        model,
        checks,
        key,
        { args: args as Record<string, unknown>, fields: fields as Record<string, unknown> },
        { isInstance: (name, value) => name === "app/Line" && value instanceof Line },
      ),
      false,
    );

  it("are checked by what their constructor and fields take, before they are built", () => {
    expect(problems).toEqual([]);
    expect(faultsOf("app/Order", { 0: "a", 2: new Date() }, { lines: [new Line()] })).toBe("");
    expect(faultsOf("app/Order", { 0: 1, 2: "soon" }, { lines: [{}], note: undefined })).toBe(
      `id: expected text, got number\ndue: expected a Date, got text\nlines[0]: expected an instance of 'app/Line', got an object: send {"serialized":true,"name":"class","key":"app/Line","args":{…},"fields":{…}} with x-svc-data-encoding: serialized`,
    );
    expect(faultsOf("app/Line", { 0: "a", 1: [1, ""] })).toBe(
      "sizes[1]: expected number, got text",
    );
  });

  it("have the arguments that a member holds; others aren't sent", () => {
    expect(faultsOf("app/Order", {})).toBe("id: missing");
    expect(faultsOf("app/Order", { 0: "a", 1: "b" })).toBe("seed: expected number, got text");
  });

  it("have no fields that their class doesn't declare, and no class that no parameter takes", () => {
    expect(faultsOf("app/Order", { 0: "a" }, { other: 1, toString: 1 })).toBe(
      'unknown field "other"\nunknown field "toString"',
    );
    expect(faultsOf("app/Other", {})).toBe("'app/Other' can't be here");
    expect(faultsOf("toString", {})).toBe("'toString' can't be here");
  });
});

describe("a memory of comparisons", () => {
  const context = testContext(() => false, false);

  it("takes back what was right only by an assumption that turned out wrong", () => {
    const memory = new Memory();
    const [outer, inner] = [{}, {}];
    const innerTest = (): boolean => memory.compare(outer, outerTest, context);
    const outerTest = (): boolean => memory.compare(inner, innerTest, context) && false;
    expect(memory.compare(outer, outerTest, context)).toBe(false);
    expect(memory.compare(inner, innerTest, context)).toBe(false);
  });

  it("compares an object so often and no more", () => {
    const memory = new Memory();
    const value = {};
    for (let count = 0; count < 100; count++)
      expect(memory.compare(value, () => true, context)).toBe(true);
    expect(memory.exhausted).toBe(false);
    expect(memory.compare(value, () => true, context)).toBe(false);
    expect(memory.exhausted).toBe(true);
  });
});

// Which changes of a module leave the types that it declares as they are.

import { parseSync } from "vite";
import { describe, expect, it } from "vitest";

import { keepsTypes } from "../../../server/dev/declared-types.ts";

const source = `import type { Line } from "./line.ts";
export interface Order { readonly line: Line }
const limit = { metres: 30 };
export type Limit = typeof limit;
export async function order(line: Line, most = limit.metres): Promise<number> {
  const rows = [line];
  return rows.length * most;
}
const twice = (metres: number): number => { return metres * 2; };
const half = (metres: number) => { return metres / 2; };
export class Money {
  amount;
  constructor(amount: number) { this.amount = amount; }
  add(other: Money): Money { return new Money(this.amount + other.amount); }
}
`;

const file = "/app/src/shop/order.ts";

/** Whether this change of the source keeps all types. */
function keeps(from: string, to: string): boolean {
  expect(source).toContain(from);
  const modules = {
    byFile: (path: string) => (path === file ? { id: "shop/order", file, name: file } : undefined),
    text: () => source.replace(from, to),
  };
  return keepsTypes(new Map([[file, source]]), modules, parseSync);
}

describe("the types that a module declares", () => {
  it.each([
    ["in a function", "* most", "* 3"],
    ["in a function, of its lines", "const rows = [line];", "\n\n  const rows = [line, line];"],
    ["in a function in an expression", "metres * 2", "metres + metres"],
    ["in a method", "this.amount + other.amount", "other.amount"],
  ])("are kept by a change %s with a written result", (_, from, to) => {
    expect(keeps(from, to)).toBe(true);
  });

  it.each([
    ["a type", "readonly line: Line", "readonly line: string"],
    ["a parameter", "line: Line,", "line: string,"],
    ["a default", "most = limit.metres", "most = 3n"],
    ["a written result", "Promise<number>", "Promise<bigint>"],
    ["a value that a type is of", "metres: 30", 'metres: "30"'],
    ["a function whose result is inferred", "metres / 2", "`${metres}`"],
    ["a constructor", "this.amount = amount", "this.amount = [amount]"],
    ["an import", "./line.ts", "./row.ts"],
  ])("may be others after a change of %s", (_, from, to) => {
    expect(keeps(from, to)).toBe(false);
  });

  it("may be others after a change of a file that isn't a module, or wasn't read before", () => {
    const modules = { byFile: () => undefined, text: () => source };
    expect(keepsTypes(new Map([["/app/tsconfig.json", "{}"]]), modules, parseSync)).toBe(false);
    const known = { ...modules, byFile: () => ({ id: "shop/order", file, name: file }) };
    expect(keepsTypes(new Map([[file, undefined]]), known, parseSync)).toBe(false);
  });
});

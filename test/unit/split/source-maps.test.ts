// Source maps and positions: the code of a part stays on the line where its author wrote it.

import { SourceMap } from "node:module";

import { describe, expect, it } from "vitest";

import type { Part } from "../../../src/split/write/split-module.ts";
import { application, split } from "./_harness.ts";

const source = `import { a } from "./a";

const secret = "s";
/** Money */
export class Money {
  constructor(public n: number) { mark1(a); }
}
export async function hidden() { return secret }
export const quote = async (sku: string) => ({ sku, money: mark2(), again: stock });
export async function stock(this: unknown, sku: string, list = mark3()) {
\tif (sku) return mark4(new Money(1), hidden); else { throw mark5(this) }
}
export default async (n: number) => mark6(n)
export async function* rows(n: number) { mark7; yield mark8(this, n); return mark9 }
`;

function positionIn(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: lines.at(-1)!.length };
}

function originals(part: Part, pattern: RegExp): [string, unknown][] {
  const map = new SourceMap({ ...part.map, file: "", sourceRoot: "" });
  return [...part.code.matchAll(pattern)].map((found) => {
    const { line, column } = positionIn(part.code, found.index);
    const entry = map.findEntry(line - 1, column);
    return [
      found[0],
      "originalLine" in entry
        ? { line: entry.originalLine + 1, column: entry.originalColumn }
        : undefined,
    ];
  });
}

describe("the source map", () => {
  it.each(["shared", "body"] as const)(
    "of the %s part leads every word to its position in the source",
    (kind) => {
      const part = split(source, { procedures: ["quote", "stock", "default", "rows"] })[kind]!;
      const marks = originals(part, /mark\d|secret|Money|hidden(?=\))/g).filter(
        ([text]) => kind === "shared" || text !== "Money",
      );
      expect(marks.length).toBeGreaterThan(kind === "shared" ? 3 : 4);
      for (const [text, position] of marks) {
        const all = [...source.matchAll(new RegExp(text, "g"))].map(({ index }) =>
          positionIn(source, index),
        );
        expect(all, text).toContainEqual(position);
      }
    },
  );

  it("of the face leads each seam to its declaration", () => {
    const { face } = split(source, { procedures: ["quote", "stock", "default", "rows"] });
    expect(
      originals(face, /function (?:quote|stock|rows|\$default)\b/g).map(([text, position]) => [
        text,
        (position as { line: number }).line,
      ]),
    ).toEqual([
      ["function quote", 9],
      ["function stock", 10],
      ["function $default", 13],
      ["function rows", 14],
    ]);
  });

  it("names the file and contains only the part's text", () => {
    const { shared, body } = split(source, {
      procedures: ["hidden", "quote", "stock", "default", "rows"],
      file: "src/shop/m.ts",
    });
    expect(body?.map).toMatchObject({ version: 3, sources: ["src/shop/m.ts"], names: [] });
    expect(body?.map.sourcesContent.join()).not.toContain("Money */");
    expect(shared?.map.sourcesContent.join()).not.toContain("secret");
  });

  it("isn't needed for lines, which are those of the source", () => {
    const { shared, body } = split(source, { procedures: ["quote", "stock", "default", "rows"] });
    for (const part of [shared, body]) {
      for (const found of part!.code.matchAll(/mark\d/g)) {
        expect(positionIn(part!.code, found.index).line).toBe(
          positionIn(source, source.indexOf(found[0])).line,
        );
      }
    }
  });

  it("isn't needed for the stack of an error, which has the lines of the source", async () => {
    const text =
      "\nconst why = 'x';\n\nexport async function f() {\n  await null;\n  throw new Error(why);\n}\n";
    const { f } = (await application({ m: { text, file: "m.js", procedures: ["f"] } }).import(
      "m",
    )) as unknown as {
      f: () => Promise<never>;
    };
    const error = await f().catch((thrown: Error) => thrown);
    expect(error.stack).toMatch(/at f \(.*m\.body\.mjs:6:9\)/);
  });

  it.each([
    ["a function", "export async function* f(why = 'x') {", "}", ""],
    [
      "a wrapped one",
      "const w = (f) => f; /** @type {(why?: string) => AsyncGenerator<number>} */ export const f = w(async function* f(why = 'x') {",
      "});",
      "Context\\.",
    ],
  ])(
    "isn't needed for the stack of an error in the middle of a stream: %s",
    async (_what, head, tail, self) => {
      const text = `\n\n${head}\n  yield 1;\n  await null;\n  throw new Error(why);\n${tail}\n`;
      const { f } = await application({ m: { text, file: "m.js", procedures: ["f"] } }).import("m");
      const items = f!() as unknown as AsyncGenerator;
      await items.next();
      const error = (await items.next().catch((thrown: unknown) => thrown)) as Error;
      expect(error.stack).toMatch(new RegExp(`at ${self}f \\(.*m\\.body\\.mjs:6:9\\)`));
    },
  );

  it("leads the function around a procedure that can't be caught inside to its last line, and stacks have its own name", async () => {
    const { body } = split(source, { procedures: ["quote", "stock", "default", "rows"] });
    expect(originals(body!, /stock\.apply/g)).toMatchObject([[expect.anything(), { line: 12 }]]);
    const text =
      "const Size = { small: 's' };\nexport async function f(size = Size.small) {\n  await null;\n  throw new Error(size);\n}\n";
    const { f } = await application({ m: { text, file: "m.js", procedures: ["f"] } }).import("m");
    const error = (await f!().catch((thrown: unknown) => thrown)) as Error;
    expect(error.stack).toMatch(/at f \(.*m\.body\.mjs:4:9\)\n +at async f \(.*m\.body\.mjs:5:/);
  });
});

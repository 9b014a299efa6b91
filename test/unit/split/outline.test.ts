// The outline of a module against its description, over a lot of code and over each form.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseSync } from "vite";
import { describeModule } from "../../../src/split/describe/describe.ts";
import { type ModuleOutline, outlineOf } from "../../../src/split/describe/outline.ts";

const root = join(import.meta.dirname, "../../..");
const folders = [
  "client",
  "demo/src",
  "server",
  "src",
  "node_modules/zod/src",
  "node_modules/msw/src",
];

function outline(source: string, file = "module.ts"): ModuleOutline | undefined {
  return outlineOf(source, () => parseSync(file, source));
}

/** The description, as far as an outline tells it. */
function described(source: string, file = "module.ts"): ModuleOutline {
  const found = describeModule({ source, file, parse: parseSync });
  return {
    imports: found.imports.map(({ unused: _, ...rest }) => rest),
    exports: found.exports.map(({ name, from }) => ({ name, ...(from && { from }) })),
    starReexports: found.starReexports,
    classes: found.classes,
    problems: found.problems,
    startClientCalls: found.startClientCalls,
    clientImports: found.clientImports,
  };
}

const told = [
  `export const a = 1, { b, c: [d] } = { b: 2, c: [3] };`,
  `export function f(a: string): void;\nexport function f(a: number): void;\nexport function f(a: unknown): void {}`,
  `export async function g() {} export function* h() {} export async function* i() {}`,
  `export default function () {}`,
  `export default async function named() {}`,
  `export interface Shape { a: number }\nexport type Id = string;\nexport const Shape = 1;`,
  `import "./effect.ts";\nimport a, { b, type C, d as e } from "./a.ts";\nimport * as all from "./b.ts";\nexport const f = [a, b, e, all];`,
  `import type A from "./a.ts";\nimport { type B } from "./b.ts";\nimport { C } from "./c.ts";\nexport const d = (c: C): A | B => c;`,
  `import { "odd name" as odd } from "./a.ts";\nimport { default as d } from "./b.ts";\nexport let x = [odd, d];`,
];

const untold = {
  "a re-export": `export { a } from "./a.ts";`,
  "a re-export of a type": `export type { A } from "./a.ts";`,
  "a list of exports, which may name a type": `interface A {}\nconst b = 1;\nexport { A, b };`,
  "an import that is exported": `import { a } from "./a.ts";\nexport { a };`,
  "all exports of another module": `export * from "./a.ts";`,
  "a class": `export class A {}`,
  "an enum": `export enum A { B }`,
  "a namespace": `export namespace A { export const b = 1; }`,
  "a declaration without a value": `export declare const a: number;`,
  "a default export of an expression": `const a = 1;\nexport default a;`,
  "a dynamic import": `export const a = () => import("./a.ts");`,
  "a module that a client imports": `export const a = (client: any) => client.import("./a.ts");`,
  "the same with an escape": `export const a = (client: any) => client.\\u0069mport("./a.ts");`,
  "a start of the client": `import { startClient } from "seamline/client";\nstartClient("page");`,
  "an import of nothing": `import type {} from "./a.ts";`,
  "an import by assignment": `import a = require("./a.ts");\nexport const b = a;`,
  "a syntax error": `export const = 1;`,
};

describe("the outline of a module", () => {
  it.each(told)("is the same as its description: %s", (source) => {
    expect(outline(source)).toEqual(described(source));
  });

  it.each(Object.entries(untold))("isn't told without a tree: %s", (_, source) => {
    expect(outline(source)).toBeUndefined();
  });

  it.each(folders)("is the same as its description for every module of %s", (folder) => {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter(
      (file) => /\.m?[jt]sx?$/.test(file) && !/\.d\.m?ts$/.test(file),
    );
    let outlines = 0;
    for (const file of files) {
      const source = readFileSync(join(root, folder, file), "utf8");
      const found = outline(source, file);
      if (found === undefined) continue;
      outlines++;
      // Merged declarations may be exported in another order.
      const sorted = ({ exports, ...rest }: ModuleOutline): object => ({
        ...rest,
        exports: exports.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      });
      expect(sorted(found), file).toEqual(sorted(described(source, file)));
    }
    expect(outlines / files.length).toBeGreaterThan(0.1);
  });
});

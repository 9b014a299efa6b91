import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ParameterType, Signature } from "../../../server/types/model.ts";
import { programMemory } from "../../../server/types/programs.ts";
import { type ReadTypes, readTypes } from "../../../server/types/read-types.ts";
import { ts } from "../../_sources.ts";
import { buildPackage } from "../../process/_application.ts";
import { folderOf, read, strictConfig } from "./_read.ts";

const string = { kind: "string" } as const;
const number = { kind: "number" } as const;
const looseConfig = {
  ...strictConfig,
  compilerOptions: { ...strictConfig.compilerOptions, strict: false },
};

function signatures({ model, problems }: ReadTypes, id: string): readonly Signature[] {
  expect(problems.map(({ message }) => message)).toEqual([]);
  return model.functions[id]!;
}

function parameters(result: ReadTypes, id: string): readonly ParameterType[] {
  const all = signatures(result, id);
  expect(all).toHaveLength(1);
  return all[0]!.parameters;
}

function messages({ problems }: ReadTypes): string[] {
  return problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
}

/** Parameters of one function `f` in a module. */
function of(source: string, name = "src/f.ts"): readonly ParameterType[] {
  return parameters(read({ [name]: source }, [`${name}#f`]), "f");
}

describe("parameters", () => {
  it("Parameters with `?`, with a default, or of type `undefined` keep their own optionality", () => {
    expect(
      of("export async function f(a: string, b?: number, c = 1, d: string | undefined = '') {}"),
    ).toEqual([
      { kind: "plain", name: "a", type: string },
      { kind: "plain", name: "b", type: number, optional: true },
      { kind: "plain", name: "c", type: number, optional: true },
      { kind: "plain", name: "d", type: string, optional: true },
    ]);
  });

  it("A rest parameter has the type of its array", () => {
    expect(of("export async function f(a: string, ...more: number[]) {}")).toEqual([
      { kind: "plain", name: "a", type: string },
      { kind: "rest", name: "more", type: { kind: "array", items: number } },
    ]);
    expect(of("export async function f(...pair: [string, number?]) {}")).toEqual([
      {
        kind: "rest",
        name: "pair",
        type: { kind: "tuple", first: [{ type: string }, { type: number, optional: true }] },
      },
    ]);
  });

  it("A pattern has the types of its names only, under the names that callers send", () => {
    expect(
      of(
        "export async function f({ a, b: c = 1, 'x-y': d }: { a: string; b: number; 'x-y'?: string; never: symbol }) {}",
      ),
    ).toEqual([
      {
        kind: "object",
        names: [
          { name: "a", type: string },
          { name: "b", type: number, optional: true },
          { name: "x-y", type: string, optional: true },
        ],
      },
    ]);
    expect(
      of("export async function f({ a }: { a?: string } = {}, [b, , d]: number[] = []) {}"),
    ).toEqual([
      { kind: "object", names: [{ name: "a", type: string, optional: true }], optional: true },
      {
        kind: "array",
        names: [
          { name: "b", type: number, optional: true },
          null,
          { name: "d", type: number, optional: true },
        ],
        optional: true,
      },
    ]);
  });

  it("A type parameter is its constraint, or anything", () => {
    expect(
      of(
        "export async function f<T extends { id: string }, K extends keyof T, U>(a: T, b: T['id'], c: Partial<T>, d: U, e: T[]) {}",
      ),
    ).toEqual(
      [
        { kind: "object", members: { id: { type: string } } },
        string,
        { kind: "object", members: { id: { type: string, optional: true } } },
        { kind: "unknown" },
        { kind: "array", items: { kind: "object", members: { id: { type: string } } } },
      ].map((type, index) => ({ kind: "plain", name: "abcde"[index], type })),
    );
  });

  it("Each overload is a signature, with the names of the implementation", () => {
    const result = read(
      {
        "src/f.ts":
          "export async function f(id: string): Promise<void>; export async function f(id: number, count: number): Promise<void>; export async function f(id: string | number, count?: number) {}",
      },
      ["src/f.ts#f"],
    );
    expect(signatures(result, "f")).toEqual([
      {
        parameters: [
          { kind: "plain", name: "id", type: string },
          { kind: "plain", name: "count", type: { kind: "undefined" }, optional: true },
        ],
      },
      {
        parameters: [
          { kind: "plain", name: "id", type: number },
          { kind: "plain", name: "count", type: number, optional: true },
        ],
      },
    ]);
  });

  it("Of a wrapped function the export has the types and the function's own code the names", () => {
    const source = `
function logged<A extends unknown[]>(run: (...args: A) => Promise<void>): (...args: A) => Promise<void> { return run; }
function anything(run: (...args: any[]) => Promise<void>): (...args: any[]) => Promise<void> { return run; }
function parsed<T>(run: (value: T) => Promise<void>): (value: string) => Promise<void> { return null as never; }
export const a = logged(async (sku: string, { metres }: { metres: number }, ...more: string[]) => {});
export const b = anything(async (sku: string, metres: number = 1) => {});
export const c = parsed(async (order: Date) => {});
`;
    const wanted = ["a", "b", "c"].map((id) => ({
      id,
      file: "src/f.ts",
      export: id,
      code: source.indexOf("async", source.indexOf(`export const ${id} =`)),
    }));
    const result = read({ "src/f.ts": source }, wanted);
    expect(parameters(result, "a")).toEqual([
      { kind: "plain", name: "sku", type: string },
      { kind: "object", names: [{ name: "metres", type: number }] },
      { kind: "rest", name: "more", type: { kind: "array", items: string } },
    ]);
    expect(parameters(result, "b")).toEqual([
      { kind: "plain", name: "sku", type: string },
      { kind: "plain", name: "metres", type: number, optional: true },
    ]);
    expect(parameters(result, "c")).toEqual([{ kind: "plain", name: "order", type: string }]);
  });

  it("Of an async generator they are read as of any function, also in a wrapper", () => {
    const source = `
export async function* a(sku: string, { metres = 1 }: { metres?: number }): AsyncGenerator<string> { yield sku; }
export const b = ((run: any) => run)(async function* (after) { yield after; }) as (after: number) => AsyncIterable<string>;
`;
    const result = read({ "src/f.ts": source }, [
      { id: "a", file: "src/f.ts", export: "a" },
      { id: "b", file: "src/f.ts", export: "b", code: source.lastIndexOf("async function*") },
    ]);
    expect(parameters(result, "a")).toEqual([
      { kind: "plain", name: "sku", type: string },
      { kind: "object", names: [{ name: "metres", type: number, optional: true }] },
    ]);
    expect(parameters(result, "b")).toEqual([{ kind: "plain", name: "after", type: number }]);
  });

  describe("of a checked function", () => {
    const head = `
import { checked } from "seamline";
import { z } from "zod";
const schema = z.object({ email: z.email(), metres: z.string().transform(Number) });
`;
    const input = {
      kind: "object",
      members: { email: { type: string }, metres: { type: string } },
    };
    const readChecked = (text: string, file = "src/f.ts"): ReadTypes => {
      const source = head + text;
      const wanted = [...source.matchAll(/const (\w) =/g)].map(({ 1: id = "", index }) => ({
        id,
        file,
        export: id,
        code: source.indexOf("async", index),
      }));
      return read({ [file]: source }, wanted);
    };

    it("The first one has the input type of its schema, and all have their own names", () => {
      const result = readChecked(`
export const a = checked(schema, async (order) => order.metres);
export const b = checked(schema.optional(), async (order = { email: "", metres: 1 }, admin: boolean, ...tags: string[]) => order);
export const c = checked(schema, async ({ email }) => email);
export const d = checked(z.coerce.number(), async (count: number) => count);
`);
      expect(parameters(result, "a")).toEqual([{ kind: "plain", name: "order", type: input }]);
      expect(parameters(result, "b")).toEqual([
        { kind: "plain", name: "order", type: input, optional: true },
        { kind: "plain", name: "admin", type: { kind: "boolean" } },
        { kind: "rest", name: "tags", type: { kind: "array", items: string } },
      ]);
      expect(parameters(result, "c")).toEqual([
        { kind: "object", names: [{ name: "email", type: string }] },
      ]);
      expect(parameters(result, "d")).toEqual([
        { kind: "plain", name: "count", type: { kind: "unknown" } },
      ]);
      expect(result.unchecked).toEqual({ d: [{ path: "count", reason: "unknown" }] });
    });

    it("Further ones need a type, as those of other functions", () => {
      const text = "export const a = checked(schema, async (order, admin) => admin);";
      expect(messages(readChecked(text))).toEqual(["src/f.ts:5: a: admin: it has no type"]);
      const inJavaScript = readChecked(text, "src/f.js");
      expect(parameters(inJavaScript, "a")[0]).toEqual({
        kind: "plain",
        name: "order",
        type: input,
      });
      expect(inJavaScript.unchecked).toEqual({ a: [{ path: "admin", reason: "no JSDoc" }] });
    });
  });

  it("Exports by another name, as a default, of another module and as a constant are read", () => {
    const result = read(
      {
        "src/f.ts":
          'async function own(a: string) {}\nexport { own as f };\nexport default async (b: number) => {};\nexport { g } from "./g.ts";\nexport const h: (c: string) => Promise<void> = async (d) => {};',
        "src/g.ts": "export async function g(c: string) {}",
      },
      ["src/f.ts#f", "src/f.ts#default", "src/f.ts#g", "src/f.ts#h"],
    );
    expect(parameters(result, "f")).toEqual([{ kind: "plain", name: "a", type: string }]);
    expect(parameters(result, "default")).toEqual([{ kind: "plain", name: "b", type: number }]);
    expect(parameters(result, "g")).toEqual([{ kind: "plain", name: "c", type: string }]);
    expect(parameters(result, "h")).toEqual([{ kind: "plain", name: "d", type: string }]);
  });
});

describe("what isn't checked by accident", () => {
  it("A parameter without a type is a problem in TypeScript, at its function", () => {
    const source =
      "// @ts-nocheck\nexport async function f(a, b = 1, c: any, d: unknown, { e }, { g }: any) {}";
    expect(messages(read({ "src/f.ts": source }, ["src/f.ts#f"]))).toEqual([
      "src/f.ts:2: f: a: it has no type",
      "src/f.ts:2: f: e: it has no type",
    ]);
  });

  it("An export that isn't a function by its types is a problem", () => {
    expect(
      messages(
        read({ "src/f.ts": 'export { f } from "./missing.ts"; export const g = 1;' }, [
          "src/f.ts#f",
          "src/f.ts#g",
        ]),
      ),
    ).toEqual([
      "src/f.ts:1: f: its type isn't that of a function",
      "src/f.ts:1: g: its type isn't that of a function",
    ]);
  });

  it("A shared type that can't be resolved is a problem of each function that takes it", () => {
    const source =
      'import type { Missing } from "missing";\nexport interface Line { at: Missing; more?: Line }\nexport async function f(line: Line) {}\nexport async function g(lines: Line[]) {}\nexport async function h(a: string) {}';
    const result = read({ "src/f.ts": source }, ["src/f.ts#f", "src/f.ts#g", "src/f.ts#h"]);
    expect(messages(result)).toEqual([
      "src/f.ts:3: f: line.at: its type can't be resolved: 'Missing'",
      "src/f.ts:4: g: lines[].at: its type can't be resolved: 'Missing'",
    ]);
    expect(Object.keys(result.model.functions)).toEqual(["h"]);
  });

  it("A pattern whose type can't be resolved, or hasn't what it names, is a problem", () => {
    const source =
      'import type { Missing } from "missing";\nexport async function f({ a }: Missing, { b, c }: { b: string }) {}';
    expect(messages(read({ "src/f.ts": source }, ["src/f.ts#f"]))).toEqual([
      "src/f.ts:2: f: a: its type can't be resolved: 'Missing'",
      "src/f.ts:2: f: c: its type can't be resolved",
    ]);
  });

  it("A package without types gives unresolved types", () => {
    expect(
      messages(
        read(
          {
            "src/f.ts":
              'import type { Thing } from "../untyped/index.js";\nexport async function f(thing: Thing) {}',
            "tsconfig.json": { ...strictConfig, include: ["src"] },
          },
          ["src/f.ts#f"],
        ),
      ),
    ).toEqual(["src/f.ts:2: f: thing: its type can't be resolved: 'Thing'"]);
  });

  it("JavaScript has the types of its JSDoc, and what has none is listed", () => {
    const source = `
/** @typedef {{ sku: string, metres?: number }} Line */
/** @param {Line[]} lines  @param {Date} [due] */
export async function f(lines, due, other) {}
/** @type {(id: string) => Promise<void>} */
export const g = async (id) => {};
`;
    const result = read({ "src/f.js": source }, ["src/f.js#f", "src/f.js#g"]);
    expect(parameters(result, "f")).toEqual([
      { kind: "plain", name: "lines", type: { kind: "array", items: { kind: "ref", to: "Line" } } },
      { kind: "plain", name: "due", type: { kind: "date" }, optional: true },
      { kind: "plain", name: "other", type: { kind: "unknown" } },
    ]);
    expect(parameters(result, "g")).toEqual([{ kind: "plain", name: "id", type: string }]);
    expect(result.unchecked).toEqual({ f: [{ path: "other", reason: "no JSDoc" }] });
  });

  it("A JSDoc tag that looks like a constraint is noted, at a member, a parameter and an alias", () => {
    const result = read(
      {
        "src/sku.ts": "/** @pattern ^a */\nexport type Sku = string;",
        "src/f.ts": `
import type { Sku } from "./sku.ts";
/** @minItems 1 */
type Lines = Line[];
interface Line {
  /** @minimum 0 */
  metres: number;
  /** How long. */
  note?: Sku;
}
export async function f(lines: Lines, /** @maximum 9 */ count: number) {}
/** @minimum 1 */
export async function g(count: number) {}`,
      },
      ["src/f.ts#f", "src/f.ts#g"],
    );
    expect(result.problems).toEqual([]);
    expect(result.notes.map(({ message }) => message)).toEqual([
      "f: lines: the tag @minItems isn't read",
      "f: lines[].metres: the tag @minimum isn't read",
      "f: lines[].note: the tag @pattern isn't read",
      "f: count: the tag @maximum isn't read",
    ]);
  });
});

describe("constraints", () => {
  it("are read from the installed package, where its declarations are", () => {
    buildPackage();
    const { paths: _, ...compilerOptions } = strictConfig.compilerOptions;
    const result = read(
      {
        "tsconfig.json": { ...strictConfig, compilerOptions },
        "src/f.ts": `
import { type Max, type Min } from "seamline/types";
import type * as types from "seamline/types";
type Sku = string & types.MaxLength<20>;
export async function f(metres: number & Min<0> & Max<100>, skus: Sku[] & types.MinLength<1>) {}`,
      },
      ["src/f.ts#f"],
    );
    expect(parameters(result, "f")).toEqual([
      { kind: "plain", name: "metres", type: { kind: "number", min: 0, max: 100 } },
      {
        kind: "plain",
        name: "skus",
        type: { kind: "array", items: { kind: "string", maxLength: 20 }, minLength: 1 },
      },
    ]);
  });
});

describe("classes", () => {
  it("that extend a class which a parameter takes are read, and no others", () => {
    const source = `
export class Animal { constructor(readonly name: string) {} }
export class Dog extends Animal { constructor(name: string, readonly owner: Person) { super(name); } }
export class Puppy extends Dog { age = 0; bark = () => {}; }
export class Person { tags: string[] = []; }
export class Child extends Person {}
export class Car {}
export class Broken extends Animal { at = Symbol(); }
export async function f(animal: Animal) {}
`;
    const names = ["Animal", "Dog", "Puppy", "Person", "Child", "Car", "Broken"];
    const { model, problems } = read(
      { "src/f.ts": source },
      ["src/f.ts#f"],
      [],
      names.map((name) => ({ key: `app/${name}`, file: "src/f.ts", export: name })),
    );
    expect(Object.keys(model.classes)).toEqual([
      "app/Animal",
      "app/Dog",
      "app/Person",
      "app/Puppy",
      "app/Child",
      "app/Broken",
    ]);
    const person = { kind: "instance", key: "app/Person" };
    expect(model.classes["app/Puppy"]).toEqual({
      parameters: [
        { kind: "plain", name: "name", type: string },
        { kind: "plain", name: "owner", type: person },
      ],
      fields: { age: { type: number }, owner: { type: person }, name: { type: string } },
    });
    expect(problems.map(({ message }) => message)).toEqual([
      "Broken: at: a symbol can't arrive: 'symbol'",
    ]);
  });
});

describe("programs", () => {
  it("The nearest tsconfig.json counts that includes the module, through references too", () => {
    const result = read(
      {
        "tsconfig.json": { files: [], references: [{ path: "./tsconfig.app.json" }] },
        "tsconfig.app.json": {
          ...strictConfig,
          compilerOptions: {
            ...strictConfig.compilerOptions,
            composite: true,
            paths: { "#lines": ["./types/lines.ts"] },
          },
        },
        "types/lines.ts": "export interface Line { sku: string }",
        "src/f.ts": 'import type { Line } from "#lines";\nexport async function f(line: Line) {}',
        "src/inner/tsconfig.json": {
          ...strictConfig,
          include: ["."],
          compilerOptions: {
            ...strictConfig.compilerOptions,
            paths: { "#lines": ["./lines.ts"] },
          },
        },
        "src/inner/lines.ts": "export interface Line { metres: number }",
        "src/inner/g.ts":
          'import type { Line } from "#lines";\nexport async function g(line: Line) {}',
      },
      ["src/f.ts#f", "src/inner/g.ts#g"],
    );
    expect(parameters(result, "f")).toEqual([
      { kind: "plain", name: "line", type: { kind: "ref", to: "Line" } },
    ]);
    expect(parameters(result, "g")).toEqual([
      { kind: "plain", name: "line", type: { kind: "ref", to: "Line2" } },
    ]);
    expect(result.model.definitions).toEqual({
      Line: { kind: "object", members: { sku: { type: string } } },
      Line2: { kind: "object", members: { metres: { type: number } } },
    });
  });

  it("Vite's aliases are paths, and the configuration's own paths win", () => {
    const files = {
      "tsconfig.json": {
        ...strictConfig,
        compilerOptions: { ...strictConfig.compilerOptions, paths: { "@own/*": ["./own/*"] } },
      },
      "shared/line.ts": "export type Line = string;",
      "own/line.ts": "export type Line = number;",
      "src/f.ts":
        'import type { Line } from "@/line.ts"; import type { Line as Own } from "@own/line.ts";\nexport async function f(a: Line, b: Own) {}',
    };
    const aliases = [
      { find: "@", replacement: "./shared" },
      { find: "@own", replacement: "./shared" },
    ];
    expect(parameters(read(files, ["src/f.ts#f"], aliases), "f")).toEqual([
      { kind: "plain", name: "a", type: string },
      { kind: "plain", name: "b", type: number },
    ]);
  });

  it("Without a configuration modules are read as strict TypeScript", () => {
    const { model, notes } = read(
      { "tsconfig.json": { files: [] }, "src/f.ts": "export async function f(a: string) {}" },
      ["src/f.ts#f"],
    );
    expect(model.functions["f"]).toBeDefined();
    expect(notes).toEqual([]);
  });

  it("Without `strictNullChecks` types are read as if it was on, which is said once", () => {
    const result = read(
      {
        "tsconfig.json": looseConfig,
        "src/f.ts": "export async function f(a: string, b: string | null) {}",
        "src/g.ts": "export async function g(a: string) {}",
      },
      ["src/f.ts#f", "src/g.ts#g"],
    );
    expect(parameters(result, "f")).toEqual([
      { kind: "plain", name: "a", type: string },
      { kind: "plain", name: "b", type: { kind: "union", arms: [{ kind: "null" }, string] } },
    ]);
    expect(result.notes).toMatchObject([{ file: "tsconfig.json" }]);
  });

  it("A configuration that says nothing of strictness is strict, as TypeScript 6 has it", () => {
    const compilerOptions = { module: "esnext", moduleResolution: "bundler" };
    const { notes } = read(
      {
        "tsconfig.json": { compilerOptions, include: ["src"] },
        "src/f.ts": "export async function f(a: string) {}",
      },
      ["src/f.ts#f"],
    );
    expect(notes).toEqual([]);
  });

  it("Declaration files and globals of the program count, errors of its code don't", () => {
    const result = read(
      {
        "src/env.d.ts":
          'declare module "*.vue" { export interface Props { size: number } }\ndeclare namespace App { interface Line { sku: string } }',
        "src/more.ts":
          "declare global { namespace App { interface Line { note?: string } } }\nexport {};",
        "src/f.ts":
          'import type { Props } from "./card.vue";\nconst wrong: string = 1;\nexport async function f(line: App.Line, props: Props) {}',
      },
      ["src/f.ts#f"],
    );
    expect(parameters(result, "f")).toHaveLength(2);
    expect(result.model.definitions).toEqual({
      Line: {
        kind: "object",
        members: { sku: { type: string }, note: { type: string, optional: true } },
      },
      Props: { kind: "object", members: { size: { type: number } } },
    });
  });

  it("A configuration that can't be read is a problem", () => {
    const { problems } = read(
      {
        "tsconfig.json": '{ "extends": "./missing.json", "include": ["src"] }',
        "src/f.ts": "export async function f(a: string) {}",
      },
      ["src/f.ts#f"],
    );
    expect(problems).toMatchObject([{ file: "tsconfig.json" }]);
    expect(problems[0]!.message).toContain("missing.json");
  });

  it("A module that was removed while types are read is a problem", () => {
    const { problems } = read({ "src/g.ts": "" }, ["src/f.ts#f"]);
    expect(problems).toMatchObject([
      { file: "src/f.ts", line: 1, message: "f: its module is gone" },
    ]);
  });

  it("After an edit only the files are parsed again that have changed", () => {
    const { folder, remove } = folderOf({
      "src/f.ts": 'import type { Line } from "./line.ts";\nexport async function f(line: Line) {}',
      "src/line.ts": "export type Line = string;",
    });
    const file = join(folder, "src/f.ts");
    const memory = programMemory();
    const { files } = memory;
    const typeOfLine = (): unknown =>
      readTypes(ts, [{ id: "f", file, export: "f" }], {
        root: folder,
        memory,
        classKey: () => undefined,
        judgePattern: () => undefined,
      }).model.functions["f"]?.[0]?.parameters;
    try {
      expect(typeOfLine()).toEqual([{ kind: "plain", name: "line", type: string }]);
      const before = new Map(files);
      writeFileSync(join(folder, "src/line.ts"), "export type Line = number;");
      utimesSync(join(folder, "src/line.ts"), 1, 1);
      expect(typeOfLine()).toEqual([{ kind: "plain", name: "line", type: number }]);
      const changed = [...files].filter(([key, value]) => before.get(key) !== value);
      expect(changed.map(([key]) => key.split("\0")[0])).toEqual([join(folder, "src/line.ts")]);
    } finally {
      remove();
    }
  });

  it("The model is the same whichever functions are read with it, and in whichever order", () => {
    const files = {
      "src/f.ts":
        "export async function f(a: 'x' | 'y' | { b: string } | { a: string }) {}\nexport async function g(a: { a: string } | 'y' | 'x') {}",
    };
    const once = read(files, ["src/f.ts#f", "src/f.ts#g"]).model.functions;
    const other = read(files, ["src/f.ts#g", "src/f.ts#f"]).model.functions;
    expect(JSON.stringify(once["f"])).toBe(JSON.stringify(other["f"]));
    expect(JSON.stringify(once["g"])).toBe(JSON.stringify(other["g"]));
  });
});

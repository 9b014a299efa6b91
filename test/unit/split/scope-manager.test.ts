// Our scope analysis against @typescript-eslint/scope-manager, over code that isn't ours. The
// splitter decides by these references what a browser gets: a wrong scope leaks code of a server,
// or leaves out a declaration.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import {
  compareScopes,
  type Comparison,
  type Deliberate,
  deliberate,
  withShadowing,
} from "./_scope-comparison.ts";

const root = join(import.meta.dirname, "../../..");

/**
 * The packages among our dependencies that ship their sources, and some that ship readable
 * JavaScript.
 */
const foreignFolders = [
  "@arethetypeswrong/core/src",
  "@mswjs/interceptors/src",
  "@trpc/client/src",
  "@trpc/server/src",
  "ajv/lib",
  "entities/src",
  "express/lib",
  "knip/dist",
  "msw/src",
  "undici/lib",
  "zod/src",
].map((folder) => `node_modules/${folder}`);

const ownFolders = ["client", "demo/src", "server", "src"];

interface Source {
  readonly file: string;
  readonly text: string;
}

function sourcesIn(folders: readonly string[]): readonly Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter(
        (file) => /\.m?[jt]sx?$/.test(file) && !/\.d\.m?ts$|(?:^|[/\\])tests?[/\\]/.test(file),
      )
      .sort()
      .map((file) => ({
        file: `${folder}/${file}`,
        text: readFileSync(join(root, folder, file), "utf8"),
      })),
  );
}

function compareAll(sources: readonly Source[]): Comparison {
  const all = sources.map(({ file, text }) => compareScopes(file, text));
  return {
    references: all.reduce((sum, { references }) => sum + references, 0),
    differences: all.flatMap(({ differences }) => differences),
    deliberate: new Set(all.flatMap((comparison) => [...comparison.deliberate])),
  };
}

describe("our scope analysis and scope-manager", () => {
  const foreign = sourcesIn(foreignFolders);
  const own = sourcesIn(ownFolders);

  it("resolve every reference to the same declaration in the sources of installed packages", () => {
    expect(foreign.length).toBeGreaterThan(900);
    const { differences, references } = compareAll(foreign);
    expect(differences).toEqual([]);
    expect(references).toBeGreaterThan(100_000);
  }, 120_000);

  it("resolve every reference to the same declaration in this repository's own sources", () => {
    expect(own.length).toBeGreaterThan(300);
    expect(compareAll(own).differences).toEqual([]);
  }, 120_000);

  it("agree when nearly every inner name shadows a name of the module", () => {
    const shadowed = [...own, ...foreign]
      .filter(({ file }) => /^src\/|undici|msw\/src/.test(file))
      .map(({ file, text }) => ({ file, text: withShadowing(file, text) }));
    expect(compareAll(shadowed).differences).toEqual([]);
  }, 120_000);

  // Syntax that the packages above hardly use.
  const snippets: readonly (readonly [string, Deliberate | undefined])[] = [
    ["import { x } from 'm'; switch (x) { case x: let x = 1; default: x; }", undefined],
    ["import x from 'm'; try { x(); } catch (x) { x(); } finally { x(); }", undefined],
    ["import x from 'm'; try { x(); } catch ({ message: x, y = x }) { var z = x; } z;", undefined],
    ["import x from 'm'; class A { static { var x = 1; x; } [x] = x; #x = this.#x; }", undefined],
    [
      "import x from 'm'; const f = function x() { x(); }; const C = class x { m() { x; } }; x;",
      undefined,
    ],
    ["import x from 'm'; function f(a = x, b = a) { var x; return x; }", undefined],
    [
      "import x from 'm'; x: for (const x of [1]) { if (x) continue x; } { let x = 1; x; } x;",
      undefined,
    ],
    ["import x from 'm'; for (var y in x) { x[y]; } for (let x = 0; x < 1; x++) x; y;", undefined],
    [
      "import x from 'm'; let a, b; [a = x, { b, ...x.rest }] = [b]; ({ a, x: b } = x); a++;",
      undefined,
    ],
    ["import x from 'm'; enum E { a = x.length, b = a, x = 3, c = x }", undefined],
    ["import x from 'm'; namespace N { export const a = x; { const x = 1; x; } } N.a;", undefined],
    ["import x from 'm'; import y = x.z; const a = <T,>(b: T) => (b as T)!; a(y);", undefined],
    ["import x, { type T } from 'm'; const a = x satisfies T; let b: typeof x = a; b;", undefined],
    [
      "import x from 'm'; abstract class A<T> { abstract x: T; constructor(private x: T) { x; } }",
      undefined,
    ],
    [
      "import x from 'm'; async function* f() { for await (const x of f()) yield* x; yield x; }",
      undefined,
    ],
    [
      "declare const x: number; declare function f(): void; namespace T { type A = 1 } x; f();",
      "ambient",
    ],
    ["import x from 'm'; function f() { return arguments.length + x; }", "arguments"],
    ["class A { static n = A.name; m(): A { return new A(); } }", "className"],
    ["const x = 1; export { x }; export default x;", "export"],
    [
      "import { T, d } from 'm'; @d class A { constructor(@d a: T) {} @d m(b: T): T { return b; } }",
      "metadata",
    ],
    ["function f(a: unknown, b = a) { var a; return a; }", "parameter"],
  ];

  it.each(snippets)("agree on  %s", (text, expected) => {
    const { differences, deliberate: used } = compareScopes("snippet.ts", text);
    expect(differences).toEqual([]);
    expect([...used]).toEqual(expected === undefined ? [] : [expected]);
  });

  it("agree on JSX", () => {
    const text =
      "import x, { Y } from 'm'; const a = <x.y b={x} x='1'><Y {...x}>{x}</Y><x /><div>{(x) => x}</div></x.y>;";
    expect(compareScopes("snippet.tsx", text).differences).toEqual([]);
  });

  it("differ only where a snippet above shows it", () => {
    expect(new Set(snippets.map(([, reason]) => reason ?? ""))).toEqual(
      new Set(["", ...Object.keys(deliberate)]),
    );
  });
});

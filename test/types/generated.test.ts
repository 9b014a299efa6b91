// `client.import` with the declarations that a build writes, as the compiler and an editor see it.

import { statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";

import type TypeScript from "typescript";
import { describe, expect, it } from "vitest";

import { createFixture, type Files, type Fixture } from "../build/_fixture.ts";
import { root as packageRoot, ts } from "../_sources.ts";

const page = `import { startClient } from "seamline/client";

const client = await startClient();
const { quote, Cloth, whoAmI } = await client.import("./shop/quote.js");
const total: number = await quote("tweed", 2);
const cloth: { readonly name: string } = new Cloth("tweed");
const user: string = await whoAmI();
const again: (name: string) => Promise<number> = (await client.import("shop/quote")).quote;
const third: typeof again = (await client.import("./shop/quote.ts")).quote;
const lent: readonly string[] = (await client.import("./tools/units.js")).units;
// @ts-expect-error the metres are a number
await quote("tweed", "2");
// @ts-expect-error the module has no such export
(await client.import("./shop/quote.js")).order;
export const all: unknown[] = [total, cloth, user, again, third, lent];
`;

const application: Files = {
  "index.html": '<!doctype html><script type="module" src="/src/main.ts"></script>',
  "src/main.ts": page,
  "src/shop/quote.ts": `import type { Context } from "seamline";
export class Cloth {
  constructor(readonly name: string) {}
}
export async function quote(cloth: string, metres = 1): Promise<number> {
  return cloth.length * metres;
}
export async function whoAmI(this: Context): Promise<string> {
  return this.headers.get("x-user") ?? "nobody";
}
`,
  "src/tools/units.ts": 'export const units = ["m", "yd"] as const;\n',
  "office.segment.json":
    '{ "./shop/quote": { "quote": { "access": "public" }, "whoAmI": { "access": "public" } } }',
  "seamline.json": "{}",
};

/** The package as users install it, straight from the sources of the package. */
const paths = {
  seamline: [join(packageRoot, "src/index.ts")],
  "seamline/client": [join(packageRoot, "client/index.ts")],
};

const options: TypeScript.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts"],
  types: ["node"],
  typeRoots: [join(packageRoot, "node_modules/@types")],
  paths,
};

async function built(files: Files = application): Promise<Fixture> {
  const app = createFixture(files);
  symlinkSync(join(packageRoot, "node_modules/vite"), app.path("node_modules/vite"), "junction");
  await app.build();
  return app;
}

/** Whether the two files check, as lines of the compiler. */
function check(app: Fixture, files: readonly string[]): readonly string[] {
  const program = ts.createProgram(files.map(app.path), options);
  return program
    .getSourceFiles()
    .filter((file) => file.fileName.startsWith(app.root))
    .flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ])
    .map((one) => ts.flattenDiagnosticMessageText(one.messageText, "\n"));
}

describe("client.import with .seamline/modules.d.ts", () => {
  it("has the type of the module that its path names, with any extension or none", async () => {
    const app = await built();
    expect(check(app, ["src/main.ts", ".seamline/modules.d.ts"])).toEqual([]);
    // Without it the same page knows nothing: what the test above shows comes from that file.
    expect(check(app, ["src/main.ts"]).length).toBeGreaterThan(4);
  });

  it("completes paths in an editor, and goes to the source", async () => {
    const app = await built();
    const main = app.path("src/main.ts");
    const host: TypeScript.LanguageServiceHost = {
      fileExists: ts.sys.fileExists,
      readFile: ts.sys.readFile,
      getCompilationSettings: () => options,
      getScriptFileNames: () => [main, app.path(".seamline/modules.d.ts")],
      getScriptVersion: () => "1",
      getScriptSnapshot: (file) => {
        const text = ts.sys.readFile(file);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => app.root,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
    };
    const editor = ts.createLanguageService(host);
    const completions = editor.getCompletionsAtPosition(
      main,
      page.indexOf("./shop/quote.js") + 3,
      undefined,
    );
    expect(completions?.entries.map(({ name }) => name)).toEqual([
      "./shop/quote.js",
      "./tools/units.js",
    ]);
    const [definition] = editor.getDefinitionAtPosition(main, page.indexOf("quote;")) ?? [];
    expect(definition?.fileName).toBe(app.path("src/shop/quote.ts"));
  });
});

describe(".seamline/modules.d.ts", () => {
  it("lists modules with procedures and those that pages name, and stays out of git", async () => {
    const app = await built();
    expect(app.read(".seamline/modules.d.ts").split("\n").slice(2)).toEqual([
      'declare module "seamline/client" {',
      "  interface Modules {",
      '    "./shop/quote.js": typeof import("../src/shop/quote.ts");',
      '    "./tools/units.js": typeof import("../src/tools/units.ts");',
      "  }",
      "}",
      "export {};",
      "",
    ]);
    expect(app.read(".seamline/.gitignore")).toBe("*\n");
  });

  it("is only written if it changes, since editors would read it again", async () => {
    const app = await built();
    const file = app.path(".seamline/modules.d.ts");
    utimesSync(file, 1_000, 1_000);
    await app.build();
    expect(statSync(file).mtimeMs).toBe(1_000_000);
    app.write({ "more.segment.json": '{ "./tools/more": { "count": { "access": "private" } } }' });
    app.write({
      "src/tools/more.ts": "export async function count(): Promise<number> {\n  return 1;\n}\n",
      ".seamline/.gitignore": "server\n",
    });
    await app.build();
    expect(app.read(".seamline/modules.d.ts")).toContain('"./tools/more.js"');
    // Its owner's.
    expect(app.read(".seamline/.gitignore")).toBe("server\n");
  });
});

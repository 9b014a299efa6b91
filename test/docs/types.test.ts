// The TypeScript of the guide and the skill holds what its types say, to a reader whose compiler is strict.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type TypeScript from "typescript";
import { describe, expect, it } from "vitest";
import { filesIn, root, ts } from "../_sources.ts";
import { blocksOf } from "./_blocks.ts";

const pages = [
  "README.md",
  ...["docs/guide", "skills"].flatMap(filesIn).filter((path) => path.endsWith(".md")),
];
/** Where a page's files would be: nothing is written. Packages are found from here as from any folder of the project. */
const folderOf = (page: string): string =>
  join(root, "node_modules/.cache/docs", page.replace(/\W/g, "-"));

/** The last state of each page's files: a file's replacement replaces its types. */
const files = new Map<
  string,
  { readonly text: string; readonly page: string; readonly line: number }
>();
for (const page of pages)
  for (const { kind, language, path, text, line } of blocksOf(
    page,
    readFileSync(join(root, page), "utf8"),
  ))
    if (kind === "file" && language === "ts")
      files.set(join(folderOf(page), path), { text, page, line });

const types = (name: string): string[] => [join(root, "dist/types", name)];
const options: TypeScript.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true,
  noImplicitOverride: true,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
  types: ["node"],
  typeRoots: [join(root, "node_modules/@types")],
  paths: {
    seamline: types("server/main.d.ts"),
    "seamline/client": types("client/index.d.ts"),
    "seamline/server": types("server/index.d.ts"),
    "seamline/vite": types("server/compile/index.d.ts"),
    "seamline/testing": types("server/testing/index.d.ts"),
    "seamline/testing/msw": types("client/testing/msw.d.ts"),
    // The alias of the application that Vite builds already.
    "@/*": [join(folderOf("docs/guide/vite.md"), "src/*")],
    // Packages of workspaces, to which links would lead.
    cloth: [join(folderOf("docs/guide/vite.md"), "packages/cloth/src/index.ts")],
    "@acme/cloth": [join(folderOf("docs/guide/workspaces.md"), "packages/cloth/src/index.ts")],
  },
};

function createProgram(): TypeScript.Program {
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  const folders = new Set<string>();
  for (const file of files.keys())
    for (let one = dirname(file); one !== root; one = dirname(one)) folders.add(one);
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file)?.text ?? readFile(file);
  host.directoryExists = (folder) => folders.has(folder) || existsSync(folder);
  host.getSourceFile = (file, languageVersion) => {
    const text = host.readFile(file);
    return text === undefined ? undefined : ts.createSourceFile(file, text, languageVersion);
  };
  return ts.createProgram([...files.keys()], options, host);
}

describe("the TypeScript", () => {
  const program = createProgram();

  it.each(pages)("of %s checks", (page) => {
    const wrong = [...files]
      .filter(([, file]) => file.page === page)
      .flatMap(([path, { line }]) => {
        const source = program.getSourceFile(path);
        return [
          ...program.getSyntacticDiagnostics(source),
          ...program.getSemanticDiagnostics(source),
        ].map((one) => {
          const at = source?.getLineAndCharacterOfPosition(one.start ?? 0).line ?? 0;
          return `${page}:${line + 1 + at}: ${ts.flattenDiagnosticMessageText(one.messageText, "\n")}`;
        });
      });
    expect(wrong).toEqual([]);
  });
});

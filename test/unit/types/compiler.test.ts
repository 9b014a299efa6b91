import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findCompiler } from "../../../server/types/compiler.ts";
import { root, ts } from "../../_sources.ts";

/** A folder with packages: installed here under a name, or of a version that isn't. */
function folderWith(packages: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "seamline-compiler-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, target] of Object.entries(packages)) {
    const path = join(folder, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    if (/^\d/.test(target)) {
      mkdirSync(path);
      writeFileSync(join(path, "index.js"), "");
      writeFileSync(join(path, "package.json"), JSON.stringify({ version: target }));
    } else symlinkSync(join(root, "node_modules", target), path, "junction");
  }
  return folder;
}

const compilerOf = (folder: string): unknown =>
  findCompiler(folder, [join(folder, "package.json")]);

it("The application's TypeScript 6 or 5.9 reads types", () => {
  expect(compilerOf(folderWith({ typescript: "typescript" }))).toMatchObject({
    version: ts.version,
  });
  expect(compilerOf(folderWith({ typescript: "5.9.3" }))).toMatchObject({ version: "5.9.3" });
});

it("Beside TypeScript 7, the package of version 6 that is made for it reads types", () => {
  const both = { typescript: "typescript-7", "@typescript/typescript6": "typescript" };
  expect(compilerOf(folderWith(both))).toMatchObject({ version: ts.version });
});

it.each([
  ["no compiler", {}, "none", "npm install --save-dev typescript@6;"],
  [
    "TypeScript 7 alone",
    { typescript: "typescript-7" },
    "version 7.0.2",
    "npm install --save-dev @typescript/typescript6, which stands beside it",
  ],
  [
    "a later one",
    { typescript: "8.0.0" },
    "version 8.0.0",
    "npm install --save-dev @typescript/typescript6",
  ],
  [
    "an older one",
    { typescript: "5.8.3" },
    "version 5.8.3",
    "npm install --save-dev typescript@6;",
  ],
])("With %s, the problem says what to install", (_, packages, here, remedy) => {
  expect(compilerOf(folderWith(packages))).toEqual({
    file: "package.json",
    message: expect.stringMatching(new RegExp(`TypeScript 5.9 or 6 reads, and here is ${here}$`)),
    hint: expect.stringContaining(remedy),
  });
  expect(compilerOf(folderWith(packages))).toMatchObject({
    hint: expect.stringContaining('or say "validate": false'),
  });
});

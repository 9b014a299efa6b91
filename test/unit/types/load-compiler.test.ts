import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { loadCompiler } from "../../../server/types/load-compiler.ts";
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
      writeFileSync(
        join(path, "index.js"),
        `exports.version = "${target}"; exports.createProgram = () => {};`,
      );
    } else symlinkSync(join(root, "node_modules", target), path, "junction");
  }
  return folder;
}

it("The application's TypeScript 6 or 5.9 reads types", () => {
  expect(loadCompiler(folderWith({ typescript: "typescript" })).version).toBe(ts.version);
  expect(loadCompiler(folderWith({ typescript: "5.9.3" })).version).toBe("5.9.3");
});

it("Beside TypeScript 7, the package of version 6 that is made for it reads types", () => {
  const both = { typescript: "typescript-7", "@typescript/typescript6": "typescript" };
  expect(loadCompiler(folderWith(both)).version).toBe(ts.version);
});

it.each([
  ["no compiler", {}, "and ROOT has none: npm install --save-dev typescript@6"],
  [
    "TypeScript 7 alone",
    { typescript: "typescript-7" },
    "as version 7.0.2, which ROOT has, lets no program read types yet: npm install --save-dev @typescript/typescript6, which stands beside it",
  ],
  [
    "a later one",
    { typescript: "8.0.0" },
    "as version 8.0.0, which ROOT has, lets no program read types yet",
  ],
  [
    "an older one",
    { typescript: "5.8.3" },
    "and ROOT has 5.8.3: npm install --save-dev typescript@6",
  ],
])("With %s, the error says what to install", (_, packages, expected) => {
  const folder = folderWith(packages);
  expect(() => loadCompiler(folder)).toThrow(
    `Types of parameters are read by TypeScript 5.9 or 6, ${expected.replace("ROOT", folder)}`,
  );
  expect(() => loadCompiler(folder)).toThrow('or say "validate": false');
});

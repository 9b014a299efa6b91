// Small applications in temporary folders, built like any other.

import { mkdirSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

import { onTestFinished, vi } from "vitest";

import { type BuildOptions, type Built, buildApplication } from "../../server/vite/build.ts";
import type { Manifest, ServerManifest } from "../../src/base/manifest.ts";
import { fromStored } from "../../src/codec/stored-manifest.ts";
import { type Problem, Problems } from "../../src/base/problem.ts";

// The first build of a process loads a bundler, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

export type Files = Readonly<Record<string, string>>;

export interface Fixture {
  readonly root: string;
  path(name: string): string;
  write(files: Files): void;
  remove(name: string): void;
  read(name: string): string;
  /** Files below a folder of the application, with forward slashes, sorted. */
  list(folder: string): readonly string[];
  build(options?: Partial<BuildOptions>): Promise<Built>;
  /** The message of a build that must fail. */
  problems(options?: Partial<BuildOptions>): Promise<readonly Problem[]>;
  readonly warned: string[];
  manifest(): ServerManifest;
  browserManifest(): Manifest;
}

/** Replaces the package when a built module runs: only what bodies and faces import. */
const runtime = `export const begun = () => 0;
export const createGraph = () => ({
  seam: (record) => ({ ...record, run() { throw new Error("no node holds " + record.fqn); } }),
  traced: (error, line) => Object.assign(error, { trace: [...(error.trace ?? []), line] }),
  context: (self) => self,
  runProcedure: async () => undefined,
  bind() {},
});
`;

/**
 * Creates an application from these files, in a temporary folder or in `folder` of one. It is
 * removed when the test ends, or when `atEnd` says. File paths are relative to the application.
 */
export function createFixture(
  files: Files,
  atEnd: (remove: () => void) => void = onTestFinished,
  folder = "",
): Fixture {
  const whole = realpathSync(mkdtempSync(join(tmpdir(), "seamline-build-")));
  const root = join(whole, folder);
  // The thread that reads types may still keep a reading there.
  atEnd(() => rmSync(whole, { recursive: true, force: true, maxRetries: 5 }));
  const path = (name: string): string => join(root, name);
  const write = (more: Files): void => {
    for (const [name, text] of Object.entries(more)) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
    }
  };
  const warned: string[] = [];
  const log = { info: () => {}, warn: (line: string) => void warned.push(line), error: () => {} };
  const build: Fixture["build"] = async (options = {}) =>
    await buildApplication({ root, log, ...options });
  const readJson = (name: string): unknown => JSON.parse(readFileSync(path(name), "utf8"));
  write({
    "package.json": '{ "name": "fixture", "type": "module" }',
    "node_modules/seamline/package.json":
      '{ "name": "seamline", "type": "module", "exports": { ".": "./index.js", "./internal": "./index.js" } }',
    "node_modules/seamline/index.js": runtime,
    ...files,
  });
  return {
    root,
    path,
    write,
    warned,
    build,
    remove: (name) => rmSync(path(name), { recursive: true }),
    read: (name) => readFileSync(path(name), "utf8"),
    list: (folder) =>
      readdirSync(path(folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) =>
          relative(path(folder), join(entry.parentPath, entry.name)).replaceAll("\\", "/"),
        )
        .sort(),
    async problems(options) {
      try {
        await build(options);
      } catch (error) {
        if (error instanceof Problems) return error.problems;
        throw error;
      }
      throw new Error("the build went well");
    },
    manifest: () => fromStored(readJson("dist/server/manifest.json") as object) as ServerManifest,
    browserManifest: () => readJson("dist/server/manifest.browser.json") as Manifest,
  };
}

/** A shop: two segments, a page that starts one of them, a class and a constant. */
export const shop: Files = {
  "index.html":
    '<!doctype html><html><head><title>Shop</title></head><body><script type="module" src="./src/main.ts"></script></body></html>\n',
  "src/main.ts": [
    'import { startClient } from "seamline/client";',
    'import { quote } from "./shop/quote.js";',
    'await startClient("ui");',
    'document.body.textContent = String((await quote("chair", 2)).amount);',
    "",
  ].join("\n"),
  "src/shop/money.ts":
    "export class Money {\n  readonly amount: number;\n  constructor(amount: number) {\n    this.amount = amount;\n  }\n}\n",
  "src/shop/quote.ts": [
    'import { Money } from "./money.ts";',
    'import { stock } from "./stock.ts";',
    "",
    "/** What a number of pieces costs. */",
    "export async function quote(sku: string, quantity: number = 1): Promise<Money> {",
    "  if ((await stock(sku)) < quantity) throw new RangeError(`only ${await stock(sku)} left`);",
    "  return new Money(quantity * 10);",
    "}",
    "",
  ].join("\n"),
  "src/shop/stock.ts":
    'import { readFileSync } from "node:fs";\nexport async function stock(sku: string): Promise<number> {\n  return readFileSync(sku).length;\n}\n',
  "src/ui/filter.ts":
    'export async function filter(words: string[]): Promise<string[]> {\n  return words.filter((word) => word !== "");\n}\n',
  "src/ui/ui.segment.json": '{ "./ui/filter": { "filter": { "access": "public" } } }',
  "shop.segment.json":
    '{ "./shop/quote.js": { "quote": { "access": "public", "version": "1" } }, "./shop/stock": { "stock": { "access": "public" } } }',
};

// Splits sources, and runs the parts as real modules: a small application on one node, which loads
// a body when one of its seams is called.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { begun } from "../../../src/base/trace.ts";
import type TypeScript from "typescript";
import { onTestFinished } from "vitest";
import { parseSync } from "vite";

import { emptyContext, isContext } from "../../../src/base/context.ts";
import { createGraph, type Graph, type Seam } from "../../../src/runtime/seam.ts";
import { describeModule, type ModuleDescription } from "../../../src/split/describe/describe.ts";
import {
  type KeptBack,
  type Parse,
  type Part,
  type SegmentedExport,
  type SplitModule,
  splitModule,
} from "../../../src/split/write/split-module.ts";

import { readModule } from "../../../src/split/read/read-module.ts";

export const parse: Parse = (file, source) => {
  const { program, comments, errors } = parseSync(file, source);
  return { program, comments, errors };
};

export const ids = { face: "./m.mjs", shared: "./m.shared.mjs", graph: "./graph.mjs" };

/** The entry of an export in segments: version 1.0.0, with the parameters that the source has. */
export function record(source: string, name: string, file = "shop/m.ts"): SegmentedExport {
  const found = describe(source, file).exports.find((candidate) => candidate.name === name);
  return {
    export: name,
    fqn: `shop/${found?.ownName ?? name}`,
    version: "1.0.0",
    parameters: found?.parameters ?? [],
  };
}

export function describe(source: string, file = "shop/m.ts"): ModuleDescription {
  return describeModule({ source, file, parse });
}

export interface SplitOptions {
  readonly file?: string;
  /** The exports that segments name. */
  readonly procedures: readonly string[];
  /** Those of them that the build may hold; by default all. */
  readonly held?: readonly string[];
  readonly environment?: "browser" | "server";
  readonly keptBack?: KeptBack;
  readonly ids?: typeof ids;
}

export function split(source: string, options: SplitOptions): SplitModule {
  const { file = "shop/m.ts", procedures, held = procedures, environment = "server" } = options;
  const input = {
    reading: readModule({ source, file, parse }),
    procedures: procedures.map((name) => record(source, name, file)),
    ids: options.ids ?? ids,
  };
  return splitModule(input, [
    { held: new Set(held), environment, keptBack: options.keptBack },
  ])[0] as SplitModule;
}

/** The code and source maps of all parts. */
export function everything(parts: SplitModule): string {
  const written = [parts.face, parts.shared, parts.body].filter((part) => part !== undefined);
  return written.map((part) => part.code + part.unpadded + JSON.stringify(part.map)).join("\n");
}

/** The lines of a part, without its padding. */
export function lines(part: Part | undefined): string[] {
  return (part?.code ?? "")
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "");
}

export interface Source {
  readonly text: string;
  readonly file?: string;
  readonly procedures?: readonly string[];
  readonly held?: readonly string[];
}

/** Any procedure, as callers see it. */
export type Run = (...args: unknown[]) => Promise<unknown>;

export interface Application {
  /** `import "./name.mjs"`. */
  import(name: string): Promise<Record<string, Run>>;
  /** FQNs of the calls through a seam. */
  readonly calls: string[];
  readonly folder: string;
}

// An import would transform all of its nine megabytes first.
const ts = createRequire(import.meta.url)("typescript") as typeof TypeScript;

type Load = (url: string) => Promise<Record<string, Run>>;

// Vitest transforms what its modules import. These modules have to run as they are, so a CommonJS
// module imports them.
function nativeImport(folder: string): Load {
  writeFileSync(join(folder, "load.cjs"), "module.exports = (url) => import(url);");
  return createRequire(import.meta.url)(join(folder, "load.cjs")) as Load;
}

let count = 0;

/**
 * Splits modules (`a` is imported as `./a.mjs`), writes their parts, and binds their seams to a
 * node that runs all.
 */
export function application(sources: Readonly<Record<string, Source>>): Application {
  const folder = mkdtempSync(join(tmpdir(), "seamline-split-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const load = nativeImport(folder);
  const url = (name: string): string => pathToFileURL(join(folder, name)).href;
  const key = `seamline test graph ${count++}`;
  const graph: Graph = createGraph();
  Reflect.set(globalThis, key, { ...graph, begun });
  onTestFinished(() => void Reflect.deleteProperty(globalThis, key));
  writeFileSync(
    join(folder, "graph.mjs"),
    `export const { seam, traced, begun, context } = globalThis[${JSON.stringify(key)}];`,
  );

  const bodies = new Map<string, { module: string; export: string }>();
  for (const [name, { text, file = `${name}.ts`, procedures = [], held }] of Object.entries(
    sources,
  )) {
    const write = (kind: string, code: string): void =>
      writeFileSync(join(folder, `${name}${kind}.mjs`), strip(code, file));
    if (procedures.length === 0) {
      write("", text);
      continue;
    }
    const own = { face: `./${name}.mjs`, shared: `./${name}.shared.mjs`, graph: ids.graph };
    const parts = split(text, {
      file,
      procedures,
      ...(held === undefined ? {} : { held }),
      ids: own,
    });
    if (parts.problems.length > 0)
      throw new Error(parts.problems.map(({ message }) => message).join("\n"));
    write("", parts.face.code);
    if (parts.shared !== undefined) write(".shared", parts.shared.code);
    if (parts.body !== undefined) write(".body", parts.body.code);
    for (const procedure of procedures)
      bodies.set(record(text, procedure, file).fqn, {
        module: `${name}.body.mjs`,
        export: procedure,
      });
  }
  const calls: string[] = [];
  graph.bind({
    attach(seam: Seam) {
      const bodyOf = async (): Promise<Run> => {
        calls.push(seam.fqn);
        const body = bodies.get(seam.fqn);
        if (body === undefined) throw new Error(`No body for ${seam.fqn}`);
        return (await load(url(body.module)))[body.export] as Run;
      };
      seam.run = async function (this: unknown, ...args) {
        return await (await bodyOf()).apply(this, args);
      };
      if (seam.stream)
        seam.run = async function* (this: unknown, ...args: unknown[]) {
          return yield* (await bodyOf()).apply(this, args) as unknown as AsyncGenerator;
        } as never;
    },
    runProcedure: () => Promise.reject(new Error("not here")),
    callWith: () => Promise.reject(new Error("not here")),
    contextFor: (self) => (isContext(self) ? self : emptyContext()),
  });
  return { calls, folder, import: async (name) => await load(url(`${name}.mjs`)) };
}

/** The JavaScript of a part, as a build would write it. */
export function strip(code: string, file: string): string {
  if (/\.m?js$/.test(file)) return code;
  const { outputText, diagnostics = [] } = ts.transpileModule(code, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      jsx: ts.JsxEmit.React,
      jsxFactory: "h",
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  });
  if (diagnostics.length > 0)
    throw new Error(
      `${file}: ${diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")).join("\n")}\n${code}`,
    );
  return outputText;
}

// The thread that reads types: one request after the other, each answered once.

import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parentPort } from "node:worker_threads";
import { findCompiler, findPackage } from "./compiler.ts";
import { generateChecks } from "./generate-checks.ts";
import {
  type Compiler,
  type ParsedFiles,
  type ProgramMemory,
  programMemory,
  programsOf,
} from "./programs.ts";
import { readTypes, type WantedClass } from "./read-types.ts";
import type { TypesAnswer, TypesPreparation, TypesReading, TypesRequest } from "./reading.ts";
import {
  areSame,
  type Folders,
  foldersOf,
  forgetReading,
  keepReading,
  keptReading,
} from "./kept-reading.ts";
import type { TypeModel } from "./model.ts";

const require = createRequire(import.meta.url);

interface Memory {
  readonly programs: ProgramMemory;
  /** Only of an application without problems: a new file may resolve an import that failed before. */
  folders: Folders | undefined;
}

const packages: ParsedFiles = new Map();

/** Only for the last application: programs are large, and only test processes have several applications. */
let last: { readonly root: string; readonly memory: Memory } | undefined;

function memoryOf(root: string): Memory {
  if (last?.root !== root)
    last = { root, memory: { programs: programMemory(packages), folders: undefined } };
  return last.memory;
}

parentPort?.on("message", (request: TypesRequest | TypesPreparation) => {
  if (!("functions" in request)) return prepare(request);
  let answer: TypesAnswer;
  try {
    answer = read(request);
  } catch (failure) {
    answer = { failure };
  }
  parentPort?.postMessage(answer);
});

/** Makes the program of the first module with types; nearly always, it is the program of all modules. */
function prepare({ root, source, outputs, aliases }: TypesPreparation): void {
  const compiler = findCompiler(root);
  if ("message" in compiler) return;
  try {
    const file = readdirSync(source, { recursive: true, encoding: "utf8" }).find(isTypeScript);
    if (file === undefined) return;
    const ts = require(compiler.path) as Compiler;
    const memory = memoryOf(root);
    const modules = [join(source, file)];
    const options = { root, aliases, outputs, memory: memory.programs };
    const { files } = programsOf(ts, modules, options);
    memory.folders = foldersOf(files.keys(), outputs);
  } catch {
    // The next request fails as well, and reports the reason.
  }
}

const isTypeScript = (file: string): boolean => /(?<!\.d)\.m?tsx?$/.test(file);

function read(request: TypesRequest): TypesAnswer {
  const { root, functions, classes, aliases, outputs, contract, texts } = request;
  const compiler = findCompiler(root);
  if ("message" in compiler) {
    const none = { problems: [compiler], notes: [], unchecked: {} };
    return { reading: textOf(noTypes, none, contract) };
  }
  const load = (): Compiler => require(compiler.path) as Compiler;
  const used = { version: compiler.version, load };
  const kept = keptReading(request, used);
  if (kept !== undefined) return kept;
  const memory = memoryOf(root);
  // The compiler resolves imports again only for files that have changed.
  if (memory.folders === undefined || !areSame(memory.folders, outputs))
    memory.programs.programs.clear();
  const { model, files, outlines, missing, ...found } = readTypes(load(), functions, {
    root,
    aliases,
    outputs,
    texts,
    classes,
    contract,
    memory: memory.programs,
    classKey: keysOf(classes),
    judgePattern: (source) => judgePattern(source, root),
  });
  const reading = textOf(model, found, contract);
  const folders = foldersOf(files.keys(), outputs);
  const hasProblems = found.problems.length > 0;
  memory.folders = hasProblems ? undefined : folders;
  // Problems can be solved in places that aren't watched, such as by installing a package.
  if (hasProblems) return forgetReading(request.cache, reading);
  // Notes name lines, which change with the bodies above them.
  const comparable = found.notes.length === 0 ? outlines : new Map<string, string>();
  return keepReading(request, used, { files, outlines: comparable, missing, folders }, reading);
}

function textOf(
  model: TypeModel,
  found: Omit<TypesReading, "model" | "checks">,
  contract: boolean,
): string {
  const checks = contract ? { checks: generateChecks(model) } : {};
  return JSON.stringify({ model, ...checks, ...found } satisfies TypesReading);
}

const noTypes: TypeModel = { functions: {}, classes: {}, definitions: {} };

function keysOf(
  classes: readonly WantedClass[],
): (file: string, name: string) => string | undefined {
  const keys = new Map<string, string>();
  for (const { key, file, export: exported } of classes) {
    keys.set(`${file}\0${key.slice(key.lastIndexOf("/") + 1)}`, key);
    if (exported === "default") keys.set(`${file}\0default`, key);
  }
  return (file, name) => keys.get(`${file}\0${name}`);
}

/** The parts that we use of a package of the application. */
interface Recheck {
  checkSync(
    source: string,
    flags: string,
    parameters: { readonly timeout: number },
  ): {
    readonly status: "safe" | "vulnerable" | "unknown";
    readonly complexity?: { readonly type: string } | undefined;
  };
}

/** How long one pattern may take to be judged, in ms. */
const judgingMs = 10_000;

function judgePattern(source: string, root: string): string | undefined {
  const found = findPackage("recheck", root);
  if (found === undefined)
    return "whether a Pattern takes linear time is judged by 'recheck', which isn't installed: npm install --save-dev recheck";
  const { status, complexity } = (require(found.path) as Recheck).checkSync(source, "u", {
    timeout: judgingMs,
  });
  if (status === "safe") return undefined;
  return status === "vulnerable"
    ? `the pattern takes ${complexity?.type ?? "exponential"} time`
    : "it can't be told how long the pattern takes";
}

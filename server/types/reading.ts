// Requests for the types of procedures, and their answers. A separate thread reads them (worker.ts): the
// compiler takes seconds, in which a build bundles and a development session answers calls.

import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Problem } from "../../src/base/problem.ts";
import { packageFolder } from "../base/package-folder.ts";
import { generateChecks } from "./generate-checks.ts";
import type { Alias } from "./programs.ts";
import type { ContractTypes, TypeModel } from "./model.ts";
import type { Unchecked, WantedClass, WantedFunction } from "./read-types.ts";

/** The folders of an application, absolute. */
export interface TypesFolders {
  /** The application folder. */
  readonly root: string;
  readonly source: string;
  /** Those that hold no source. */
  readonly outputs: readonly string[];
}

/** A request to parse the files that every reading needs. It has no answer. */
export interface TypesPreparation extends TypesFolders {
  readonly aliases: readonly Alias[];
}

export interface TypesRequest extends Omit<TypesFolders, "source"> {
  readonly functions: readonly WantedFunction[];
  /** All classes whose instances travel. */
  readonly classes: readonly WantedClass[];
  readonly aliases: readonly Alias[];
  /** Whether the contract is read and the checks are written, as for a build: half as long again. */
  readonly contract: boolean;
  /** Absolute path → the text that counts in place of the one on the disk. */
  readonly texts?: Readonly<Record<string, string>> | undefined;
  /** Where a reading is kept: an equal request whose files haven't changed needs no other. */
  readonly cache: string;
}

export interface TypesReading {
  /** Without the functions that have problems. */
  readonly model: TypeModel;
  /** Source of a function that makes the checks, as generate-checks.ts says; with the contract. */
  readonly checks?: string;
  /** Types that can't be checked, or whose values can't arrive. */
  readonly problems: readonly Problem[];
  /** Facts that may surprise the author, though they aren't mistakes. */
  readonly notes: readonly Problem[];
  /** Function → the parameters and members of them that take anything, and why. */
  readonly unchecked: Readonly<Record<string, readonly Unchecked[]>>;
  /** The contract's part of the functions. */
  readonly contract?: ContractTypes;
}

/** The JSON of a {@link TypesReading}, and why it couldn't be kept. */
export interface KeptAnswer {
  readonly reading: string;
  readonly unkept?: string;
}

/** The thread's answer to a request. */
export type TypesAnswer = KeptAnswer | { readonly failure: unknown };

/** The text of a module with the model as `model`, and the checks as its default export. */
export function typesModule({ model, checks = generateChecks(model) }: TypesReading): string {
  // Parsed when it is loaded, so that no name in it is a setter.
  const text = JSON.stringify(JSON.stringify(model));
  return `export const model = JSON.parse(${text});\nexport default ${checks};\n`;
}

interface Waiting {
  readonly resolve: (reading: TypesReading) => void;
  readonly reject: (reason: unknown) => void;
}

/** One for a process: it keeps what it parsed, and the compiler's own libraries are the most of it. */
let running: { readonly worker: Worker; readonly waiting: Waiting[] } | undefined;

/** Reads types. Rejects only if the thread fails, never for a mistake of the application. */
export async function readTypesBeside(request: TypesRequest): Promise<TypesReading> {
  const { worker, waiting } = (running ??= start());
  return await new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    worker.ref();
    worker.postMessage(request);
  });
}

/** Loads and parses beside the caller, if nothing has been read yet. */
export function prepareTypesBeside(preparation: TypesPreparation): void {
  if (running !== undefined) return;
  running = start();
  running.worker.postMessage(preparation);
  running.worker.unref();
}

function start(): NonNullable<typeof running> {
  const worker = new Worker(join(packageFolder, "dist/types-worker.js"), {
    name: "seamline types",
    // A program is hundreds of thousands of objects that stay: the fewer collections, the less they are copied.
    // Types that refer to each other are read one inside the other.
    resourceLimits: { maxYoungGenerationSizeMb: 96, stackSizeMb: 32 },
  });
  const waiting: Waiting[] = [];
  const own = { worker, waiting };
  worker.on("message", (answer: TypesAnswer) => {
    const first = waiting.shift();
    // It may wait for the next request for ever: the process ends without it.
    if (waiting.length === 0) worker.unref();
    if ("unkept" in answer)
      process.emitWarning(
        `Types that were read can't be kept for the next start: ${answer.unkept}`,
      );
    if ("reading" in answer) first?.resolve(JSON.parse(answer.reading) as TypesReading);
    else first?.reject(answer.failure);
  });
  const end = (reason: unknown): void => {
    if (running === own) running = undefined;
    for (const { reject } of waiting.splice(0)) reject(reason);
  };
  worker.on("error", end);
  worker.on("exit", (code) => end(new Error(`The thread that reads types ended with ${code}`)));
  return own;
}

// Files that server modules read or start by an address beside themselves. A node
// fetches them with the module, and browsers never get them.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { asWriteFailure } from "../../base/write-failure.ts";
import type { Application } from "../cut/application.ts";
import { insteadOfOutput } from "./output.ts";
import type { Written } from "./written.ts";

/** A thread or process that a module starts. */
interface Started {
  readonly file: string;
  readonly problem: Problem;
}

export class FilesBeside {
  /** Output file → its content. */
  readonly #contents = new Map<string, string | Uint8Array>();
  /** Output file → the output files that it has addresses of. */
  readonly #addressed = new Map<string, Set<string>>();
  readonly #sources = new Set<string>();
  readonly #started: Started[] = [];

  /** The files that were copied, absolute. */
  get sources(): ReadonlySet<string> {
    return this.#sources;
  }

  /** Forgets the files of the environment, for another build of it. */
  forget(): void {
    this.#contents.clear();
    this.#addressed.clear();
    this.#sources.clear();
    this.#started.length = 0;
  }

  has(name: string): boolean {
    return this.#contents.has(name);
  }

  /** Adds a file to the output. */
  copy(source: string, name: string, content: string | Uint8Array): void {
    this.#sources.add(source);
    this.#contents.set(name, content);
  }

  /** Records that `importer` needs `name`. Both are output files. */
  need(importer: string, name: string): void {
    const names = this.#addressed.get(importer) ?? new Set();
    this.#addressed.set(importer, names.add(name));
  }

  /** Records a module that is started as a thread or process, by its output file. */
  start(file: string, problem: Problem): void {
    this.#started.push({ file, problem });
  }

  /** Writes the copies, and returns the environment's files together with them. */
  write(written: Written): Written {
    const files = new Map(written.files);
    for (const [name, content] of this.#contents) {
      const path = join(written.folder, name);
      try {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      } catch (error) {
        throw asWriteFailure(error, path, insteadOfOutput);
      }
      files.set(name, { imports: [], dynamicImports: [] });
    }
    for (const [importer, names] of this.#addressed) {
      const file = files.get(importer);
      if (file === undefined) throw new Error(`The server's build has no file ${importer}`);
      for (const name of names)
        if (!files.has(name)) throw new Error(`The server's build has no file ${name}`);
      files.set(importer, { ...file, dynamicImports: [...file.dynamicImports, ...names] });
    }
    return { ...written, files };
  }

  /** Starts of modules that import procedures: a thread has no node that could answer their calls. */
  problems({ files, parts }: Written, { cut, modules }: Application): readonly Problem[] {
    const faces = new Map<string, string>();
    for (const [file, { face }] of parts)
      if (cut.has(file) && face !== undefined) faces.set(face, modules.byFile(file)?.name ?? file);
    return this.#started.flatMap(({ file, problem }) => {
      const reached = new Set([file]);
      for (const name of reached)
        for (const imported of files.get(name)?.imports ?? []) reached.add(imported);
      const face = [...reached].find((name) => faces.has(name));
      if (face === undefined) return [];
      return [importsProcedures(problem, faces.get(face) ?? face)];
    });
  }
}

/** The warning for starting code that imports procedures of this module. */
export const importsProcedures = (start: Problem, module: string): Problem => ({
  ...start,
  message: `${start.message}, which imports procedures of ${module}: in a built application no node answers their calls there`,
});

// The source modules of an application: ids, descriptions, and the modules that imports lead to.

import { basename, dirname, join, relative, resolve } from "node:path";

import {
  type ModuleDescription,
  describeModule,
  describeReading,
} from "../../../src/split/describe/describe.ts";
import { type ModuleOutline, outlineOf } from "../../../src/split/describe/outline.ts";
import { type ModuleReading, readModule } from "../../../src/split/read/read-module.ts";
import type { Parse } from "../../../src/split/write/split-module.ts";
import { isInside, realPath, slashed } from "../../files/sources.ts";
import {
  type CodeImports,
  type DescribedImport,
  importsIn,
  valueImports,
} from "./described-imports.ts";
import type { FileMemory } from "./file-memory.ts";

export interface SourceModule {
  /** Relative to the source root, no extension: `shop/quote`. */
  readonly id: string;
  /** Absolute. */
  readonly file: string;
  /** Relative to the application folder, for people. */
  readonly name: string;
}

/** Resolves an import that isn't relative (an alias, a package) to an absolute file. */
export type ResolveImport = (specifier: string, importer: string) => Promise<string | undefined>;

/**
 * Syntax trees of this much source are kept while an application is read, at about 35 bytes per
 * character. Further modules are parsed again when they are split.
 */
const mostCharactersRead = 8_000_000;

const extensions = /\.[cm]?[jt]sx?$/;

/** Whether a file is a module's source. */
export function isModuleFile(file: string): boolean {
  return /\.(?:m?[jt]s|[jt]sx)$/.test(file) && !/\.d\.m?ts$/.test(file);
}

/** Modules of the platform and of the runtime, which never resolve to a source module. */
function isForeign(specifier: string): boolean {
  return /^(?:node:|[a-z]+:\/\/|data:|\/svc\/)|^seamline(?:[/:]|$)/.test(specifier);
}

export interface ModulesOptions {
  readonly root: string;
  readonly source: string;
  readonly files: readonly string[];
  readonly parse: Parse;
  readonly resolveImport: ResolveImport;
  readonly memory: FileMemory;
}

/** An import or a re-export that leads to a source module. */
export interface ImportEdge extends DescribedImport {
  readonly module: SourceModule;
}

/** Edges that are known already are no promise: each promise of thousands would cost an edit its time. */
type Edges = readonly ImportEdge[] | Promise<readonly ImportEdge[]>;

/**
 * The modules of a source folder. A file is read and parsed when it is first needed, and once. How
 * imports resolve depends on the list of files.
 */
export class Modules {
  /** Caches what depends on the text of one file. */
  readonly memory: FileMemory;
  /** The application folder, absolute as is the source folder. */
  readonly root: string;
  readonly source: string;
  readonly #parse: Parse;
  readonly #resolveImport: ResolveImport;
  readonly #byId = new Map<string, SourceModule>();
  readonly #byFile = new Map<string, SourceModule>();
  readonly #edges = new WeakMap<CodeImports, readonly ImportEdge[]>();
  readonly #readings = new Map<string, ModuleReading>();
  #charactersRead = 0;
  readonly #keys = new Map<string, string>();
  readonly #at = new Map<string, SourceModule | undefined>();
  readonly #resolved = new Map<string, Promise<SourceModule | undefined>>();

  constructor(options: ModulesOptions) {
    this.memory = options.memory;
    this.root = options.root;
    this.source = options.source;
    this.#parse = options.parse;
    this.#resolveImport = options.resolveImport;
    for (const file of options.files.filter(
      (path) => isInside(options.source, path) && isModuleFile(path),
    )) {
      const module = this.memory.of(file, "module", () => ({
        id: this.#idOf(file),
        file,
        name: slashed(relative(options.root, file)),
      }));
      if (!this.#byId.has(module.id)) this.#byId.set(module.id, module);
      this.#byFile.set(file, module);
    }
  }

  /** All modules; of two with the same id, {@link get} returns the first. */
  get all(): Iterable<SourceModule> {
    return this.#byFile.values();
  }

  get ids(): Iterable<string> {
    return this.#byId.keys();
  }

  get(id: string): SourceModule | undefined {
    return this.#byId.get(id);
  }

  byFile(file: string): SourceModule | undefined {
    return this.#byFile.get(file);
  }

  /** The module that a segment file or `client.import` names: `./shop/quote.js`. */
  find(key: string): SourceModule | undefined {
    let path = this.#keys.get(key);
    if (path === undefined) this.#keys.set(key, (path = resolve(this.source, key)));
    return this.at(path);
  }

  /**
   * The module at an absolute path, with or without its extension. A file goes before a folder's
   * index, as in Node and TypeScript.
   */
  at(path: string): SourceModule | undefined {
    const exact = this.#byFile.get(path);
    if (exact !== undefined) return exact;
    if (!this.#at.has(path)) this.#at.set(path, this.#without(path));
    return this.#at.get(path);
  }

  #without(path: string): SourceModule | undefined {
    const full = slashed(relative(this.source, path));
    return (
      this.#byId.get(full) ??
      this.#byId.get(full.replace(extensions, "")) ??
      this.#byId.get(full === "" ? "index" : `${full}/index`)
    );
  }

  /** The path of a module's file without symbolic links; its folder is real anyway. */
  realPath({ file }: SourceModule): string {
    return this.memory.of(file, "link", () => realPath(file));
  }

  text(file: string): string {
    return this.memory.text(file);
  }

  /** The text of a module that has been read already. */
  known(file: string): string | undefined {
    return this.memory.known(file, "text") as string | undefined;
  }

  describe(module: SourceModule): ModuleDescription {
    return this.memory.of(module.file, "description", () => describeReading(this.read(module)));
  }

  /** Imports and exports of a module, without its syntax tree where that isn't needed. */
  outline(module: SourceModule): ModuleOutline {
    const { file, name } = module;
    return (
      (this.memory.known(file, "description") as ModuleDescription | undefined) ??
      this.memory.of(file, "outline", () => {
        const source = this.text(file);
        return outlineOf(source, () => this.#parse(name, source)) ?? this.describe(module);
      })
    );
  }

  /** Parses and analyses a module, once for everything that reads or splits it. */
  read({ file, name }: SourceModule): ModuleReading {
    const source = this.text(file);
    const cached = this.#readings.get(file);
    if (cached?.source === source) return cached;
    const reading = readModule({ file: name, source, parse: this.#parse });
    if (this.#charactersRead + source.length <= mostCharactersRead) {
      this.#readings.set(file, reading);
      this.#charactersRead += source.length;
    }
    return reading;
  }

  /** Drops all syntax trees. Descriptions stay cached. */
  release(): void {
    this.#readings.clear();
    this.#charactersRead = 0;
  }

  /** Describes code inside another file: a script in a page. */
  describeText(source: string, file: string): ModuleDescription {
    return describeModule({
      source,
      file: slashed(relative(this.root, file)),
      parse: this.#parse,
    });
  }

  /** Resolves an import in `importer` (a file) to a source module. */
  async resolve(specifier: string, importer: string): Promise<SourceModule | undefined> {
    const bare = specifier.replace(/[?#].*$/, "");
    const path = resolve(dirname(importer), bare);
    // A linked folder may contain modules too.
    if (/^\.{1,2}(?:\/|$)/.test(bare))
      return this.at(path) ?? this.at(join(realPath(dirname(path)), basename(path)));
    if (isForeign(bare)) return undefined;
    // Parts import each other by their files.
    const own = this.#byFile.get(bare);
    if (own !== undefined) return own;
    // How a package resolves depends on the importer's folder, not on its file.
    const key = `${dirname(importer)} ${specifier}`;
    let found = this.#resolved.get(key);
    if (found === undefined)
      this.#resolved.set(
        key,
        (found = this.#resolveImport(specifier, importer).then((file) =>
          file === undefined ? undefined : (this.#byFile.get(file) ?? this.at(file)),
        )),
      );
    return await found;
  }

  /** Resolves an import to a file, which may not exist or not be a module. */
  async fileOf(specifier: string, importer: string): Promise<string | undefined> {
    const bare = specifier.replace(/[?#].*$/, "");
    if (/^\.{1,2}\//.test(bare)) return resolve(dirname(importer), bare);
    return isForeign(bare) ? undefined : await this.#resolveImport(specifier, importer);
  }

  /** Specifiers of a module's imports and re-exports of values, without its syntax tree where that isn't needed. */
  valueImportsOf(module: SourceModule): readonly string[] {
    const outline = this.outline(module);
    const mayGo = outline.imports.some(({ typeOnly, names }) => !typeOnly && names.length > 0);
    return valueImports(mayGo ? this.describe(module) : outline);
  }

  /** All imports and re-exports of source modules in a module, values and types. */
  importsOf(module: SourceModule): Edges {
    return this.importsIn(module.file, this.outline(module));
  }

  /** The modules from which imports of values lead to these. The code of others needn't be read for mentions of them. */
  async leadingTo(targets: Iterable<SourceModule>): Promise<ReadonlySet<SourceModule>> {
    const importers = new Map<SourceModule, SourceModule[]>();
    for (const importer of this.all) {
      const found = this.importsOf(importer);
      for (const { module, typeOnly } of found instanceof Promise ? await found : found) {
        if (typeOnly) continue;
        const known = importers.get(module);
        if (known === undefined) importers.set(module, [importer]);
        else known.push(importer);
      }
    }
    const leading = new Set(targets);
    // Iterating a set includes items that are added meanwhile.
    for (const module of leading)
      for (const importer of importers.get(module) ?? []) leading.add(importer);
    return leading;
  }

  /** The same in code of a file: a part of a module, or a script. */
  importsIn(file: string, description: CodeImports): Edges {
    return this.#edges.get(description) ?? this.#edgesIn(file, description);
  }

  async #edgesIn(file: string, description: CodeImports): Promise<readonly ImportEdge[]> {
    const found = await Promise.all(
      importsIn(description).map(async (edge) => {
        const module = await this.resolve(edge.specifier, file);
        return module === undefined ? [] : [{ ...edge, module }];
      }),
    );
    const edges = found.flat();
    this.#edges.set(description, edges);
    return edges;
  }

  #idOf(file: string): string {
    return slashed(relative(this.source, file)).replace(extensions, "");
  }
}

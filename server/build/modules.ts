// The source modules of an application: their ids, what they declare, and which of them an import leads to.

import { basename, dirname, join, relative, resolve } from "node:path";

import type { Problem } from "../../src/problem.ts";
import {
  type ModuleDescription,
  type ModuleExport,
  describeModule,
  emptyDescription,
} from "../../src/split/describe.ts";
import type { Parse, Part } from "../../src/split/split-module.ts";
import { type ModuleUses, usesOf } from "../../src/split/uses.ts";
import { isInside, realPath, slashed } from "../sources.ts";
import { linkOnTheWay } from "./links.ts";
import type { FileMemory } from "./file-memory.ts";

export interface SourceModule {
  /** Relative to the source root, no extension: `shop/quote`. */
  readonly id: string;
  /** Absolute. */
  readonly file: string;
  /** Relative to the application folder, for people. */
  readonly name: string;
}

/** Where an export is declared, after all re-exports; or why it can't be found. */
export type Declaration =
  | { readonly module: SourceModule; readonly export: ModuleExport }
  | { readonly missing: "export"; readonly module: SourceModule; readonly name: string }
  | { readonly missing: "package"; readonly module: SourceModule; readonly specifier: string };

/** Finds the file of an import that is not relative (an alias, a package); absolute, or `undefined`. */
export type ResolveImport = (specifier: string, importer: string) => Promise<string | undefined>;

const nobody: ReadonlySet<string> = new Set();

const extensions = /\.[cm]?[jt]sx?$/;

/** Whether a file is source of a module (decisions §1, module keys). */
export function isModuleFile(file: string): boolean {
  return /\.(?:m?[jt]s|[jt]sx)$/.test(file) && !/\.d\.m?ts$/.test(file);
}

/** Modules of the platform and of the runtime, which lead to no source whatever an application configures. */
function isForeign(specifier: string): boolean {
  return /^(?:node:|[a-z]+:\/\/|data:|\/svc\/)|^seamline(?:\/|$)/.test(specifier);
}

export interface ModulesOptions {
  readonly root: string;
  readonly source: string;
  readonly files: readonly string[];
  readonly parse: Parse;
  readonly resolveImport: ResolveImport;
  /** What is known of the files' texts. */
  readonly memory: FileMemory;
}

/** An import or a re-export that leads to a source module. */
export interface ImportEdge {
  readonly module: SourceModule;
  readonly typeOnly: boolean;
  readonly names: readonly string[];
  /** The local name of `import * as …`. */
  readonly namespace?: string | undefined;
  /** A re-export. */
  readonly passedOn: boolean;
}

/** Builds' view of the source folder. Reads and parses a file when it is first asked for, and once. Where imports lead depends on `files`. */
export class Modules {
  /** Two files that would be one module. */
  readonly problems: readonly Problem[];
  readonly #root: string;
  readonly #source: string;
  readonly #parse: Parse;
  readonly #resolveImport: ResolveImport;
  readonly #byId = new Map<string, SourceModule>();
  readonly #byFile = new Map<string, SourceModule>();
  readonly #memory: FileMemory;
  readonly #edges = new WeakMap<ModuleDescription, readonly ImportEdge[]>();
  #consulted: Map<SourceModule, ModuleDescription> | undefined;
  readonly #keys = new Map<string, string>();
  readonly #at = new Map<string, SourceModule | undefined>();
  readonly #resolved = new Map<string, Promise<SourceModule | undefined>>();

  constructor(options: ModulesOptions) {
    this.#memory = options.memory;
    this.#root = options.root;
    this.#source = options.source;
    this.#parse = options.parse;
    this.#resolveImport = options.resolveImport;
    const problems: Problem[] = [];
    for (const file of options.files.filter(
      (one) => isInside(options.source, one) && isModuleFile(one),
    )) {
      const module = this.#memory.of(file, "module", () => ({
        id: this.#idOf(file),
        file,
        name: slashed(relative(options.root, file)),
      }));
      const twin = this.#byId.get(module.id);
      if (twin !== undefined)
        problems.push({
          file: module.name,
          message: `this file and ${twin.name} are one module, "${module.id}": the extension is no part of a module's name`,
          hint: "Rename or remove one of them.",
        });
      else this.#byId.set(module.id, module);
      this.#byFile.set(file, module);
    }
    this.problems = problems;
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

  /** The module that a key of a segment file, or an argument of `client.import`, names: `./shop/quote.js` (decisions §1). */
  find(key: string): SourceModule | undefined {
    let path = this.#keys.get(key);
    if (path === undefined) this.#keys.set(key, (path = resolve(this.#source, key)));
    return this.at(path);
  }

  /** Why {@link find} finds nothing, where a folder that is a link is why. */
  linkTo(key: string): ReturnType<typeof linkOnTheWay> {
    return linkOnTheWay(key, { root: this.#root, source: this.#source });
  }

  /** The same for an absolute path, its extension left out or not. A file goes before a folder's index, as Node and TypeScript have it. */
  at(path: string): SourceModule | undefined {
    const exact = this.#byFile.get(path);
    if (exact !== undefined) return exact;
    if (!this.#at.has(path)) this.#at.set(path, this.#without(path));
    return this.#at.get(path);
  }

  #without(path: string): SourceModule | undefined {
    const full = slashed(relative(this.#source, path));
    return (
      this.#byId.get(full) ??
      this.#byId.get(full.replace(extensions, "")) ??
      this.#byId.get(full === "" ? "index" : `${full}/index`)
    );
  }

  text(file: string): string {
    return this.#memory.text(file);
  }

  describe(module: SourceModule): ModuleDescription {
    const description = this.#describe(module);
    this.#consulted?.set(module, description);
    return description;
  }

  #describe(module: SourceModule): ModuleDescription {
    return this.#memory.of(module.file, "description", () =>
      this.#lasting(module, this.text(module.file)),
    );
  }

  #lasting({ id, file, name }: SourceModule, text: string): ModuleDescription {
    return this.#memory.lasting(["description", id, name, text], () =>
      this.describeText(text, file, id),
    );
  }

  /** Runs `look`, and gives the descriptions that its outcome rests on, besides the list of files. Nothing else may run meanwhile. */
  async consulted(
    look: () => Promise<void>,
  ): Promise<ReadonlyMap<SourceModule, ModuleDescription>> {
    const consulted = new Map<SourceModule, ModuleDescription>();
    this.#consulted = consulted;
    try {
      await look();
    } finally {
      this.#consulted = undefined;
    }
    return consulted;
  }

  /** Whether all of these descriptions are still the current ones. */
  hold(consulted: ReadonlyMap<SourceModule, ModuleDescription>): boolean {
    for (const [module, description] of consulted)
      if (this.#describe(module) !== description) return false;
    return true;
  }

  /** Describes a part of a module. */
  describePart(module: SourceModule, part: Part | undefined): ModuleDescription {
    if (part === undefined) return emptyDescription;
    return this.#memory.ofObject(part, () => this.#lasting(module, part.code));
  }

  /** What each piece of a module uses and changes; `undefined` of one that can't be parsed. */
  usesOf({ file, name }: SourceModule): ModuleUses | undefined {
    return this.#memory.of(file, "uses", () =>
      usesOf({ source: this.text(file), file: name, parse: this.#parse }),
    );
  }

  /** Describes code that is no file of its own: a script inside a page. */
  describeText(source: string, file: string, module: string): ModuleDescription {
    return describeModule({
      source,
      file: slashed(relative(this.#root, file)),
      module,
      parse: this.#parse,
    });
  }

  /** The source module that an import in `importer` (a file) leads to, if it leads to one. */
  async resolve(specifier: string, importer: string): Promise<SourceModule | undefined> {
    const bare = specifier.replace(/[?#].*$/, "");
    const path = resolve(dirname(importer), bare);
    // A folder that is a link may lead to modules too.
    if (/^\.{1,2}(?:\/|$)/.test(bare))
      return this.at(path) ?? this.at(join(realPath(dirname(path)), basename(path)));
    if (isForeign(bare)) return undefined;
    // Packages may resolve differently from another folder, but not from another file beside.
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

  /** The file that an import leads to, whether it is a module's or not; it need not be there. */
  async fileOf(specifier: string, importer: string): Promise<string | undefined> {
    const bare = specifier.replace(/[?#].*$/, "");
    if (/^\.{1,2}\//.test(bare)) return resolve(dirname(importer), bare);
    return isForeign(bare) ? undefined : await this.#resolveImport(specifier, importer);
  }

  /** All that a module, or a part of it, imports or re-exports from other source modules, values and types. */
  async importsOf(
    module: SourceModule,
    description: ModuleDescription = this.describe(module),
  ): Promise<readonly ImportEdge[]> {
    let known = this.#edges.get(description);
    if (known === undefined)
      this.#edges.set(description, (known = await this.#importsOf(module, description)));
    return known;
  }

  async #importsOf(
    module: SourceModule,
    description: ModuleDescription,
  ): Promise<readonly ImportEdge[]> {
    const edges: (Omit<ImportEdge, "module"> & { readonly specifier: string })[] = [
      ...description.imports.map(({ specifier, typeOnly, names }) => ({
        specifier,
        typeOnly,
        names: names.map((name) => name.imported),
        namespace: names.find((name) => name.imported === "*")?.local,
        passedOn: false,
      })),
      ...description.exports.flatMap((one) =>
        one.from === undefined
          ? []
          : [
              {
                specifier: one.from.specifier,
                typeOnly: false,
                names: [one.from.name],
                passedOn: true,
              },
            ],
      ),
      ...description.starReexports.map((specifier) => ({
        specifier,
        typeOnly: false,
        names: ["*"],
        passedOn: true,
      })),
    ];
    const found = await Promise.all(
      edges.map(async (edge) => ({
        ...edge,
        module: await this.resolve(edge.specifier, module.file),
      })),
    );
    return found.flatMap(({ module: target, typeOnly, names, namespace, passedOn }) =>
      target === undefined ? [] : [{ module: target, typeOnly, names, namespace, passedOn }],
    );
  }

  /** What {@link declaration} gives, where no other module has to be asked: nearly always. */
  declaredIn(module: SourceModule, name: string): Declaration | undefined {
    const { exports, starReexports } = this.describe(module);
    const found = exports.find((one) => one.name === name);
    if (found !== undefined)
      return found.from === undefined ? { module, export: found } : undefined;
    return starReexports.length === 0 || name === "default"
      ? { missing: "export", module, name }
      : undefined;
  }

  /** Follows re-exports (`export { a } from`, `export * from`) to the module that declares `name`. */
  async declaration(
    module: SourceModule,
    name: string,
    visited: ReadonlySet<string> = nobody,
  ): Promise<Declaration> {
    const missing = { missing: "export", module, name } as const;
    if (visited.has(module.id)) return missing;
    const here = this.declaredIn(module, name);
    if (here !== undefined) return here;
    const description = this.describe(module);
    const found = description.exports.find((one) => one.name === name);
    const seen = new Set([...visited, module.id]);
    if (found?.from !== undefined) {
      const target = await this.resolve(found.from.specifier, module.file);
      if (target === undefined)
        return { missing: "package", module, specifier: found.from.specifier };
      return await this.declaration(
        target,
        found.from.name,
        found.from.name === name ? seen : new Set(),
      );
    }
    // `export *` passes everything on but the default export.
    if (name === "default") return missing;
    for (const specifier of description.starReexports) {
      const target = await this.resolve(specifier, module.file);
      if (target === undefined) continue;
      const there = await this.declaration(target, name, seen);
      if (!("missing" in there) || there.missing === "package") return there;
    }
    return missing;
  }

  /** Names that a module exports, those of `export *` included. */
  async exportNames(
    module: SourceModule,
    visited: Set<string> = new Set(),
  ): Promise<readonly string[]> {
    if (visited.has(module.id)) return [];
    visited.add(module.id);
    const description = this.describe(module);
    const names = description.exports.map((one) => one.name);
    for (const specifier of description.starReexports) {
      const target = await this.resolve(specifier, module.file);
      if (target !== undefined)
        names.push(
          ...(await this.exportNames(target, visited)).filter((name) => name !== "default"),
        );
    }
    return [...new Set(names)];
  }

  #idOf(file: string): string {
    return slashed(relative(this.#source, file)).replace(extensions, "");
  }
}

// The graph of everything that browsers load: pages, modules and their parts, packages, and the imports
// between them.

import { readFileSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { isAbsolute } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { noCode } from "../../../src/split/describe/describe.ts";
import type { Parse, Part } from "../../../src/split/write/split-module.ts";
import type { Application } from "../cut/application.ts";
import { valueImports } from "../read/described-imports.ts";
import { fileAddresses, serviceImport, textImport } from "./leaks.ts";
import { graphId, parsePartId, partId } from "../read/module-ids.ts";
import type { SourceModule } from "../read/modules.ts";
import { importedByCode, nameOfFile } from "../read/package-imports.ts";
import { type NodeImport, isNodeOnly, nodeImportProblems } from "./server-only.ts";

export interface BrowserModule {
  /** A file, the id of one of its parts, or the name of a module of Node. */
  readonly id: string;
  readonly kind: "page" | "segment" | "entry" | "source" | "code" | "node" | "asset";
  /** As shown in reports: relative to the application folder, or to its package. */
  readonly name: string;
  readonly package?: string;
  /** Set for a split source module. */
  readonly part?: "face" | "shared" | "body";
  readonly module?: SourceModule;
  /** Bytes of its source, not counting blanks at line ends. */
  readonly size: () => number;
  /** The first importer is on a shortest path from an entry. */
  readonly importers: Importer[];
}

export interface Importer {
  readonly from: BrowserModule;
  /** As written; absent if there is no import statement. */
  readonly specifier?: string;
}

export interface BrowserGraph {
  readonly modules: ReadonlyMap<string, BrowserModule>;
  readonly nodeImports: readonly NodeImport[];
  /** Imports that can't be resolved. */
  readonly unresolved: readonly { readonly specifier: string; readonly importer: string }[];
  /** Imports that would publish the source of split modules, as text or as files. */
  readonly leaks: readonly Problem[];
}

/** An application, and the tools that follow its imports into packages. */
export interface BrowserSources {
  readonly application: Application;
  readonly parse: Parse;
  /**
   * Resolves an import as pages do: to a file, a module of Node or an id of Vite's; `undefined` if
   * it can't be resolved.
   */
  readonly resolve: (
    side: "browser",
    specifier: string,
    importer: string,
  ) => Promise<string | undefined>;
}

/**
 * Follows imports from pages, configured entries, bodies of segments for browsers, and
 * `browserModules`.
 */
export async function browserGraph(open: BrowserSources): Promise<BrowserGraph> {
  const walker = new Walker(open);
  const { application } = open;
  for (const page of application.demands.pages) {
    const from = walker.root(page.file, "page", page.name);
    for (const { specifier, module } of page.imports)
      if (module === undefined) await walker.follow(from, specifier, page.file);
      else walker.add(module.file, { from, specifier });
  }
  for (const module of application.entries) {
    const from = walker.root(`entry ${module.file}`, "entry", "an entry of the configuration");
    walker.add(module.file, { from });
  }
  for (const segment of application.browserSegments) {
    const starter = application.demands.started.get(segment);
    const from = walker.root(
      `segment ${segment}`,
      "segment",
      `segment "${segment}"${starter === undefined ? "" : `, started in ${starter}`}`,
    );
    for (const { module, procedures } of application.cut.values())
      if (
        procedures.some((procedure) =>
          procedure.entries.some((entry) => entry.segment.name === segment),
        )
      )
        walker.add(partId.body(module.file), { from });
  }
  for (const module of application.browserModules) {
    const from = walker.root(`entry ${module.file}`, "entry", "client.import or browserModules");
    walker.add(module.file, { from });
  }
  await walker.walk();
  return walker;
}

/** Modules of Node that browsers would load, each with its chain of imports. */
export function nodeProblems(
  { modules, nodeImports }: BrowserGraph,
  root: string,
): readonly Problem[] {
  // Entries that aren't files don't appear in chains of imports.
  const importersOf = (id: string): readonly string[] =>
    (modules.get(id)?.importers ?? []).flatMap(({ from }) =>
      ["segment", "entry"].includes(from.kind) ? [] : [from.id],
    );
  return nodeImportProblems(nodeImports, root, importersOf);
}

class Walker implements BrowserGraph {
  readonly modules = new Map<string, BrowserModule>();
  readonly nodeImports: NodeImport[] = [];
  readonly unresolved: { specifier: string; importer: string }[] = [];
  readonly leaks: Problem[] = [];
  readonly #open: BrowserSources;
  readonly #queue: BrowserModule[] = [];

  constructor(open: BrowserSources) {
    this.#open = open;
  }

  root(id: string, kind: BrowserModule["kind"], name: string): BrowserModule {
    const root = this.modules.get(id) ?? { id, kind, name, size: nothing, importers: [] };
    this.modules.set(id, root);
    return root;
  }

  add(id: string, importer: Importer): void {
    let module = this.modules.get(id);
    if (module === undefined) {
      module = this.#make(id);
      this.modules.set(id, module);
      this.#queue.push(module);
    }
    module.importers.push(importer);
  }

  async walk(): Promise<void> {
    // Iterating an array includes appended items: breadth first, so the first importer is on a
    // shortest path.
    for (const module of this.#queue) {
      if (module.kind === "source") await this.#source(module);
      else if (module.kind === "code") await this.#code(module);
    }
  }

  /** Adds the target of an import in `importer` (a file). */
  async follow(from: BrowserModule, specifier: string, importer: string): Promise<void> {
    if (
      specifier === graphId ||
      /^(?:\/svc\/|seamline$|seamline\/client$|[a-z]+:\/\/|data:|virtual:|\0)/.test(specifier)
    )
      return;
    if (parsePartId(specifier).part !== undefined) {
      this.add(specifier, { from, specifier });
      return;
    }
    const { application } = this.#open;
    const own = await application.modules.resolve(specifier, importer);
    if (own !== undefined) {
      const leak = textImport(
        `${own.file}${/\?.*$/.exec(specifier)?.[0] ?? ""}`,
        application,
        (file) => application.cut.has(file),
      );
      if (leak === undefined) this.add(own.file, { from, specifier });
      else this.leaks.push(leak);
      return;
    }
    const found = await this.#open.resolve("browser", specifier, importer);
    if (found === undefined) this.unresolved.push({ specifier, importer });
    else if (
      isBuiltin(specifier) &&
      isNodeOnly(
        specifier,
        importer,
        isAbsolute(found) || found.startsWith("__vite") ? found : undefined,
      )
    ) {
      this.nodeImports.push({ specifier, importer: from.id });
      this.add(specifier.replace(/^(?:node:)?/, "node:"), { from, specifier });
    } else if (isAbsolute(found)) {
      const service = serviceImport(specifier, importer, found, application.root);
      if (service !== undefined) this.leaks.push(service);
      else this.add(found.replace(/[?#].*$/, ""), { from, specifier });
    }
  }

  #make(id: string): BrowserModule {
    const { application } = this.#open;
    const importers: Importer[] = [];
    if (id.startsWith("node:")) return { id, kind: "node", name: id, size: nothing, importers };
    const { file, part: query } = parsePartId(id);
    const module = application.modules.byFile(file);
    const cut = application.cut.get(file);
    if (module === undefined) {
      const isCode = /\.[cm]?[jt]sx?$/.test(file);
      return {
        id,
        kind: isCode ? "code" : "asset",
        ...nameOfFile(application.root, file),
        size: () => statSync(file).size,
        importers,
      };
    }
    const source = { id, kind: "source", name: module.name, module, importers } as const;
    if (cut === undefined) return { ...source, size: () => sizeOf(application.modules.text(file)) };
    const part = query === undefined ? "face" : query === "shared" ? "shared" : "body";
    return { ...source, part, size: () => sizeOf(cut.parts.browser[part]?.code ?? "") };
  }

  async #source(importer: BrowserModule): Promise<void> {
    const { application } = this.#open;
    const { modules, cut } = application;
    const module = importer.module as SourceModule;
    const split = cut.get(module.file)?.parts.browser;
    const part: Part | undefined = importer.part === undefined ? undefined : split?.[importer.part];
    const imported =
      split === undefined
        ? modules.valueImportsOf(module)
        : valueImports(part?.description ?? noCode);
    const code = split === undefined ? modules.text(module.file) : (part?.code ?? "");
    if (code.includes("import.meta.url"))
      this.leaks.push(...fileAddresses(code, module.file, application, (file) => cut.has(file)));
    for (const specifier of new Set(imported)) await this.follow(importer, specifier, module.file);
  }

  async #code(importer: BrowserModule): Promise<void> {
    const source = readFileSync(importer.id, "utf8");
    for (const specifier of importedByCode(importer.id, source, this.#open.parse)) {
      const before = this.unresolved.length;
      await this.follow(importer, specifier, importer.id);
      // A package's unresolved imports are for the bundler to judge; they may never be loaded.
      this.unresolved.length = before;
    }
  }
}

const nothing = (): number => 0;

function sizeOf(code: string): number {
  return Buffer.byteLength(code.replace(/[ \t]+$/gm, "").replace(/\n{2,}/g, "\n"));
}

// What browsers get, as a graph: pages, modules and parts of modules, packages, and the imports that bring them along.

import { readFileSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { isAbsolute } from "node:path";

import type { Problem } from "../../src/problem.ts";
import type { ModuleDescription } from "../../src/split/describe.ts";
import type { Part } from "../../src/split/split-module.ts";
import { graphId } from "./cut.ts";
import { fileAddresses, serviceImport, textImport } from "./leaks.ts";
import type { SourceModule } from "./modules.ts";
import type { OpenApplication } from "./open-application.ts";
import { importedByCode, nameOfFile } from "./package-imports.ts";
import { type NodeImport, isNodeOnly, nodeImportProblems } from "./server-only.ts";

export interface BrowserModule {
  /** A file, one of its parts (`file?seamline=body`), or the name of a module of Node. */
  readonly id: string;
  readonly kind: "page" | "segment" | "entry" | "source" | "code" | "node" | "asset";
  /** For people: relative to the application folder, or in its package. */
  readonly name: string;
  readonly package?: string;
  /** Of a source module that segments cut. */
  readonly part?: "face" | "shared" | "body";
  readonly module?: SourceModule;
  /** Bytes of its source, without blank space at the ends of lines. */
  readonly size: () => number;
  /** Who imports it; the first one is on the shortest way from an entry. */
  readonly importers: Importer[];
}

export interface Importer {
  readonly from: BrowserModule;
  /** As written; absent where no import says so. */
  readonly specifier?: string;
}

export interface BrowserGraph {
  readonly modules: ReadonlyMap<string, BrowserModule>;
  readonly nodeImports: readonly NodeImport[];
  /** Imports that lead nowhere. */
  readonly unresolved: readonly { readonly specifier: string; readonly importer: string }[];
  /** Code that would leave the build's hands: sources as text, as files. */
  readonly leaks: readonly Problem[];
}

type Open = Pick<OpenApplication, "application" | "parse" | "resolve">;

/** Follows what browsers load: pages, entries of Vite's configuration, bodies of the segments that they start, `clientModules`. */
export async function browserGraph(open: Open): Promise<BrowserGraph> {
  const walker = new Walker(open);
  const { application } = open;
  for (const page of application.pages) {
    const from = walker.root(page.file, "page", page.name);
    for (const { specifier, module } of page.imports)
      if (module === undefined) await walker.follow(from, specifier, page.file);
      else walker.add(module.file, { from, specifier });
  }
  for (const module of application.entries) {
    const from = walker.root(`entry ${module.file}`, "entry", "an entry of the configuration");
    walker.add(module.file, { from });
  }
  for (const segment of application.clients) {
    const starter = application.started.get(segment);
    const from = walker.root(
      `segment ${segment}`,
      "segment",
      `segment "${segment}"${starter === undefined ? "" : `, started in ${starter}`}`,
    );
    for (const { module, procedures } of application.cut.values())
      if (procedures.some((one) => one.entries.some((entry) => entry.segment.name === segment)))
        walker.add(`${module.file}?seamline=body`, { from });
  }
  for (const module of application.clientModules) {
    const from = walker.root(`entry ${module.file}`, "entry", "client.import or clientModules");
    walker.add(module.file, { from });
  }
  await walker.walk();
  return walker;
}

/** What only Node has and browsers would get, with the way that each comes. */
export function nodeProblems(
  { modules, nodeImports }: BrowserGraph,
  root: string,
): readonly Problem[] {
  // Entries that are no files have no line in a chain of imports.
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
  readonly #open: Open;
  readonly #queue: BrowserModule[] = [];

  constructor(open: Open) {
    this.#open = open;
  }

  root(id: string, kind: BrowserModule["kind"], name: string): BrowserModule {
    const root = this.modules.get(id) ?? { id, kind, name, size: nothing, importers: [] };
    this.modules.set(id, root);
    return root;
  }

  add(id: string, importer: Importer): void {
    let known = this.modules.get(id);
    if (known === undefined) {
      known = this.#make(id);
      this.modules.set(id, known);
      this.#queue.push(known);
    }
    known.importers.push(importer);
  }

  async walk(): Promise<void> {
    // A list hands out what is added while it is walked: nearest first, so that the first importer is on a shortest way.
    for (const one of this.#queue) {
      if (one.kind === "source") await this.#source(one);
      else if (one.kind === "code") await this.#code(one);
    }
  }

  /** Adds what an import in `importer` (a file) leads to. */
  async follow(from: BrowserModule, specifier: string, importer: string): Promise<void> {
    if (
      specifier === graphId ||
      /^(?:\/svc\/|seamline$|seamline\/client$|[a-z]+:\/\/|data:|virtual:|\0)/.test(specifier)
    )
      return;
    if (specifier.includes("?seamline=")) {
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
    const [file = id, query] = id.split("?seamline=");
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

  async #source(one: BrowserModule): Promise<void> {
    const { application } = this.#open;
    const { modules, cut } = application;
    const module = one.module as SourceModule;
    const split = cut.get(module.file)?.parts.browser;
    const part: Part | undefined = one.part === undefined ? undefined : split?.[one.part];
    const description =
      split === undefined ? modules.describe(module) : modules.describePart(module, part);
    const code = split === undefined ? modules.text(module.file) : (part?.code ?? "");
    if (code.includes("import.meta.url"))
      this.leaks.push(...fileAddresses(code, module.file, application, (file) => cut.has(file)));
    for (const specifier of new Set(valueImports(description)))
      await this.follow(one, specifier, module.file);
  }

  async #code(one: BrowserModule): Promise<void> {
    const source = readFileSync(one.id, "utf8");
    for (const specifier of importedByCode(one.id, source, this.#open.parse)) {
      const before = this.unresolved.length;
      await this.follow(one, specifier, one.id);
      // What a package needs and hasn't got is the bundler's to judge: it may never be asked for.
      this.unresolved.length = before;
    }
  }
}

/** What code imports and passes on, types left out. */
export function valueImports(description: ModuleDescription): readonly string[] {
  return [
    ...description.imports
      .filter((one) => !one.typeOnly && one.unused !== true)
      .map((one) => one.specifier),
    ...description.exports.flatMap((one) => one.from?.specifier ?? []),
    ...description.starReexports,
  ];
}

const nothing = (): number => 0;

function sizeOf(code: string): number {
  return Buffer.byteLength(code.replace(/[ \t]+$/gm, "").replace(/\n{2,}/g, "\n"));
}

// Reads the application with the configuration and the resolver of one Vite environment.

import { lstatSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";

import type { Environment } from "vite";

import type { Problem } from "../../src/base/problem.ts";
import { realPath } from "../files/sources.ts";
import type { Application } from "./cut/application.ts";
import { outputProblems } from "./rules/browser-outputs.ts";
import { readApplication } from "./read-application.ts";
import { ApplicationCache } from "./read/application-cache.ts";
import { refuseFolder } from "./rules/folder-name.ts";
import { type Vite, loadVite, parserOf } from "./read/load-vite.ts";
import { isModuleFile } from "./read/modules.ts";
import type { SeamlineOptions } from "./read/plugin-options.ts";
import { isTyped, tsconfigOf, tsconfigProblem } from "./rules/tsconfig.ts";

/** Entries that Vite's configuration names, absolute. */
export interface ConfiguredEntries {
  readonly inputs: readonly string[];
  readonly pages: readonly string[];
}

interface Folders {
  readonly root: string;
  readonly source: string;
  readonly viteRoot: string;
}

export class ApplicationReader {
  readonly #outputs: () => readonly string[];
  readonly #cache = new ApplicationCache();
  #options: SeamlineOptions;
  #folders: Folders = { root: "", source: "", viteRoot: "" };
  #entries: ConfiguredEntries = { inputs: [], pages: [] };
  #isForTests = false;
  #whenChecked: ((config: Environment["config"]) => void) | undefined;
  #behindLinks: ReadonlySet<string> = new Set();
  #resolver:
    | { readonly config: object; readonly resolve: ReturnType<Vite["createIdResolver"]> }
    | undefined;
  #application: Promise<Application> | undefined;

  /** `outputs` are the absolute folders that hold no source. */
  constructor(options: SeamlineOptions, outputs: () => readonly string[]) {
    this.#options = options;
    this.#outputs = outputs;
  }

  get options(): SeamlineOptions {
    return this.#options;
  }

  /** The application folder. */
  get root(): string {
    return this.#folders.root;
  }

  get source(): string {
    return this.#folders.source;
  }

  /** The absolute folders that hold no source. */
  get outputs(): readonly string[] {
    return this.#outputs();
  }

  get viteRoot(): string {
    return this.#folders.viteRoot;
  }

  /** Pages that Vite's configuration names. */
  get pages(): readonly string[] {
    return this.#entries.pages;
  }

  /**
   * See {@link Application.behindLinks}, from the latest reading. In development an earlier
   * application may still be in use.
   */
  get behindLinks(): ReadonlySet<string> {
    return this.#behindLinks;
  }

  /** The latest reading, if there was any. */
  get latest(): Promise<Application> | undefined {
    return this.#application;
  }

  /** Sets the options and the folders that follow from them. */
  configure(options: SeamlineOptions, viteRoot: string): void {
    const root = realPath(options.root ?? viteRoot);
    refuseFolder(root);
    this.#options = options;
    this.#folders = {
      root,
      source: realPath(resolve(root, options.source ?? "./src")),
      viteRoot: realPath(viteRoot),
    };
  }

  setEntries(entries: ConfiguredEntries): void {
    this.#entries = entries;
  }

  /** See {@link ReadOptions.forTests}. */
  setForTests(): void {
    this.#isForTests = true;
  }

  /** Calls `act` early in each reading that finds arguments to be checked by their types. */
  whenChecked(act: (config: Environment["config"]) => void): void {
    this.#whenChecked = act;
  }

  /** The application, read once. */
  async application(environment: Environment): Promise<Application> {
    return await (this.#application ??= this.read(environment));
  }

  /** Reads what {@link changed} named since the last reading. */
  async read(environment: Environment): Promise<Application> {
    const vite = await loadVite(this.root);
    // It caches successful and failed look-ups.
    this.#resolver = undefined;
    const { root, source, viteRoot } = this.#folders;
    const application = await readApplication({
      root,
      source,
      except: this.outputs,
      pages: this.#entries.pages,
      inputs: this.#entries.inputs.filter((file) => !file.endsWith(".html")),
      bases: [viteRoot, source, root],
      browserSegments: this.#options.browserSegments,
      publicDir: environment.getTopLevelConfig().publicDir || undefined,
      assetsDir: environment.getTopLevelConfig().build.assetsDir,
      nodes: this.#options.nodes,
      forTests: this.#isForTests,
      browserModules: this.#options.browserModules,
      guards: this.#options.guards,
      validate: this.#options.validate,
      configProblems: outputProblems(environment.getTopLevelConfig(), root),
      onChecked: () => this.#whenChecked?.(environment.config),
      parse: parserOf(vite),
      cache: this.#cache,
      tsconfigProblems: async (files) => await this.tsconfigProblems(environment, files),
      resolveImport: async (specifier, importer) => {
        const id = await this.find(environment, specifier, importer);
        return id !== undefined && isAbsolute(id) ? id.replace(/[?#].*$/, "") : undefined;
      },
    });
    this.#behindLinks = application.behindLinks;
    return application;
  }

  /** Drops cached readings of a file or folder. */
  changed(file: string): void {
    this.#cache.changed(file);
    this.forget();
  }

  /** Has the next {@link application} look at the disk again. */
  forget(): void {
    this.#application = undefined;
  }

  /**
   * Whether a file is a module with procedures, even if a link or an option of Vite's gave it
   * this path.
   */
  isSplit(file: string, { cut, modules }: Pick<Application, "cut" | "modules">): boolean {
    if (cut.has(file) || this.#behindLinks.has(file)) return true;
    if (!isAbsolute(file) || !isModuleFile(file)) return false;
    // The folders of listed files are real, which saves a look at each of them.
    const isReal = modules.byFile(file) !== undefined && !isLink(file);
    return !isReal && cut.has(realPath(file));
  }

  /**
   * The file that Vite's own resolver finds for an import, external or not. If a package can't be
   * resolved, that is for the bundler to report.
   */
  async find(
    environment: Environment,
    specifier: string,
    importer: string,
  ): Promise<string | undefined> {
    const config = environment.getTopLevelConfig();
    if (this.#resolver?.config !== config)
      this.#resolver = {
        config,
        resolve: (await loadVite(this.root)).createIdResolver(config, { noExternal: true }),
      };
    return await this.#resolver.resolve(environment, specifier, importer).catch(() => undefined);
  }

  /** The problems of the tsconfig.json of these files, each once. */
  async tsconfigProblems(
    environment: Environment,
    files: Iterable<string>,
  ): Promise<readonly Problem[]> {
    const { tsconfig: named, oxc } = environment.getTopLevelConfig();
    if (oxc === false) return [];
    const tools = { root: this.root, named, vite: await loadVite(this.root) };
    // Which one it is depends on the folder alone.
    const inFolders = new Map([...files].filter(isTyped).map((file) => [dirname(file), file]));
    const configs = new Set([...inFolders.values()].map((file) => tsconfigOf(file, tools)));
    const problems = await Promise.all(
      [...configs].map(async (file) =>
        file === undefined ? undefined : await tsconfigProblem(file, tools),
      ),
    );
    return problems.filter((problem) => problem !== undefined);
  }
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

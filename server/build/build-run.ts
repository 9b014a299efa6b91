// One build: what is read, what the two environments write, and what is made of it.

import { rm } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve } from "node:path";

import type { Environment, Rolldown, ViteBuilder } from "vite";

import type { ServerManifest } from "../../src/manifest.ts";
import { type Problem, Problems, formatProblem } from "../../src/problem.ts";
import {
  type OutputFolders,
  digestsOf,
  hashSources,
  realPath,
  slashed,
  viteOutputFolders,
} from "../sources.ts";
import { type Application, readApplication, unique } from "./application.ts";
import { createApplicationCache } from "./application-cache.ts";
import { classRecords } from "./classes.ts";
import type { Side } from "./cut.ts";
import { Entries } from "./entries.ts";
import { environmentNames } from "./environments.ts";
import { type KeptReadings, openKeptReadings } from "./kept-readings.ts";
import { refuseFolder } from "./folder-name.ts";
import { type Vite, loadVite, parserOf } from "./load-vite.ts";
import { writeManifests } from "./manifest-writer.ts";
import { type SourceModule, isModuleFile } from "./modules.ts";
import { writeModuleTypes } from "./module-types.ts";
import { addKeptFiles, keepFiles, sweep, takePlace, tellFinalPaths, workFolder } from "./output.ts";
import { isTyped, tsconfigOf, tsconfigProblem } from "./tsconfig.ts";
import { type Written, outsideOf, writtenOf } from "./written.ts";
import { withOrWithout } from "./page-classes.ts";
import type { SeamlineOptions } from "./plugin-options.ts";
import { bundlerProblems } from "./problems.ts";
import type { NodeImport } from "./server-only.ts";

/** Where `seamline build` lets Vite write, and what stands there so far. */
export interface BuildFolders {
  readonly work: OutputFolders;
  readonly final: OutputFolders;
  /** Absolute folders that hold no source. */
  readonly except: readonly string[];
}

type Context = Rolldown.PluginContext & { readonly environment: Environment };

/**
 * When one that goes on reading leaves what it has read, in ms: as soon as those who wait for it have it, and when a page may have asked for
 * the rest. What is edited later the next process reads.
 */
const keepingTimes = [
  [500, false],
  [30_000, true],
] as const;

/**
 * Builds under way, by application folder. Vite reads a configuration file once for each environment: the plugin that it asks for pages is not
 * the one that builds.
 */
const running = new Map<string, Build>();

export class Build {
  options: SeamlineOptions;
  root = "";
  source = "";
  viteRoot = "";
  /** Entries that Vite's configuration names. Absolute, as are pages. */
  inputs: readonly string[] = [];
  pages: readonly string[] = [];
  /** See {@link ApplicationInput.forTests}. */
  forTests = false;
  readonly entries: Entries = new Entries();
  /** Those that the server's build has, see {@link Application.pageClasses}. */
  pageClasses: readonly SourceModule[] = [];
  /** Where the browser's part ends up. */
  finalBrowserFolder: string | undefined;
  readonly nodeImports: NodeImport[] = [];
  /** What the bundler comes upon in the application's own code; it goes on, and all are told at its end. */
  readonly mistakes: Problem[] = [];
  readonly warnings: Problem[] = [];
  manifest: ServerManifest | undefined;
  /** See {@link Application.behindLinks}, of what was read last: in development an earlier application may still serve. */
  behindLinks: ReadonlySet<string> = new Set();
  readonly #folders: BuildFolders | undefined;
  readonly #cache = createApplicationCache();
  /** What is left to processes that come. */
  #kept: KeptReadings | undefined;
  #isKeeping = false;
  #resolver:
    | { readonly config: object; readonly resolve: ReturnType<Vite["createIdResolver"]> }
    | undefined;
  #application: Promise<Application> | undefined;
  #problems: readonly Problem[] = [];
  readonly #written = new Map<Side, Written>();

  constructor(options: SeamlineOptions, folders: BuildFolders | undefined) {
    this.options = options;
    this.#folders = folders;
    this.finalBrowserFolder = folders?.final.browser;
  }

  configure(options: SeamlineOptions, viteRoot: string): void {
    this.options = options;
    this.viteRoot = realPath(viteRoot);
    this.root = realPath(options.root ?? viteRoot);
    refuseFolder(this.root);
    this.source = realPath(resolve(this.root, options.source ?? "./src"));
  }

  /** Where Vite writes the server's part: beside its place, so that a build that fails leaves the old one. */
  get serverFolder(): string {
    return this.#folders?.work.server ?? workFolder(viteOutputFolders(this.root, ".").server);
  }

  /** Where Vite writes the browser's part; `undefined` leaves that to its configuration. */
  get browserFolder(): string | undefined {
    return this.#folders?.work.browser;
  }

  /** What the application says now. Only what {@link changed} named is read again. */
  async read(environment: Environment): Promise<Application> {
    const application = await this.#read(environment);
    if (!this.#isKeeping)
      for (const [ms, isLast] of keepingTimes)
        setTimeout(() => void this.#keep(isLast), ms).unref();
    this.#isKeeping = true;
    return application;
  }

  /** Forgets what a file or folder said. */
  changed(file: string): void {
    this.#cache.changed(file);
    this.#application = undefined;
  }

  /** Whether a file is a module with procedures, however a link or an option of Vite's has it called. */
  isSplit(file: string, { cut }: Pick<Application, "cut">): boolean {
    return (
      cut.has(file) ||
      this.behindLinks.has(file) ||
      (isAbsolute(file) && isModuleFile(file) && cut.has(realPath(file)))
    );
  }

  /** Whether both halves of this application are being built. */
  get isRunning(): boolean {
    return running.has(this.root);
  }

  /** What was read last, if anything was. */
  get latest(): Promise<Application> | undefined {
    return (running.get(this.root) ?? this).#application;
  }

  /** What the application says, read once. */
  async application(environment: Environment): Promise<Application> {
    this.#application ??= this.#read(environment).then(async (application) => {
      await this.#kept?.save();
      return application;
    });
    return await this.#application;
  }

  async #keep(isLast: boolean): Promise<void> {
    await this.#kept?.save();
    if (isLast) this.#kept?.close();
  }

  /**
   * The file that an import leads to in an environment, as Vite alone sees it, external or not. A package that can't be resolved is the bundler's
   * to tell, if it is asked for it.
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

  /** What is wrong with the tsconfig.json of these files, each once. */
  async tsconfigProblems(
    environment: Environment,
    files: Iterable<string>,
  ): Promise<readonly Problem[]> {
    const { tsconfig: named, oxc } = environment.getTopLevelConfig();
    if (oxc === false) return [];
    const reader = { root: this.root, named, vite: await loadVite(this.root) };
    const configs = new Set([...files].filter(isTyped).map((file) => tsconfigOf(file, reader)));
    const problems = await Promise.all(
      [...configs].map(async (file) =>
        file === undefined ? undefined : await tsconfigProblem(file, reader),
      ),
    );
    return problems.filter((one) => one !== undefined);
  }

  async #read(environment: Environment): Promise<Application> {
    const vite = await loadVite(this.root);
    // It remembers what it found, and what it didn't.
    this.#resolver = undefined;
    this.#kept ??= openKeptReadings(this.root, vite.version);
    const application = await readApplication({
      root: this.root,
      source: this.source,
      except: [
        ...(this.#folders?.except ?? []),
        ...(this.finalBrowserFolder === undefined ? [] : [this.finalBrowserFolder]),
      ],
      pages: this.pages,
      inputs: this.inputs.filter((file) => !file.endsWith(".html")),
      bases: [this.viteRoot, this.source, this.root],
      clients: this.options.clients,
      layout: this.options.layout,
      forTests: this.forTests,
      clientModules: this.options.clientModules,
      parse: parserOf(vite),
      cache: this.#cache,
      kept: this.#kept,
      tsconfigProblems: async (files) => await this.tsconfigProblems(environment, files),
      resolveImport: async (specifier, importer) => {
        const id = await this.find(environment, specifier, importer);
        return id !== undefined && isAbsolute(id) ? id.replace(/[?#].*$/, "") : undefined;
      },
    });
    this.behindLinks = application.behindLinks;
    return application;
  }

  /** Builds both environments and writes the manifests. Throws {@link Problems} with all that is wrong. */
  async run(builder: ViteBuilder): Promise<void> {
    const [browser, server] = [
      builder.environments[environmentNames.browser],
      builder.environments[environmentNames.server],
    ];
    if (browser === undefined || server === undefined)
      throw new Error("A build needs the environments client and server");
    this.#application = undefined;
    const application = await this.application(browser);
    if (application.problems.length > 0) throw new Problems(application.problems);
    await writeModuleTypes(application);
    const final: OutputFolders = this.#folders?.final ?? {
      browser: this.finalBrowserFolder ?? "",
      server: viteOutputFolders(this.root, ".").server,
    };
    await sweep(this.#folders === undefined ? final.server : dirname(final.server));
    const kept = `${this.serverFolder}.kept`;
    running.set(this.root, this);
    try {
      const known = await keepFiles(final, kept);
      const { logger } = server.getTopLevelConfig();
      const restore = tellFinalPaths(logger, this.serverFolder, final.server);
      const onServer = await withOrWithout(
        application.pageClasses,
        this.warnings,
        async (pageClasses) => {
          this.pageClasses = pageClasses;
          this.entries.forget(server);
          return await this.#build(builder, server);
        },
      ).finally(restore);
      const problems = [...onServer, ...(await this.#build(builder, browser))];
      if (problems.length > 0) throw new Problems(unique(problems));
      this.manifest = await this.#finish(application);
      const revision = this.manifest.revision;
      const files = [...(this.#written.get("browser")?.files.keys() ?? [])].filter(
        (file) => !file.endsWith(".html"),
      );
      const folders = {
        browser: this.#written.get("browser")?.folder ?? "",
        server: this.serverFolder,
      };
      await addKeptFiles({ known, from: kept, folders, current: { revision, files } });
      if (this.#folders === undefined) {
        await takePlace(this.serverFolder, final.server);
        for (const warning of this.warnings) builder.config.logger.warn(formatProblem(warning));
      }
    } finally {
      running.delete(this.root);
      await rm(kept, { recursive: true, force: true });
      if (this.#folders === undefined)
        await rm(this.serverFolder, { recursive: true, force: true });
    }
  }

  async #build(
    builder: ViteBuilder,
    environment: ViteBuilder["environments"][string],
  ): Promise<readonly Problem[]> {
    this.#problems = [];
    this.mistakes.length = 0;
    try {
      await builder.build(environment);
      return [];
    } catch (error) {
      return this.#problems.length > 0 ? this.#problems : bundlerProblems(error, this.root);
    }
  }

  async #finish(application: Application): Promise<ServerManifest> {
    const [browser, server] = [this.#written.get("browser"), this.#written.get("server")];
    if (browser === undefined || server === undefined)
      throw new Error("One of the two environments has written nothing");
    const files = new Set([...browser.parts.keys(), ...server.parts.keys()]);
    const among = [...files]
      .sort()
      .map((file) => application.modules.byFile(file))
      .filter((one) => one !== undefined);
    const classes = await classRecords(among, application.modules);
    this.warnings.push(
      ...application.pageOnlyCalls.map((one) => one.problem),
      ...application.warnings,
      ...classes.warnings,
    );
    return await writeManifests({
      application,
      written: { browser, server },
      classes: classes.records,
      read: {
        sources: await hashSources(
          this.root,
          this.source,
          this.#folders?.except[0] ?? this.finalBrowserFolder,
        ),
        outside: await digestsOf(
          this.root,
          outsideOf([...this.pages, ...browser.modules, ...server.modules], this),
        ),
        pages: this.#builtPages(browser),
      },
      folder: this.serverFolder,
    });
  }

  #builtPages({ files }: Written): Readonly<Record<string, string>> {
    // Vite writes a page at its path below its root.
    const placed = this.pages.map(
      (page) =>
        [slashed(relative(this.root, page)), slashed(relative(this.viteRoot, page))] as const,
    );
    return Object.fromEntries(placed.filter(([, file]) => files.has(file)));
  }

  /** Takes down what an environment has written. */
  note(context: Context, side: Side, folder: string, bundle: Rolldown.OutputBundle): void {
    const modules = [...context.getModuleIds()];
    this.#written.set(side, {
      modules,
      ...writtenOf(folder, bundle, side === "server" ? undefined : this.entries.files),
    });
  }

  /** An error for the bundler; the problems are told in its place. */
  fail(problems: readonly Problem[]): Problems {
    this.#problems = [...this.#problems, ...problems];
    return new Problems(problems);
  }
}

// Builds both Vite environments and writes the manifests.

import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

import type { Environment, Rolldown, ViteBuilder } from "vite";

import type { ServerManifest } from "../../../src/base/manifest.ts";
import { writing } from "../../base/write-failure.ts";
import { type Problem, Problems, formatProblem } from "../../../src/base/problem.ts";
import { defaultRevisions } from "../../../src/base/protocol.ts";
import {
  type OutputFolders,
  digestsOf,
  hashSources,
  manifestFiles,
  slashed,
  viteOutputFolders,
} from "../../files/sources.ts";
import { assetsFolderOf } from "../../files/pages.ts";
import type { Application } from "../cut/application.ts";
import { uniqueProblems } from "../read/unique-problems.ts";
import { ApplicationReader } from "../application-reader.ts";
import { classRecords } from "../cut/classes.ts";
import type { Side } from "../cut/cut.ts";
import { pageBase } from "./page-base.ts";
import { Entries } from "./entries.ts";
import { outDirOf } from "./environments.ts";
import { environmentNames } from "../read/module-ids.ts";
import { FilesBeside } from "./files-beside.ts";
import { Findings } from "./findings.ts";
import { writeManifests } from "./manifest-writer.ts";
import { writeModuleTypes } from "./module-types.ts";
import type { SourceModule } from "../read/modules.ts";
import { addKeptBuilds, keepBrowserFiles } from "./keep-builds.ts";
import { lockOutput } from "../../files/build-lock.ts";
import { recoverFolder, takePlace, workFolder } from "../../files/replaced-folder.ts";
import { insteadOfOutput, sweep, tellFinalPaths } from "./output.ts";
import { withOrWithout } from "./page-classes.ts";
import type { SeamlineOptions } from "../read/plugin-options.ts";
import { bundlerProblems } from "./problems.ts";
import { prepareTypes, readTypesOf } from "./argument-types.ts";
import { clashProblems, contractOf } from "./contract.ts";
import { typesModule, type TypesReading } from "../../types/reading.ts";
import { type Written, outsideOf, withFile, writtenOf } from "./written.ts";

/** The output file with the types of parameters; no module of an application has its name. */
const typesFile = "_seamline/types.js";

/** Where `seamline build` lets Vite write, and the output that this replaces. */
export interface BuildFolders {
  readonly work: OutputFolders;
  readonly final: OutputFolders;
  /** Absolute folders that hold no source. */
  readonly except: readonly string[];
}

type BundleContext = Rolldown.PluginContext & { readonly environment: Environment };

/**
 * Running builds by application folder. Vite loads a configuration file once per environment, so
 * the plugin instance that handles pages isn't the one that builds.
 */
const running = new Map<string, Build>();

export class Build {
  readonly reader: ApplicationReader;
  readonly findings: Findings = new Findings();
  readonly entries: Entries = new Entries();
  readonly filesBeside: FilesBeside = new FilesBeside();
  readonly #folders: BuildFolders | undefined;
  readonly #modules = new Map<string, readonly string[]>();
  readonly #written = new Map<Side, Written>();
  #finalBrowserFolder: string | undefined;
  #pageClasses: readonly SourceModule[] = [];
  #manifest: ServerManifest | undefined;

  constructor(options: SeamlineOptions, folders: BuildFolders | undefined) {
    this.#folders = folders;
    this.#finalBrowserFolder = folders?.final.browser;
    this.reader = new ApplicationReader(options, () => [
      ...(folders?.except ?? []),
      ...(this.#finalBrowserFolder === undefined ? [] : [this.#finalBrowserFolder]),
    ]);
  }

  /**
   * Where Vite writes the server's part: next to the final folder, so a failed build keeps the old
   * output.
   */
  get serverFolder(): string {
    return (
      this.#folders?.work.server ?? workFolder(viteOutputFolders(this.reader.root, ".").server)
    );
  }

  /** Where Vite writes the browser's part; `undefined` leaves it to Vite's configuration. */
  get browserFolder(): string | undefined {
    return this.#folders?.work.browser;
  }

  /** Where the browser's part ends up, once Vite's configuration is resolved. */
  get finalBrowserFolder(): string | undefined {
    return this.#finalBrowserFolder;
  }

  /** Takes the folder from Vite's configuration, unless `seamline build` has set its own. */
  configureBrowserFolder(folder: string): void {
    this.#finalBrowserFolder ??= folder;
  }

  /** The modules of {@link Application.pageClasses} that the server's build has. */
  get pageClasses(): readonly SourceModule[] {
    return this.#pageClasses;
  }

  /** `undefined` until the build is done. */
  get manifest(): ServerManifest | undefined {
    return this.#manifest;
  }

  /** Whether both halves of this application are being built. */
  get isRunning(): boolean {
    return running.has(this.reader.root);
  }

  /** The latest reading, if there was any. */
  get latest(): Promise<Application> | undefined {
    return (running.get(this.reader.root) ?? this).reader.latest;
  }

  /**
   * Builds both environments and writes the manifests. Throws {@link Problems} with every mistake
   * found.
   */
  async run(builder: ViteBuilder): Promise<void> {
    const [browser, server] = [
      builder.environments[environmentNames.browser],
      builder.environments[environmentNames.server],
    ];
    if (browser === undefined || server === undefined)
      throw new Error("A build needs the environments client and server");
    this.reader.forget();
    this.reader.whenChecked((config) => prepareTypes(this.reader, config));
    this.#written.clear();
    const application = await this.reader.application(browser);
    if (application.problems.length > 0) throw new Problems(application.problems);
    await writeModuleTypes(application);
    // Runs beside the bundler, which takes as long; a failure is thrown where this is awaited.
    const types = readTypesOf(application, server.getTopLevelConfig(), { contract: true });
    types.catch(() => {});
    const final: OutputFolders = this.#folders?.final ?? {
      browser: this.#finalBrowserFolder ?? "",
      server: viteOutputFolders(this.reader.root, ".").server,
    };
    const output = this.#folders === undefined ? final.server : dirname(final.server);
    const write = async <T>(act: () => Promise<T>): Promise<T> =>
      await writing(output, insteadOfOutput, act);
    // `seamline build` has locked its one output itself.
    const outputs =
      this.#folders === undefined ? [final.server, final.browser].filter(Boolean) : [];
    const unlock = await write(() => lockAll(outputs));
    const browserFiles = `${this.serverFolder}.kept`;
    const { revisions = defaultRevisions } = this.reader.options;
    running.set(this.reader.root, this);
    try {
      if (this.#folders === undefined) await recoverFolder(final.server);
      await sweep(output);
      const builds = await write(() => keepBrowserFiles(final, browserFiles, revisions));
      const { logger } = server.getTopLevelConfig();
      const restore = tellFinalPaths(logger, this.serverFolder, final.server);
      const onServer = await withOrWithout(
        application.pageClasses,
        this.findings.warnings,
        async (pageClasses) => {
          this.#pageClasses = pageClasses;
          return await this.#build(builder, server);
        },
      ).finally(restore);
      const onBrowser = await this.#build(builder, browser);
      const reading = await types;
      const problems = [...onServer, ...onBrowser, ...(reading?.problems ?? [])];
      if (problems.length > 0) throw new Problems(uniqueProblems(problems));
      const manifest = (this.#manifest = await write(() =>
        this.#finish(application, reading, browser),
      ));
      const files = [...(this.#written.get("browser")?.files.keys() ?? [])].filter(
        (file) => !file.endsWith(".html"),
      );
      const folders = {
        browser: this.#written.get("browser")?.folder ?? "",
        server: this.serverFolder,
      };
      const keeping = { builds, browserFiles, revisions, previous: final, folders };
      await write(() => addKeptBuilds({ ...keeping, manifest, files }));
      if (this.#folders === undefined) {
        await write(() => takePlace(this.serverFolder, final.server));
        for (const warning of this.findings.warnings)
          builder.config.logger.warn(formatProblem(warning));
      }
    } finally {
      running.delete(this.reader.root);
      await rm(browserFiles, { recursive: true, force: true });
      if (this.#folders === undefined)
        await rm(this.serverFolder, { recursive: true, force: true });
      await unlock();
    }
  }

  async #build(
    builder: ViteBuilder,
    environment: ViteBuilder["environments"][string],
  ): Promise<readonly Problem[]> {
    this.findings.startEnvironment();
    try {
      const built = await builder.build(environment);
      if (environment.name === environmentNames.server) this.#noteServer(environment, built);
      return [];
    } catch (error) {
      const { thrown } = this.findings;
      return thrown.length > 0 ? thrown : bundlerProblems(error, this.reader.root);
    }
  }

  async #finish(
    application: Application,
    types: TypesReading | undefined,
    environment: Environment,
  ): Promise<ServerManifest> {
    const [browser, bundled] = [this.#written.get("browser"), this.#written.get("server")];
    if (browser === undefined || bundled === undefined)
      throw new Error("One of the two environments has written nothing");
    const server = types === undefined ? bundled : withFile(bundled, typesFile, typesModule(types));
    const { root, source, pages } = this.reader;
    const base = pageBase(environment.getTopLevelConfig());
    const files = new Set([...browser.parts.keys(), ...server.parts.keys()]);
    const among = [...files]
      .sort()
      .map((file) => application.modules.byFile(file))
      .filter((module) => module !== undefined);
    const classes = await classRecords(among, application);
    this.findings.warnings.push(
      ...this.filesBeside.problems(server, application),
      ...application.pageOnlyCalls.map((call) => call.problem),
      ...application.warnings,
      ...classes.warnings,
      ...(types?.notes ?? []),
    );
    const contract = contractOf(application, types);
    const { openapi } = this.reader.options;
    const clashes = openapi === undefined ? [] : clashProblems(application, contract);
    if (clashes.length > 0) throw new Problems(clashes);
    await mkdir(this.serverFolder, { recursive: true });
    await writeFile(join(this.serverFolder, manifestFiles.contract), JSON.stringify(contract));
    return await writeManifests({
      application,
      written: { browser, server },
      classes: classes.records,
      contract,
      types: types && typesFile,
      read: {
        sources: await hashSources(
          root,
          source,
          this.#folders?.except[0] ?? this.#finalBrowserFolder,
        ),
        outside: digestsOf(
          root,
          outsideOf(
            [...pages, ...browser.modules, ...server.modules, ...this.filesBeside.sources],
            { root, source },
          ),
        ),
        pages: this.#builtPages(browser),
        singlePage: environment.getTopLevelConfig().appType === "spa",
        assetsFolder: assetsFolderOf(environment.config.build.assetsDir),
        ...(base !== "/" && { base }),
      },
      folder: this.serverFolder,
    });
  }

  #builtPages({ files }: Written): Readonly<Record<string, string>> {
    // Vite writes a page at its path below its root.
    const { root, viteRoot, pages } = this.reader;
    const placed = pages.map(
      (page) => [slashed(relative(root, page)), slashed(relative(viteRoot, page))] as const,
    );
    return Object.fromEntries(placed.filter(([, file]) => files.has(file)));
  }

  /** Records the ids of all modules that an environment has read. */
  noteModules(context: BundleContext): void {
    this.#modules.set(context.environment.name, [...context.getModuleIds()]);
  }

  /** Drops the entries of an environment: the bundler begins anew for each of its outputs. */
  startOutput(environment: Environment): void {
    this.entries.forget(environment);
    if (environment.name === environmentNames.server) this.filesBeside.forget();
  }

  /**
   * Records the files that an environment has written. Of several outputs, pages are of the last one in their
   * folder, and so are the files that the manifest names.
   */
  note(
    { name, config }: Pick<Environment, "name" | "config">,
    folder: string,
    bundle: Rolldown.OutputBundle,
  ): void {
    const isServer = name === environmentNames.server;
    const side: Side = isServer ? "server" : "browser";
    const written = {
      modules: this.#modules.get(name) ?? [],
      ...writtenOf(folder, bundle, isServer ? undefined : this.entries.files),
    };
    const previous = this.#written.get(side);
    if (isServer) this.#written.set(side, this.filesBeside.write(written));
    else if (previous?.folder === folder)
      this.#written.set(side, {
        ...written,
        files: new Map([...previous.files, ...written.files]),
      });
    else if (previous === undefined || folder === outDirOf(config))
      this.#written.set(side, written);
  }

  #noteServer(environment: Environment, built: Awaited<ReturnType<ViteBuilder["build"]>>): void {
    // Else it watches for changes, and has written nothing.
    if ("output" in built)
      this.note(
        environment,
        outDirOf(environment.config),
        Object.fromEntries(built.output.map((file) => [file.fileName, file])),
      );
  }
}

/** Locks all of these outputs, or none. */
async function lockAll(outputs: readonly string[]): Promise<() => Promise<void>> {
  const locks: (() => Promise<void>)[] = [];
  const unlock = async (): Promise<void> => {
    for (const release of locks) await release();
  };
  try {
    for (const output of outputs) locks.push(await lockOutput(output));
  } catch (error) {
    await unlock();
    throw error;
  }
  return unlock;
}

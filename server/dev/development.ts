// A development session of one Vite server. It reads the application, makes each change of the
// sources live on nodes and in pages, and reports it.

import { resolve } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

import type { HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import type { ApplicationConfig } from "../config/config-types.ts";
import type { DevEnvironment, EnvironmentModuleNode, HtmlTagDescriptor, ViteDevServer } from "vite";

import type { ServerManifest } from "../../src/base/manifest.ts";
import type { Log } from "../../src/base/ports.ts";
import { type Problem, Problems } from "../../src/base/problem.ts";
import type { Application } from "../compile/cut/application.ts";
import type { ApplicationReader } from "../compile/application-reader.ts";
import { contractOf } from "../compile/write/contract.ts";
import { pageBase } from "../compile/write/page-base.ts";
import { contractDocuments, contractNames } from "../start/contract-documents.ts";
import type { TypesReading } from "../types/reading.ts";
import { prepareTypes, readTypesOf } from "../compile/write/argument-types.ts";
import { loadVite, parserOf } from "../compile/read/load-vite.ts";
import { writeModuleTypes } from "../compile/write/module-types.ts";
import { environmentNames } from "../compile/read/module-ids.ts";
import { parsePartId, partId } from "../compile/read/module-ids.ts";
import type { PluginSession } from "../compile/plugin/plugin-session.ts";
import { createPaint } from "../base/paint.ts";
import { oneEntry } from "../base/printable.ts";
import type { Controls } from "../console/console-port.ts";
import { type ControlledSession, createControls, refuseControlsToOthers } from "./controls.ts";
import { Deployment, type NodeChange } from "./deployment.ts";
import { mountEndpoints } from "./endpoints.ts";
import { Globs, invalidateInPages, invalidateOnNodes } from "./stale-modules.ts";
import { LiveTypes } from "../local/live-types.ts";
import { createImportJudge } from "./import-mistakes.ts";
import { Pages } from "./pages.ts";
import { createDevLog, type DevLog, type LineContext } from "./terminal-lines.ts";
import { locationsOf } from "./node-segments.ts";
import { goneFile, loadProblems, ProblemList } from "./problems.ts";
import { type ChangedFiles, keepsTypes } from "./declared-types.ts";
import { difference, type LocationsOf, moved } from "./difference.ts";
import { serverManifest } from "./manifest.ts";
import type { DevEvent, DevNode } from "./session.ts";
import { eventsOf } from "./report.ts";
import { keepSources } from "./sources.ts";
import { Settle } from "./settle.ts";
import { watch } from "./watch.ts";
import { goneMs, placeTimeoutMs, typesMs } from "./times.ts";

/** Set by `seamline dev`. Plain `vite` has the plugin's options and Vite's log. */
export interface DevelopmentOptions {
  readonly config?: string | undefined;
  readonly log?: Log;
  /** Gets all events, in place of the log. */
  readonly onEvent?: (event: DevEvent) => void;
}

interface Change {
  readonly files: ReadonlySet<string>;
  /** When the first of them was seen. */
  readonly since: number;
  /** Called once nodes hold all procedures that the application places on them. */
  readonly place: () => void;
}

/** Starts reading the application at once. Nodes start when the server listens. */
export class Development implements PluginSession, ControlledSession {
  readonly controls: Controls = createControls(this);
  readonly deployment: Deployment;
  /** Resolves when the application has been read, or its problems have been reported. */
  readonly read: Promise<void>;
  /** Resolves when the nodes have loaded their procedures, as far as they can, and all problems are reported. */
  readonly ready: Promise<void>;
  readonly #server: ViteDevServer;
  readonly #reader: ApplicationReader;
  readonly #environments: Readonly<Record<"browser" | "server", DevEnvironment>>;
  readonly #onEvent: (event: DevEvent) => void;
  readonly #log: Log;
  readonly #problems: ProblemList;
  readonly #pages: Pages;
  readonly #globs: Globs;
  readonly #judgeImports: (application: Application) => Promise<readonly Problem[]>;
  readonly #settle: Settle;
  /** The last application without problems, which nodes and pages run. */
  #current: Application | undefined;
  /** Files that have changed since it was read, each with the text that was read of a module. */
  #changedFiles = new Map<string, string | undefined>();
  #manifest: ServerManifest | undefined;
  #moduleTypes: string | undefined;
  /** The parameter types that have been read so far. */
  readonly #types: LiveTypes;
  #typesRead: Promise<unknown> = Promise.resolve();
  /** The types of the current application; `undefined` if no arguments are checked. */
  #reading: TypesReading | undefined;
  /** These types are read, and have no problem. */
  #hasTypes = false;
  #revisions = 0;
  /** Before the start, a change only replaces the application that the nodes will start with. */
  #isStarted = false;
  /** Resolves when nodes hold all procedures that the current application places on them. */
  #placed: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(server: ViteDevServer, reader: ApplicationReader, options: DevelopmentOptions = {}) {
    const { root } = reader;
    const viteLog = createViteLog(server, { root, hasRun: () => this.#hasRun });
    const { log = viteLog, onEvent = viteLog.event } = options;
    this.#server = server;
    this.#reader = reader;
    this.#onEvent = onEvent;
    this.#log = log;
    this.#types = new LiveTypes(async () => undefined, {
      waitMs: typesMs,
      onLate: (id) =>
        log.warn(
          `a call of ${id} isn't checked: the types of its parameters have taken more than ${typesMs / 1000} s to read`,
        ),
    });
    this.#environments = {
      browser: server.environments[environmentNames.browser],
      server: server.environments[environmentNames.server] as DevEnvironment,
    };
    this.#pages = new Pages(server, root, {
      application: async () => {
        await this.#atPlace();
        return await this.application();
      },
      hasProblems: () => this.#problems.of("application").length > 0,
    });
    this.#problems = new ProblemList((event) => {
      if (event.kind === "problems") this.#pages.problems(event.problems);
      if (event.kind === "mended") this.#pages.problems([]);
      onEvent(event);
    });
    this.#globs = new Globs(server.watcher, this.#environments.server);
    this.#judgeImports = createImportJudge(root, this.#environments.browser);
    this.#settle = new Settle({
      apply: async (files, since) =>
        await this.#update(files, since).catch((error: unknown) =>
          log.error("a change can't be made live", error),
        ),
      movesBetween: (before, after) => moved(before, after, this.#locationsOf).moves,
      onEvent,
    });
    this.deployment = new Deployment({
      root,
      environment: this.#environments.server,
      config: options.config,
      nodeSegments: reader.options.nodes,
      manifest: () => this.manifest,
      types: this.#types,
      log,
      controls: this.controls,
      onEvent,
    });
    reader.whenChecked((config) => prepareTypes(reader, config));
    this.read = this.#settle.run(async () => {
      await this.#configure();
      // Judging imports would resolve them, and the plugin's resolver waits for this reading.
      const application = await this.#readApplication();
      if (application !== undefined) await this.#accept(application);
    });
    const listening = new Promise<void>((done) =>
      server.httpServer?.once("listening", () => done()),
    );
    const started = Promise.all([this.read, listening]).then(
      async () => await this.#settle.run(async () => await this.#start()),
    );
    // Runs in the background: calls don't wait for this.
    this.ready = started.then(async () => {
      await this.deployment.loaded();
      await this.#settle.run(async () => await this.#judge(this.#current));
    });
    this.ready.catch((error: unknown) => log.error("development can't start", error));
    const watched = { root, except: reader.outputs };
    this.#closeWith(watch(server, watched, (file) => this.#changed(file)));
    keepSources(server, reader, async () => await this.application());
    refuseControlsToOthers(server);
    mountEndpoints(server, {
      pageManifest: async () => await this.#pages.manifest(),
      contractDocument: async (name, request) => await this.#contractDocument(name, request),
      deployment: this.deployment,
      read: this.read,
      started,
    });
  }

  /** `undefined` until the application has been read without problems. */
  get manifest(): ServerManifest | undefined {
    return this.#manifest;
  }

  get problems(): readonly Problem[] {
    return this.#problems.all;
  }

  nodes(): readonly DevNode[] {
    return this.deployment.describeNodes();
  }

  /** Stops a node as if its machine had failed. */
  async kill(node: string): Promise<void> {
    await this.ready;
    await this.deployment.node(node)?.kill();
  }

  async start(node: string): Promise<void> {
    await this.ready;
    // Between changes: a node that reads its modules while they change would keep some old ones.
    await this.#settle.run(async () => await this.deployment.node(node)?.start());
  }

  get url(): string {
    const { local, network } = this.#server.resolvedUrls ?? { local: [], network: [] };
    return (local[0] ?? network[0] ?? "").replace(/\/$/, "");
  }

  async application(): Promise<Application> {
    await this.read;
    if (this.#current === undefined) throw new Problems(this.#problems.of("application"));
    return this.#current;
  }

  partAt(source: string): string {
    const { file, part } = parsePartId(source);
    const isOwn = this.#current?.cut.has(file) === true;
    const path = isOwn
      ? file
      : file.startsWith("/@fs/")
        ? file.slice("/@fs".length)
        : resolve(this.#server.config.root, `.${file}`);
    return part === undefined ? path : partId[part](path);
  }

  /**
   * Leaves out of Vite's own updates split modules, whose parts this session updates, and modules that
   * pages had and don't import any more.
   */
  async hotUpdate(
    environment: string,
    file: string,
    modules: EnvironmentModuleNode[],
  ): Promise<EnvironmentModuleNode[] | undefined> {
    await this.#settle.settled();
    if (environment === environmentNames.server) return [];
    if (environment !== environmentNames.browser) return undefined;
    const isCut = this.#current?.cut.has(file) === true;
    const updated = modules.filter(
      (module) => !(isCut && module.file === file) && !this.#pages.haveLeft(module),
    );
    return updated.length === modules.length ? undefined : updated;
  }

  /** Makes a page start with this session's manifest, not with one cached in an earlier session. */
  async pageTags(): Promise<HtmlTagDescriptor[]> {
    this.#pages.expect();
    await this.read;
    if (this.#current === undefined) return [];
    const { revision } = await this.#pages.manifest();
    return [
      {
        tag: "meta",
        attrs: { name: "seamline-revision", content: revision },
        injectTo: "head-prepend",
      },
    ];
  }

  async fallback(): Promise<ApplicationConfig["fallback"]> {
    await this.read;
    return this.deployment.fallback;
  }

  #closeWith(unwatch: () => void): void {
    const server = this.#server;
    const { close } = server;
    server.close = async () => {
      this.#isClosed = true;
      unwatch();
      await this.#settle.close();
      await this.deployment.close();
      // It keeps what it has read in a file.
      await this.#typesRead;
      await close.call(server);
    };
  }

  #changed(file: string, windowMs?: number): void {
    if (!this.#isClosed) this.#settle.add(file, windowMs);
  }

  async #configure(): Promise<void> {
    this.#problems.set("configuration", await this.deployment.configure());
  }

  /** Resolves to `undefined` while the application has problems. */
  async #readApplication(): Promise<Application | undefined> {
    const problems = this.#problems;
    const application = await this.#reader
      .read(this.#environments.browser)
      .catch((error: unknown) => this.#changed(goneFile(error), goneMs));
    if (application === undefined) return undefined;
    const { pageOnlyCalls, warnings } = application;
    problems.warn([...pageOnlyCalls.map(({ problem }) => problem), ...warnings]);
    this.#pages.warnings(
      pageOnlyCalls.filter(({ isShared }) => !isShared).map(({ problem }) => problem),
    );
    problems.set("application", application.problems);
    return application.problems.length > 0 ? undefined : application;
  }

  /** Finds mistaken imports. They don't hold a change back, so this runs after it. */
  async #judge(application: Application | undefined): Promise<void> {
    if (application === undefined) return;
    const imports = await this.#judgeImports(application).catch((error: unknown) =>
      this.#changed(goneFile(error), goneMs),
    );
    if (imports !== undefined) this.#problems.set("imports", imports);
  }

  /** Nodes and pages can follow this application now, which differs from the one before in `changed` files. */
  async #accept(application: Application, changed?: ChangedFiles): Promise<void> {
    const { config } = this.#environments.browser;
    this.#manifest = await serverManifest(application, `${++this.#revisions}`, config);
    this.#current = application;
    const parse = parserOf(await loadVite(application.root));
    const areKept =
      this.#hasTypes && changed !== undefined && keepsTypes(changed, application.modules, parse);
    if (!areKept) this.#readTypes(application);
    this.#moduleTypes = await writeModuleTypes(application, this.#moduleTypes);
  }

  /** Reads the types of parameters while the application runs. A call waits a while for those that may have changed. */
  #readTypes(application: Application): void {
    const before = this.#typesRead;
    this.#hasTypes = false;
    const texts: Record<string, string> = {};
    for (const [file, text] of this.#changedFiles) if (text !== undefined) texts[file] = text;
    const read = this.#types.read(async () => {
      await before;
      // Another change has come meanwhile, and its reading counts.
      if (application !== this.#current) return undefined;
      return await readTypesOf(application, this.#server.config, {
        contract: this.#reader.options.openapi !== undefined,
        texts,
      });
    });
    this.#typesRead = read.then(
      (reading) => {
        if (application !== this.#current) return;
        this.#reading = reading;
        this.#hasTypes = (reading?.problems ?? []).length === 0;
        this.#problems.warn(reading?.notes ?? []);
        this.#problems.set("types", reading?.problems ?? []);
      },
      (error: unknown) => this.#log.error("the types of parameters can't be read", error),
    );
  }

  /** The answer of a service that runs the current application. */
  async #contractDocument(name: string, request: HttpRequest): Promise<HttpResponse | undefined> {
    const { openapi } = this.#reader.options;
    if (openapi === undefined || !contractNames.has(name)) return undefined;
    await this.#typesRead;
    if (this.#current === undefined) return undefined;
    const contract = contractOf(this.#current, this.#reading);
    return contractDocuments(contract, openapi, pageBase(this.#server.config))(name, request);
  }

  /** Starts the nodes, unless problems prevent it. */
  async #start(): Promise<void> {
    this.#isStarted = true;
    // Without its configuration a node would have neither key nor gateway.
    if (this.#manifest !== undefined && this.#problems.of("configuration").length === 0)
      await this.#load(async () => await this.deployment.start());
  }

  /** Runs a function that loads modules, and reports its failure as a problem. */
  async #load(act: () => Promise<void>): Promise<void> {
    const { root } = this.#reader;
    const found = await act().then(
      () => [],
      (error: unknown) => loadProblems(error, { root, purpose: "the application" }),
    );
    this.#problems.set("load", found);
  }

  /** Resolves when pages may follow the current application: nodes hold its procedures. */
  async #atPlace(): Promise<void> {
    let placed: Promise<void> | undefined;
    const timeout = sleep(placeTimeoutMs, undefined, { ref: false });
    while (placed !== this.#placed) {
      placed = this.#placed;
      await Promise.race([placed, timeout]);
    }
  }

  /** Reads the application again after these files have changed, and makes the difference live. */
  async #update(files: ReadonlySet<string>, since: number): Promise<void> {
    let place = (): void => {};
    this.#placed = new Promise<void>((done) => (place = done));
    try {
      await this.#problems.through(async () => await this.#follow({ files, since, place }));
    } finally {
      place();
    }
  }

  async #follow({ files, since, place }: Change): Promise<void> {
    const { deployment } = this;
    // Nodes that are loading would mix this application with the next.
    await deployment.loaded();
    // Not when they were seen: an earlier change would take in a later one, and not report it.
    for (const file of files) {
      if (!this.#changedFiles.has(file))
        this.#changedFiles.set(file, this.#current?.modules.known(file));
      this.#reader.changed(file);
    }
    const isConfigured = deployment.isConfiguredBy(files);
    if (isConfigured) await this.#configure();
    const application = await this.#readApplication();
    if (application === undefined) {
      // The compiler may have read the mistake, and the last application goes on without it.
      if (this.#current !== undefined && !this.#hasTypes) this.#readTypes(this.#current);
      return;
    }
    await this.#makeLive(application, { files, since, place, isConfigured });
    // Calls that came meanwhile are answered first.
    await nextTurn();
    await this.#judge(application);
  }

  async #makeLive(
    application: Application,
    { files, since, place, isConfigured }: Change & { readonly isConfigured: boolean },
  ): Promise<void> {
    const { deployment } = this;
    const previous = this.#current;
    // The last valid one stays, if there is one.
    if (previous !== undefined && this.#problems.of("configuration").length > 0) return;
    if (previous !== undefined && !isConfigured && this.#settle.waits(previous, application, files))
      return;
    const changedFiles = this.#changedFiles;
    this.#changedFiles = new Map();
    await this.#accept(application, changedFiles);
    const { browser, server } = this.#environments;
    if (previous === undefined || isConfigured || !deployment.isRunning) {
      place();
      // Nodes and pages load everything anew, also what has changed together with the configuration.
      for (const { moduleGraph } of [browser, server]) moduleGraph.invalidateAll();
      if (this.#isStarted) await this.#start();
      // A page may have been opened before anything could run, or under the old configuration.
      return this.#pages.reload();
    }
    const changed = difference(previous, application, this.#locationsOf);
    if (!changed.isMoved) place();
    const staleGlobs = await this.#globs.findStale();
    const ids = invalidateOnNodes(
      server,
      changed,
      { staleGlobs, files: changedFiles.keys() },
      { cut: application.cut, isIncomplete: this.#isIncomplete },
    );
    const inPages = await invalidateInPages(browser, changed, this.#pages);
    let nodes: readonly NodeChange[] = [];
    const movePages = async (): Promise<void> => {
      place();
      await this.#pages.move();
    };
    await this.#load(async () => {
      nodes = await deployment.follow(ids, changed.isMoved ? movePages : undefined);
    });
    // Without a move, or if a node couldn't load a procedure, pages haven't followed yet.
    await movePages();
    const ms = performance.now() - since;
    const events = eventsOf({
      root: this.#reader.root,
      changed,
      files: new Set([...changedFiles.keys(), ...staleGlobs.map((id) => parsePartId(id).file)]),
      changes: nodes,
      pages: { environment: browser, ids: inPages, isOpen: this.#pages.open > 0 },
      ms,
    });
    events.forEach(this.#onEvent);
    this.#settle.moved(previous, application, changed.moves, ms);
  }

  readonly #locationsOf: LocationsOf = (segments, { browserSegments }) =>
    locationsOf(this.deployment.nodeSegments, segments, browserSegments);

  get #hasRun(): boolean {
    const { nodes } = this.deployment;
    return nodes.length === 0
      ? this.#current !== undefined
      : nodes.some(({ state }) => state === "ready" || state === "stopped");
  }

  /** A module couldn't be loaded. Every change tries again. */
  get #isIncomplete(): boolean {
    return (
      this.#problems.of("load").length > 0 ||
      this.deployment.nodes.some(({ state }) => state === "failed")
    );
  }
}

/** Plain `vite` reports in its own log, where a node that has started is no news. */
function createViteLog(
  { config: { logger } }: ViteDevServer,
  context: Pick<LineContext, "root" | "hasRun">,
): DevLog {
  const log = createDevLog({ ...context, paint: createPaint(false) }, (level, text) =>
    logger[level](oneEntry(text), { timestamp: true }),
  );
  return {
    ...log,
    event(event) {
      if (event.kind !== "node" || event.state !== "ready") log.event(event);
    },
  };
}

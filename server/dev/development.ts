// A development session of one Vite server: it reads the application, keeps nodes and pages in step with the sources, and tells what it
// does. While something is wrong, the last application that was whole goes on serving.

import { resolve } from "node:path";

import type { DevEnvironment, EnvironmentModuleNode, HtmlTagDescriptor, ViteDevServer } from "vite";

import type { Manifest, ServerManifest } from "../../src/manifest.ts";
import type { HttpRequest, HttpResponse, Log } from "../../src/ports.ts";
import { Problems } from "../../src/problem.ts";
import { answerHeaders, browserManifestPath, mediaTypes } from "../../src/protocol.ts";
import { segmentFileEnding } from "../../src/segment.ts";
import type { Application } from "../build/application.ts";
import type { Build } from "../build/build-run.ts";
import { environmentNames } from "../build/environments.ts";
import { writeModuleTypes } from "../build/module-types.ts";
import { Changes } from "./changes.ts";
import type { NodeChange } from "./cluster.ts";
import { Deployment } from "./deployment.ts";
import { type Difference, difference } from "./difference.ts";
import { mountDoors } from "./doors.ts";
import { Globs } from "./globs.ts";
import { findsImportMistakes } from "./import-mistakes.ts";
import { addressOf, partOfId } from "./ids.ts";
import { invalidateInPages, invalidateOnNodes } from "./invalidate.ts";
import { placesIn } from "./layout.ts";
import { createViteLog, eventToLog } from "./log.ts";
import { browserManifest, serverManifest } from "./manifest.ts";
import { Moves } from "./moves.ts";
import { Orphans } from "./orphans.ts";
import { pageFile } from "./page-files.ts";
import { Pages } from "./pages.ts";
import { goneFile, loadProblems } from "./problem-of.ts";
import { ProblemList } from "./problem-list.ts";
import { eventsOf } from "./report.ts";
import type { DevEvent } from "./session.ts";
import { keepSources } from "./sources.ts";
import { watch } from "./watch.ts";

/** What `seamline dev` gives and wants; plain `vite` has the plugin's options and Vite's log. */
export interface SessionParts {
  readonly config?: string | undefined;
  readonly log?: Log;
  /** Hears of everything, in place of the log. */
  readonly tell?: (event: DevEvent) => void;
  /** There is a session; after Vite has started again, another one. */
  readonly opened?: (development: Development) => void;
}

/** Begins to read the application. Nodes start when the server listens. */
export function openDevelopment(
  server: ViteDevServer,
  build: Build,
  parts: SessionParts = {},
): Development {
  const development = new Development(server, build, parts);
  parts.opened?.(development);
  return development;
}

export class Development {
  readonly deployment: Deployment;
  /** The application has been read, or what is wrong with it been told. */
  readonly read: Promise<void>;
  /** Nodes are there, as far as they can be. */
  readonly ready: Promise<void>;
  readonly #server: ViteDevServer;
  readonly #build: Build;
  readonly #tell: (event: DevEvent) => void;
  readonly #problems: ProblemList;
  readonly #pages: Pages;
  readonly #changes: Changes = new Changes(async (files, since) => await this.#apply(files, since));
  readonly #orphans: Orphans;
  readonly #moves: Moves = new Moves(
    (procedures, ms) => this.#tell({ kind: "moved", procedures, ms }),
    async () => await this.#changes.settled(),
  );
  readonly #globs: Globs;
  readonly #importMistakes: ReturnType<typeof findsImportMistakes>;
  #application: Application | undefined;
  #manifest: ServerManifest | undefined;
  #types: string | undefined;
  /** Files that have changed since the last application that was whole. */
  #owed = new Set<string>();
  /** What pages were told last, and how that is called. */
  #said = "";
  #latest: Manifest | undefined;
  #revision = "";
  #revisions = 0;

  constructor(server: ViteDevServer, build: Build, parts: SessionParts) {
    const log = parts.log ?? createViteLog(server);
    this.#server = server;
    this.#build = build;
    this.#tell = parts.tell ?? ((event) => eventToLog(log, event));
    this.#pages = new Pages(server, build.root, async () => await this.#browserManifest());
    this.#problems = new ProblemList((event) => {
      if (event.kind !== "warning")
        this.#pages.problems(event.kind === "problems" ? event.problems : []);
      this.#tell(event);
    });
    this.deployment = new Deployment({
      root: build.root,
      environment: this.#environment("server"),
      config: parts.config,
      layout: build.options.layout,
      manifest: () => this.#manifest,
      log,
      tell: this.#tell,
    });
    this.#importMistakes = findsImportMistakes(build.root, this.#environment("browser"));
    this.#orphans = new Orphans(this.#tell, (file) => this.#changes.heard(file));
    this.read = this.#changes.run(async () => {
      this.#problems.set("configuration", await this.deployment.configure());
      // Vite's plugins, which find what is imported, wait for this reading.
      const application = await this.#readApplication({ judgesImports: false });
      if (application !== undefined) await this.#take(application);
    });
    const listening = new Promise<void>((done) =>
      server.httpServer?.once("listening", () => done()),
    );
    this.ready = Promise.all([this.read, listening]).then(
      async () =>
        await this.#changes.run(async () => {
          if (this.#isWhole) await this.#start();
          await this.#readApplication();
        }),
    );
    this.ready.catch((error: unknown) => log.error("development can't start", error));
    this.#globs = new Globs(server.watcher, this.#environment("server"));
    const unwatch = watch(server, build.root, (file) => this.#heard(file));
    keepSources(server, build, async () => await this.application());
    mountDoors(server, async (request) => await this.#answer(request));
    const { close } = server;
    server.close = async () => {
      unwatch();
      this.#orphans.close();
      this.#moves.close();
      await this.#changes.settled();
      await this.deployment.close();
      await close.call(server);
    };
  }

  get manifest(): ServerManifest | undefined {
    return this.#manifest;
  }

  get url(): string {
    const { local, network } = this.#server.resolvedUrls ?? { local: [], network: [] };
    return (local[0] ?? network[0] ?? "").replace(/\/$/, "");
  }

  /** The last one that was whole. Rejects with {@link Problems} while there never was one. */
  async application(): Promise<Application> {
    await this.read;
    if (this.#application === undefined) throw new Problems(this.#problems.of("application"));
    return this.#application;
  }

  /** The part of a module that an address means, as pages write it or as the parts themselves do. */
  partAt(source: string): string {
    const { file, part = "" } = partOfId(source);
    const isOwn = this.#application?.cut.has(file) === true;
    const path = isOwn
      ? file
      : file.startsWith("/@fs/")
        ? file.slice("/@fs".length)
        : resolve(this.#server.config.root, `.${file}`);
    return `${path}?seamline=${part}`;
  }

  /** What Vite does of a change: of split modules nothing, as that is done here already. */
  async hotUpdate(
    environment: string,
    file: string,
    modules: EnvironmentModuleNode[],
  ): Promise<EnvironmentModuleNode[] | undefined> {
    await this.#changes.settled();
    if (environment === environmentNames.server) return [];
    if (environment !== environmentNames.browser || this.#application?.cut.has(file) !== true)
      return undefined;
    return modules.filter((module) => module.file !== file);
  }

  /** So that a page starts by the manifest of this session, and by none that an earlier one left. */
  async pageTags(): Promise<HtmlTagDescriptor[]> {
    await this.read;
    if (this.#application === undefined) return [];
    const { revision } = await this.#browserManifest();
    return [
      {
        tag: "meta",
        attrs: { name: "seamline-revision", content: revision },
        injectTo: "head-prepend",
      },
    ];
  }

  /** Without its configuration a node would have neither key nor gateway. */
  get #isWhole(): boolean {
    return this.#manifest !== undefined && this.#problems.of("configuration").length === 0;
  }

  /** Something is yet to be loaded: it is tried again with each change. */
  get #isIncomplete(): boolean {
    return (
      this.#problems.of("load").length > 0 ||
      this.deployment.nodes().some(({ state }) => state === "failed")
    );
  }

  #environment(name: keyof typeof environmentNames): DevEnvironment {
    return this.#server.environments[environmentNames[name]] as DevEnvironment;
  }

  async #answer(request: HttpRequest): Promise<HttpResponse | undefined> {
    const { target } = request;
    await this.read;
    if (target.startsWith(browserManifestPath)) {
      const body = JSON.stringify(await this.#browserManifest());
      return { status: 200, headers: { "content-type": mediaTypes.json, ...answerHeaders }, body };
    }
    const file = await pageFile(target, `${this.#server.config.base}@vite/client`);
    if (file !== undefined) return file;
    await this.ready;
    return await this.deployment.handle(request);
  }

  async #browserManifest(): Promise<Manifest> {
    const application = await this.application();
    // By what is wrong now nobody goes.
    if (this.#latest !== undefined && this.#problems.of("application").length > 0)
      return this.#latest;
    const { config } = this.#server;
    const { moduleGraph } = this.#environment("browser");
    const manifest = await browserManifest(application, "", (id) =>
      addressOf(id, config, moduleGraph.getModuleById(id)?.lastHMRTimestamp),
    );
    const said = JSON.stringify(manifest);
    // No two sessions call anything the same: what a page keeps of one is nothing to another.
    if (said !== this.#said) this.#revision = `development-${started}-${++this.#revisions}`;
    this.#said = said;
    return (this.#latest = { ...manifest, revision: this.#revision });
  }

  /** Reads what changed; `undefined` while something is wrong. */
  async #readApplication({ judgesImports = true } = {}): Promise<Application | undefined> {
    const browser = this.#environment("browser");
    const read = async () => {
      const application = await this.#build.read(browser);
      return { application, imports: judgesImports ? await this.#importMistakes(application) : [] };
    };
    const found = await read().catch((error: unknown) => this.#heard(goneFile(error)));
    if (found === undefined) return undefined;
    const { application, imports } = found;
    this.#problems.warn([
      ...application.pageOnlyCalls.map((one) => one.problem),
      ...application.warnings,
    ]);
    this.#pages.warnings(
      application.pageOnlyCalls.flatMap((one) => (one.isShared ? [] : [one.problem])),
    );
    this.#problems.setAll({ application: application.problems, imports });
    return application.problems.length > 0 ? undefined : application;
  }

  async #take(application: Application): Promise<void> {
    this.#manifest = await serverManifest(application, `${++this.#revisions}`);
    this.#application = application;
    this.#types = await writeModuleTypes(application, this.#types);
  }

  async #start(): Promise<void> {
    this.#problems.set("load", await this.#problemsOf(async () => await this.deployment.start()));
  }

  async #problemsOf(act: () => Promise<unknown>) {
    const failed = (error: unknown) =>
      loadProblems(error, { root: this.#build.root, purpose: "the application" });
    return await act().then(() => [], failed);
  }

  #heard(file: string): void {
    this.#build.changed(file);
    // A procedure that moves leaves one file and comes into another, and both are saved at once.
    this.#changes.heard(file, file.endsWith(segmentFileEnding) ? 20 : 0);
  }

  async #apply(files: ReadonlySet<string>, since: number): Promise<void> {
    for (const file of files) this.#owed.add(file);
    const isConfigured = this.deployment.isConfiguredBy(files);
    if (isConfigured) this.#problems.set("configuration", await this.deployment.configure());
    const before = this.#application;
    const application = await this.#readApplication();
    if (application === undefined || this.#problems.of("configuration").length > 0) return;
    if (before !== undefined && !isConfigured && this.#orphans.wait(before, application, files))
      return;
    await this.#take(application);
    const owed = this.#owed;
    this.#owed = new Set();
    if (before === undefined || isConfigured || this.deployment.cluster === undefined) {
      await this.#start();
      // A page that came before there was anything to run, or that goes by what the configuration said before.
      return this.#pages.reload();
    }
    const changed = difference(before, application, (segments, { clients }) =>
      placesIn(this.deployment.layout, segments, clients),
    );
    await this.#follow(changed, owed, since);
  }

  async #follow(changed: Difference, files: ReadonlySet<string>, since: number): Promise<void> {
    const [browser, server] = [this.#environment("browser"), this.#environment("server")];
    const listing = await this.#globs.outdated();
    const ids = invalidateOnNodes(
      server,
      changed,
      { listing, files },
      { cut: this.#application?.cut, isIncomplete: this.#isIncomplete },
    );
    const inPages = await invalidateInPages(browser, changed, this.#pages);
    let changes: readonly NodeChange[] = [];
    const settled = async (): Promise<void> => await this.#pages.move();
    this.#problems.set(
      "load",
      await this.#problemsOf(
        async () =>
          (changes = await this.deployment.follow(ids, changed.isMoved ? settled : undefined)),
      ),
    );
    await this.#pages.move();
    const told = new Set([...files, ...listing.map((id) => partOfId(id).file)]);
    const ms = performance.now() - since;
    const pages = { environment: browser, ids: inPages, isOpen: this.#pages.open > 0 };
    for (const event of eventsOf({
      root: this.#build.root,
      changed,
      files: told,
      changes,
      pages,
      ms,
    }))
      this.#tell(event);
    this.#moves.add(changed.moves, ms);
  }
}

const started = Date.now().toString(36);

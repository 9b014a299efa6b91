// A development session of one Vite server. It reads the application, keeps nodes and pages level
// with the sources, and reports what it does.

import { resolve } from "node:path";

import type { ApplicationConfig } from "../config/config-types.ts";
import type { DevEnvironment, EnvironmentModuleNode, HtmlTagDescriptor, ViteDevServer } from "vite";

import { segmentFileEnding, type ServerManifest } from "../../src/base/manifest.ts";
import type { Log } from "../../src/base/ports.ts";
import { type Problem, Problems } from "../../src/base/problem.ts";
import type { Application } from "../compile/read/application.ts";
import type { ApplicationReader } from "../compile/read/application-reader.ts";
import { environmentNames } from "../compile/write/environments.ts";
import { parsePartId, partId } from "../compile/modules/module-ids.ts";
import type { PluginSession } from "../compile/plugin/plugin-session.ts";
import type { Controls } from "../../console/server/controls.ts";
import { Changes } from "./changes.ts";
import { type ControlledSession, createControls } from "./endpoints/console-controls.ts";
import { Deployment } from "./deployment.ts";
import { mountEndpoints } from "./endpoints.ts";
import { Globs } from "./nodes/globs.ts";
import { addressOf } from "../compile/plugin/ids.ts";
import { LiveApplication } from "./live-application.ts";
import { createViteLog, eventToLog } from "./log.ts";
import { refuseControlsToOthers } from "./endpoints/loopback-only.ts";
import { PageManifest } from "./pages/page-manifest.ts";
import { Pages } from "./pages/pages.ts";
import { ProblemList } from "./session/problem-list.ts";
import { createReading } from "./reading.ts";
import type { DevEvent, DevNode } from "./session/session.ts";
import { keepSources } from "./endpoints/sources.ts";
import { watch } from "./files/watch.ts";
import { written } from "./files/written.ts";

/** Moving a procedure changes two segment files, which an editor saves right after each other. */
const segmentFilesWindowMs = 20;
/** A file that was removed while the application was read may be gone for good, and with it the folder. */
const goneMs = 50;

/** What `seamline dev` brings; plain `vite` has the plugin's options and Vite's log. */
export interface DevelopmentOptions {
  readonly config?: string | undefined;
  readonly log?: Log;
  /** Gets all events, in place of the log. */
  readonly onEvent?: (event: DevEvent) => void;
}

/** Starts reading the application at once. Nodes start when the server listens. */
export class Development implements PluginSession, ControlledSession {
  readonly controls: Controls = createControls(this);
  readonly deployment: Deployment;
  /** Resolves when the application has been read, or its problems have been reported. */
  readonly read: Promise<void>;
  /** Resolves when the nodes have started, as far as they can, and all problems are reported. */
  readonly ready: Promise<void>;
  readonly #server: ViteDevServer;
  readonly #reader: ApplicationReader;
  readonly #problems: ProblemList;
  readonly #changes: Changes = new Changes(async (files, since) => {
    await written(files);
    await this.#live.update(files, since);
  });
  readonly #pages: Pages;
  readonly #pageManifest: PageManifest;
  readonly #live: LiveApplication;
  #isClosed = false;

  constructor(server: ViteDevServer, reader: ApplicationReader, options: DevelopmentOptions = {}) {
    const log = options.log ?? createViteLog(server);
    const onEvent = options.onEvent ?? ((event: DevEvent): void => eventToLog(log, event));
    const { root } = reader;
    this.#server = server;
    this.#reader = reader;
    const environments = {
      browser: server.environments[environmentNames.browser],
      server: server.environments[environmentNames.server] as DevEnvironment,
    };
    const { moduleGraph } = environments.browser;
    this.#pageManifest = new PageManifest({
      application: async () => {
        await this.#live.placed();
        return await this.application();
      },
      hasProblems: () => this.#problems.of("application").length > 0,
      addressOf: (id) =>
        addressOf(id, server.config, moduleGraph.getModuleById(id)?.lastHMRTimestamp),
    });
    const pages = new Pages(server, root, async () => await this.#pageManifest.current());
    this.#pages = pages;
    this.#problems = new ProblemList((event) => {
      if (event.kind !== "warning") pages.problems(event.kind === "problems" ? event.problems : []);
      onEvent(event);
    });
    this.deployment = new Deployment({
      root,
      environment: environments.server,
      config: options.config,
      nodeSegments: reader.options.nodes,
      manifest: () => this.manifest,
      log,
      controls: this.controls,
      onEvent,
    });
    this.#live = new LiveApplication({
      root,
      environments,
      readApplication: createReading({
        reader,
        environment: environments.browser,
        problems: this.#problems,
        pages,
        onGone: (file) => this.#changed(file, goneMs),
      }),
      problems: this.#problems,
      deployment: this.deployment,
      pages,
      globs: new Globs(server.watcher, environments.server),
      changes: this.#changes,
      onEvent,
    });
    this.read = this.#changes.run(async () => await this.#live.read());
    const listening = new Promise<void>((done) =>
      server.httpServer?.once("listening", () => done()),
    );
    const started = Promise.all([this.read, listening]).then(
      async () => await this.#changes.run(async () => await this.#live.start()),
    );
    // Calls don't wait for this.
    this.ready = started.then(
      async () => await this.#changes.run(async () => await this.#live.judge()),
    );
    this.ready.catch((error: unknown) => log.error("development can't start", error));
    this.#closeWith(watch(server, root, (file) => this.#changed(file)));
    keepSources(server, reader, async () => await this.application());
    refuseControlsToOthers(server);
    mountEndpoints(server, {
      pageManifest: this.#pageManifest,
      deployment: this.deployment,
      read: this.read,
      started,
    });
  }

  get manifest(): ServerManifest | undefined {
    return this.#live.manifest;
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
    await this.#changes.run(async () => await this.deployment.node(node)?.start());
  }

  get url(): string {
    const { local, network } = this.#server.resolvedUrls ?? { local: [], network: [] };
    return (local[0] ?? network[0] ?? "").replace(/\/$/, "");
  }

  async application(): Promise<Application> {
    await this.read;
    const { current } = this.#live;
    if (current === undefined) throw new Problems(this.#problems.of("application"));
    return current;
  }

  partAt(source: string): string {
    const { file, part } = parsePartId(source);
    const isOwn = this.#live.current?.cut.has(file) === true;
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
    await this.#changes.settled();
    if (environment === environmentNames.server) return [];
    if (environment !== environmentNames.browser) return undefined;
    const isCut = this.#live.current?.cut.has(file) === true;
    const updated = modules.filter(
      (module) => !(isCut && module.file === file) && !this.#pages.haveLeft(module),
    );
    return updated.length === modules.length ? undefined : updated;
  }

  /** Makes a page start with this session's manifest, not with one cached in an earlier session. */
  async pageTags(): Promise<HtmlTagDescriptor[]> {
    this.#pages.expect();
    await this.read;
    if (this.#live.current === undefined) return [];
    const { revision } = await this.#pageManifest.current();
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
      this.#live.close();
      await this.#changes.settled();
      await this.deployment.close();
      await close.call(server);
    };
  }

  #changed(
    file: string,
    windowMs = file.endsWith(segmentFileEnding) ? segmentFilesWindowMs : 0,
  ): void {
    if (this.#isClosed) return;
    this.#reader.changed(file);
    this.#changes.add(file, windowMs);
  }
}

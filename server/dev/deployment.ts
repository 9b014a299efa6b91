// What the configuration makes of an application: limits, key, layers, console; and the cluster that lives by them.

import { randomUUID } from "node:crypto";

import type { DevEnvironment } from "vite";

import { type Console, createConsole } from "../../src/console/console.ts";
import { entryOf, type ServerManifest } from "../../src/manifest.ts";
import type { Host, HttpRequest, HttpResponse, Log, ModuleNamespace } from "../../src/ports.ts";
import { type Problem, Problems } from "../../src/problem.ts";
import type { createGateway } from "../../src/roles/gateway.ts";
import type { Role } from "../../src/roles/role.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { loadRunner } from "../build/load-vite.ts";
import { createConsoleFiles } from "../console-files.ts";
import { nodeHost } from "../host.ts";
import { readTrustKey } from "../key.ts";
import { Cluster, type NodeChange } from "./cluster.ts";
import {
  type DevConfiguration,
  configurationFile,
  makeGateway,
  readConfiguration,
} from "./configuration.ts";
import { type Layout, nodesIn } from "./layout.ts";
import { createNodeModules, type NodeModules } from "./runner.ts";
import { tidy } from "./stacks.ts";
import type { DevEvent, DevNode } from "./session.ts";

export interface DeploymentOptions {
  readonly root: string;
  readonly environment: DevEnvironment;
  readonly config: string | undefined;
  /** Of the plugin; that of a configuration goes before. */
  readonly layout: Layout | undefined;
  /** There is none until an application was whole. */
  readonly manifest: () => ServerManifest | undefined;
  readonly log: Log;
  readonly tell: (event: DevEvent) => void;
}

export class Deployment {
  readonly #options: DeploymentOptions;
  #configuration: DevConfiguration = { file: undefined, config: undefined, limits: defaultLimits };
  #isConfigured = false;
  #trustKey = "";
  /** The file that was read last, or was to be. */
  #file: string | undefined;
  #cluster: Cluster | undefined;
  #gatewayModules: NodeModules | undefined;
  #console: Console | undefined;
  #callable: { readonly of: ServerManifest; readonly names: ReadonlySet<string> } | undefined;

  constructor(options: DeploymentOptions) {
    this.#options = options;
  }

  get cluster(): Cluster | undefined {
    return this.#cluster;
  }

  get layout(): Layout | undefined {
    return this.#configuration.config?.layout ?? this.#options.layout;
  }

  /** Those that there are, or will be. */
  nodes(): readonly DevNode[] {
    const manifest = this.#options.manifest();
    if (this.#cluster !== undefined || manifest === undefined || !this.#isConfigured)
      return this.#cluster?.nodes() ?? [];
    const placed = Object.entries(
      nodesIn(this.layout, Object.keys(manifest.segments), manifest.clients),
    );
    return placed.map(([name, segments]) => ({ name, segments, procedures: 0, state: "starting" }));
  }

  /** Whether one of these files decides, or did until it was removed; it need not be one that can be read. */
  isConfiguredBy(files: ReadonlySet<string>): boolean {
    const now = configurationFile(this.#options.root, this.#options.config);
    return [now, this.#file].some((file) => file !== undefined && files.has(file));
  }

  consoleLink(base: string): string | undefined {
    return this.#console?.link(base);
  }

  /** Reads the configuration; what is wrong with it leaves the former. */
  async configure(): Promise<readonly Problem[]> {
    this.#file = configurationFile(this.#options.root, this.#options.config);
    this.#isConfigured = false;
    try {
      this.#configuration = await readConfiguration(this.#options.root, this.#options.config);
      this.#trustKey = await readTrustKey(this.#options.root, this.#configuration.config?.trustKey);
      this.#isConfigured = true;
      return [];
    } catch (error) {
      if (!(error instanceof Problems)) throw error;
      return error.problems;
    }
  }

  async start(): Promise<void> {
    const { root, environment, log, tell } = this.#options;
    const manifest = (): ServerManifest => this.#options.manifest() as ServerManifest;
    // Stacks lead to the TypeScript, for all nodes of the process.
    process.setSourceMapsEnabled(true);
    const vite = await loadRunner(root);
    const modules = (): NodeModules =>
      createNodeModules({ root, vite, environment, manifest, runtime });
    const cluster = new Cluster({
      log,
      tell,
      manifest,
      modules,
      limits: this.#configuration.limits,
      trustKey: this.#trustKey,
      host: nodeHost,
      layout: this.layout,
      gateway: async (host, create) => await this.#gateway(host, create, modules),
    });
    await this.#cluster?.close();
    this.#cluster = cluster;
    await cluster.start();
  }

  /** See {@link Cluster.follow}; layers and checks that have changed are made anew. */
  async follow(
    changed: ReadonlySet<string>,
    settled?: () => Promise<void>,
  ): Promise<readonly NodeChange[]> {
    if (this.#cluster === undefined) return [];
    const outdated = this.#gatewayModules?.outdate(changed);
    const changes = await this.#cluster.follow(changed, settled);
    // What a gateway knows of the application it asks for once.
    const isLooking = this.#configuration.config?.middleware !== undefined && settled !== undefined;
    if ((outdated !== undefined && outdated.size > 0) || isLooking) {
      await this.#cluster.replaceGateway();
      return [...changes, { node: "gateway", outdated: outdated ?? new Set() }];
    }
    return changes;
  }

  async handle(request: HttpRequest): Promise<HttpResponse> {
    if (this.#cluster === undefined)
      return {
        status: 503,
        headers: { "retry-after": "1", "content-type": "text/plain" },
        body: "Starting",
      };
    return await this.#cluster.handle(request);
  }

  async close(): Promise<void> {
    const cluster = this.#cluster;
    this.#cluster = undefined;
    await cluster?.close();
    await this.#gatewayModules?.close();
  }

  #has(fqn: string): boolean {
    const manifest = this.#options.manifest();
    if (manifest === undefined) return false;
    if (this.#callable?.of !== manifest)
      this.#callable = { of: manifest, names: callableIn(manifest, this.layout) };
    return this.#callable.names.has(fqn);
  }

  async #gateway(
    host: Host,
    create: typeof createGateway,
    modules: () => NodeModules,
  ): Promise<Role> {
    const { root } = this.#options;
    const own = modules();
    const console = createConsole(host, {
      trustKey: this.#trustKey,
      secure: false,
      file: createConsoleFiles(),
    });
    try {
      const role = await makeGateway(host, create, {
        root,
        trustKey: this.#trustKey,
        configuration: this.#configuration,
        modules: own,
        newId: randomUUID,
        console,
        has: (fqn) => this.#has(fqn),
        holder: (fqn, version) => this.#cluster?.holder(fqn, version),
      });
      await this.#gatewayModules?.close();
      [this.#gatewayModules, this.#console] = [own, console];
      return role;
    } catch (error) {
      await own.close();
      throw error;
    }
  }
}

/** FQNs that nodes let others call. */
function callableIn(manifest: ServerManifest, layout: Layout | undefined): ReadonlySet<string> {
  const { segments, procedures, clients } = manifest;
  const onNodes = new Set(Object.values(nodesIn(layout, Object.keys(segments), clients)).flat());
  const entries = [...onNodes].flatMap((name) =>
    (entryOf(segments, name) ?? []).filter(({ access }) => access !== "private"),
  );
  return new Set(entries.map(({ procedure }) => procedures[procedure]?.fqn ?? ""));
}

// The package itself, wherever it lies: applications and their nodes have one `seamline`.
const runtime = async (): Promise<ModuleNamespace> => ({
  ...(await import("../main.ts")),
  $tidy: tidy,
});

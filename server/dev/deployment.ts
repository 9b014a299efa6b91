// The deployment of a development session: nodes, and a gateway with the configured limits, key,
// middleware and console.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { DevEnvironment } from "vite";

import type { ApplicationConfig } from "../config/config-types.ts";
import { procedureKey } from "../../src/base/fqn.ts";
import type { ServerManifest } from "../../src/base/manifest.ts";
import type {
  Host,
  HttpRequest,
  HttpResponse,
  Log,
  ModuleNamespace,
  Peer,
} from "../../src/base/ports.ts";
import { type Problem, Problems } from "../../src/base/problem.ts";
import { fixedBase } from "../../src/http/base-path.ts";
import type { PageAdmission, PageHandshake } from "../../src/http/page-admission.ts";
import { isStarting } from "../../src/http/refusals.ts";
import type { ApplicationTypes } from "../../src/base/parameter-types.ts";
import type { Followed } from "../../src/roles/node.ts";
import { createGateway, type GatewayOptions } from "../../src/roles/gateway.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { warningOfOptions } from "../../src/runtime/mistaken-options.ts";
import { loadRunner } from "../compile/read/load-vite.ts";
import type { Console, Controls } from "../console/console-port.ts";
import { loadConsole, type OpenConsole } from "../console/load-console.ts";
import { Heartbeat, logComputations } from "../host/event-loop.ts";
import { nodeHost } from "../http/host.ts";
import type { PageLinkSettings } from "../http/page-links/page-links.ts";
import { serverTiming } from "../telemetry/traces/server-timing.ts";
import { readTrustKey } from "../config/key.ts";
import { LocalDeployment } from "../local/deployment.ts";
import { bindGatewayCalls } from "../local/gateway-calls.ts";
import { memoryLinks } from "../local/memory-links.ts";
import type { Service } from "../local/service.ts";
import { configuredModules } from "../modules/configured-modules.ts";
import { applicationImporter } from "../modules/module-importer.ts";
import type { TrustKey } from "../../src/http/trust.ts";
import { type DevConfiguration, configurationFile, readConfiguration } from "./configuration.ts";
import {
  callableOnNodes,
  meantBy,
  type NodeSegments,
  type OnNodes,
  segmentsByNode,
} from "./node-segments.ts";
import { createLiveModules, type LiveModules } from "./live-modules.ts";
import { LiveNode } from "./live-node.ts";
import { tidy } from "./stacks.ts";
import type { DevEvent, DevNode } from "./session.ts";
import { callsEndMs } from "./times.ts";
import { BreakableBody } from "../../src/http/breakable-body.ts";
import { isStream } from "../../src/wire/event-stream.ts";

export interface DeploymentOptions {
  readonly root: string;
  readonly environment: DevEnvironment;
  readonly config: string | undefined;
  /** From the plugin's options; a configuration takes precedence. */
  readonly nodeSegments: NodeSegments | undefined;
  /** `undefined` until the application has been read without problems. */
  readonly manifest: () => ServerManifest | undefined;
  /** The types by which nodes check arguments. */
  readonly types: ApplicationTypes;
  readonly log: Log;
  /** For the console. */
  readonly controls: Controls;
  readonly onEvent: (event: DevEvent) => void;
}

/** The effect of a change on a node, or on the gateway. */
export interface NodeChange {
  readonly node: string;
  /** Ids of the modules that it reloads. */
  readonly invalidated: ReadonlySet<string>;
}

interface Running {
  readonly local: LocalDeployment;
  readonly gateway: Service;
  /** The nodes by name. */
  readonly nodes: Map<string, LiveNode>;
  /** Makes a node, which isn't started. */
  readonly createNode: (name: string, segments: readonly string[]) => LiveNode;
}

export class Deployment {
  readonly #options: DeploymentOptions;
  /** Starts once nodes are loaded: until then Vite and modules keep the event loop busy. */
  #heartbeat: Heartbeat | undefined;
  #configuration: DevConfiguration = { file: undefined, config: undefined, limits: defaultLimits };
  #isConfigured = false;
  #trustKey: TrustKey = "";
  /** The last configuration file, whether it could be read or not. */
  #file: string | undefined;
  /** Requests that are being answered. */
  readonly #answers = new Set<Promise<unknown>>();
  /** The ends of streams that are being sent. */
  readonly #streams = new Set<Promise<void>>();
  #running: Running | undefined;
  #gatewayModules: LiveModules | undefined;
  /** Loaded with the first gateway; `undefined` in a build without a console. */
  #openConsole: Promise<OpenConsole | undefined> | undefined;
  #console: Console | undefined;
  #callable: (OnNodes & { readonly of: ServerManifest }) | undefined;

  constructor(options: DeploymentOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Empty until the first start. */
  get nodes(): readonly LiveNode[] {
    return [...(this.#running?.nodes.values() ?? [])];
  }

  node(name: string): LiveNode | undefined {
    return this.#running?.nodes.get(name);
  }

  /** A node that holds a procedure now. */
  holder(fqn: string, version: string): LiveNode | undefined {
    const key = procedureKey(fqn, version);
    return this.nodes.find((node) => node.accessOf(key) !== undefined);
  }

  get nodeSegments(): NodeSegments | undefined {
    return this.#configuration.config?.nodes ?? this.#options.nodeSegments;
  }

  get fallback(): ApplicationConfig["fallback"] {
    return this.#configuration.config?.fallback;
  }

  /** The nodes that run, or that will once the application has started. */
  describeNodes(): readonly DevNode[] {
    if (this.isRunning || this.#options.manifest() === undefined || !this.#isConfigured)
      return this.nodes.map((node) => node.describe());
    return [...this.#segmentsByNode()].map(([name, segments]) => ({
      name,
      segments,
      procedures: 0,
      state: "starting",
    }));
  }

  /** Whether one of these files is the configuration, or was before it was removed. */
  isConfiguredBy(files: ReadonlySet<string>): boolean {
    const current = configurationFile(this.#options.root, this.#options.config);
    return [current, this.#file].some((file) => file !== undefined && files.has(file));
  }

  consoleLink(base: string): string | undefined {
    return this.#console?.link(base);
  }

  /** Reads the configuration. If it has problems, returns them and keeps the previous one. */
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

  /** Resolves when every node has loaded its procedures or has failed. */
  async loaded(): Promise<void> {
    await Promise.all(this.nodes.map(async (node) => await node.loaded));
  }

  /** Resolves when every node takes calls or has failed. */
  async start(): Promise<void> {
    const { root, environment, types, log, onEvent } = this.#options;
    const manifest = (): ServerManifest => this.#options.manifest() as ServerManifest;
    const vite = await loadRunner(root);
    await (this.#openConsole ??= loadConsole(log));
    // Stack traces then point to the TypeScript, for all nodes of the process. Node reads the source
    // map of each module that it loads from now on, so this package's own come before.
    process.setSourceMapsEnabled(true);
    const runtime = createRuntime(log);
    const nodes = new Map<string, LiveNode>();
    const callsEnded = async (): Promise<void> => {
      for (const { role } of nodes.values()) role?.moveStreams();
      const ends = [...this.#answers, ...this.#streams];
      if (ends.length > 0)
        await Promise.race([
          Promise.allSettled(ends),
          sleep(callsEndMs, undefined, { ref: false }),
        ]);
    };
    const modules = (): LiveModules =>
      createLiveModules({ root, vite, environment, manifest, runtime, callsEnded, log });
    const local: LocalDeployment = new LocalDeployment({
      trustKey: this.#trustKey,
      limits: this.#configuration.limits,
      domain: ".memory",
      host: (name) => ({
        ...nodeHost({
          links: memoryLinks(local.network, { own: local.urlOf(name) }),
          names: local.network.names,
          log,
          telemetry: serverTiming(name),
        }),
        openTypes: async () => types,
      }),
    });
    const gateway = local.addGateway(
      async (host, options) => await this.#gateway(quiet(host), options, modules(), local.network),
    );
    let created = 0;
    const createNode = (name: string, segments: readonly string[]): LiveNode => {
      const host = `node-${++created}`;
      const node = new LiveNode({ name, host, segments, local, manifest, modules, onEvent });
      nodes.set(name, node);
      return node;
    };
    await this.#end();
    this.#running = { local, gateway, nodes, createNode };
    await gateway.start();
    await Promise.all(
      [...this.#segmentsByNode()].map(([name, segments]) => createNode(name, segments).start()),
    );
    const running = this.#running;
    void this.loaded().then(() => {
      if (this.#running === running) this.#heartbeat ??= new Heartbeat(logComputations(log));
    });
  }

  /**
   * Applies the current manifest and the `changed` modules. Nodes load added procedures and notify
   * the gateway, then `settled` runs, and then nodes drop removed ones, so every call finds its
   * procedure. Without `settled`, nothing may have been removed. Rejects if a body can't be loaded:
   * its node keeps the old one, and tries again with the next change. Reloads middleware and health
   * checks that have changed.
   */
  async follow(
    changed: ReadonlySet<string>,
    settled?: () => Promise<void>,
  ): Promise<readonly NodeChange[]> {
    if (this.#running === undefined) return [];
    const { local, nodes, createNode } = this.#running;
    const changes: NodeChange[] = [];
    const followed: Followed[] = [];
    const failures: unknown[] = [];
    const onGateway = this.#gatewayModules?.invalidate(changed) ?? new Set();
    const segmentsOf = this.#segmentsByNode();
    const leaving = this.nodes.filter(({ name }) => !segmentsOf.has(name));
    await Promise.all(
      [...segmentsOf].map(async ([name, segments]) => {
        const node = nodes.get(name);
        if (node === undefined) return await createNode(name, segments).start();
        node.segments = segments;
        // It loads all as it is now.
        if (node.state === "failed") return await node.start();
        const { role, modules, stale } = node;
        if (role === undefined || modules === undefined) return;
        for (const id of changed) stale.add(id);
        const invalidated = modules.invalidate(stale);
        for (const id of invalidated) stale.add(id);
        try {
          followed.push(await role.follow(segments, stale));
          stale.clear();
          if (invalidated.size > 0) {
            changes.push({ node: name, invalidated });
            // Other streams go on with the code in which they began.
            role.moveStreams();
          }
        } catch (error) {
          // A node that was killed meanwhile loads everything at its next start.
          if (node.modules === modules) failures.push(error);
        }
      }),
    );
    if (settled !== undefined || leaving.length > 0) {
      await settled?.();
      await Promise.all([...followed, ...leaving].map(async (each) => await each.leave()));
      // Calls that the gateway has already sent reach their procedure within this turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const each of followed) each.drop();
    for (const node of leaving) {
      nodes.delete(node.name);
      await node.close("no segment is left for it");
    }
    if (failures.length > 0) throw failures[0];
    const order = [...nodes.keys()];
    changes.sort((a, b) => order.indexOf(a.node) - order.indexOf(b.node));
    // A gateway with middleware reads the application's manifest only once.
    const isStale = this.#configuration.config?.middleware !== undefined && settled !== undefined;
    if (onGateway.size === 0 && !isStale) return changes;
    await local.replaceGateway();
    return [...changes, { node: "gateway", invalidated: onGateway }];
  }

  async handle(request: HttpRequest): Promise<HttpResponse> {
    const headers = { "retry-after": "1" };
    if (this.#running === undefined)
      return {
        status: 503,
        headers: { ...headers, "content-type": "text/plain" },
        body: "Starting",
      };
    const gateway = this.#running.gateway.readyRole;
    if (gateway === undefined) return { status: 503, headers };
    const answer = gateway.handle(request);
    this.#answers.add(answer);
    try {
      const answered = await answer;
      return isStream(answered) ? this.#following(answered) : answered;
    } finally {
      this.#answers.delete(answer);
    }
  }

  /** The stream, which is noted until it ends. */
  #following({ status, headers, body }: HttpResponse): HttpResponse {
    let onEnd = (): void => {};
    const ended = new Promise<void>((resolve) => {
      onEnd = () => {
        this.#streams.delete(ended);
        resolve();
      };
    });
    this.#streams.add(ended);
    return {
      status,
      headers,
      body: new BreakableBody(body as AsyncIterable<Uint8Array>, { onEnd }),
    };
  }

  /** Whether a page may open a link. */
  admitPage(handshake: PageHandshake): PageAdmission {
    return this.#running?.gateway.readyRole?.admitPage?.(handshake) ?? { refused: isStarting() };
  }

  get pageLinkSettings(): PageLinkSettings {
    const { config, limits } = this.#configuration;
    return {
      limits,
      streamHeaders: config?.mode === "standalone" ? config.streamHeaders : undefined,
    };
  }

  async close(): Promise<void> {
    this.#heartbeat?.stop();
    await this.#end();
    await this.#gatewayModules?.close();
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    const gateway = running?.gateway.role;
    // All at once, so that no service logs that another is gone.
    running?.gateway.kill();
    await Promise.all([...(running?.nodes.values() ?? [])].map(async (node) => await node.close()));
    await gateway?.stop();
    await running?.local.close();
  }

  /** Node → the segments that it holds. */
  #segmentsByNode(): ReadonlyMap<string, readonly string[]> {
    const { browserSegments = [], segments = {} } = this.#options.manifest() ?? {};
    return new Map(
      Object.entries(segmentsByNode(this.nodeSegments, Object.keys(segments), browserSegments)),
    );
  }

  /** Whether the path of a request's target is that of a route on a node. */
  isRoute(target: string): boolean {
    return this.#onNodes?.routes.match("OPTIONS", target).kind === "other-method";
  }

  get #onNodes(): OnNodes | undefined {
    const manifest = this.#options.manifest();
    if (manifest === undefined) return undefined;
    if (this.#callable?.of !== manifest)
      this.#callable = { of: manifest, ...callableOnNodes(manifest, this.nodeSegments) };
    return this.#callable;
  }

  async #gateway(
    host: Host,
    options: GatewayOptions,
    modules: LiveModules,
    peer: Peer,
  ): Promise<Role> {
    const { controls, log, manifest } = this.#options;
    const trustKey = this.#trustKey;
    const openConsole = await (this.#openConsole ??= loadConsole(log));
    const observer = openConsole?.(host, { trustKey, controls, secure: false, masks: false });
    const role = createGateway(host, {
      ...options,
      // Any host: Vite checks them already (`server.allowedHosts`).
      web: { hosts: ["*"], base: fixedBase(manifest()?.base ?? "/") },
      newId: randomUUID,
      modules,
      observer,
      has: (name, kind) => this.#onNodes?.names[kind].has(name) === true,
      meant: (fqn) => meantBy(fqn, this.#onNodes?.names.procedure ?? new Set()),
    });
    try {
      await this.#addModules(role, host, modules, peer);
    } catch (error) {
      await modules.close();
      throw error;
    }
    await this.#gatewayModules?.close();
    [this.#gatewayModules, this.#console] = [modules, observer];
    return role;
  }

  /** Adds the middleware and the health checks of the configuration. */
  async #addModules(role: Role, host: Host, modules: LiveModules, peer: Peer): Promise<void> {
    const { root } = this.#options;
    const { config, limits } = this.#configuration;
    if (config?.middleware === undefined && config?.healthChecks === undefined) return;
    const holder = this.holder.bind(this);
    await bindGatewayCalls(host, { modules, peer, limits, holder });
    const importPackage = applicationImporter(root);
    const { middleware, healthChecks } = await configuredModules(config, {
      root,
      modules,
      // A file outside the source folder is a module like any other. Node resolves packages, from the
      // application.
      moduleImporter: async (specifier) =>
        await (specifier.startsWith("file:")
          ? modules.import(fileURLToPath(specifier))
          : importPackage(specifier)),
    });
    for (const entry of middleware) role.addMiddleware(entry);
    for (const [name, check] of healthChecks) role.addHealthCheck(name, check);
  }
}

/** Drops info lines: nodes report themselves that they joined or left. */
function quiet(host: Host): Host {
  return { ...host, log: { ...host.log, info: () => {} } };
}

/** Applications and their nodes share one `seamline`: this package. */
function createRuntime(log: Log): () => Promise<ModuleNamespace> {
  const $warning = warningOfOptions((line) => log.warn(line));
  return async () => ({
    ...(await import("../main.ts")),
    ...(await import("../../src/internal.ts")),
    $tidy: tidy,
    $warning,
  });
}

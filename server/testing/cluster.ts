// A running test cluster: real roles in memory, with network failures and fakes that the test
// controls.

import { fixedBase } from "../../src/http/base-path.ts";
import { isCallable } from "../../src/base/access.ts";
import { procedureKey } from "../../src/base/fqn.ts";
import type { ProcedureRecord } from "../../src/base/manifest.ts";
import type { Host, OutgoingRequest, Peer } from "../../src/base/ports.ts";
import { type FakeProcedure, unknownProcedure } from "../../src/roles/application/fake-modules.ts";
import { createGateway, type GatewayOptions } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import type { ApplicationTypes } from "../../src/base/parameter-types.ts";
import type { ServerModules } from "../../src/roles/application/application.ts";
import type { ErrorVisibility } from "../../src/codec/error-mask.ts";
import type { Limits } from "../../src/base/limits.ts";
import { noCarrier, registerHost } from "../start/process-services.ts";
import { nodeHost } from "../http/host.ts";
import { LocalDeployment } from "../local/deployment.ts";
import { type FailOptions, type Failure, Failures } from "../local/failures.ts";
import type { OwnImporter, TestApplication } from "./application.ts";
import { memoryLinks } from "../local/memory-links.ts";
import { createCaller } from "./caller.ts";
import { type CallRecorder, createCallRecorder, type RecordedCall } from "./fakes/calls.ts";
import {
  createFakeRegistry,
  type FakeOptions,
  type FakeRegistry,
  type Restore,
  restoring,
} from "./fakes/fakes.ts";
import { ClusterModules } from "./modules.ts";
import { ProcedureHolders } from "./holders.ts";
import type { ClusterSegments } from "./segments.ts";
import { ClusterNode, ClusterService, noService, type ServiceSurroundings } from "./services.ts";
import type { CallFilter, TestCaller, TestNode, TestPage } from "./test-cluster.ts";
import type { TestClock } from "./test-clock.ts";
import type { TestLog } from "./test-log.ts";
import { stepMs } from "./times.ts";

export interface ClusterOptions extends ClusterSegments {
  readonly application: TestApplication;
  readonly clock: TestClock;
  readonly log: TestLog;
  readonly limits: Limits;
  readonly errors: ErrorVisibility | undefined;
  readonly own: OwnImporter | undefined;
}

export class Cluster {
  readonly clock: TestClock;
  readonly log: TestLog;
  readonly modules: ClusterModules;
  readonly gateway: ClusterService;
  readonly gatewayModules: ServerModules;
  readonly nodes: readonly ClusterNode[];
  page: TestPage = undefined as never;
  readonly #options: ClusterOptions;
  readonly #releases: readonly (() => unknown)[];
  readonly #recorder: CallRecorder;
  readonly #fakes: FakeRegistry;
  readonly #local: LocalDeployment;
  readonly #holders: ProcedureHolders;
  readonly #failures: Failures;
  #test: TestCaller = undefined as never;
  /** Requests wait for nodes of fakes that are joining. */
  #joining: Promise<void>;
  /** Nodes of fakes may be made before the gateway is there to be joined. */
  #gatewayStarted!: () => void;
  #fakeNodes = 0;
  #stopped = false;

  constructor(options: ClusterOptions) {
    const { application, clock, log, limits, errors, own } = options;
    this.#options = options;
    this.#joining = new Promise((resolve) => (this.#gatewayStarted = resolve));
    // A test's calls with options use this cluster's clock.
    this.#releases = [application.use(), registerHost({ clock, carrier: noCarrier })];
    this.clock = clock;
    this.log = log;
    const recorder = (this.#recorder = createCallRecorder(clock));
    const fakes = (this.#fakes = createFakeRegistry(application.manifests.server.procedures));
    this.modules = new ClusterModules({ application, clock, log, recorder, fakes, own });
    this.#local = new LocalDeployment({
      trustKey: "the key of a test cluster",
      limits,
      domain: ".test",
      clock,
      // The gateway's modules, and the middleware in them, stay bound to this one.
      host: (name) => (name === "gateway" ? gatewayHost : this.#host(name)),
    });
    this.#holders = new ProcedureHolders(application.manifests.server);
    this.#failures = new Failures({ clock, serviceAt: (origin) => this.#local.at(origin) });
    const surroundings: ServiceSurroundings = {
      recorder,
      outside: this.#outside("outside"),
      assertOpen: () => this.#assertOpen(),
      passUntil: async (done) => await this.#passUntil(done),
    };
    const gatewayHost = this.#host("gateway");
    const gatewayModules = (this.gatewayModules = this.modules.ofServer());
    this.gateway = new ClusterService(surroundings, (prepare) =>
      this.#local.addGateway(async (host, common) => {
        await this.#holders.bind(
          gatewayHost,
          gatewayModules,
          this.#outside("gateway"),
          common.limits,
        );
        const has: GatewayOptions["has"] = (...named) => this.#holders.has(...named);
        const web = { base: fixedBase(application.manifests.server.base ?? "/") };
        const parts = { ...common, web, errors, has, modules: gatewayModules };
        return prepare(createGateway(host, parts));
      }),
    );
    this.nodes = Object.entries(options.nodes).map(([name, segments]) =>
      this.#node(surroundings, name, segments),
    );
  }

  async start(): Promise<void> {
    await this.gateway.start().finally(this.#gatewayStarted);
    this.#test = await this.#caller("test", []);
    this.page = await this.#caller("page", this.#options.page);
    await Promise.all(this.nodes.map(async (node) => await node.start()));
    await this.#joining;
  }

  readonly import = (async (path: string): Promise<unknown> => {
    this.#assertOpen();
    return await this.#test.import(path);
  }) as TestCaller["import"];

  readonly runProcedure: TestCaller["runProcedure"] = async (...call) => {
    this.#assertOpen();
    return (await this.#test.runProcedure(...call)) as never;
  };

  node(name: string): TestNode {
    this.#assertOpen();
    const node = this.nodes.find((candidate) => candidate.name === name);
    if (node === undefined) throw new Error(noService("node", name, this.nodes));
    return node;
  }

  async fetch(path: string, init?: RequestInit): Promise<Response> {
    return await this.gateway.fetch(path, init);
  }

  fake(fqn: string, run: FakeProcedure, options: FakeOptions = {}): Restore {
    this.#assertOpen();
    const records = this.#fakes.records(fqn, options.version);
    const absent = records.filter((record) => !this.#isHeld(record));
    const hidden = absent.find((record) =>
      this.#holders.segmentsOf(record).every(({ access }) => !isCallable(access)),
    );
    if (hidden !== undefined)
      throw new Error(
        `'${fqn}' is private in '${this.#holders.segmentsOf(hidden)[0]?.segment}', which no node of this cluster holds: nothing could call the fake`,
      );
    const restore = this.#fakes.set(records, run, options.times);
    if (absent.length === 0) return restore;
    const node = this.#addFakeNode(absent);
    return restoring(() => {
      restore();
      this.#holders.remove(node);
      this.#local.remove(node);
    });
  }

  fail(service: string, failure: Failure, options: FailOptions = {}): Restore {
    this.#assertOpen();
    if (service !== "gateway" && !this.nodes.some(({ name }) => name === service))
      throw new Error(noService("service", service, [this.gateway, ...this.nodes]));
    this.#assertProcedure(options.procedure);
    return restoring(this.#failures.add(service, failure, options));
  }

  calls(filter: string | CallFilter = {}): readonly RecordedCall[] {
    const { fqn, where, from } = typeof filter === "string" ? { fqn: filter } : filter;
    this.#assertProcedure(fqn);
    return this.#recorder.calls.filter(
      (call) =>
        (fqn === undefined || call.fqn === fqn) &&
        (where === undefined || call.where === where) &&
        (from === undefined || call.from === from),
    );
  }

  forget(): void {
    this.#recorder.calls.length = 0;
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    await this.#local.close();
    await this.modules.stop();
    // Calls that were refused meanwhile didn't wait for types. Who stops a cluster may remove its folder.
    await this.#options.application.types.settled();
    for (const release of this.#releases) release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #assertOpen(): void {
    if (this.#stopped) throw new Error("This cluster was stopped: create another one to go on");
  }

  #assertProcedure(fqn: string | undefined): void {
    const { procedures } = this.#options.application.manifests.server;
    if (fqn !== undefined && !procedures.some((record) => record.fqn === fqn))
      throw new Error(unknownProcedure(fqn, procedures));
  }

  #node(surroundings: ServiceSurroundings, name: string, segments: readonly string[]): ClusterNode {
    let modules: ServerModules;
    return new ClusterNode(
      surroundings,
      (prepare) => {
        const service = this.#local.addNode(name, (host, common) => {
          modules = this.modules.ofNode(name, segments);
          return prepare(createNode(host, { ...common, modules, segments }));
        });
        this.#holders.add(service, segments);
        return service;
      },
      {
        segments,
        modules: () => modules,
        graphs: this.modules,
      },
    );
  }

  #addFakeNode(records: readonly ProcedureRecord[]): ReturnType<LocalDeployment["addNode"]> {
    const modules = this.modules.ofFakes(records);
    const segments = Object.keys(this.#options.application.manifests.server.segments);
    const node = this.#local.addNode(`fakes-${++this.#fakeNodes}`, (host, common) =>
      createNode(host, { ...common, name: "fakes", modules, segments }),
    );
    const keys = records.map(({ fqn, version }) => procedureKey(fqn, version));
    this.#holders.add(node, segments, new Set(keys));
    this.#joining = this.#joining.then(async () => {
      await this.#recorder.as(node.name, async () => await node.start());
    });
    // The next request reports the failure.
    this.#joining.catch(() => {});
    return node;
  }

  async #caller(name: "test" | "page", segments: readonly string[]): Promise<TestPage> {
    return await createCaller({
      name,
      segments,
      host: this.#host(name),
      peer: this.#outside(name),
      local: this.#local,
      graph: name === "page" ? this.modules.ofPage(segments) : this.modules.ofTest(),
      modules: this.modules,
      recorder: this.#recorder,
      assertOpen: () => this.#assertOpen(),
    });
  }

  #host(name: string): Host {
    const { clock, log } = this;
    const host = nodeHost({
      names: this.#local.network.names,
      links: this.#links(name),
      clock: {
        now: () => clock.now(),
        after: (ms, run) => clock.after(ms, () => this.#recorder.as(name, run)),
      },
      log: {
        info: (line) => log.info(`${name}: ${line}`),
        warn: (line) => log.warn(`${name}: ${line}`),
        error: (line, cause) => log.error(`${name}: ${line}`, cause),
      },
    });
    const { types } = this.#options.application;
    const waiting: ApplicationTypes = {
      of: (id) => types.of(id),
      // Reading them takes no time of the stopped clock.
      ready(id) {
        const reading = types.ready(id);
        return reading && clock.track(reading);
      },
    };
    return { ...host, openTypes: async () => waiting };
  }

  /** The way of requests that don't go over links: the page's, the test's own, and those of the gateway's modules. */
  #outside(name: string): Peer {
    const send = this.#sending(name, this.#local.network.send, ({ url }) => new URL(url).origin);
    return {
      send: async (request) => await this.#recorder.as(name, async () => await send(request)),
    };
  }

  /**
   * For services: over a link, the caller's name doesn't arrive by itself, as it does with a request in
   * memory.
   */
  #links(name: string): Host["links"] {
    return {
      ...memoryLinks(this.#local.network, { own: this.#local.urlOf(name) }),
      around: (handle) => (request) => this.#recorder.received(request, handle),
      sending: (send, to) => {
        const sent = this.#sending(name, send, to);
        return (request) => sent(this.#recorder.sent(request, name));
      },
    };
  }

  #sending(
    name: string,
    send: Peer["send"],
    to: (request: OutgoingRequest) => string,
  ): Peer["send"] {
    const failing = this.#failures.wrap(send, name, to);
    // The gateway and the nodes of fakes can't wait: joining needs their own requests.
    const waits = name !== "gateway" && !name.startsWith("fakes");
    return async (request) => {
      if (waits) await this.#joining;
      request.signal?.throwIfAborted();
      return await failing(request);
    };
  }

  /** Advances the clock, which otherwise stands still. */
  async #passUntil(done: Promise<void>): Promise<void> {
    const state = { done: false };
    const ended = done.finally(() => (state.done = true));
    for (await this.clock.settle(); !state.done;) await this.clock.pass(stepMs);
    await ended;
  }

  #isHeld(record: ProcedureRecord): boolean {
    const segments = new Set(this.#holders.segmentsOf(record).map(({ segment }) => segment));
    return this.nodes.some((node) => node.segments.some((segment) => segments.has(segment)));
  }
}

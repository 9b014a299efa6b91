// createTestCluster: an application of the user's as a gateway, nodes and a page, in the memory of one test.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { ProceduresOf } from "../../src/fake.ts";
import { definedOf } from "../defined.ts";
import type { ProcedureRecord } from "../../src/manifest.ts";
import { nearest } from "../../src/problem.ts";
import { type FakeProcedure, unknownProcedure } from "../../src/roles/fake-modules.ts";
import { createMemoryNetwork } from "../../src/roles/memory-network.ts";
import { defaultLimits, type Limits } from "../../src/serializer/limits.ts";
import { readConfig } from "../config.ts";
import { realPath } from "../sources.ts";
import { openApplication, type OwnImporter, type TestApplication } from "./application.ts";
import { type Placed, placementOf } from "./placed.ts";
import type { CallFilter, TestCluster, TestClusterOptions } from "./test-cluster.ts";
import { type CallRecorder, createCallRecorder, type RecordedCall } from "./calls.ts";
import { createFailingNetwork, type FailOptions, type Failure } from "./failures.ts";
import {
  createFakeRegistry,
  type FakeOptions,
  type FakeRegistry,
  type Restore,
  restoring,
} from "./fakes.ts";
import {
  createCaller,
  createFakeNode,
  createGatewayService,
  createNodeService,
} from "./compose.ts";
import {
  type Node,
  placeAt,
  type Surroundings,
  type TestCaller,
  type TestNode,
  type TestService,
} from "./places.ts";
import { testImporter } from "./test-importer.ts";
import { TestClock } from "./test-clock.ts";
import { TestLog } from "./test-log.ts";

const trustKey = "the key of a test cluster";

/** Starts an application in memory: every call goes as it would over a network, and nothing listens anywhere. */
export async function createTestCluster<Procedures = ProceduresOf>(
  options: TestClusterOptions<NoInfer<Procedures>> = {},
): Promise<TestCluster<Procedures>> {
  const root = realPath(options.root ?? ".");
  const { source, clients, viteConfig } = options;
  const application = await openApplication({ root, source, clients, viteConfig });
  const placed = placementOf(application, options.nodes, options.page ?? []);
  const clock = options.clock ?? new TestClock();
  const log = options.log ?? new TestLog();
  const config =
    options.config === undefined
      ? undefined
      : await readConfig(completed(options.config), { root });
  const limits = { ...defaultLimits, ...definedOf(config?.limits ?? {}) };
  const cluster = new Cluster({
    application,
    clock,
    log,
    limits,
    ...placed,
    own: options.importer ?? (await testImporter(root)),
  });
  for (const [fqn, fake] of Object.entries(options.fakes ?? {}))
    cluster.fake(fqn, fake as FakeProcedure);
  try {
    await cluster.start();
    if (config !== undefined) await cluster.configure(config, root);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

/** What a service of its own would need, and a cluster doesn't. */
function completed(config: string | object): string | object {
  return typeof config === "string"
    ? config
    : { mode: "standalone", url: "http://127.0.0.1:0", ...config };
}

interface ClusterParts extends Placed {
  readonly application: TestApplication;
  readonly clock: TestClock;
  readonly log: TestLog;
  readonly limits: Limits;
  readonly own: OwnImporter | undefined;
}

class Cluster {
  readonly clock: TestClock;
  readonly log: TestLog;
  readonly gateway: TestService;
  readonly nodes: readonly Node[];
  page: TestCaller = undefined as never;
  readonly #parts: ClusterParts;
  readonly #release: () => void;
  readonly #recorder: CallRecorder;
  readonly #fakes: FakeRegistry;
  readonly #surroundings: Surroundings;
  readonly #composing: Parameters<typeof createNodeService>[0];
  #test: TestCaller = undefined as never;
  /** What has to be over before a request is sent: a fake takes its place among the nodes. */
  #settling: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: ClusterParts) {
    const { application, clock, log } = parts;
    this.#parts = parts;
    this.#release = application.use();
    this.clock = clock;
    this.log = log;
    this.#recorder = createCallRecorder(clock);
    this.#fakes = createFakeRegistry(application.manifests.server.procedures);
    const network = createFailingNetwork(createMemoryNetwork(), {
      clock,
      nameOf: placeAt,
      ready: (from) =>
        from.startsWith("fakes") || from === "gateway" ? Promise.resolve() : this.#settling,
    });
    this.#surroundings = {
      network,
      clock,
      log,
      recorder: this.#recorder,
      sources: application.read.modules,
      alive: () => this.#alive(),
      until: async (done) => await this.#until(done),
    };
    this.#composing = {
      application,
      surroundings: this.#surroundings,
      fakes: this.#fakes,
      limits: parts.limits,
      trustKey,
      own: parts.own,
    };
    this.gateway = createGatewayService(this.#composing);
    this.nodes = Object.entries(parts.nodes).map(([name, segments]) =>
      createNodeService(this.#composing, name, segments),
    );
  }

  async start(): Promise<void> {
    await this.gateway.start();
    this.#test = await createCaller(this.#composing, { name: "test", segments: [], trusted: true });
    this.page = await createCaller(this.#composing, {
      name: "page",
      segments: this.#parts.page,
      trusted: false,
    });
    await Promise.all(this.nodes.map(async (node) => await node.start()));
    await this.#settling;
  }

  /** Middleware and health checks of a configuration, which are the gateway's. */
  async configure(config: Awaited<ReturnType<typeof readConfig>>, root: string): Promise<void> {
    const { configuredModules } = await import("../configured-modules.ts");
    const modules = this.#parts.application.modules("server");
    const require = createRequire(join(root, "package.json"));
    const moduleImporter = async (specifier: string) =>
      specifier.startsWith("file:")
        ? await modules.import(specifier)
        : ((await import(pathToFileURL(require.resolve(specifier)).href)) as Record<
            string,
            unknown
          >);
    const { middleware, healthChecks } = await configuredModules(config, {
      root,
      modules,
      moduleImporter,
    });
    for (const one of middleware) this.gateway.addMiddleware(one);
    for (const [name, check] of healthChecks) this.gateway.addHealthCheck(name, check);
  }

  readonly import = (async (path: string): Promise<unknown> => {
    this.#alive();
    return await this.#test.import(path);
  }) as TestCaller["import"];

  readonly runProcedure: TestCaller["runProcedure"] = async (...call) => {
    this.#alive();
    return (await this.#test.runProcedure(...call)) as never;
  };

  node(name: string): TestNode {
    this.#alive();
    const found = this.nodes.find((one) => one.name === name);
    if (found === undefined) throw new Error(this.#noPlace("node", name, this.nodes));
    return found;
  }

  async fetch(path: string, init?: RequestInit): Promise<Response> {
    return await this.gateway.fetch(path, init);
  }

  fake(fqn: string, run: FakeProcedure, options: FakeOptions = {}): Restore {
    this.#alive();
    const records = this.#fakes.records(fqn, options.version);
    const absent = records.filter((record) => !this.#isHeld(record));
    const [hidden] = absent.filter((record) =>
      this.#segmentsOf(record).every(({ access }) => access === "private"),
    );
    if (hidden !== undefined)
      throw new Error(
        `'${fqn}' is private in '${this.#segmentsOf(hidden)[0]?.segment}', which no node of this cluster holds: nothing could call the fake`,
      );
    const restore = this.#fakes.set(records, run, options.times);
    if (absent.length === 0) return restore;
    const node = createFakeNode(this.#composing, absent);
    this.#settling = this.#settling.then(async () => await node.start());
    // Whoever sends next is told.
    this.#settling.catch(() => {});
    return restoring(() => {
      restore();
      node.kill();
    });
  }

  fail(place: string, failure: Failure, options: FailOptions = {}): Restore {
    this.#alive();
    if (place !== "gateway" && !this.nodes.some((one) => one.name === place))
      throw new Error(this.#noPlace("place", place, [this.gateway, ...this.nodes]));
    const { procedures } = this.#parts.application.manifests.server;
    const { procedure } = options;
    if (procedure !== undefined && !procedures.some((one) => one.fqn === procedure))
      throw new Error(unknownProcedure(procedure, procedures));
    return this.#surroundings.network.fail(place, failure, options);
  }

  calls(filter: string | CallFilter = {}): readonly RecordedCall[] {
    const { fqn, where, from } = typeof filter === "string" ? { fqn: filter } : filter;
    const { procedures } = this.#parts.application.manifests.server;
    if (fqn !== undefined && !procedures.some((one) => one.fqn === fqn))
      throw new Error(unknownProcedure(fqn, procedures));
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
    for (const node of this.nodes) node.kill();
    (this.gateway as Node).kill();
    await this.#surroundings.network.close();
    this.#release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #alive(): void {
    if (this.#stopped)
      throw new Error(
        "This cluster was stopped, and nothing can be asked of it any more: make another one",
      );
  }

  /** Lets the clock go on, where it stands by itself. */
  async #until(done: Promise<void>): Promise<void> {
    const state = { done: false };
    const ended = done.finally(() => (state.done = true));
    for (await this.clock.settle(); !state.done;) await this.clock.pass(100);
    await ended;
  }

  #isHeld(record: ProcedureRecord): boolean {
    const segments = new Set(this.#segmentsOf(record).map((one) => one.segment));
    return this.nodes.some((node) => node.segments.some((segment) => segments.has(segment)));
  }

  #segmentsOf(
    record: ProcedureRecord,
  ): readonly { readonly segment: string; readonly access: string }[] {
    const { procedures, segments } = this.#parts.application.manifests.server;
    const index = procedures.indexOf(record);
    return Object.entries(segments).flatMap(([segment, entries]) =>
      entries
        .filter((entry) => entry.procedure === index)
        .map(({ access }) => ({ segment, access })),
    );
  }

  #noPlace(what: string, name: string, places: readonly { readonly name: string }[]): string {
    const names = places.map((one) => one.name);
    const meant = nearest(name, names);
    return `This cluster has no ${what} '${name}'; ${meant === undefined ? `there is ${names.join(", ") || "none"}` : `did you mean '${meant}'?`}`;
  }
}

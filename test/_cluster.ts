// Several roles in memory: no sockets, no files, a clock that moves when told to. Modules are given
// as namespaces, as a build would make them.

import type { ClassRecord, Parameter, ServerManifest, SegmentEntry } from "../src/base/manifest.ts";
import type {
  AbortNotice,
  EventLoop,
  Host,
  HttpRequest,
  ModuleNamespace,
  OutgoingRequest,
  PeerResponse,
  Telemetry,
} from "../src/base/ports.ts";
import type { ServerModules } from "../src/roles/application/application.ts";
import { createGateway } from "../src/roles/gateway.ts";
import {
  ask as askRole,
  createMemoryNetwork,
  type MemoryNetwork,
  type TextResponse,
} from "../src/roles/memory-network.ts";
import { createNode, type NodeOptions, type NodeRole } from "../src/roles/node.ts";
import { createProxy } from "../src/roles/proxy.ts";
import type { RepositoryFiles } from "../src/roles/repository.ts";
import type { Role } from "../src/roles/pipeline/role.ts";
import { createStandalone } from "../src/roles/standalone.ts";
import type { Limits } from "../src/base/limits.ts";
import type { ProcedureFunction } from "../src/runtime/procedure-function.ts";
import { createGraph, type Graph } from "../src/runtime/seam.ts";
import { createCarrier } from "../server/host/carrier.ts";
import { deriveKey, digest, openTypes, prompt, sign, unbounded } from "../server/http/host.ts";
import { LocalDeployment } from "../server/local/deployment.ts";
import { memoryLinks } from "../server/local/memory-links.ts";
import { TestClock } from "../server/testing/test-clock.ts";
import { TestLog } from "../server/testing/test-log.ts";

import { linkTap } from "./_link-tap.ts";

export { settle, TestClock } from "../server/testing/test-clock.ts";
export { TestLog } from "../server/testing/test-log.ts";

/** A network in memory that keeps every request, for assertions on headers. */
export class TestNetwork implements MemoryNetwork {
  readonly #network = createMemoryNetwork();
  readonly roles: Map<string, Role> = this.#network.roles;
  readonly #links: { readonly ends: readonly string[]; readonly cut: () => void }[] = [];
  readonly names: MemoryNetwork["names"] = this.#network.names;
  readonly sent: {
    url: string;
    method: string;
    headers: Readonly<Record<string, string>>;
    body: string;
  }[] = [];

  constructor() {
    // A role that is taken from the network loses its links, too.
    const { roles } = this;
    const cutLinks = (url: string): void => {
      for (const { ends, cut } of this.#links) if (ends.includes(url)) cut();
    };
    const { delete: remove } = Map.prototype as Map<string, Role>;
    roles.delete = (url) => {
      cutLinks(url);
      return remove.call(roles, url);
    };
  }

  /** For the service at an address. */
  links({ url }: { readonly url: string; readonly trustKey: string }): Host["links"] {
    const links = memoryLinks(this, {
      own: url,
      tap: linkTap(url, (request) => this.sent.push(request)),
      onDial: (ends, cut) => this.#links.push({ ends, cut }),
    });
    // A test may put something else in a service's place.
    const around = (handle: Role["handle"]): Role["handle"] => {
      return (request) => (this.roles.get(url)?.handle ?? handle)(request);
    };
    return { ...links, around };
  }

  async send(request: OutgoingRequest): Promise<PeerResponse> {
    const { url, method, headers, body: content = "" } = request;
    const body = content instanceof Blob ? await content.text() : content;
    this.sent.push({
      url,
      method,
      headers,
      body:
        typeof body === "string"
          ? body
          : body instanceof Uint8Array
            ? new TextDecoder().decode(body)
            : "(a stream)",
    });
    return await this.#network.send(request);
  }

  async close(): Promise<void> {
    await this.#network.close();
  }
}

export function testHost(
  network: TestNetwork,
  clock: TestClock = new TestClock(),
  log: TestLog = new TestLog(),
  own?: { readonly url: string; readonly trustKey: string },
  loop: EventLoop = prompt,
): Host {
  return {
    links: own === undefined ? memoryLinks(network) : network.links(own),
    names: network.names,
    memory: unbounded,
    clock,
    loop,
    carrier: createCarrier(),
    log,
    equalSecrets: (a, b) => a === b,
    sign,
    deriveKey,
    digest,
    openTypes,
  };
}

export const key = "the-trust-key-of-the-tests";

/**
 * Says in the fields of a test's request whose it is, as the kind of a link's frame does. No field of HTTP can
 * have such a name.
 */
export const fromField = ":from";

/** Sends one request to a role, from outside unless its fields say another. */
export async function ask(
  role: Pick<Role, "handle">,
  method: string,
  target: string,
  headers: HttpRequest["headers"] = {},
  ...more: [body?: OutgoingRequest["body"], signal?: AbortNotice]
): Promise<TextResponse> {
  const { [fromField]: from, ...fields } = headers;
  const handle: Role["handle"] = (request) => role.handle(Object.assign(request, { from }));
  return await askRole(from === undefined ? role : { handle }, method, target, fields, ...more);
}

type Options<Create extends (host: Host, options: never) => unknown> = Partial<
  Parameters<Create>[1]
>;

/**
 * A deployment in memory. `gateway`, `node`, `proxy` and `standalone` start one each, at
 * `http://<its name>`.
 */
export class TestDeployment extends LocalDeployment {
  declare readonly network: TestNetwork;
  readonly clock: TestClock;
  readonly log: TestLog;

  constructor({
    trustKey = key,
    limits,
    loop,
    clock = new TestClock(),
    log = new TestLog(),
    telemetry,
  }: {
    trustKey?: string;
    limits?: Limits;
    loop?: EventLoop;
    clock?: TestClock;
    log?: TestLog;
    telemetry?: (name: string) => Telemetry;
  } = {}) {
    const network = new TestNetwork();
    const host = (name: string): Host => ({
      ...testHost(network, clock, log, { url: this.urlOf(name), trustKey }, loop),
      telemetry: telemetry?.(name),
    });
    super({ trustKey, network, host, ...(limits && { limits }) });
    this.clock = clock;
    this.log = log;
  }

  async gateway(options: Options<typeof createGateway> = {}): Promise<Role> {
    return await this.addGateway((host, common) =>
      createGateway(host, { ...common, gatheringMs: 0, ...options }),
    ).start();
  }

  async node(
    name: string,
    options: Options<typeof createNode> & Pick<NodeOptions, "modules" | "segments">,
  ): Promise<NodeRole> {
    return await this.addNode(name, (host, common) =>
      createNode(host, { ...common, ...options }),
    ).start();
  }

  async proxy(options: Options<typeof createProxy> = {}): Promise<Role> {
    const to = { calls: this.urlOf("gateway"), repository: this.urlOf("repository") };
    return await this.add("proxy", (host, common) =>
      createProxy(host, { ...common, ...to, ...options }),
    ).start();
  }

  async standalone(
    options: Options<typeof createStandalone> & { readonly modules: ServerModules },
  ): Promise<Role> {
    const defaults = { files: noFiles, segments: undefined, name: undefined };
    return await this.add("standalone", (host, common) =>
      createStandalone(host, { ...common, ...defaults, ...options }),
    ).start();
  }
}

const noFiles: RepositoryFiles = {
  publicFile: async () => undefined,
  component: async () => undefined,
  serverFile: async () => undefined,
};

/** One procedure of a test application. */
export interface TestProcedure {
  readonly fqn: string;
  readonly version?: string;
  readonly parameters?: readonly Parameter[];
  readonly stream?: true;
  /** Segment → access. */
  readonly in: Readonly<Record<string, SegmentEntry["access"] | Omit<SegmentEntry, "procedure">>>;
  /** A body's exports; gets the graph for calls through seams. */
  readonly body: (graph: Graph) => ProcedureFunction;
}

/** The modules of a test application, a graph of their own for each node. */
export function testModules(
  procedures: readonly TestProcedure[],
  classes: readonly { record: ClassRecord; constructor: unknown }[] = [],
  browserSegments: readonly string[] = [],
  hasTypes = false,
): ServerModules & { graph: Graph } {
  const graph = createGraph();
  const segments: Record<string, SegmentEntry[]> = {};
  procedures.forEach((procedure, index) => {
    for (const [segment, entry] of Object.entries(procedure.in)) {
      (segments[segment] ??= []).push({
        procedure: index,
        ...(!hasTypes && { validate: false as const }),
        ...(typeof entry === "string" ? { access: entry } : entry),
      });
    }
  });
  const manifest: ServerManifest = {
    format: 1,
    revision: "test",
    sources: "test",
    pages: {},
    outside: {},
    graph: "_seam.js",
    browserSegments,
    procedures: procedures.map(({ fqn, version = "0.0.0", parameters = [], stream }, index) => ({
      ...(stream && { stream }),
      fqn,
      version,
      module: `m${index}`,
      export: "run",
      parameters,
    })),
    segments,
    classes: classes.map(({ record }) => record),
    modules: Object.fromEntries([
      ...procedures.map((_, index) => [
        `m${index}`,
        { file: `m${index}.js`, body: `m${index}~body.js` },
      ]),
      ...classes.map(({ record }) => [record.module, { file: `${record.module}.js` }]),
    ]),
    files: {},
    imports: Object.fromEntries(
      procedures.map((_, index) => [`m${index}`, classes.map(({ record }) => record.module)]),
    ),
  };
  const namespaces = new Map<string, ModuleNamespace>([["_seam.js", { ...graph }]]);
  procedures.forEach((procedure, index) =>
    namespaces.set(`m${index}~body.js`, { run: procedure.body(graph) }),
  );
  for (const { record, constructor } of classes)
    namespaces.set(`${record.module}.js`, {
      ...namespaces.get(`${record.module}.js`),
      [record.export]: constructor,
    });
  return {
    graph,
    manifest: async () => manifest,
    import: async (file) => {
      const found = namespaces.get(file);
      if (found === undefined) throw new Error(`no module ${file}`);
      return found;
    },
  };
}

// Several roles in memory: no sockets, no files, a clock that moves when told to. Modules are given as namespaces, as a build would make them.

import type { ClassRecord, Parameter, ServerManifest, SegmentEntry } from "../src/manifest.ts";
import type { Host, IncomingResponse, ModuleNamespace, OutgoingRequest } from "../src/ports.ts";
import type { ServerModules } from "../src/roles/load-node.ts";
import { createMemoryNetwork, type MemoryNetwork } from "../src/roles/memory-network.ts";
import type { Role } from "../src/roles/role.ts";
import { createGraph, type Graph, type Procedure } from "../src/seam.ts";
import { createCarrier, sign, unbounded } from "../server/host.ts";
import { TestClock } from "../server/testing/test-clock.ts";
import { TestLog } from "../server/testing/test-log.ts";

export { ask } from "../src/roles/memory-network.ts";

export { settle, TestClock } from "../server/testing/test-clock.ts";
export { TestLog } from "../server/testing/test-log.ts";

/** A network in memory that keeps every request, for assertions on headers. */
export class TestNetwork implements MemoryNetwork {
  readonly #network = createMemoryNetwork();
  readonly roles: Map<string, Role> = this.#network.roles;
  readonly names: MemoryNetwork["names"] = this.#network.names;
  readonly sent: {
    url: string;
    method: string;
    headers: Readonly<Record<string, string>>;
    body: string;
  }[] = [];

  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    const { url, method, headers, body = "" } = request;
    this.sent.push({
      url,
      method,
      headers,
      body: typeof body === "string" ? body : new TextDecoder().decode(body),
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
): Host {
  return {
    transport: network,
    names: network.names,
    memory: unbounded,
    clock,
    carrier: createCarrier(),
    log,
    equalSecrets: (one, other) => one === other,
    sign,
  };
}

/** One procedure of a test application. */
export interface TestProcedure {
  readonly fqn: string;
  readonly version?: string;
  readonly parameters?: readonly Parameter[];
  /** Segment → access. */
  readonly in: Readonly<Record<string, SegmentEntry["access"] | Omit<SegmentEntry, "procedure">>>;
  /** What a body would export; gets the graph for calls through seams. */
  readonly body: (graph: Graph) => Procedure;
}

/** The modules of a test application, a graph of their own for each node. */
export function testModules(
  procedures: readonly TestProcedure[],
  classes: readonly { record: ClassRecord; constructor: unknown }[] = [],
  clients: readonly string[] = [],
): ServerModules & { graph: Graph } {
  const graph = createGraph();
  const segments: Record<string, SegmentEntry[]> = {};
  procedures.forEach((procedure, index) => {
    for (const [segment, entry] of Object.entries(procedure.in)) {
      (segments[segment] ??= []).push({
        procedure: index,
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
    clients,
    procedures: procedures.map(({ fqn, version = "0.0.0", parameters = [] }, index) => ({
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

// The nodes of a development session and their gateway, in this process and in memory. Real roles, as `start` runs them: what is written
// here is only which of them there are, and in which order they go by a change.

import { procedureKey } from "../../src/fqn.ts";
import type { ServerManifest } from "../../src/manifest.ts";
import type { Host, HttpRequest, HttpResponse, Log } from "../../src/ports.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createMemoryNetwork } from "../../src/roles/memory-network.ts";
import type { Followed } from "../../src/roles/node.ts";
import type { Role } from "../../src/roles/role.ts";
import type { Limits } from "../../src/serializer/limits.ts";
import { ClusterNode } from "./cluster-node.ts";
import { type Layout, nodesIn } from "./layout.ts";
import type { NodeModules } from "./runner.ts";
import type { DevEvent, DevNode } from "./session.ts";

export interface ClusterOptions {
  readonly log: Log;
  readonly limits: Limits;
  readonly trustKey: string;
  readonly host: (parts: Pick<Host, "transport" | "names" | "log">) => Host;
  readonly manifest: () => ServerManifest;
  /** A copy of the application's modules, for one more node. */
  readonly modules: () => NodeModules;
  /** Names of nodes and what each holds; left out, a node for each segment that servers run. */
  readonly layout: Layout | undefined;
  readonly tell: (event: DevEvent) => void;
  /** The gateway, made ready: its layers, its checks, its console. */
  readonly gateway: (host: Host, create: typeof createGateway) => Promise<Role>;
}

/** What a change did to one node. */
export interface NodeChange {
  readonly node: string;
  /** Ids of the modules that it has anew. */
  readonly outdated: ReadonlySet<string>;
}

const gatewayAddress = "http://gateway.memory";

export class Cluster {
  readonly #options: ClusterOptions;
  readonly #network = createMemoryNetwork();
  readonly #nodes = new Map<string, ClusterNode>();
  #gateway: Role | undefined;
  #made = 0;

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  /** Starts gateway and nodes. Resolves when all nodes that can be are ready: one that fails says why, and waits for a change. */
  async start(): Promise<void> {
    await this.replaceGateway();
    await this.#sameNodes();
  }

  /** Takes another gateway for the present one, to which all nodes belong before the first call comes to it. */
  async replaceGateway(): Promise<void> {
    const { log, gateway } = this.#options;
    const next = await gateway(
      this.#options.host({ transport: this.#network, names: this.#network.names, log: quiet(log) }),
      createGateway,
    );
    await next.start(gatewayAddress);
    const former = this.#gateway;
    // Members come to the new one, and calls go to the one that has members.
    const between: Pick<Role, "handle"> = {
      handle: async (request) =>
        await (request.target.startsWith("/nodes") ? next : (former ?? next)).handle(request),
    };
    this.#network.roles.set(gatewayAddress, between as Role);
    await Promise.all([...this.#nodes.values()].map((node) => node.join()));
    this.#network.roles.set(gatewayAddress, next);
    this.#gateway = next;
    await former?.stop();
  }

  /** Answers what comes from outside. */
  async handle(request: HttpRequest): Promise<HttpResponse> {
    if (this.#gateway === undefined) return { status: 503, headers: { "retry-after": "1" } };
    return await this.#gateway.handle(request);
  }

  nodes(): readonly DevNode[] {
    return [...this.#nodes.values()].map((node) => node.describe());
  }

  /** Names of the nodes that hold a procedure now. */
  holders(fqn: string, version: string): readonly string[] {
    const key = procedureKey(fqn, version);
    return [...this.#nodes.values()].filter((node) => node.holds(key)).map((node) => node.name);
  }

  /** One of these nodes. */
  holder(fqn: string, version: string): ClusterNode | undefined {
    return this.#nodes.get(this.holders(fqn, version)[0] ?? "");
  }

  node(name: string): ClusterNode {
    const found = this.#nodes.get(name);
    if (found === undefined)
      throw new Error(
        `There is no node '${name}'; there is ${[...this.#nodes.keys()].join(", ") || "none"}`,
      );
    return found;
  }

  /**
   * Goes by the manifest that there is now, and by modules that are others than before. What came is loaded first and known to the gateway,
   * then `settled` is awaited, then what left is let go of: no call finds a procedure nowhere. Where nothing can have left, there is no
   * `settled`. Rejects when a body can't be loaded; it goes on as it was, and is tried again with the next change.
   */
  async follow(
    changed: ReadonlySet<string>,
    settled?: () => Promise<void>,
  ): Promise<readonly NodeChange[]> {
    const changes: NodeChange[] = [];
    const followed: Followed[] = [];
    const failures: unknown[] = [];
    const kept = this.#placing();
    const old = [...this.#nodes.values()].filter((node) => kept.has(node.name));
    await Promise.all([
      this.#sameNodes(),
      ...old.map(async (node) => {
        try {
          const { outdated, done } = await node.follow(kept.get(node.name) ?? [], changed);
          if (outdated.size > 0) changes.push({ node: node.name, outdated });
          if (done !== undefined) followed.push(done);
        } catch (error) {
          failures.push(error);
        }
      }),
    ]);
    const gone = [...this.#nodes.values()].filter((node) => !kept.has(node.name));
    if (settled !== undefined || gone.length > 0) {
      await settled?.();
      await Promise.all([
        ...followed.map((one) => one.leave()),
        ...gone.map((node) => node.leave()),
      ]);
      // Calls that the gateway sent before have found their procedure when their turn has come.
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const one of followed) one.drop();
    for (const node of gone) await this.#remove(node);
    if (failures.length > 0) throw failures[0];
    const order = [...this.#nodes.keys()];
    return changes.toSorted((one, other) => order.indexOf(one.node) - order.indexOf(other.node));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#nodes.values()].map((node) => node.close()));
    await this.#gateway?.stop();
    await this.#network.close();
  }

  /** Starts the nodes that are missing. */
  async #sameNodes(): Promise<void> {
    const { log, limits, trustKey, host, manifest, modules, tell } = this.#options;
    const starting: Promise<void>[] = [];
    for (const [name, segments] of this.#placing()) {
      if (this.#nodes.has(name)) continue;
      const node = new ClusterNode({
        name,
        segments,
        url: `http://node-${++this.#made}.memory`,
        gateway: gatewayAddress,
        network: this.#network,
        log,
        limits,
        trustKey,
        host,
        manifest,
        modules,
        tell,
      });
      this.#nodes.set(name, node);
      starting.push(node.start());
    }
    await Promise.all(starting);
  }

  async #remove(node: ClusterNode): Promise<void> {
    this.#nodes.delete(node.name);
    await node.close();
    this.#options.tell({
      kind: "node",
      node: node.name,
      state: "stopped",
      why: "no segment is left for it",
    });
  }

  /** Which nodes there should be. */
  #placing(): ReadonlyMap<string, readonly string[]> {
    const { clients, segments } = this.#options.manifest();
    return new Map(Object.entries(nodesIn(this.#options.layout, Object.keys(segments), clients)));
  }
}

/** What a gateway says of who joined and left is told by the nodes themselves here. */
function quiet(log: Log): Log {
  return { ...log, info: () => {} };
}

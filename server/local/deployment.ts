// A deployment in one process: real roles on a network without sockets. `seamline dev` and the test
// kit run on it.

import type { Clock, Host } from "../../src/base/ports.ts";
import { createGateway, type GatewayOptions } from "../../src/roles/gateway.ts";
import { createMemoryNetwork, type MemoryNetwork } from "../../src/roles/memory-network.ts";
import type { NodeOptions, NodeRole } from "../../src/roles/node.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultLimits, type Limits } from "../../src/base/limits.ts";
import { nodeClock } from "../host/clock.ts";
import type { TrustKey } from "../../src/http/trust.ts";
import { Service } from "./service.ts";

export interface LocalOptions {
  readonly trustKey: TrustKey;
  readonly limits?: Limits;
  /** The ports of one service. */
  readonly host: (name: string) => Host;
  readonly network?: MemoryNetwork;
  /** Measures how long streams stand still [this process's]. */
  readonly clock?: Clock;
  /** The ending of all addresses [nothing]. */
  readonly domain?: string;
}

/** Options that all roles of a deployment share. */
export type CommonOptions = Pick<NodeOptions, "trustKey" | "limits">;

export class LocalDeployment {
  readonly network: MemoryNetwork;
  readonly common: CommonOptions;
  readonly #options: LocalOptions;
  readonly #services = new Map<string, Service>();
  #gateway: Service | undefined;
  #nodes = new Set<Service<NodeRole>>();
  #members = 0;

  constructor(options: LocalOptions) {
    this.#options = options;
    const { trustKey, limits = defaultLimits, clock = nodeClock } = options;
    this.network = options.network ?? createMemoryNetwork({ clock, ms: limits.idleTimeoutMs });
    this.common = { trustKey, limits };
  }

  urlOf(name: string): string {
    // A segment's name may have letters that hosts can't have, or don't tell apart: `valueOf` and
    // `valueof` are two.
    const host = name.replace(
      /[^a-z0-9-]/gu,
      (letter) => `_${letter.codePointAt(0)?.toString(16)}_`,
    );
    return `http://${host}${this.#options.domain ?? ""}`;
  }

  /** The service at an address. */
  at(origin: string): Service | undefined {
    return this.#services.get(origin);
  }

  /** A service of any role; it is not started. */
  add<R extends Role>(
    name: string,
    compose: (host: Host, common: CommonOptions) => R | Promise<R>,
  ): Service<R> {
    const service = new Service({
      name,
      url: this.urlOf(name),
      network: this.network,
      host: () => this.#options.host(name),
      compose: (host) => compose(host, this.common),
    });
    this.#services.set(service.url, service);
    return service;
  }

  /** The gateway, where nodes join. */
  addGateway(
    compose: (host: Host, options: GatewayOptions) => Role | Promise<Role> = createGateway,
  ): Service {
    this.#gateway = this.add("gateway", (host, common) =>
      compose(host, {
        ...common,
        newId: () => `m${++this.#members}`,
      }),
    );
    return this.#gateway;
  }

  addNode(
    name: string,
    compose: (
      host: Host,
      options: Pick<NodeOptions, "trustKey" | "limits" | "gateway" | "name">,
    ) => NodeRole,
  ): Service<NodeRole> {
    const node = this.add(name, (host, common) =>
      compose(host, { ...common, gateway: this.urlOf("gateway"), name }),
    );
    this.#nodes.add(node);
    return node;
  }

  /** Ends a service for good. */
  remove(service: Service): void {
    service.kill();
    this.#services.delete(service.url);
    this.#nodes.delete(service as Service<NodeRole>);
  }

  /** Swaps in a new gateway once every node has joined it, so no call is lost. */
  async replaceGateway(): Promise<void> {
    await this.#gateway?.replace(
      async () =>
        await Promise.all([...this.#nodes].map(async (node) => await node.readyRole?.rejoin())),
    );
  }

  async close(): Promise<void> {
    for (const service of this.#services.values()) service.kill();
    await this.network.close();
  }
}

// A deployment in memory with several gateways, each of which can be killed, stopped and started.

import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy, type ProxyOptions } from "../../src/roles/proxy.ts";
import type { NodeOptions, NodeRole } from "../../src/roles/node.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import type { Service } from "../../server/local/service.ts";
import { ask, settle, TestDeployment, testModules } from "../_cluster.ts";

/** How often each procedure has run, on all nodes. */
export type Runs = Record<"where" | "once" | "twice" | "waits", number>;

/** `gateways` are their names; they aren't started yet. */
export function several(gateways: readonly string[] = ["g1", "g2"]) {
  const local = new TestDeployment();
  const { network, clock, log } = local;
  const urls = gateways.map((name) => local.urlOf(name));
  const runs: Runs = { where: 0, once: 0, twice: 0, waits: 0 };
  /** Lets what waits go on. */
  const held: (() => void)[] = [];
  const modules = () =>
    testModules([
      { fqn: "where", in: { a: "public" }, body: () => async () => void runs.where++ },
      {
        fqn: "once",
        in: { a: "public" },
        body: () => async () => {
          if (++runs.once === 1) await new Promise<void>((resolve) => held.push(resolve));
          return "once";
        },
      },
      {
        fqn: "twice",
        in: { a: { access: "public", idempotent: true } },
        body: () => async () => {
          if (++runs.twice === 1) await new Promise<void>((resolve) => held.push(resolve));
          return "twice";
        },
      },
      {
        fqn: "waits",
        in: { a: "public" },
        body: () => async () => {
          runs.waits++;
          await new Promise<void>((resolve) => held.push(resolve));
          return "waited";
        },
      },
    ]);
  let ids = 0;
  const services = new Map<string, Service>();
  for (const name of gateways)
    services.set(
      name,
      local.add(name, (host, common) =>
        createGateway(host, { ...common, newId: () => `${name}-${++ids}` }),
      ),
    );
  const service = (name: string): Service => services.get(name)!;
  const gatewayOf = (name: string): Role => service(name).role!;
  return {
    local,
    network,
    clock,
    log,
    urls,
    runs,
    held,
    gatewayOf,
    start: async (...names: string[]) => {
      for (const name of names) await service(name).start();
    },
    /** As a process that is killed. */
    kill: (name: string) => {
      const { url } = service(name);
      service(name).kill();
      network.roles.delete(url);
    },
    /** Its links are cut, and it lives. */
    cutLinks(name: string) {
      const url = local.urlOf(name);
      const role = network.roles.get(url)!;
      network.roles.delete(url);
      network.roles.set(url, role);
    },
    /** As a process that gets SIGTERM, except that its sockets stay until it has gone. */
    async stop(name: string) {
      const role = gatewayOf(name);
      await role.leave();
      role.refuseCalls();
      // Over HTTP, its sockets would know when the last call has ended.
      await Promise.all([clock.sleep(1_000), role.finishCalls(1_000, new Error("cut"))]);
      await role.stop();
      service(name).kill();
    },
    node: async (name: string, options: Partial<NodeOptions> = {}): Promise<NodeRole> =>
      await local
        .add(name, (host, common) =>
          createNode(host, {
            ...common,
            gateway: urls,
            name,
            modules: modules(),
            segments: ["a"],
            ...options,
          }),
        )
        .start(),
    proxy: async (options: Partial<ProxyOptions> = {}): Promise<Role> =>
      await local
        .add("proxy", (host, common) =>
          createProxy(host, {
            ...common,
            calls: urls,
            repository: "http://repository",
            ...options,
          }),
        )
        .start(),
    members: (name: string) => gatewayOf(name).describe().members,
    /** The gateways that requests for a path have gone to since the last question. */
    asked(path: string): string[] {
      const found = network.sent.flatMap(({ url }) =>
        new URL(url).pathname === path ? [new URL(url).hostname] : [],
      );
      network.sent.length = 0;
      return found;
    },
  };
}

export const json = { "content-type": "application/json" };

/** A call through a proxy or gateway: its status, and its answer. */
export async function call(role: Pick<Role, "handle">, name: string): Promise<string> {
  const { status, text } = await ask(role, "POST", `/rpc/${name}`, json, "{}");
  return `${status} ${text}`;
}

export { settle };

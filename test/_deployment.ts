// proxy → gateway → two nodes, in memory: what most tests of the specification are about.

import { nodeHost } from "../server/host.ts";
import { createGateway } from "../src/roles/gateway.ts";
import { createNode } from "../src/roles/node.ts";
import type { ServerModules } from "../src/roles/load-node.ts";
import { createProxy } from "../src/roles/proxy.ts";
import type { Role } from "../src/roles/role.ts";
import { defaultLimits } from "../src/serializer/limits.ts";
import { createCredentials } from "../src/trust.ts";
import { TestClock, testHost, TestLog, testModules, TestNetwork } from "./_cluster.ts";
import { money, outOfStock, shop } from "./spec/_shop.ts";

export const key = "the-trust-key-of-the-tests";
const credentials = createCredentials(key, nodeHost());
/** What the services of the deployment show: for a call of their own or of somebody trusted, and for a stranger's. */
export const sentBy = {
  service: credentials.fields("service"),
  outside: credentials.fields("outside"),
};
export const urls = {
  gateway: "http://gateway",
  a: "http://a",
  b: "http://b",
  proxy: "http://proxy",
} as const;

export interface Deployment {
  readonly network: TestNetwork;
  readonly clock: TestClock;
  readonly log: TestLog;
  readonly gateway: Role;
  readonly a: Role;
  readonly b: Role;
  readonly proxy: Role;
  /** Another node over the same modules, not started yet. */
  node(segments: readonly string[], name?: string): Role;
}

/**
 * Starts the deployment; `gateway: false` leaves the gateway out of the network until the test puts it there. `modules: true` gives gateway
 * and proxy the application's modules, as a configured repository does; `loads` gets what they load, and "broken" in it fails that; what
 * they load comes when `held` is done.
 */
export async function deploy(
  options: {
    readonly gateway?: false;
    readonly modules?: true;
    readonly loads?: string[];
    readonly held?: Promise<void>;
  } = {},
): Promise<Deployment> {
  const network = new TestNetwork();
  const clock = new TestClock();
  const log = new TestLog();
  const limits = defaultLimits;
  const common = { trustKey: key, limits };
  const modules = options.modules
    ? counted(testModules(shop, [outOfStock, money]), options.loads ?? [], options.held)
    : undefined;
  let ids = 0;
  const host = () => testHost(network, clock, log);
  const gateway = createGateway(host(), {
    ...common,
    monitor: 5000,
    lease: 15_000,
    newId: () => `m${++ids}`,
    modules,
  });
  const node = (segments: readonly string[], name?: string): Role =>
    createNode(host(), {
      ...common,
      gateway: urls.gateway,
      modules: testModules(shop, [outOfStock, money]),
      segments,
      name,
    });
  const a = node(["a"], "node a");
  const b = node(["b"], "node b");
  const proxy = createProxy(host(), {
    ...common,
    calls: urls.gateway,
    repository: "http://repository",
    modules,
  });
  for (const [url, role] of [
    [urls.a, a],
    [urls.b, b],
    [urls.proxy, proxy],
  ] as const)
    network.roles.set(url, role);
  if (options.gateway !== false) network.roles.set(urls.gateway, gateway);
  await gateway.start(urls.gateway);
  await a.start(urls.a);
  await b.start(urls.b);
  await proxy.start(urls.proxy);
  return { network, clock, log, gateway, a, b, proxy, node };
}

function counted(modules: ServerModules, loads: string[], held?: Promise<void>): ServerModules {
  const note = async (what: string): Promise<void> => {
    await held;
    if (loads.includes("broken")) throw new Error("the repository is away");
    loads.push(what);
  };
  return {
    manifest: async () => (await note("manifest"), await modules.manifest()),
    import: async (file) => (await note(file), await modules.import(file)),
  };
}

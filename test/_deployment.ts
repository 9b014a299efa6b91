// proxy → gateway → two nodes, in memory: what most tests of the specification are about.

import { createNode } from "../src/roles/node.ts";
import type { ServerModules } from "../src/roles/application/application.ts";
import type { Role } from "../src/roles/pipeline/role.ts";
import {
  fromField,
  key,
  type TestClock,
  TestDeployment,
  testHost,
  type TestLog,
  testModules,
  type TestNetwork,
} from "./_cluster.ts";
import { money, outOfStock, shop } from "./spec/_shop.ts";

export { key };
/** The origin of a service's request: its procedures, callers with the trust key, others outside, or itself. */
export const sentBy = {
  service: { [fromField]: "service" },
  trusted: { [fromField]: "trusted" },
  outside: { [fromField]: "outside" },
  key: { [fromField]: "key" },
} as const;
export const urls = {
  gateway: "http://gateway",
  a: "http://a",
  b: "http://b",
  proxy: "http://proxy",
} as const;

export interface Deployment {
  /** For adding more services. */
  readonly local: TestDeployment;
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
 * Starts the deployment. `gateway: false` leaves the gateway out of the network until the test adds
 * it. `modules: true` gives gateway and proxy the application's modules, as a configured repository
 * does. `loads` collects what they load, and "broken" in it makes loading fail. Loading waits for
 * `held`.
 */
export async function deploy(
  options: {
    readonly gateway?: false;
    readonly modules?: true;
    readonly loads?: string[];
    readonly held?: Promise<void>;
  } = {},
): Promise<Deployment> {
  const local = new TestDeployment();
  const { network, clock, log } = local;
  const modules = options.modules
    ? counted(testModules(shop, [outOfStock, money]), options.loads ?? [], options.held)
    : undefined;
  const ofNode = (segments: readonly string[], name?: string) => ({
    modules: testModules(shop, [outOfStock, money]),
    segments,
    name,
  });
  const gateway = await local.gateway({ modules });
  if (options.gateway === false) network.roles.delete(urls.gateway);
  const a = await local.node("a", ofNode(["a"], "node a"));
  const b = await local.node("b", ofNode(["b"], "node b"));
  const proxy = await local.proxy({ modules });
  return {
    local,
    network,
    clock,
    log,
    gateway,
    a,
    b,
    proxy,
    node: (segments, name) =>
      createNode(
        testHost(
          network,
          clock,
          log,
          name === undefined ? undefined : { url: `http://${name}`, trustKey: key },
        ),
        {
          ...local.common,
          gateway: urls.gateway,
          ...ofNode(segments, name),
        },
      ),
  };
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

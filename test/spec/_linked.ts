// A gateway, nodes and a proxy in memory, over links.

import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { ask, key, TestClock, testHost, TestLog, testModules, TestNetwork } from "../_cluster.ts";

interface TestNode {
  readonly maxCalls?: number;
  readonly gateway?: string;
  /** Where it says that it is. */
  readonly address?: string;
}

/** `maxCalls` says how many calls the gateway takes at once. */
export async function deployment(
  trustKey: string = key,
  maxCalls: number = defaultLimits.maxCalls,
) {
  const network = new TestNetwork();
  const [clock, log] = [new TestClock(), new TestLog()];
  const hostOf = (url: string) => ({
    ...testHost(network, clock, log, { url, trustKey }),
    links: network.links({ url, trustKey }),
  });
  const common = { trustKey, limits: defaultLimits } as const;
  const add = async <R extends { start(url: string): Promise<void> }>(
    url: string,
    role: R,
    address = url,
  ) => {
    network.roles.set(url, role as never);
    await role.start(address);
    return role;
  };
  let members = 0;
  const gatewayOf = () =>
    createGateway(hostOf("http://gateway"), {
      ...common,
      limits: { ...defaultLimits, maxCalls },
      newId: () => `m${++members}`,
      gatheringMs: 0,
    });
  let isHealthy = true;
  const running = new Map<string, () => void>();
  const modules = (name: string) =>
    testModules([
      {
        fqn: "where",
        in: { a: "public" },
        body: () =>
          async function (this: unknown) {
            return "here";
          },
      },
      {
        fqn: "again",
        in: { a: { access: "public", idempotent: true } },
        body: () => async () =>
          name === "b" ? await new Promise<string>(() => {}) : await Promise.resolve("again"),
      },
      { fqn: "inner", in: { a: "protected" }, body: () => async () => "inside" },
      {
        fqn: "waits",
        in: { a: "public" },
        body: () => async () =>
          await new Promise<string>((resolve) => running.set("waits", () => resolve("done"))),
      },
    ]);
  const nodeOf = (name: string, { maxCalls, gateway = "http://gateway" }: TestNode) => {
    const node = createNode(hostOf(`http://${name}`), {
      ...common,
      limits: { ...defaultLimits, ...(maxCalls !== undefined && { maxCalls }) },
      gateway,
      modules: modules(name),
      segments: ["a"],
      name,
    });
    node.addHealthCheck("switch", { isHealthy: async () => isHealthy });
    return node;
  };
  return {
    network,
    clock,
    log,
    running,
    gateway: await add("http://gateway", gatewayOf()),
    restart: async () => await add("http://gateway", gatewayOf()),
    node: async (name: string, options: TestNode = {}) =>
      await add(`http://${name}`, nodeOf(name, options), options.address),
    proxy: async (calls = "http://gateway", behind?: "gateway" | "node") =>
      await add(
        "http://proxy",
        createProxy(hostOf("http://proxy"), {
          ...common,
          calls,
          behind,
          repository: "http://repository",
        }),
      ),
    setHealth: (value: boolean) => void (isHealthy = value),
  };
}

export const where = "/rpc/where";
/** The name of the node that answers the next call. */
export const answeredBy = async (role: Parameters<typeof ask>[0]) =>
  (await ask(role, "GET", where)).headers["x-svc-node"];

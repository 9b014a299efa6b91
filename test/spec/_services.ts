// The four services that take middleware, each before the same procedures, in memory.

import type { Middleware } from "../../src/http/middleware.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import type { RepositoryFiles } from "../../src/roles/repository.ts";
import { createRepository } from "../../src/roles/repository.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { createStandalone } from "../../src/roles/standalone.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import {
  ask,
  TestClock,
  TestDeployment,
  testHost,
  TestLog,
  testModules,
  TestNetwork,
  type TestProcedure,
} from "../_cluster.ts";
import { body, Money, money, names, OutOfStock, outOfStock } from "./_shop.ts";

/** Where middleware can be added. */
export const kinds = ["node", "gateway", "proxy", "standalone"] as const;
export type Kind = (typeof kinds)[number];

export interface Services {
  readonly node: Role;
  readonly gateway: Role;
  readonly proxy: Role;
  readonly standalone: Role;
  readonly repository: Role;
  readonly network: TestNetwork;
  readonly clock: TestClock;
  readonly log: TestLog;
  /** The arguments of the procedures that ran, in order. */
  readonly ran: unknown[][];
  /** Starts the services after `services({ started: false })`. */
  start(): Promise<void>;
}

export const trustKey = "the-trust-key-of-the-services";
const urls = {
  node: "http://node",
  gateway: "http://gateway",
  proxy: "http://proxy",
  standalone: "http://standalone",
  repository: "http://files",
};

function procedures(ran: unknown[][]): TestProcedure[] {
  const note = (...values: unknown[]): void => void ran.push(values);
  return [
    {
      fqn: "app/echo",
      parameters: [
        { kind: "plain", name: "value" },
        { kind: "plain", name: "more", optional: true },
        { kind: "rest", name: "rest" },
      ],
      in: { all: "public" },
      body: body("app/echo", (_, _graph, ...values: unknown[]) => (note(...values), values[0])),
    },
    {
      fqn: "app/echo",
      version: "2.1.0",
      parameters: names("value"),
      in: { all: "public" },
      body: body(
        "app/echo",
        (_, _graph, value) => (note(value), `second ${String(value)}`),
        "2.1.0",
      ),
    },
    {
      fqn: "app/headers",
      in: { all: "public" },
      body: body(
        "app/headers",
        (context) => (note(context.headers), Object.fromEntries(context.headers)),
      ),
    },
    {
      fqn: "app/make",
      in: { all: "public" },
      body: body("app/make", () => (note(), new Money(5))),
    },
    {
      fqn: "app/raw",
      in: { all: "public" },
      body: body("app/raw", () => (note(), new Blob(["a"], { type: "image/x-thread" }))),
    },
    {
      fqn: "app/fail",
      parameters: names("how"),
      in: { all: "public" },
      body: body("app/fail", (_, _graph, how) => {
        note(how);
        throw how === "own" ? new OutOfStock("no tea left", "tea") : new Error("broken");
      }),
    },
  ];
}

const files: RepositoryFiles = {
  publicFile: async ({ method, target }) =>
    method === "GET" && target === "/a.txt" ? { status: 200, headers: {}, body: "a" } : undefined,
  component: async () => undefined,
  serverFile: async () => new TextEncoder().encode("{}"),
};

/** All of them, started: proxy → gateway → node, a standalone and a repository. */
export async function services(options: { readonly started?: false } = {}): Promise<Services> {
  const network = new TestNetwork();
  const clock = new TestClock();
  const log = new TestLog();
  const ran: unknown[][] = [];
  const host = () => testHost(network, clock, log);
  const common = { trustKey, limits: defaultLimits };
  const modules = () => testModules(procedures(ran), [outOfStock, money]);
  let ids = 0;
  const roles = {
    repository: createRepository(host(), { ...common, files }),
    gateway: createGateway(host(), {
      ...common,
      gatheringMs: 0,
      newId: () => `m${++ids}`,
      modules: modules(),
    }),
    node: createNode(host(), {
      ...common,
      gateway: urls.gateway,
      modules: modules(),
      segments: ["all"],
      name: "the node",
    }),
    proxy: createProxy(host(), {
      ...common,
      calls: urls.gateway,
      repository: urls.repository,
      modules: modules(),
    }),
    standalone: createStandalone(host(), {
      ...common,
      files,
      modules: modules(),
      segments: undefined,
      name: "the node",
    }),
  };
  for (const [kind, role] of Object.entries(roles))
    network.roles.set(urls[kind as keyof typeof urls], role);
  const start = async (): Promise<void> => {
    for (const [kind, role] of Object.entries(roles))
      await role.start(urls[kind as keyof typeof urls]);
  };
  if (options.started !== false) await start();
  return { ...roles, network, clock, log, ran, start };
}

const json = { "content-type": "application/json" };

/** One service with `layers` added in order, and a function that calls it by POST. */
export async function layered(kind: Kind, ...layers: readonly Middleware[]) {
  const all = await services();
  for (const layer of layers) all[kind].addMiddleware(layer);
  const call = (
    args: object = { value: "a" },
    target = "/rpc/app/echo",
    headers: Readonly<Record<string, string>> = {},
  ) => ask(all[kind], "POST", target, { ...json, ...headers }, JSON.stringify(args));
  return { ...all, role: all[kind], call };
}

/** A middleware of one function. */
export const layer = (handle: Middleware["handle"]): Middleware => ({ handle });

/** One service of a deployment with these procedures in segment `a`. */
export async function serviceWith(
  kind: Kind,
  procedures: readonly TestProcedure[],
): Promise<{ role: Role; local: TestDeployment }> {
  const local = new TestDeployment();
  const a = { modules: testModules([...procedures]), segments: ["a"] };
  if (kind === "standalone") return { role: await local.standalone(a), local };
  const gateway = await local.gateway();
  const node = await local.node("a", a);
  return { role: { gateway, node, proxy: await local.proxy() }[kind], local };
}

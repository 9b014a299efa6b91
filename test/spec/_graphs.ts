// proxy → gateway → two nodes in memory, for values that refer to themselves: gateway and proxy with middleware or without.

import type { Middleware } from "../../src/middleware.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import type { Role } from "../../src/roles/role.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import {
  ask,
  TestClock,
  testHost,
  TestLog,
  testModules,
  TestNetwork,
  type TestProcedure,
} from "../_cluster.ts";
import { Employee, OutOfStock, wireClasses } from "../_wire-classes.ts";
import { body, call, names } from "./_shop.ts";

export const trustKey = "the-trust-key-of-the-graphs";

/** Two who know each other, and a list that has both twice. */
export function circle(): { all: Employee[]; self?: object } {
  const [ada, bob] = [new Employee("Ada", new Date(5)), new Employee("Bob")];
  ada.tags.set("knows", bob);
  bob.tags.set("knows", ada);
  const graph: { all: Employee[]; self?: object } = { all: [ada, bob, ada] };
  graph.self = graph;
  return graph;
}

/** What is wrong with what should be such a circle. */
export function wrong(value: unknown): string[] {
  const { all, self } = value as ReturnType<typeof circle>;
  const [ada, bob, again] = all;
  const checks = {
    instances: ada instanceof Employee && bob instanceof Employee,
    "private state": ada?.name === "Ada" && bob?.name === "Bob",
    date: ada?.born instanceof Date && ada.born.getTime() === 5,
    cycle: ada?.tags.get("knows") === bob && bob?.tags.get("knows") === ada,
    shared: again === ada,
    root: self === value,
  };
  return Object.entries(checks).flatMap(([name, right]) => (right ? [] : [name]));
}

export interface Graphs {
  readonly roles: Readonly<Record<"a" | "b" | "gateway" | "proxy", Role>>;
  readonly network: TestNetwork;
  /** What a procedure of `b` was given. */
  readonly given: unknown[];
  /** POSTs to `/rpc/graph/…` of a role. */
  post(
    at: keyof Graphs["roles"],
    name: string,
    content: unknown,
    headers?: Readonly<Record<string, string>>,
  ): ReturnType<typeof ask>;
}

export interface Layers {
  readonly gateway?: Middleware;
  readonly proxy?: Middleware;
  /** The proxy has the application's classes. */
  readonly modules?: true;
}

export async function graphs(layers: Layers = {}): Promise<Graphs> {
  const given: unknown[] = [];
  const note = (value: unknown): unknown => {
    given.push(value);
    return value;
  };
  const one = (
    name: string,
    segment: string,
    parameters: string[],
    run: TestProcedure["body"],
  ): TestProcedure => ({
    fqn: `graph/${name}`,
    parameters: names(...parameters),
    in: { [segment]: "public" },
    body: run,
  });
  const procedures = [
    one(
      "echo",
      "b",
      ["value"],
      body("graph/echo", (_, _graph, value) => note(value)),
    ),
    one(
      "circle",
      "b",
      [],
      body("graph/circle", () => circle()),
    ),
    one(
      "relay",
      "a",
      ["value"],
      body("graph/relay", (_, graph, value) => call(graph, "graph/echo", names("value"), value)),
    ),
    one(
      "relayCircle",
      "a",
      [],
      body("graph/relayCircle", (_, graph) => call(graph, "graph/circle", [])),
    ),
    one(
      "wrap",
      "b",
      ["value"],
      body("graph/wrap", (_, _graph, value) => ({ value: note(value) })),
    ),
    one(
      "fail",
      "b",
      ["how"],
      body("graph/fail", (_, _graph, how: string) => {
        const error = how === "own" ? new OutOfStock("tea") : new TypeError("odd");
        if (error instanceof OutOfStock) error.since = new Date(7);
        error.cause = how === "plain" ? undefined : error;
        throw error;
      }),
    ),
    one(
      "relayFail",
      "a",
      ["how"],
      body("graph/relayFail", (_, graph, how) => call(graph, "graph/fail", names("how"), how)),
    ),
  ];
  const network = new TestNetwork();
  const log = new TestLog();
  const common = { trustKey, limits: defaultLimits };
  const host = () => testHost(network, new TestClock(), log);
  const modules = () =>
    testModules(
      procedures,
      wireClasses.map(([record, constructor]) => ({ record, constructor })),
    );
  let ids = 0;
  const node = (name: string): Role =>
    createNode(host(), {
      ...common,
      gateway: "http://gateway",
      modules: modules(),
      segments: [name],
      name,
    });
  const roles = {
    gateway: createGateway(host(), {
      ...common,
      monitor: 60_000,
      lease: 60_000,
      newId: () => `${++ids}`,
      modules: undefined,
    }),
    a: node("a"),
    b: node("b"),
    proxy: createProxy(host(), {
      ...common,
      calls: "http://gateway",
      repository: "http://repository",
      modules: layers.modules && modules(),
    }),
  };
  for (const [name, role] of Object.entries(roles)) {
    network.roles.set(`http://${name}`, role);
    await role.start(`http://${name}`);
  }
  if (layers.gateway) roles.gateway.addMiddleware(layers.gateway);
  if (layers.proxy) roles.proxy.addMiddleware(layers.proxy);
  return {
    roles,
    network,
    given,
    post: (at, name, content, headers = {}) =>
      ask(
        roles[at],
        "POST",
        `/rpc/graph/${name}`,
        { "content-type": "application/json", ...headers },
        typeof content === "string" ? content : JSON.stringify(content),
      ),
  };
}

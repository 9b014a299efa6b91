// proxy → gateway → two nodes in memory, for values that refer to themselves: gateway and proxy
// with middleware or without.

import type { Middleware } from "../../src/http/middleware.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import {
  ask,
  TestDeployment,
  testModules,
  type TestNetwork,
  type TestProcedure,
} from "../_cluster.ts";
import { Employee, OutOfStock, wireClasses } from "../_wire-classes.ts";
import { body, call, names } from "./_shop.ts";

export const trustKey = "the-trust-key-of-the-graphs";

/** Two people who refer to each other, and a list that has both twice. */
export function circle(): { all: Employee[]; self?: object } {
  const [ada, bob] = [new Employee("Ada", new Date(5)), new Employee("Bob")];
  ada.tags.set("knows", bob);
  bob.tags.set("knows", ada);
  const graph: { all: Employee[]; self?: object } = { all: [ada, bob, ada] };
  graph.self = graph;
  return graph;
}

/** The differences from such a circle. */
export function wrong(value: unknown): string[] {
  const { all, self } = value as ReturnType<typeof circle>;
  const [ada, bob, adaAgain] = all;
  const checks = {
    instances: ada instanceof Employee && bob instanceof Employee,
    "private state": ada?.name === "Ada" && bob?.name === "Bob",
    date: ada?.born instanceof Date && ada.born.getTime() === 5,
    cycle: ada?.tags.get("knows") === bob && bob?.tags.get("knows") === ada,
    shared: adaAgain === ada,
    root: self === value,
  };
  return Object.entries(checks).flatMap(([name, isRight]) => (isRight ? [] : [name]));
}

export interface Graphs {
  readonly roles: Readonly<Record<"a" | "b" | "gateway" | "proxy", Role>>;
  readonly network: TestNetwork;
  /** The arguments of a procedure of `b`. */
  readonly received: unknown[];
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
  const received: unknown[] = [];
  const note = (value: unknown): unknown => {
    received.push(value);
    return value;
  };
  const procedure = (
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
    procedure(
      "echo",
      "b",
      ["value"],
      body("graph/echo", (_, _graph, value) => note(value)),
    ),
    procedure(
      "circle",
      "b",
      [],
      body("graph/circle", () => circle()),
    ),
    procedure(
      "relay",
      "a",
      ["value"],
      body("graph/relay", (_, graph, value) => call(graph, "graph/echo", names("value"), value)),
    ),
    procedure(
      "relayCircle",
      "a",
      [],
      body("graph/relayCircle", (_, graph) => call(graph, "graph/circle", [])),
    ),
    procedure(
      "wrap",
      "b",
      ["value"],
      body("graph/wrap", (_, _graph, value) => ({ value: note(value) })),
    ),
    procedure(
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
    procedure(
      "relayFail",
      "a",
      ["how"],
      body("graph/relayFail", (_, graph, how) => call(graph, "graph/fail", names("how"), how)),
    ),
  ];
  const local = new TestDeployment({ trustKey });
  const { network } = local;
  const modules = () =>
    testModules(
      procedures,
      wireClasses.map(([record, constructor]) => ({ record, constructor })),
    );
  const node = async (name: string): Promise<Role> =>
    await local.node(name, { modules: modules(), segments: [name] });
  const roles = {
    gateway: await local.gateway(),
    a: await node("a"),
    b: await node("b"),
    proxy: await local.proxy({ modules: layers.modules && modules() }),
  };
  if (layers.gateway) roles.gateway.addMiddleware(layers.gateway);
  if (layers.proxy) roles.proxy.addMiddleware(layers.proxy);
  return {
    roles,
    network,
    received,
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

// The attacked application: procedures with each access level, and a canary that detects whether a
// request has polluted the process.

import { getContext } from "../../server/host/carrier.ts";
import { traceLine } from "../../src/base/fqn.ts";
import type { Graph } from "../../src/runtime/seam.ts";
import type { TestProcedure } from "../_cluster.ts";
import { names } from "../spec/_shop.ts";

function procedure(
  name: string,
  access: "public" | "private" | "protected" | { readonly access: "public"; readonly safe: true },
  parameters: string[],
  run: (...args: never[]) => unknown,
): TestProcedure {
  return {
    fqn: `a/${name}`,
    parameters: names(...parameters),
    in: { main: access },
    body: (graph: Graph) =>
      async function (...args: never[]) {
        try {
          return await run(...args);
        } catch (thrown) {
          throw graph.traced(thrown, traceLine(`a/${name}`, "0.0.0"));
        }
      },
  };
}

/** Can be serialized. `role` is neither a constructor argument nor a field. */
export class Person {
  readonly name: string;
  age = 0;
  role = "guest";
  constructor(name: string) {
    this.name = name;
  }
}

export const classes = [
  {
    record: {
      key: "a/Person",
      module: "a/person",
      export: "Person",
      args: ["name"],
      fields: ["age"],
    },
    constructor: Person,
  },
];

const untouched = census();

function census(): string {
  return JSON.stringify(
    [Object, Array, Function, Map, Promise].map((builtIn) =>
      Reflect.ownKeys(builtIn.prototype as object).map(String),
    ),
  );
}

export const application: TestProcedure[] = [
  procedure("echo", "public", ["value"], (value) => value),
  procedure("add", "public", ["a", "b"], (a: number, b: number) => a + b),
  procedure("safe", { access: "public", safe: true }, ["value"], (value) => value),
  procedure("canary", "public", [], () => (census() === untouched ? "alive" : "polluted")),
  procedure("secret", "private", [], () => "private"),
  procedure("fail", "public", [], () => Promise.reject(new Error("broken"))),
  procedure("audit", "protected", [], () => "protected"),
  procedure("cookie", "public", ["name"], (name: string) => getContext().cookies.get(name)),
  procedure("setHeader", "public", ["name", "value"], (name: string, value: string) => {
    getContext().response.headers.set(name, value);
    return "set";
  }),
  procedure("setCookie", "public", ["name", "value"], (name: string, value: string) => {
    getContext().response.cookies.set(name, value);
    return "set";
  }),
  procedure("view", "public", [], () => {
    const context = getContext();
    const { headers, locals, request } = context;
    const fields = Object.fromEntries([...headers].filter(([name]) => name.startsWith("x-")));
    return { fields, locals, request, seconds: Math.round(context.timeLeft() / 10_000) * 10 };
  }),
  procedure("locals", "public", [], () => getContext().locals),
];

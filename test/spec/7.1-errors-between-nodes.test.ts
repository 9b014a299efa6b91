import { beforeAll, describe, expect, it } from "vitest";

import { CorsMiddleware } from "../../src/cors.ts";
import * as errors from "../../src/errors.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import type { Role } from "../../src/roles/role.ts";
import { createStandalone } from "../../src/roles/standalone.ts";
import { Classes } from "../../src/serializer/classes.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { traceOf } from "../../src/trace.ts";
import { decodeAnswer } from "../../src/wire/decode-answer.ts";
import {
  ask,
  TestClock,
  testHost,
  TestLog,
  testModules,
  TestNetwork,
  type TestProcedure,
} from "../_cluster.ts";
import { createWireClasses, OutOfStock, Refused, wireClasses } from "../_wire-classes.ts";
import { body, call, names } from "./_shop.ts";

const thrown: Record<string, () => unknown> = {
  OutOfStock: () => Object.assign(new OutOfStock("tea"), { since: new Date(0) }),
  Refused: () => new Refused("no\nmore", 7),
  TypeError: () => new TypeError("odd", { cause: new OutOfStock("milk") }),
  text: () => "only text",
  Many: () =>
    new AggregateError([new Refused("one", 1), new errors.Forbidden("two")], "all of them"),
  Heavy: () => Object.assign(new Refused("heavy", 9), { code: { socket: Symbol("open") } }),
};
for (const [name, Class] of errors.frameworkErrors)
  thrown[name] = () => (name === "Teapot" ? new Class() : new Class(`by ${name}`));

/** What was caught in the middle: its class, its message, its lines until then. */
const caught: { error?: Error; message?: string; lines?: readonly string[] } = {};
const procedures: TestProcedure[] = [
  {
    fqn: "far/first",
    parameters: names("name"),
    in: { a: "public" },
    body: body("far/first", (_, graph, name) => call(graph, "far/second", names("name"), name)),
  },
  {
    fqn: "far/second",
    parameters: names("name"),
    in: { b: "public" },
    body: body("far/second", async (_, graph, name) => {
      try {
        return await graph
          .seam({ fqn: "far/third", version: "2.1.0", parameters: names("name") })
          .run.apply(undefined, [name] as never[]);
      } catch (error) {
        Object.assign(caught, { error, message: (error as Error).message, lines: traceOf(error) });
        throw error;
      }
    }),
  },
  {
    fqn: "far/third",
    version: "2.1.0",
    parameters: names("name"),
    in: { c: "public" },
    body: body(
      "far/third",
      (_, _graph, name: string) => {
        throw thrown[name]?.();
      },
      "2.1.0",
    ),
  },
  {
    fqn: "far/misses",
    in: { a: "public" },
    body: body("far/misses", (_, graph) => graph.runProcedure("far/second")),
  },
  {
    fqn: "far/nowhere",
    in: { a: "public" },
    body: body("far/nowhere", (_, graph) => graph.runProcedure("far/nobody")),
  },
];
const lines = ["[far/third | v2.1.0]", "[far/second | v0.0.0]", "[far/first | v0.0.0]"];

const key = "the-trust-key-of-the-errors";
const network = new TestNetwork();
const log = new TestLog();
const roles: Record<string, Role> = {};
beforeAll(async () => {
  const common = { trustKey: key, limits: defaultLimits };
  const host = () => testHost(network, new TestClock(), log);
  const classes = wireClasses.map(([record, constructor]) => ({ record, constructor }));
  const modules = () => testModules(procedures, classes);
  let ids = 0;
  roles["gateway"] = createGateway(host(), {
    ...common,
    monitor: 60_000,
    lease: 60_000,
    newId: () => `${++ids}`,
    modules: undefined,
  });
  for (const name of ["a", "b", "c"])
    roles[name] = createNode(host(), {
      ...common,
      gateway: "http://gateway",
      modules: modules(),
      segments: [name],
      name,
    });
  roles["proxy"] = createProxy(host(), {
    ...common,
    calls: "http://gateway",
    repository: "http://repository",
  });
  const files = { publicFile: async () => undefined } as never;
  roles["standalone"] = createStandalone(host(), {
    ...common,
    files,
    modules: modules(),
    segments: undefined,
    name: undefined,
  });
  for (const [name, role] of Object.entries(roles)) {
    network.roles.set(`http://${name}`, role);
    await role.start(`http://${name}`);
  }
});

const get = async (at: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
  await ask(roles[at] as Role, "GET", `/rpc/far/${path}`, headers);
/** The error as a program of node `a` gets it, three services away from where it was thrown. */
const failure = async (name: string): Promise<Error> =>
  (await (roles["a"] as Role)
    .runProcedure?.("far/first", "", { name })
    .catch((error: unknown) => error)) as Error;

describe("§7.1 errors over three nodes", () => {
  it.each<[string, new (...given: never[]) => Error, string, number]>([
    ...[...errors.frameworkErrors].map(([name, Class]): [string, typeof Class, string, number] => [
      name,
      Class,
      name === "Teapot" ? "I'm a teapot" : `by ${name}`,
      (Class as unknown as typeof errors.ServiceError).status,
    ]),
    ["OutOfStock", OutOfStock, "Nothing left of tea", 404],
    ["Refused", Refused, "no\nmore", 500],
  ])(
    "D4-25 an error is of its own class on every node that it passes, the framework's and the application's: %s",
    async (...given) => {
      const [name, Class, message, status] = given;
      const error = await failure(name);
      for (const one of [error, caught.error]) {
        expect(one?.constructor).toBe(Class);
        expect(one).toBeInstanceOf(Class);
        expect(one?.message).toBe(message);
      }
      expect(traceOf(error)).toEqual(lines);
      expect((await get("proxy", `first?name=${name}`)).status).toBe(status);
    },
  );
  it("D4-13 BadGateway is 502: a node answered nonsense", async () => {
    const node = network.roles.get("http://b") as Role;
    const nonsense = async () => ({
      status: 200,
      headers: { "content-type": "text/html" },
      body: "<p>it works",
    });
    network.roles.set("http://b", { ...node, handle: nonsense });
    const error = await failure("text");
    const answer = await get("proxy", "first?name=text");
    network.roles.set("http://b", node);
    expect(error).toBeInstanceOf(errors.BadGateway);
    expect([answer.status, answer.headers["x-svc-error"]]).toEqual([502, "BadGateway"]);
  });
  it("D4-16 LoopDetected is 508: a call is over 8 services deep", async () => {
    const deep = async (hops: number) => {
      const answer = await get("c", "third?version=2.1.0&name=Teapot", {
        "x-svc-trust-key": key,
        "x-svc-hops": String(hops),
      });
      return [answer.status, answer.headers["x-svc-error"]];
    };
    expect([await deep(8), await deep(9)]).toEqual([
      [418, "Teapot"],
      [508, "LoopDetected"],
    ]);
  });
  it("§7.1-13 an error keeps its type and is thrown again on the node that called, the application's with their fields", async () => {
    const error = await failure("OutOfStock");
    expect(error).toBeInstanceOf(OutOfStock);
    expect(error).toMatchObject({ sku: "tea", since: new Date(0), name: "OutOfStock" });
    expect(caught.error).toBeInstanceOf(OutOfStock);
    expect(await failure("Refused")).toMatchObject({
      constructor: Refused,
      code: 7,
      message: "no\nmore",
    });
    expect(await failure("TypeError")).toMatchObject({
      constructor: TypeError,
      cause: { constructor: OutOfStock, sku: "milk" },
    });
    expect(await failure("Many")).toMatchObject({
      constructor: AggregateError,
      errors: [
        { constructor: Refused, code: 1 },
        { constructor: errors.Forbidden, message: "two" },
      ],
    });
    expect(await failure("text")).toMatchObject({ constructor: Error, message: "only text" });
  });
  it("§7.1-14 D4-18 an error carries a line for each procedure that it passed, `[name | v<version>]`, the origin first", async () => {
    expect(traceOf(await failure("Refused"))).toEqual(lines);
    expect(caught.lines).toEqual(lines.slice(0, 1));
  });
  it("§7.1-15 D4-21 a caller of RPC reads the message, then the lines, each on a line of its own", async () => {
    for (const at of ["proxy", "gateway", "a"]) {
      const answer = await get(at, "first?name=Refused");
      expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([
        500,
        "text/plain; charset=utf-8",
        `no\nmore\n${lines.join("\n")}`,
      ]);
    }
  });
  it.each(["OutOfStock", "Refused", "TypeError", "text", "Many", "Forbidden"])(
    "D4-19 the answer of an error, its lines included, is the same in one process as over several services: %s",
    async (name) => {
      for (const headers of [{}, { "x-svc-data-encoding": "serialized" }]) {
        const [one, several] = await Promise.all(
          ["standalone", "proxy"].map((at) => get(at, `first?name=${name}`, headers)),
        );
        expect([one?.status, one?.text]).toEqual([several?.status, several?.text]);
        expect(one?.text).toContain(lines.at(-1));
      }
    },
  );
  it("D4-20 the lines of an error are beside its message: what is caught has the message that was thrown", async () => {
    const error = await failure("Refused");
    expect([error.message, caught.message]).toEqual(["no\nmore", "no\nmore"]);
    expect(Object.keys(error)).not.toContain("trace");
    expect(JSON.stringify(error)).not.toContain("far/third");
  });
  it("D6.errors-4 an error from before a procedure ran has no line of it; those that called add theirs", async () => {
    const early = await get("proxy", "first");
    expect([early.status, early.text]).toEqual([400, "Missing value for parameter 'name'"]);
    const deep = await get("proxy", "misses");
    expect([deep.status, deep.text]).toEqual([
      500,
      "Missing value for parameter 'name'\n[far/misses | v0.0.0]",
    ]);
    const nowhere = await get("proxy", "nowhere");
    expect([nowhere.status, nowhere.text]).toEqual([
      500,
      "Procedure 'far/nobody' v0.0.0 not found\n[far/nowhere | v0.0.0]",
    ]);
  });
  it("what of an error can't be sent is told in the log of the node that left it out (§7.1-11)", async () => {
    expect(await failure("Heavy")).toMatchObject({ constructor: Refused, message: "heavy" });
    expect(log.lines.filter((line) => line.includes("Refused.code"))).toContain(
      "warning: POST /rpc/far/third failed, and its error is sent without Refused.code.socket: a symbol can't be sent",
    );
  });
  it("D6.errors-5 answers with errors have the headers of CORS as well", async () => {
    roles["c"]?.addMiddleware(new CorsMiddleware("http://page"));
    for (const path of [
      "third?version=2.1.0&name=Refused",
      "third?version=2.1.0",
      "nobody",
      "third?version=x",
    ]) {
      const answer = await get("c", path);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.headers).toMatchObject({ "access-control-allow-origin": "http://page" });
    }
  });
  it("a class that the caller doesn't have is the nearest that it has, with its own name", async () => {
    const answer = await get("proxy", "first?name=OutOfStock", {
      "x-svc-data-encoding": "serialized",
    });
    const read = (classes: Classes) =>
      decodeAnswer(answer, { classes }).catch((error: unknown) => error);
    expect(await read(new Classes())).toMatchObject({
      constructor: errors.NotFound,
      name: "OutOfStock",
      message: "Nothing left of tea",
    });
    expect(await read(createWireClasses())).toMatchObject({ constructor: OutOfStock });
  });
});

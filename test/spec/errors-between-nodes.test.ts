import { beforeAll, describe, expect, it } from "vitest";

import { CorsMiddleware } from "../../src/http/cors.ts";
import * as errors from "../../src/base/errors.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { Classes } from "../../src/codec/classes.ts";
import { traceOf } from "../../src/base/trace.ts";
import { decodeAnswer } from "../../src/wire/decode-answer.ts";
import { fromField, ask, testModules, type TestProcedure, TestDeployment } from "../_cluster.ts";
import { createWireClasses, OutOfStock, Refused, wireClasses } from "../_wire-classes.ts";
import { body, call, names } from "./_shop.ts";

const thrown: Record<string, () => unknown> = {
  OutOfStock: () => Object.assign(new OutOfStock("tea"), { since: new Date(0) }),
  Refused: () => new Refused("no\nmore", 7),
  TypeError: () => new TypeError("odd", { cause: new OutOfStock("milk") }),
  text: () => "only text",
  Many: () =>
    new AggregateError([new Refused("one", 1), new errors.Forbidden("two")], "all of them"),
  Frozen: () => Object.freeze(new errors.Unauthorized("by Frozen")),
  Heavy: () => Object.assign(new Refused("heavy", 9), { code: { socket: Symbol("open") } }),
};
/** Classes that no build knows, with statuses of their own. */
class Taken extends errors.ServiceError {
  static override readonly status: number = 409;
}
class Sold extends errors.NotFound {
  static override readonly status: number = 410;
}
thrown["Taken"] = () => new Taken("taken");
thrown["Sold"] = () => new Sold("sold");
for (const [name, Class] of errors.frameworkErrors)
  thrown[name] = () => (name === "Teapot" ? new Class() : new Class(`by ${name}`));

/** The error that the node in the middle caught: class, message, and trace lines so far. */
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
const local = new TestDeployment({ trustKey: key });
const { network, log } = local;
const roles: Record<string, Role> = {};
beforeAll(async () => {
  const classes = wireClasses.map(([record, constructor]) => ({ record, constructor }));
  const modules = () => testModules(procedures, classes);
  roles["gateway"] = await local.gateway();
  for (const name of ["a", "b", "c"])
    roles[name] = await local.node(name, { modules: modules(), segments: [name] });
  roles["proxy"] = await local.proxy();
  roles["standalone"] = await local.standalone({ modules: modules() });
});

const get = async (at: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
  await ask(roles[at] as Role, "GET", `/rpc/far/${path}`, headers);
/** The error as code on node `a` catches it, three services away from where it was thrown. */
const failure = async (name: string): Promise<Error> =>
  (await (roles["a"] as Role)
    .runProcedure?.("far/first", "", { name })
    .catch((error: unknown) => error)) as Error;

describe("errors over three nodes", () => {
  it.each<[string, new (...args: never[]) => Error, string, number]>([
    ...[...errors.frameworkErrors].map(([name, Class]): [string, typeof Class, string, number] => [
      name,
      Class,
      name === "Teapot" ? "I'm a teapot" : `by ${name}`,
      (Class as unknown as typeof errors.ServiceError).status,
    ]),
    ["OutOfStock", OutOfStock, "Nothing left of tea", 404],
    ["Refused", Refused, "no\nmore", 500],
  ])(
    "errors-45: an error keeps its class on every node that it passes, the framework's and the application's: %s",
    async (...row) => {
      const [name, Class, message, status] = row;
      const error = await failure(name);
      for (const copy of [error, caught.error]) {
        expect(copy?.constructor).toBe(Class);
        expect(copy).toBeInstanceOf(Class);
        expect(copy?.message).toBe(message);
      }
      expect(traceOf(error)).toEqual(lines);
      expect((await get("proxy", `first?name=${name}`)).status).toBe(status);
    },
  );
  it("errors-33: BadGateway is 502: a node's answer is invalid", async () => {
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
  it("errors-36: LoopDetected is 508: a call has passed more than 8 services", async () => {
    const deep = async (hops: number) => {
      const answer = await get("c", "third?version=2.1.0&name=Teapot", {
        [fromField]: "service",
        "x-svc-hops": String(hops),
      });
      return [answer.status, answer.headers["x-svc-error"]];
    };
    expect([await deep(8), await deep(9)]).toEqual([
      [418, "Teapot"],
      [508, "LoopDetected"],
    ]);
  });
  it("errors-13: an error is thrown again on the calling node with its type, the application's with their fields", async () => {
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
  it("errors-14, errors-38: an error carries a line for each procedure that it passed, `[name | v<version>]`, the origin first", async () => {
    expect(traceOf(await failure("Refused"))).toEqual(lines);
    expect(caught.lines).toEqual(lines.slice(0, 1));
    expect(traceOf(await failure("Frozen"))).toEqual(lines);
  });
  it("errors-15, errors-41: an RPC caller gets the message, then each trace line on its own line", async () => {
    for (const at of ["proxy", "gateway", "a"]) {
      const answer = await get(at, "first?name=Refused");
      expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([
        500,
        "text/plain; charset=utf-8",
        `no\nmore\n${lines.join("\n")}`,
      ]);
    }
  });
  it.each([
    "OutOfStock",
    "Refused",
    "TypeError",
    "text",
    "Many",
    "Forbidden",
    "Frozen",
    "Taken",
    "Sold",
  ])(
    "errors-39: an error's answer and its trace lines are the same in one process as over several services: %s",
    async (name) => {
      for (const headers of [{}, { "x-svc-data-encoding": "serialized" }]) {
        const [inOneProcess, overSeveral] = await Promise.all(
          ["standalone", "proxy"].map((at) => get(at, `first?name=${name}`, headers)),
        );
        expect([inOneProcess?.status, inOneProcess?.text]).toEqual([
          overSeveral?.status,
          overSeveral?.text,
        ]);
        expect(inOneProcess?.text).toContain(lines.at(-1));
        const own = { Taken: 409, Sold: 410 }[name];
        if (own !== undefined) expect(inOneProcess?.status).toBe(own);
      }
    },
  );
  it("errors-40: trace lines aren't part of the message: a caught error has the message that was thrown", async () => {
    const error = await failure("Refused");
    expect([error.message, caught.message]).toEqual(["no\nmore", "no\nmore"]);
    expect(Object.keys(error)).not.toContain("trace");
    expect(JSON.stringify(error)).not.toContain("far/third");
  });
  it("errors-50: an error from before a procedure ran has no trace line of it; its callers add theirs", async () => {
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
  it("a node logs which parts of an error it can't send (errors-11)", async () => {
    expect(await failure("Heavy")).toMatchObject({ constructor: Refused, message: "heavy" });
    expect(log.lines.filter((line) => line.includes("Refused.code"))).toContain(
      "warning: POST /rpc/far/third failed, and its error is sent without Refused.code.socket: a symbol can't be sent",
    );
  });
  it("errors-51: error responses have CORS headers as well", async () => {
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
  it("an error whose class the caller doesn't have is the nearest one that it has, with its own name", async () => {
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

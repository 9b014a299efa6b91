import { beforeAll, describe, expect, it } from "vitest";

import {
  MissingParameterValue,
  NotFound,
  ProcedureNotFound,
  statusOf,
  Unauthorized,
} from "../../src/base/errors.ts";
import { frameworkErrors } from "../../src/base/errors.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { ask, TestDeployment, type TestLog, testModules, type TestProcedure } from "../_cluster.ts";
import { layer } from "./_services.ts";
import { body, call, names } from "./_shop.ts";

// A 404 or 400 of the protocol is about one call. If a procedure doesn't catch that of an inner
// call, its own caller did nothing wrong.

let caught: Error[];

const rethrown = async (act: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await act();
  } catch (error) {
    caught.push(error as Error);
    throw error;
  }
};

/** Segments `near` and `far` are on a node each, or together on one. */
const procedures: TestProcedure[] = [
  // These refuse.
  {
    fqn: "far/needs",
    parameters: names("name"),
    in: { far: "public" },
    body: body("far/needs", () => "ran"),
  },
  {
    fqn: "far/typed",
    parameters: [{ kind: "rest", name: "values" }],
    in: { far: "public" },
    body: body("far/typed", () => "ran"),
  },
  // These throw errors of the application.
  {
    fqn: "far/throws",
    parameters: names("name"),
    in: { far: "public" },
    body: body("far/throws", (_, _graph, name: string) => {
      const Kind = frameworkErrors.get(name);
      throw Kind === undefined ? new Error(name) : new Kind("by the application");
    }),
  },
  // These call them.
  {
    fqn: "near/nobody",
    in: { near: "public" },
    body: body("near/nobody", (_, graph) => rethrown(() => call(graph, "far/nobody", []))),
  },
  {
    fqn: "near/byName",
    in: { near: "public" },
    body: body("near/byName", (_, graph) => rethrown(() => graph.runProcedure("far/nobody"))),
  },
  {
    fqn: "near/version",
    in: { near: "public" },
    body: body("near/version", (_, graph) => rethrown(() => graph.runProcedure("far/needs", "7"))),
  },
  {
    fqn: "near/badVersion",
    in: { near: "public" },
    body: body("near/badVersion", (_, graph) =>
      rethrown(() => graph.runProcedure("far/needs", "x")),
    ),
  },
  {
    fqn: "near/missing",
    in: { near: "public" },
    body: body("near/missing", (_, graph) => rethrown(() => graph.runProcedure("far/needs"))),
  },
  {
    fqn: "near/unknown",
    in: { near: "public" },
    body: body("near/unknown", (_, graph) =>
      rethrown(() => graph.runProcedure("far/needs", "", { name: 1, other: 2 })),
    ),
  },
  {
    fqn: "near/invalid",
    in: { near: "public" },
    body: body("near/invalid", (_, graph) =>
      rethrown(() => graph.runProcedure("far/typed", "", { "...values": 1 })),
    ),
  },
  {
    fqn: "near/passes",
    parameters: names("name"),
    in: { near: "public" },
    body: body("near/passes", (_, graph, name) =>
      rethrown(() => call(graph, "far/throws", names("name"), name)),
    ),
  },
  // A third procedure in between.
  {
    fqn: "far/deep",
    in: { far: "public" },
    body: body("far/deep", (_, graph) => call(graph, "far/nobody", [])),
  },
  {
    fqn: "near/deep",
    in: { near: "public" },
    body: body("near/deep", (_, graph) => rethrown(() => call(graph, "far/deep", []))),
  },
  {
    fqn: "near/other",
    in: { near: "public" },
    body: body("near/other", async (_, graph) => {
      await rethrown(() => call(graph, "far/nobody", [])).catch(() => {});
      throw new NotFound("of its own");
    }),
  },
];

const places = ["on one node", "on two nodes"] as const;
type Place = (typeof places)[number];

async function deployed(place: Place): Promise<{ endpoint: Role; far: Role; log: TestLog }> {
  const local = new TestDeployment();
  const { log } = local;
  if (place === "on one node") {
    const segments = ["near", "far"];
    const endpoint = await local.standalone({ modules: testModules(procedures), segments });
    return { endpoint, far: endpoint, log };
  }
  await local.gateway();
  const node = async (name: string): Promise<Role> =>
    await local.node(name, { modules: testModules(procedures), segments: [name], name: undefined });
  await node("near");
  const far = await node("far");
  return { endpoint: await local.proxy(), far, log };
}

describe.each(places)("an inner call %s", (place) => {
  let endpoint: Role;
  let log: TestLog;
  beforeAll(async () => {
    ({ endpoint, log } = await deployed(place));
  });
  const get = async (name: string) => {
    caught = [];
    return await ask(endpoint, "GET", `/rpc/near/${name}`);
  };

  it.each([
    ["nobody", "ProcedureNotFound", 404],
    ["byName", "ProcedureNotFound", 404],
    ["version", "ProcedureNotFound", 404],
    ["badVersion", "InvalidVersionNumber", 400],
    ["missing", "MissingParameterValue", 400],
    ["unknown", "UnknownParameter", 400],
    ["invalid", "InvalidParameterValue", 400],
    ["deep", "ProcedureNotFound", 404],
  ])(
    "errors-46: an inner call that the protocol refuses is a 500 of the procedure that doesn't catch the error: %s",
    async (name, kind, status) => {
      const before = log.lines.length;
      const answer = await get(name);
      expect([answer.status, answer.headers["x-svc-error"]]).toEqual([500, kind]);
      expect(answer.text).toContain(`[near/${name} | v0.0.0]`);
      // The class stays the same, and so does its status.
      expect(caught.map((error) => [error.name, statusOf(error)])).toEqual([[kind, status]]);
      expect(caught[0]).toBeInstanceOf(frameworkErrors.get(kind));
      // It's an error of the application, so the log has its stack.
      expect(
        log.lines.slice(before).filter((line) => line.startsWith("error: GET /rpc/near/")),
      ).toHaveLength(1);
    },
  );

  it.each([
    "ProcedureNotFound",
    "MissingParameterValue",
    "Unauthorized",
    "PayloadTooLarge",
    "FileNotFound",
  ])(
    "an inner call keeps its status if its procedure throws the same class itself: %s (errors-46)",
    async (name) => {
      caught = [];
      const answer = await ask(endpoint, "GET", `/rpc/near/passes?name=${name}`);
      const status = statusOf(new (frameworkErrors.get(name) ?? Error)());
      expect([answer.status, answer.headers["x-svc-error"]]).toEqual([status, name]);
    },
  );

  it("an inner call leaves an error of the procedure's own as it is (errors-46)", async () => {
    const answer = await get("other");
    expect([answer.status, answer.text]).toEqual([404, "of its own\n[near/other | v0.0.0]"]);
  });

  it("the outer call itself still answers 404 and 400 if the protocol refuses it (errors-46)", async () => {
    for (const [target, status] of [
      ["/rpc/near/nothing", 404],
      ["/rpc/near/passes", 400],
      ["/rpc/near/passes?name=1&other=2", 400],
      ["/rpc/near/passes?version=x", 400],
    ] as const)
      expect((await ask(endpoint, "GET", target)).status).toBe(status);
  });
});

describe("what a middleware throws", () => {
  it("an error that middleware throws keeps its status for an inner call too (errors-46)", async () => {
    const { endpoint, far } = await deployed("on two nodes");
    far.addMiddleware(layer(() => Promise.reject(new Unauthorized("no token"))));
    caught = [];
    const answer = await ask(endpoint, "GET", "/rpc/near/passes?name=x");
    expect([answer.status, answer.text]).toEqual([401, "no token\n[near/passes | v0.0.0]"]);
    expect(caught[0]).toBeInstanceOf(Unauthorized);
  });

  it("an error that middleware takes from next is not its own (errors-46)", async () => {
    const { endpoint, far } = await deployed("on two nodes");
    far.addMiddleware(layer(async (_fqn, _version, _args, _headers, next) => await next()));
    caught = [];
    const answer = await ask(endpoint, "GET", "/rpc/near/missing");
    expect([answer.status, caught[0] instanceof MissingParameterValue]).toEqual([500, true]);
  });

  it("a refused inner call that middleware makes is a 500 (errors-46)", async () => {
    const { endpoint } = await deployed("on one node");
    endpoint.addMiddleware(layer(async () => await endpoint.runProcedure?.("far/nobody")));
    const answer = await ask(endpoint, "GET", "/rpc/near/passes?name=x");
    expect([answer.status, answer.headers["x-svc-error"]]).toEqual([500, "ProcedureNotFound"]);
  });

  it("an error that middleware at a gateway changes keeps its class and status (errors-46)", async () => {
    const { endpoint } = await deployed("on two nodes");
    endpoint.addMiddleware(
      layer(async (_fqn, _version, _args, _headers, next) => {
        try {
          return await next();
        } catch (error) {
          (error as Error).message += " (seen)";
          throw error;
        }
      }),
    );
    const inner = await ask(endpoint, "GET", "/rpc/near/nobody", {
      "x-svc-data-encoding": "serialized",
    });
    expect([
      inner.status,
      (JSON.parse(inner.text) as { type: string; message: string }).message,
    ]).toEqual([500, "Procedure 'far/nobody' v0.0.0 not found (seen)"]);
    const outer = await ask(endpoint, "GET", "/rpc/near/nothing");
    expect([outer.status, outer.headers["x-svc-error"]]).toEqual([404, "ProcedureNotFound"]);
    expect(new ProcedureNotFound()).toBeInstanceOf(NotFound);
  });
});

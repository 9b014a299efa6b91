import { beforeAll, describe, expect, it } from "vitest";

import {
  MissingParameterValue,
  NotFound,
  ProcedureNotFound,
  statusOf,
  Unauthorized,
} from "../../src/errors.ts";
import { frameworkErrors } from "../../src/errors.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import type { Role } from "../../src/roles/role.ts";
import { createStandalone } from "../../src/roles/standalone.ts";
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
import { layer } from "./_services.ts";
import { body, call, names } from "./_shop.ts";

// An error that the protocol answers a call with is about that call. A procedure that lets one of an inner call out is not called wrongly itself.

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
  // What refuses.
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
  // What the application throws by itself.
  {
    fqn: "far/throws",
    parameters: names("name"),
    in: { far: "public" },
    body: body("far/throws", (_, _graph, name: string) => {
      const Kind = frameworkErrors.get(name);
      throw Kind === undefined ? new Error(name) : new Kind("by the application");
    }),
  },
  // What calls them.
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
  // A third one in between.
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

const ways = ["on one node", "on two nodes"] as const;
type Way = (typeof ways)[number];

async function deployed(way: Way): Promise<{ door: Role; far: Role; log: TestLog }> {
  const network = new TestNetwork();
  const log = new TestLog();
  const host = () => testHost(network, new TestClock(), log);
  const common = { trustKey: "the-trust-key-of-the-refusals", limits: defaultLimits };
  const files = {
    publicFile: async () => undefined,
    component: async () => undefined,
    serverFile: async () => undefined,
  };
  if (way === "on one node") {
    const door = createStandalone(host(), {
      ...common,
      files,
      modules: testModules(procedures),
      segments: ["near", "far"],
      name: undefined,
    });
    await door.start("http://door");
    return { door, far: door, log };
  }
  let ids = 0;
  const gateway = createGateway(host(), {
    ...common,
    monitor: 5000,
    lease: 15_000,
    newId: () => `m${++ids}`,
  });
  const node = (segment: string) =>
    createNode(host(), {
      ...common,
      gateway: "http://gateway",
      modules: testModules(procedures),
      segments: [segment],
      name: undefined,
    });
  const [near, far] = [node("near"), node("far")];
  const door = createProxy(host(), {
    ...common,
    calls: "http://gateway",
    repository: "http://files",
  });
  for (const [url, role] of Object.entries({ gateway, near, far, door })) {
    network.roles.set(`http://${url}`, role);
    await role.start(`http://${url}`);
  }
  return { door, far, log };
}

describe.each(ways)("an inner call %s", (way) => {
  let door: Role;
  let log: TestLog;
  beforeAll(async () => {
    ({ door, log } = await deployed(way));
  });
  const get = async (name: string) => {
    caught = [];
    return await ask(door, "GET", `/rpc/near/${name}`);
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
    "D4-26 that the protocol refuses is a 500 of the procedure that lets the error out: %s",
    async (name, kind, own) => {
      const before = log.lines.length;
      const answer = await get(name);
      expect([answer.status, answer.headers["x-svc-error"]]).toEqual([500, kind]);
      expect(answer.text).toContain(`[near/${name} | v0.0.0]`);
      // The class stays what it is, and with it the status that it stands for.
      expect(caught.map((error) => [error.name, statusOf(error)])).toEqual([[kind, own]]);
      expect(caught[0]).toBeInstanceOf(frameworkErrors.get(kind));
      // It is a mistake of the application: its log has the stack.
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
  ])("whose procedure throws the same class itself keeps its status: %s (D4-26)", async (name) => {
    caught = [];
    const answer = await ask(door, "GET", `/rpc/near/passes?name=${name}`);
    const status = statusOf(new (frameworkErrors.get(name) ?? Error)());
    expect([answer.status, answer.headers["x-svc-error"]]).toEqual([status, name]);
  });

  it("leaves an error of the procedure's own as it is (D4-26)", async () => {
    const answer = await get("other");
    expect([answer.status, answer.text]).toEqual([404, "of its own\n[near/other | v0.0.0]"]);
  });

  it("says 404 and 400 for the outer call itself, as ever (D4-26)", async () => {
    for (const [target, status] of [
      ["/rpc/near/nothing", 404],
      ["/rpc/near/passes", 400],
      ["/rpc/near/passes?name=1&other=2", 400],
      ["/rpc/near/passes?version=x", 400],
    ] as const)
      expect((await ask(door, "GET", target)).status).toBe(status);
  });
});

describe("what a middleware throws", () => {
  it("keeps its status for an inner call too (D4-26)", async () => {
    const { door, far } = await deployed("on two nodes");
    far.addMiddleware(layer(() => Promise.reject(new Unauthorized("no token"))));
    caught = [];
    const answer = await ask(door, "GET", "/rpc/near/passes?name=x");
    expect([answer.status, answer.text]).toEqual([401, "no token\n[near/passes | v0.0.0]"]);
    expect(caught[0]).toBeInstanceOf(Unauthorized);
  });

  it("is not what it took from next (D4-26)", async () => {
    const { door, far } = await deployed("on two nodes");
    far.addMiddleware(layer(async (_fqn, _version, _args, _headers, next) => await next()));
    caught = [];
    const answer = await ask(door, "GET", "/rpc/near/missing");
    expect([answer.status, caught[0] instanceof MissingParameterValue]).toEqual([500, true]);
  });

  it("of an inner call that it makes itself is a 500 (D4-26)", async () => {
    const { door } = await deployed("on one node");
    door.addMiddleware(layer(async () => await door.runProcedure?.("far/nobody")));
    const answer = await ask(door, "GET", "/rpc/near/passes?name=x");
    expect([answer.status, answer.headers["x-svc-error"]]).toEqual([500, "ProcedureNotFound"]);
  });

  it("at a gateway, changed on its way, is the error that it was (D4-26)", async () => {
    const { door } = await deployed("on two nodes");
    door.addMiddleware(
      layer(async (_fqn, _version, _args, _headers, next) => {
        try {
          return await next();
        } catch (error) {
          (error as Error).message += " (seen)";
          throw error;
        }
      }),
    );
    const inner = await ask(door, "GET", "/rpc/near/nobody", {
      "x-svc-data-encoding": "serialized",
    });
    expect([
      inner.status,
      (JSON.parse(inner.text) as { type: string; message: string }).message,
    ]).toEqual([500, "Procedure 'far/nobody' v0.0.0 not found (seen)"]);
    const outer = await ask(door, "GET", "/rpc/near/nothing");
    expect([outer.status, outer.headers["x-svc-error"]]).toEqual([404, "ProcedureNotFound"]);
    expect(new ProcedureNotFound()).toBeInstanceOf(NotFound);
  });
});

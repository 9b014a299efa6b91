import { beforeAll, describe, expect, it } from "vitest";

import type { Role } from "../../src/roles/pipeline/role.ts";
import { ask, testModules, type TestProcedure, TestDeployment } from "../_cluster.ts";
import { deploy, type Deployment } from "../_deployment.ts";
import { wireCases } from "../_wire-cases.ts";
import { wireClasses } from "../_wire-classes.ts";
import { body, names, OutOfStock } from "./_shop.ts";

let cluster: Deployment;
let run: NonNullable<Role["runProcedure"]>;
let elsewhere: NonNullable<Role["runProcedure"]>;
/** The arguments of `wire/echo`, on its node. */
let arrived: unknown;

beforeAll(async () => {
  cluster = await deploy();
  run = cluster.a.runProcedure as typeof run;
  elsewhere = cluster.b.runProcedure as typeof run;
});

/** Two nodes: `one` has procedures that take and return any value, `two` has none of them. */
async function pair(): Promise<Record<"one" | "two", NonNullable<Role["runProcedure"]>>> {
  const local = new TestDeployment();
  const rest = [
    { kind: "plain", name: "first" },
    { kind: "rest", name: "others" },
  ] as const;
  const procedures: TestProcedure[] = [
    {
      fqn: "wire/echo",
      parameters: names("value"),
      in: { one: "public" },
      body: body("wire/echo", (_, _graph, value) => (arrived = value)),
    },
    {
      fqn: "wire/rest",
      parameters: rest,
      in: { one: "public" },
      body: body("wire/rest", (_, _graph, ...all: unknown[]) => all),
    },
    {
      fqn: "wire/optional",
      parameters: [{ kind: "plain", name: "a", optional: true }],
      in: { one: "public" },
      body: body("wire/optional", (_, _graph, a: unknown = "default") => a),
    },
    { fqn: "wire/two", in: { two: "public" }, body: body("wire/two", () => 2) },
  ];
  await local.gateway();
  const classes = wireClasses.map(([record, constructor]) => ({ record, constructor }));
  const started = async (segment: string): Promise<NonNullable<Role["runProcedure"]>> => {
    const modules = testModules(procedures, classes);
    return (await local.node(segment, { modules, segments: [segment] })).runProcedure as typeof run;
  };
  return { one: await started("one"), two: await started("two") };
}

describe("runProcedure", () => {
  it("hooks-12: runProcedure takes the name of a procedure as module/name: the FQN", async () => {
    expect(await run("shop/stock", "0.0.0", { sku: "1" })).toBe(5);
    for (const name of [
      "stock",
      "./shop/stock",
      "shop/stock.js",
      "/shop/stock",
      "shop.stock",
      "",
      "shop/../shop/stock",
      "../rpc/shop/stock",
      "../nodes",
      "shop//stock",
    ])
      await expect(run(name, "0.0.0", { sku: "1" }), name).rejects.toMatchObject({
        name: "ProcedureNotFound",
      });
  });

  it("hooks-13: runProcedure takes the version as a string, also in short form; empty or left out, it is 0.0.0", async () => {
    for (const [version, result] of [
      ["1.0.0", 1],
      ["1", 1],
      ["2.0", 2],
    ] as const) {
      expect(await run("shop/price", version)).toBe(result);
      expect(await elsewhere("shop/price", version)).toBe(result);
    }
    expect(await elsewhere("shop/stock", "", { sku: "1" })).toBe(5);
    expect(await elsewhere("shop/stock", undefined, { sku: "1" })).toBe(5);
    for (const where of [run, elsewhere]) {
      await expect(where("shop/price", "3")).rejects.toMatchObject({ name: "ProcedureNotFound" });
      await expect(where("shop/price", "1.2.3.4")).rejects.toMatchObject({
        name: "InvalidVersionNumber",
        message: "Invalid version number '1.2.3.4'",
      });
    }
  });

  describe("hooks-14: runProcedure takes args, an object of values by name, of any type that can travel", () => {
    it.each(wireCases)("$name", async ({ value, ...more }) => {
      const { one, two } = await pair();
      const expected = "decoded" in more ? more.decoded : value;
      expect(await two("wire/echo", "", { value })).toEqual(expected);
      expect(arrived).toEqual(expected);
      // On the node itself nothing is copied or converted.
      expect(await one("wire/echo", "", { value })).toBe(value);
    });

    it.each(["one", "two"] as const)(
      "runProcedure takes rest and optional arguments and refuses missing and unknown ones, on the node %s",
      async (node) => {
        const run = (await pair())[node];
        expect(await run("wire/rest", "", { first: 1, "...others": [2, 3] })).toEqual([1, 2, 3]);
        expect(await run("wire/rest", "", { first: 1 })).toEqual([1]);
        expect(await run("wire/optional")).toBe("default");
        expect(await run("wire/optional", "", { a: undefined })).toBe("default");
        expect(await run("wire/optional", "", { a: null })).toBe(null);
        await expect(run("wire/echo")).rejects.toMatchObject({
          name: "MissingParameterValue",
          message: "Missing value for parameter 'value'",
        });
        await expect(run("wire/echo", "", { value: 1, other: 2 })).rejects.toMatchObject({
          name: "UnknownParameter",
          message: "Unknown parameter 'other'",
        });
        await expect(run("wire/rest", "", { first: 1, "...others": 2 })).rejects.toMatchObject({
          name: "InvalidParameterValue",
        });
      },
    );

    it("runProcedure refuses an argument that can't travel with its path, and only if it has to travel", async () => {
      const { one, two } = await pair();
      const value = { call: () => 1 };
      await expect(two("wire/echo", "", { value })).rejects.toMatchObject({
        name: "ValueNotSerializable",
        message: expect.stringContaining("args.value.call") as string,
      });
      expect(await one("wire/echo", "", { value })).toBe(value);
    });
  });

  it.each([
    ["a map", new Map([["Authorization", "Bearer 1"]])],
    ["an object", { Authorization: "Bearer 1" }],
    ["Headers", new Headers({ Authorization: "Bearer 1" })],
    ["pairs", [["Authorization", "Bearer 1"]]],
  ])(
    "hooks-15: runProcedure's last argument is the context, or options, whose headers the call carries: %s",
    async (_, headers) => {
      for (const where of [run, elsewhere])
        expect(await where("shop/whoami", "", {}, { headers })).toMatchObject({
          authorization: "Bearer 1",
        });
    },
  );

  it("headers without a value are left out, and a context may have no headers (hooks-15)", async () => {
    for (const where of [run, elsewhere]) {
      const headers = await where(
        "shop/whoami",
        "",
        {},
        { headers: { authorization: undefined, cookie: null, "x-kept": "0" } },
      );
      expect(headers).toMatchObject({ "x-kept": "0" });
      expect(headers).not.toHaveProperty("authorization");
      expect(headers).not.toHaveProperty("cookie");
      for (const context of [undefined, null, {}, { headers: undefined }])
        expect(await where("shop/whoami", "", {}, context)).not.toHaveProperty("authorization");
      for (const context of [1, "text", { headers: "text" }, { headers: { "x-kept": 0 } }])
        await expect(where("shop/whoami", "", {}, context)).rejects.toThrow(TypeError);
    }
  });

  it("hooks-16: runProcedure runs a procedure here if it is here, private ones too, and then nothing is sent", async () => {
    cluster.network.sent.length = 0;
    expect(await run("shop/price", "1")).toBe(1);
    expect(await elsewhere("shop/secret")).toBe("private");
    expect(cluster.network.sent).toEqual([]);
  });

  it("hooks-17: runProcedure runs what isn't here on another node through the RPC interface, protected ones too", async () => {
    cluster.network.sent.length = 0;
    expect(await run("shop/stock", "", { sku: "1" })).toBe(5);
    expect(await run("shop/audit")).toBe("audited");
    expect(cluster.network.sent.map(({ url, method }) => `${method} ${url}`)).toEqual([
      "POST http://gateway/rpc/shop/stock?version=0.0.0",
      "POST http://b/rpc/shop/stock?version=0.0.0",
      "POST http://gateway/rpc/shop/audit?version=0.0.0",
      "POST http://b/rpc/shop/audit?version=0.0.0",
    ]);
  });

  it("hooks-18: runProcedure calls only procedures of a segment: unknown ones, and private ones of other nodes, are ProcedureNotFound", async () => {
    const messages = [];
    for (const name of ["shop/nothing", "shop/secret"]) {
      const error = (await run(name).catch((thrown: unknown) => thrown)) as Error;
      expect(error).toMatchObject({ name: "ProcedureNotFound" });
      messages.push(error.message.replace(name, "…"));
    }
    expect(messages[0]).toBe(messages[1]);
    // A module's own export that no segment names.
    await expect(run("shop/Money")).rejects.toMatchObject({ name: "ProcedureNotFound" });
    await expect(run("__proto__")).rejects.toMatchObject({ name: "ProcedureNotFound" });
  });

  it("an error keeps its class at runProcedure's caller, with a trace line of each procedure (hooks-17)", async () => {
    for (const where of [run, elsewhere]) {
      const thrown = await where("shop/stock", "", { sku: "none" }).catch(
        (error: unknown) => error,
      );
      expect(thrown).toBeInstanceOf(OutOfStock);
      expect(thrown).toMatchObject({
        message: "no none left",
        sku: "none",
        trace: ["[shop/stock | v0.0.0]"],
      });
    }
  });

  it("runProcedure is for node and standalone: a gateway has no procedures to start from (hooks-16)", async () => {
    expect(cluster.gateway.runProcedure).toBeUndefined();
    expect((await ask(cluster.gateway, "GET", "/health/live")).status).toBe(200);
  });
});

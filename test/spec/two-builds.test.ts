// A gateway with members of two builds, as while a new one is rolled out.

import { describe, expect, it } from "vitest";

import type { ClassRecord } from "../../src/base/manifest.ts";
import { ProcedureNotFound } from "../../src/base/errors.ts";
import type { NodeRole } from "../../src/roles/node.ts";
import { ask, key, TestDeployment, testModules, type TestProcedure } from "../_cluster.ts";

const segment = { in: { shop: "public" } } as const;
const named = (fqn: string, text: string, version = "1.0.0"): TestProcedure => ({
  fqn,
  version,
  ...segment,
  body: () => async () => text,
});

/** A build that calls itself so. */
function build(
  revision: string,
  procedures: readonly TestProcedure[],
  classes: Parameters<typeof testModules>[1] = [],
) {
  const modules = testModules(procedures, classes);
  return { ...modules, manifest: async () => ({ ...(await modules.manifest()), revision }) };
}

class OldRoll {
  sku = "";
}
class NewRoll {
  sku = "";
  width = 150;
}
const rollWith = (...fields: string[]): ClassRecord => ({
  key: "shop/Roll",
  module: "roll",
  export: "Roll",
  args: [],
  fields,
});

const said = (roll: object): string => JSON.stringify({ ...roll });
const takesRoll: TestProcedure = {
  fqn: "shop/measure",
  version: "1.0.0",
  parameters: [{ kind: "plain", name: "roll" }],
  ...segment,
  body: () => async (roll: unknown) => said(roll as object),
};
const more: TestProcedure = {
  fqn: "shop/cut",
  version: "1.0.0",
  parameters: [
    { kind: "plain", name: "sku" },
    { kind: "plain", name: "unit", optional: true },
  ],
  ...segment,
  body: () => async (sku: unknown, unit: unknown) => `${String(sku)} ${String(unit)}`,
};

const old = () =>
  build(
    "old",
    [
      named("shop/quote", "one"),
      named("shop/gone", "still here"),
      { ...more, parameters: more.parameters!.slice(0, 1) },
      takesRoll,
    ],
    [{ record: rollWith("sku"), constructor: OldRoll }],
  );
const next = () =>
  build(
    "new",
    [named("shop/quote", "one"), named("shop/quote", "two", "2.0.0"), more, takesRoll],
    [{ record: rollWith("sku", "width"), constructor: NewRoll }],
  );

async function deployment(builds: Readonly<Record<string, ReturnType<typeof build>>>) {
  const local = new TestDeployment();
  const gateway = await local.gateway();
  const nodes: Record<string, NodeRole> = {};
  for (const [name, modules] of Object.entries(builds))
    nodes[name] = await local.node(name, { modules, segments: ["shop"], name });
  const call = async (target: string, body: object = {}): Promise<string> => {
    const headers = { "content-type": "application/json", "x-svc-data-encoding": "serialized" };
    const answer = await ask(gateway, "POST", `/rpc/${target}`, headers, JSON.stringify(body));
    const by = answer.headers["x-svc-node"];
    return `${answer.status} ${answer.text.slice(0, 200)}${by === undefined ? "" : ` by ${String(by)}`}`;
  };
  return { local, nodes, gateway, call };
}

const roll = (fields: object) => ({
  roll: { serialized: true, name: "class", key: "shop/Roll", args: {}, fields },
});

describe("a gateway with members of two builds", () => {
  it.each([
    ["a new version", "shop/quote?version=2", {}, "200 two by next"],
    ["a new parameter", "shop/cut?version=1", { sku: "tweed", unit: "m" }, "200 tweed m by next"],
    [
      "a new field of a class",
      "shop/measure?version=1",
      roll({ sku: "tweed", width: 90 }),
      '200 {"sku":"tweed","width":90} by next',
    ],
  ])(
    "revisions-13: a call that a member of one build refuses before it runs goes to a member of the other build, once: %s",
    async (_, target, body, expected) => {
      const { call, local } = await deployment({ a: old(), b: old(), c: old(), next: next() });
      for (let time = 0; time < 8; time++) expect(await call(target, body)).toBe(expected);
      expect(local.log.lines.join("\n")).toContain(
        "again: http://a has another build, and refused it before it began",
      );
    },
  );

  it("revisions-14: a call that neither build takes is refused as ever, after one more try", async () => {
    const { call, local } = await deployment({ a: old(), b: old(), next: next() });
    for (let time = 0; time < 4; time++)
      expect(await call("shop/quote?version=3")).toMatch(/^404 .*'shop\/quote' v3\.0\.0 not found/);
    expect(local.log.lines.filter((line) => line.includes("another build"))).not.toEqual([]);
    // Members of one build aren't asked for what another one of them has refused.
    const { call: callAlone, local: alone } = await deployment({ a: old(), b: old() });
    expect(await callAlone("shop/quote?version=2")).toMatch(/^404/);
    expect(alone.log.lines.join("\n")).not.toContain("again");
  });

  it("an error that a procedure throws is no such refusal, whatever its name (revisions-14)", async () => {
    let runs = 0;
    const throwing = (revision: string) =>
      build(revision, [
        {
          ...named("shop/quote", ""),
          body: (graph) => async () => {
            runs++;
            // As generated code does.
            throw graph.traced(new ProcedureNotFound("not here"), "[shop/quote | v1.0.0]");
          },
        },
      ]);
    const { call } = await deployment({ a: throwing("old"), b: throwing("new") });
    expect(await call("shop/quote?version=1")).toMatch(/^404 .*not here/);
    expect(runs).toBe(1);
  });

  it("revisions-15: a procedure that no member has any more is 404 if the build of the newest member doesn't have it, and 503 if it does", async () => {
    const elsewhere = (revision: string, ...procedures: TestProcedure[]) =>
      build(revision, [
        named("shop/quote", "one"),
        { ...named("shop/gone", "still here"), in: { other: "public" } },
        ...procedures,
      ]);
    for (const [modules, expected] of [
      [next(), /^404 .*'shop\/gone' v1\.0\.0 not found/],
      [elsewhere("new"), /^503/],
    ] as const) {
      const { call, local, nodes } = await deployment({ a: old() });
      expect(await call("shop/gone?version=1")).toBe("200 still here by a");
      await local.node("next", { modules, segments: ["shop"], name: "next" });
      expect(await call("shop/gone?version=1")).toBe("200 still here by a");
      const leaving = nodes["a"]!.leave();
      await local.clock.pass(1_000);
      await leaving;
      for (let time = 0; time < 2; time++)
        expect(await call("shop/gone?version=1")).toMatch(expected);
    }
  });

  it("only services are told which procedures a node's build has (revisions-15)", async () => {
    const { nodes } = await deployment({ a: old() });
    const path = "/svc/procedures/shop/gone";
    expect((await ask(nodes["a"]!, "GET", path)).status).toBe(404);
    const shown = await ask(nodes["a"]!, "GET", path, { "x-svc-trust-key": key });
    expect(shown.text).toBe("true");
  });

  it("revisions-16: of an instance in an answer, a caller of an earlier build leaves out what its class doesn't have yet", async () => {
    class Old {
      readonly sku: string;
      note = "";
      constructor(sku: string) {
        this.sku = sku;
      }
    }
    class New extends Old {
      readonly width: number;
      edge = "fringed";
      constructor(sku: string, width: number) {
        super(sku);
        this.width = width;
      }
    }
    const record = { key: "shop/Sheet", module: "sheet", export: "Sheet" };
    const make: TestProcedure = {
      ...named("shop/make", ""),
      body: () => async () => [new New("tweed", 90)],
    };
    const { nodes } = await deployment({
      old: build(
        "old",
        [named("shop/quote", "one")],
        [{ record: { ...record, args: ["sku"], fields: ["note"] }, constructor: Old }],
      ),
      next: build(
        "new",
        [make],
        [
          {
            record: { ...record, args: ["sku", "width"], fields: ["note", "edge"] },
            constructor: New,
          },
        ],
      ),
    });
    const [made] = (await nodes["old"]!.runProcedure!("shop/make", "1")) as [Old];
    expect(made).toBeInstanceOf(Old);
    expect(Object.entries(made)).toEqual([
      ["sku", "tweed"],
      ["note", ""],
    ]);
  });
});

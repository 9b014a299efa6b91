// Checks in a test cluster: calls from outside meet them, and calls of the test itself don't.

import { existsSync } from "node:fs";

import { expect, it, onTestFinished } from "vitest";

import { createTestCluster, type TestClusterOptions } from "../../server/testing/index.ts";
import { createFixture, type Files, type Fixture } from "../build/_fixture.ts";

const shop: Files = {
  "src/shop/order.ts": `import type { Line } from "./line.ts";
export async function order(line: Line): Promise<string> {
  return JSON.stringify(line);
}
`,
  "src/shop/line.ts": "export interface Line { metres: number }\n",
  "segments/shop.segment.json": '{ "./shop/order": { "order": { "access": "public" } } }',
};

interface Order {
  order(line: unknown): Promise<string>;
}

async function cluster(app: Fixture, options: TestClusterOptions = {}) {
  const started = await createTestCluster({ root: app.root, ...options });
  onTestFinished(async () => await started.stop());
  return started;
}

const asked = async (all: Awaited<ReturnType<typeof cluster>>, line: unknown) => {
  const answer = await all.fetch("/rpc/shop/order", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ line }),
  });
  return [answer.status, await answer.text()] as const;
};

it("cluster.page and cluster.fetch meet checks, which take no time of the stopped clock", async () => {
  const all = await cluster(createFixture(shop));
  const before = all.clock.now();
  const { order } = await all.page.import<Order>("./shop/order");
  await expect(order({ metres: "1" })).rejects.toMatchObject({
    name: "InvalidParameterValue",
    message: expect.stringContaining("line.metres: expected number"),
  });
  expect(await order({ metres: 1, admin: true })).toBe('{"metres":1}');
  expect(await asked(all, { metres: "1" })).toEqual([400, expect.stringContaining("line.metres")]);
  expect(all.clock.now()).toBe(before);
});

it("cluster.import, runProcedure and calls of nodes don't, and nothing is read for them", async () => {
  const app = createFixture(shop);
  const all = await cluster(app);
  const { order } = await all.import<Order>("./shop/order");
  expect(await order({ metres: "1", admin: true })).toBe('{"metres":"1","admin":true}');
  expect(await all.runProcedure("shop/order", "", { line: { metres: "1" } })).toBe(
    '{"metres":"1"}',
  );
  const kept = "node_modules/.vite/seamline-types.json";
  expect(existsSync(app.path(kept))).toBe(false);
  await asked(all, {});
  expect(existsSync(app.path(kept))).toBe(true);
});

it("a stopped cluster reads nothing any more, even if a call was refused before its types were read", async () => {
  const app = createFixture({
    ...shop,
    // The text of a call is looked through for instances of classes while types are being read.
    "src/shop/wool.ts":
      "export class Wool { metres = 1; }\nexport async function wool(): Promise<Wool> {\n  return new Wool();\n}\n",
    "segments/wool.segment.json": '{ "./shop/wool": { "wool": { "access": "public" } } }',
  });
  const all = await cluster(app);
  const headers = { "content-type": "application/json", "x-svc-data-encoding": "serialized" };
  const refused = await all.fetch("/rpc/shop/order", { method: "POST", headers, body: "{" });
  expect(refused.status).toBe(400);
  const kept = app.path("node_modules/.vite/seamline-types.json");
  expect(existsSync(kept)).toBe(false);
  await all.stop();
  expect(existsSync(kept)).toBe(true);
});

it("a type that can't be resolved refuses calls from outside, and says why", async () => {
  const all = await cluster(
    createFixture({ ...shop, "src/shop/line.ts": "export interface Line { metres: Metres }\n" }),
  );
  const [status, text] = await asked(all, { metres: 1 });
  expect(status).toBe(400);
  expect(text).toContain("line.metres: its type can't be resolved");
});

it("a configuration that says so turns checks off", async () => {
  const all = await cluster(createFixture(shop), { config: { validate: false } });
  expect(await asked(all, { metres: "1" })).toEqual([200, expect.stringContaining("metres")]);
});

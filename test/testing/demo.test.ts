// The demo's shop, tested as its developers would: across its seams, without a build.

import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  createTestCluster,
  type TestCluster,
  type TestClusterOptions,
} from "../../server/testing/index.ts";
import { root } from "../_sources.ts";

type Orders = typeof import("../../demo/src/shop/orders.ts");
type Quotes = typeof import("../../demo/src/shop/quote.ts");
type Stock = typeof import("../../demo/src/shop/stock.ts");
type Baskets = typeof import("../../demo/src/shop/basket.ts");

const nodes = { a: ["catalogue"], b: ["catalogue", "warehouse"] };
const start = async (options: TestClusterOptions = {}): Promise<TestCluster> =>
  await createTestCluster({ root: join(root, "demo"), nodes, page: ["ui"], ...options });

/** A cloth with enough left on its roll. */
async function cloth(cluster: TestCluster): Promise<string> {
  const { hits } = (await cluster.runProcedure("shop/search", "", { limit: 96 })) as {
    hits: { sku: string }[];
  };
  const levels = (await cluster.runProcedure("shop/stockLevels", "", {
    "...skus": hits.map(({ sku }) => sku),
  })) as Map<string, number>;
  return [...levels].find(([, left]) => left > 5)![0];
}

describe("the demo's orders", () => {
  it("an order in the demo is placed over two nodes, and shortens the roll", async () => {
    await using cluster = await start();
    const sku = await cloth(cluster);
    const { placeOrder } = await cluster.page.import<Orders>("./shop/orders");
    const { quote } = await cluster.page.import<Quotes>("./shop/quote");
    const before = await quote(sku, 5);
    cluster.forget();
    const receipt = await placeOrder([{ sku, metres: 5 }]);
    expect([receipt.number, receipt.placed, receipt.total.cents]).toEqual([
      "S-1001",
      expect.any(Date),
      before.total().cents,
    ]);
    expect((await quote(sku, 5)).left).toBe(before.left - 5);
    const reserved = cluster.calls("shop/reserve");
    expect(reserved.map(({ from, where, error }) => [from, where, error])).toEqual([
      ["b", "b", undefined],
    ]);
  });

  it("an order in the demo for more than a roll has is refused with the error's class, fields and trace", async () => {
    await using cluster = await start();
    const sku = await cloth(cluster);
    const { placeOrder } = await cluster.page.import<Orders>("./shop/orders");
    const { OutOfStock } = await import("../../demo/src/shop/errors.ts");
    const thrown = await placeOrder([{ sku, metres: 400 }]).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(OutOfStock);
    expect(thrown).toMatchObject({ name: "OutOfStock", sku, wanted: 400 });
    const lines = [{ sku, metres: 400 }];
    const json = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ lines }),
    };
    const answer = await cluster.fetch("/rpc/shop/placeOrder", json);
    expect([answer.status, (await answer.text()).split("\n").slice(1)]).toEqual([
      400,
      ["[shop/reserve | v0.0.0]", "[shop/placeOrder | v0.0.0]"],
    ]);
  });

  it("an order in the demo that its types don't take is refused before any cloth is asked for", async () => {
    await using cluster = await start();
    const { placeOrder } = await cluster.page.import<Orders>("./shop/orders");
    const refused = async (lines: Parameters<typeof placeOrder>[0]): Promise<unknown> =>
      await placeOrder(lines).catch((error: unknown) => error);
    expect(await refused([{ sku: "a", metres: 0.5 }])).toMatchObject({
      name: "InvalidParameterValue",
      message: expect.stringContaining("lines[0].metres: ") as string,
    });
    expect(
      await refused(Array.from({ length: 51 }, () => ({ sku: "a", metres: 1 }))),
    ).toMatchObject({
      name: "InvalidParameterValue",
      message: expect.stringContaining("lines: ") as string,
    });
    expect(cluster.calls("shop/quote")).toEqual([]);
  });

  it("no order is taken while the demo's shop is closed", async () => {
    vi.stubEnv("SHOP_CLOSED", "1");
    onTestFinished(() => void vi.unstubAllEnvs());
    await using cluster = await start();
    const { placeOrder } = await cluster.page.import<Orders>("./shop/orders");
    await expect(placeOrder([])).rejects.toMatchObject({
      name: "Forbidden",
      message: expect.stringContaining("The shop is closed today") as string,
    });
  });

  it("private procedures of the demo stay on their node, whatever a page requests", async () => {
    await using cluster = await start();
    await expect(
      cluster.page.runProcedure("shop/reserve", "", { lines: [] }),
    ).rejects.toMatchObject({ name: "ProcedureNotFound" });
    expect((await cluster.fetch("/rpc/shop/reserve")).status).toBe(404);
    expect(cluster.calls("shop/reserve")).toEqual([]);
  });

  it("orders in the demo continue when a node of the catalogue fails", async () => {
    await using cluster = await start();
    const sku = await cloth(cluster);
    cluster.node("a").kill();
    const { quote } = await cluster.page.import<Quotes>("./shop/quote");
    for (let round = 0; round < 3; round++) expect((await quote(sku, 1)).sku).toBe(sku);
    expect(
      new Set(cluster.calls({ fqn: "shop/quote", from: "page" }).map(({ where }) => where)),
    ).toEqual(new Set(["b"]));
  });
});

describe("the demo's page", () => {
  it("the demo's page adds up baskets itself, and calls a fake warehouse for the stock", async () => {
    await using cluster = await start({
      nodes: { catalogue: "catalogue" },
      fakes: { "shop/stockLevels": (...skus: string[]) => new Map(skus.map((sku) => [sku, 3])) },
    });
    const found = (await cluster.runProcedure("shop/search", "", { limit: 1 })) as {
      hits: { sku: string }[];
    };
    const { quote } = await cluster.page.import<Quotes>("./shop/quote");
    const price = await quote(found.hits[0]!.sku, 5);
    expect([price.left, price.discount()]).toEqual([3, 5]);
    const { basketTotals } = await cluster.page.import<Baskets>("./shop/basket");
    const totals = await basketTotals([{ sku: price.sku, metres: 5, unit: price.unit }]);
    expect(totals.total.cents).toBe(price.total().cents);
    expect(cluster.calls({ where: "page" }).map(({ fqn }) => fqn)).toEqual(["shop/basketTotals"]);
    using _none = cluster.fake<Stock["stockLevels"]>(
      "shop/stockLevels",
      () => new Map<string, number>(),
    );
    expect((await quote(price.sku, 1)).left).toBe(0);
  });
});

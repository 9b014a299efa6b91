import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createTestCluster,
  type TestCluster,
  type TestClusterOptions,
} from "../../server/testing/index.ts";
import { Context, traceOf } from "../../src/index.ts";
import { createFixture, type Files } from "../build/_fixture.ts";
import { type Money, type Quote, shop, type Stock } from "./_shop.ts";

async function start(
  options: TestClusterOptions = {},
  more: Files = {},
): Promise<{ cluster: TestCluster; root: string }> {
  const { root } = createFixture({ ...shop, ...more });
  const cluster = await createTestCluster({ root, ...options });
  onTestFinished(async () => await cluster.stop());
  return { cluster, root };
}

describe("fakes in a test cluster", () => {
  it("a fake replaces a procedure wherever it runs, until it is restored", async () => {
    const { cluster } = await start({ nodes: { all: ["shop", "warehouse"] } });
    const { quote } = await cluster.import<Quote>("./shop/quote");
    const restore = cluster.fake<Stock>("warehouse/stock", async (sku) => sku.length - 4);
    await expect(quote("felt")).rejects.toMatchObject({ name: "NotFound", sku: "felt" });
    expect((await quote("cotton", 2)).cents).toBe(2500);
    expect(cluster.calls("warehouse/stock").map(({ faked, args }) => [faked, args])).toEqual([
      [true, ["felt"]],
      [true, ["cotton"]],
    ]);
    restore();
    cluster.forget();
    expect((await quote("felt")).cents).toBe(1250);
    expect(cluster.calls("warehouse/stock").map(({ faked }) => faked)).toEqual([false]);
    {
      using _none = cluster.fake("warehouse/stock", () => 0);
      await expect(quote("felt")).rejects.toMatchObject({ name: "NotFound", sku: "felt" });
    }
    expect((await quote("felt")).cents).toBe(1250);
  });

  it("a fake may replace one version or a number of calls, and the last fake wins", async () => {
    const { cluster } = await start();
    const ask = async (version: string) =>
      await cluster.runProcedure("warehouse/stock", version, { sku: "felt" });
    const restore = cluster.fake("warehouse/stock", () => "second", { version: "2" });
    cluster.fake("warehouse/stock", () => "once", { times: 1 });
    expect([await ask("2"), await ask("2"), await ask("")]).toEqual(["once", "second", 7]);
    restore();
    expect(await ask("2")).toBe(4);
  });

  it("a fake sees the call's context and adds its line to the trace of errors", async () => {
    const { cluster } = await start();
    cluster.fake("warehouse/stock", function () {
      throw new RangeError(`${this instanceof Context} ${this.headers.get("authorization")}`);
    });
    const error = await cluster
      .runProcedure("shop/quote", "", { sku: "felt" }, { headers: { authorization: "me" } })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RangeError);
    expect([(error as Error).message, traceOf(error)]).toEqual([
      "true me",
      ["[warehouse/stock | v0.0.0]", "[shop/quote | v0.0.0]"],
    ]);
  });

  it("a fake gets and returns instances of the test's classes, and the application those of its own", async () => {
    const { cluster, root } = await start();
    const { Money } = (await import(/* @vite-ignore */ join(root, "src/shop/money.ts"))) as {
      Money: new (cents: number) => Money;
    };
    const { OutOfStock } = (await import(/* @vite-ignore */ join(root, "src/shop/errors.ts"))) as {
      OutOfStock: new (sku: string) => Error;
    };
    const received: unknown[] = [];
    cluster.fake<Quote["total"]>("shop/total", (prices) => {
      received.push(...prices);
      return new Money(99);
    });
    const { total } = await cluster.import<Quote>("./shop/quote");
    expect(await total([new Money(1)])).toEqual(new Money(99));
    expect(received[0]).toBeInstanceOf(Money);
    expect(await (await cluster.fetch("/rpc/shop/total", json({ prices: [] }))).json()).toEqual({
      cents: 99,
    });
    cluster.fake<Quote["quote"]>(
      "shop/quote",
      async () => await Promise.reject(new OutOfStock("felt")),
    );
    const seen = await (
      await cluster.import<Quote>("./shop/quote")
    )
      .quote("felt")
      .catch((error: unknown) => error);
    expect(seen).toBeInstanceOf(OutOfStock);
    const answer = await cluster.fetch("/rpc/shop/quote?sku=felt");
    expect([answer.status, await answer.text()]).toEqual([
      404,
      "out of stock: felt\n[shop/quote | v0.0.0]",
    ]);
  });

  it("a fake may replace a procedure that no node holds", async () => {
    const { cluster, root } = await start({ nodes: { warehouse: "warehouse" }, page: ["ui"] });
    const { Money } = (await import(/* @vite-ignore */ join(root, "src/shop/money.ts"))) as {
      Money: new (cents: number) => Money;
    };
    const { quote } = await cluster.page.import<Quote>("./shop/quote");
    await expect(quote("felt")).rejects.toMatchObject({ name: "ProcedureNotFound" });
    const restore = cluster.fake<Quote["quote"]>(
      "shop/quote",
      (sku, quantity = 1) => new Money(sku.length * quantity),
    );
    expect(await quote("felt", 2)).toEqual(new Money(8));
    expect(
      cluster.calls("shop/quote").map(({ where, from, faked }) => [from, where, faked]),
    ).toEqual([["page", "fakes", true]]);
    expect((await cluster.fetch("/rpc/shop/quote")).status).toBe(400);
    restore();
    await expect(quote("felt")).rejects.toMatchObject({ name: "NodeNotAvailable" });
  });

  it("a module whose procedures are all faked on a node isn't loaded", async () => {
    const database = {
      "src/warehouse/hidden.ts":
        'throw new Error("no database");\nexport async function hidden(count: number): Promise<number> {\n  return count;\n}\n',
    };
    const { cluster } = await start({ fakes: { "warehouse/hidden": () => 5 } }, database);
    expect(await cluster.runProcedure("warehouse/stock", "", { sku: "felt" })).toBe(5);
  });

  it("fakes from the start are found if no node holds their procedures", async () => {
    const { cluster } = await start({
      nodes: { shop: "shop" },
      fakes: { "warehouse/stock": () => 5 },
    });
    expect(await cluster.runProcedure("warehouse/stock", "", { sku: "felt" })).toBe(5);
  });

  it("fake() refuses unknown names and versions, and values that aren't functions", async () => {
    const { cluster } = await start({ nodes: { shop: "shop" } });
    expect(() => cluster.fake("warehouse/stok", () => 1)).toThrow(
      "No segment file of the application names a procedure 'warehouse/stok'; did you mean 'warehouse/stock'?",
    );
    expect(() => cluster.fake("warehouse/stock", () => 1, { version: "3.0.0" })).toThrow(
      "'warehouse/stock' has no version 3.0.0: there is 0.0.0, 2.0.0",
    );
    expect(() => cluster.fake("warehouse/hidden", () => 1)).toThrow(
      "'warehouse/hidden' is private in 'warehouse', which no node of this cluster holds",
    );
    expect(() => cluster.fake("warehouse/stock", 1 as never)).toThrow(
      "A fake is a function, not number",
    );
  });
});

function json(value: unknown): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(value),
  };
}

import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { NotFound, traceOf } from "../../src/index.ts";
import {
  createTestCluster,
  type TestCluster,
  type TestClusterOptions,
} from "../../server/testing/index.ts";
import { createFixture, type Files } from "../build/_fixture.ts";
import { type Money, type Quote, shop } from "./_shop.ts";

async function start(
  options: TestClusterOptions = {},
  more: Files = {},
): Promise<{ cluster: TestCluster; root: string }> {
  const { root } = createFixture({ ...shop, ...more });
  const cluster = await createTestCluster({ root, ...options });
  onTestFinished(async () => await cluster.stop());
  return { cluster, root };
}

/** A class imported by the test itself. */
async function own(
  root: string,
  module: string,
  name: string,
): Promise<new (...args: unknown[]) => unknown> {
  return (
    (await import(/* @vite-ignore */ join(root, module))) as Record<
      string,
      new (...args: unknown[]) => unknown
    >
  )[name]!;
}

describe("createTestCluster", () => {
  it("createTestCluster runs an application from its sources, with a node for each server segment", async () => {
    const { cluster } = await start();
    const { quote, currency } = await cluster.import<Quote>("./shop/quote");
    expect([currency, (await quote("felt", 2)).cents]).toEqual(["EUR", 2500]);
    expect(cluster.nodes.map(({ name, segments, running }) => [name, segments, running])).toEqual([
      ["shop", ["shop"], true],
      ["warehouse", ["warehouse"], true],
    ]);
    expect(cluster.calls().map(({ where, fqn, from, args }) => [from, where, fqn, args])).toEqual([
      ["test", "shop", "shop/quote", ["felt", 2]],
      ["shop", "warehouse", "warehouse/stock", ["felt"]],
      ["warehouse", "warehouse", "warehouse/hidden", [8]],
    ]);
  });

  it("calls of a test cluster return values and errors of the test's own classes", async () => {
    const { cluster, root } = await start();
    const [Money, OutOfStock] = [
      await own(root, "src/shop/money.ts", "Money"),
      await own(root, "src/shop/errors.ts", "OutOfStock"),
    ];
    const { quote, total } = await cluster.import<Quote>("./shop/quote.js");
    expect(await quote("felt")).toBeInstanceOf(Money);
    expect(await total([new Money(1) as Money, await quote("felt")])).toEqual(new Money(1251));
    const error = await quote("silk").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OutOfStock);
    expect(error).toBeInstanceOf(NotFound);
    expect([(error as { sku: string }).sku, traceOf(error)]).toEqual([
      "silk",
      ["[shop/quote | v0.0.0]"],
    ]);
    const page = await cluster.page.import<Quote>("./shop/quote");
    expect(await page.quote("felt")).toBeInstanceOf(Money);
  });

  it("the option 'nodes' puts several segments on one node, and one segment on several", async () => {
    const { cluster } = await start({ nodes: { all: ["shop", "warehouse"], more: "warehouse" } });
    const { quote } = await cluster.import<Quote>("./shop/quote");
    await quote("felt");
    expect(cluster.calls("warehouse/stock").map(({ where, from }) => [from, where])).toEqual([
      ["all", "all"],
    ]);
    for (let calls = 0; calls < 4; calls++)
      await cluster.runProcedure("warehouse/stock", "", { sku: "felt" });
    const away = cluster.calls({ fqn: "warehouse/stock", from: "test" });
    expect(away.map(({ where }) => where).toSorted()).toEqual(["all", "all", "more", "more"]);
    expect(await cluster.runProcedure("warehouse/stock", "2.0.0", { sku: "felt" })).toBe(4);
  });

  it("the page of a test cluster is untrusted and has the segments that it loads", async () => {
    const { cluster } = await start({ page: ["ui"] });
    const { label } = await cluster.page.import<{ label(sku: string): Promise<string> }>(
      "./ui/label",
    );
    expect(await label("felt")).toBe("felt (7)");
    expect(cluster.calls().map(({ where, fqn, from }) => [from, where, fqn])).toEqual([
      ["test", "page", "ui/label"],
      ["page", "warehouse", "warehouse/stock"],
      ["warehouse", "warehouse", "warehouse/hidden"],
    ]);
    const [page, test] = [
      await cluster.page.import<Quote>("./shop/quote"),
      await cluster.import<Quote>("./shop/quote"),
    ];
    await expect(page.whoAsks()).rejects.toMatchObject({ name: "Unauthorized" });
    expect(await test.whoAsks()).toBe("nobody 0");
    expect(await cluster.page.runProcedure("warehouse/stock", "", { sku: "felt" })).toBe(7);
  });

  it("a test cluster answers outside requests as a service would", async () => {
    const { cluster } = await start();
    const answer = await cluster.fetch("/rpc/shop/quote?sku=felt&quantity=3");
    expect([answer.status, answer.headers.get("x-svc-node"), await answer.json()]).toEqual([
      200,
      "shop",
      { cents: 3750 },
    ]);
    const posted = await cluster.fetch("/rpc/shop/quote", {
      method: "POST",
      headers: { "content-type": "application/json", "x-svc-data-encoding": "serialized" },
      body: JSON.stringify({ sku: "felt" }),
    });
    expect(await posted.json()).toMatchObject({
      serialized: true,
      name: "class",
      key: "shop/Money",
      args: { 0: 1250 },
    });
    expect((await cluster.fetch("/rpc/warehouse/hidden?count=1")).status).toBe(404);
    expect(await (await cluster.fetch("/rpc/shop/quote?skew=felt")).text()).toBe(
      "Missing value for parameter 'sku'",
    );
    expect(await (await cluster.node("shop").fetch("/health/ready")).json()).toBe(true);
    await expect(cluster.fetch("rpc/shop/quote")).rejects.toThrow(
      "The path of a request begins with '/': '/rpc/shop/quote'",
    );
    expect(cluster.calls("shop/quote").map(({ from }) => from)).toEqual(["outside", "outside"]);
  });

  it("a node of a test cluster imports its own modules, with its own state", async () => {
    const { cluster } = await start({
      nodes: { one: "shop", two: "shop", warehouse: "warehouse" },
    });
    const [one, two] = [cluster.node("one"), cluster.node("two")];
    const [here, there] = [
      await one.import<Quote>("./shop/quote"),
      await two.import<Quote>("./shop/quote"),
    ];
    await here.quote("felt");
    expect([await here.whoAsks(), await there.whoAsks()]).toEqual(["nobody 1", "nobody 0"]);
    expect(
      await two
        .runProcedure("warehouse/hidden", "", { count: 3 })
        .catch((error: Error) => error.name),
    ).toBe("ProcedureNotFound");
    expect(await cluster.node("warehouse").runProcedure("warehouse/hidden", "", { count: 3 })).toBe(
      2,
    );
  });

  it("a test cluster uses the configured middleware, health checks and limits, and accepts more", async () => {
    const { cluster } = await start({
      config: { middleware: ["./src/layers/stamp.ts"], limits: { bodyBytes: 1000 } },
    });
    const { whoAsks } = await cluster.import<Quote>("./shop/quote");
    expect(await whoAsks()).toBe("stamped 0");
    const long = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ sku: "x".repeat(1000) }),
    };
    expect((await cluster.fetch("/rpc/warehouse/stock", long)).status).toBe(413);
    const seen: string[] = [];
    cluster.node("warehouse").addMiddleware({
      handle: async (fqn, _version, _args, _headers, next) => (seen.push(fqn), await next()),
    });
    cluster.node("warehouse").addHealthCheck("shelf", { isHealthy: async () => false });
    await cluster.runProcedure("warehouse/stock", "", { sku: "felt" });
    expect(seen).toEqual(["warehouse/stock"]);
    await cluster.clock.pass(5000);
    await expect(
      cluster.runProcedure("warehouse/stock", "", { sku: "felt" }),
    ).rejects.toMatchObject({ name: "NodeNotAvailable" });
    expect(cluster.log.lines).toContain(
      "warning: gateway: http://warehouse.test is unhealthy: it gets no calls",
    );
  });

  it("a test cluster sends files to its nodes, and gives them to fakes (uploads-2)", async () => {
    const { cluster } = await start();
    cluster.fake("warehouse/stock", (async (file: File) => await file.text()) as never);
    const file = new File(["t\u00e4xt"], "a.txt");
    expect(await cluster.runProcedure("warehouse/stock", "", { sku: file })).toBe("t\u00e4xt");
  });

  it("a test cluster ends when it is stopped or its `using` block ends", async () => {
    const { root } = createFixture(shop);
    let kept: TestCluster;
    let quote: Quote["quote"];
    {
      await using cluster = await createTestCluster({ root });
      kept = cluster;
      ({ quote } = await cluster.import<Quote>("./shop/quote"));
    }
    await expect(kept.fetch("/health")).rejects.toThrow("This cluster was stopped");
    await expect(kept.import("./shop/quote")).rejects.toThrow("This cluster was stopped");
    expect(() => kept.node("shop")).toThrow("This cluster was stopped");
    expect(() => kept.fake("shop/quote", () => 1)).toThrow("This cluster was stopped");
    await expect(quote("felt")).rejects.toMatchObject({ name: "NodeNotAvailable" });
    await kept.stop();
  });

  it("createTestCluster rereads changed sources", async () => {
    const fixture = createFixture(shop);
    await (await createTestCluster({ root: fixture.root })).stop();
    fixture.write({
      "src/warehouse/hidden.ts":
        "export async function hidden(count: number): Promise<number> {\n  return count * 100;\n}\n",
    });
    await using cluster = await createTestCluster({ root: fixture.root });
    expect(await cluster.runProcedure("warehouse/stock", "", { sku: "felt" })).toBe(800);
  });
});

describe("mistakes that a test cluster refuses", () => {
  it("a test cluster refuses unknown names and suggests similar ones", async () => {
    await expect(start({ nodes: { a: "warehose" } })).rejects.toThrow(
      "Segment 'warehose' not found; did you mean 'warehouse'?",
    );
    await expect(start({ nodes: { a: "xyz" } })).rejects.toThrow(
      "Segment 'xyz' not found; there is shop, ui, warehouse",
    );
    await expect(start({ page: ["warehouse"] })).rejects.toThrow(
      "Segment 'warehouse' is not one that browsers may load, see 'browserSegments'; there is ui",
    );
    await expect(start({ nodes: { page: "shop" } })).rejects.toThrow(
      "'page' is reserved in a test cluster: give the node another name",
    );
    await expect(start({ nodes: { "my node": "shop" } })).rejects.toThrow(
      "'my node' is not a valid name for a node",
    );
    const { cluster } = await start();
    await expect(cluster.import("./shop/qoute")).rejects.toThrow(
      "'./shop/qoute' is not a module of the source folder; did you mean './shop/quote'?",
    );
    expect(() => cluster.node("shoop")).toThrow(
      "This cluster has no node 'shoop'; did you mean 'shop'?",
    );
    expect(() => cluster.calls("shop/qoute")).toThrow(
      "No segment file of the application names a procedure 'shop/qoute'; did you mean 'shop/quote'?",
    );
  });

  it("createTestCluster rejects with all problems in the sources", async () => {
    const wrong = {
      "segments/shop.segment.json": '{ "./shop/quote": { "qoute": { "access": "public" } } }',
    };
    await expect(start({}, wrong)).rejects.toThrow(
      /shop\.segment\.json.*"qoute"[\s\S]*Did you mean "quote"\?/,
    );
  });

  it("createTestCluster rejects if a body throws while it is loaded", async () => {
    const wrong = {
      "src/warehouse/hidden.ts":
        'throw new Error("no database");\nexport async function hidden(count: number): Promise<number> {\n  return count;\n}\n',
    };
    await expect(start({}, wrong)).rejects.toThrow("no database");
  });
});

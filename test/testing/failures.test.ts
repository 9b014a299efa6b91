import { describe, expect, it, onTestFinished } from "vitest";
import {
  createTestCluster,
  type TestCluster,
  type TestClusterOptions,
} from "../../server/testing/index.ts";
import { createFixture } from "../build/_fixture.ts";
import { type Quote, shop } from "./_shop.ts";

async function start(options: TestClusterOptions = {}): Promise<TestCluster> {
  const { root } = createFixture(shop);
  const cluster = await createTestCluster({ root, ...options });
  onTestFinished(async () => await cluster.stop());
  return cluster;
}

const stock = async (cluster: TestCluster): Promise<unknown> =>
  await cluster.runProcedure("warehouse/stock", "", { sku: "felt" });
const failure = async (promise: Promise<unknown>): Promise<string> =>
  await promise.then(
    (value) => `no failure: ${JSON.stringify(value)}`,
    (error: Error) => `${error.name}: ${error.message}`,
  );

describe("network failures in a test cluster", () => {
  it("the failure 'refuse' refuses connections until it is restored", async () => {
    const cluster = await start();
    const restore = cluster.fail("warehouse", "refuse");
    expect(await failure(stock(cluster))).toBe(
      "NodeNotAvailable: No node can take 'warehouse/stock' now",
    );
    restore();
    expect(await stock(cluster)).toBe(7);
    {
      using _away = cluster.fail("gateway", "refuse");
      expect(await failure(stock(cluster))).toBe(
        "NodeNotAvailable: 'warehouse/stock' could not be sent",
      );
      expect(await failure(cluster.fetch("/health"))).toBe("TypeError: fetch failed");
    }
    expect(await stock(cluster)).toBe(7);
  });

  it("the failure 'silence' leaves calls unanswered until their deadline", async () => {
    const cluster = await start();
    cluster.fail("warehouse", "silence", { procedure: "warehouse/stock" });
    const answer = failure(stock(cluster));
    const versioned = cluster.fetch("/rpc/warehouse/stock@0?sku=felt");
    await cluster.clock.pass(30_000);
    expect(await answer).toMatch(/^DeadlineExceeded: /);
    expect((await versioned).status).toBe(504);
    expect(cluster.calls("warehouse/stock")).toEqual([]);
  });

  it("the failure 'lose' loses the answer of a procedure that has run", async () => {
    const cluster = await start();
    cluster.fail("warehouse", "lose", { procedure: "warehouse/stock", times: 1 });
    expect(await failure(stock(cluster))).toBe(
      "BadGateway: The service that had the call gave no answer",
    );
    expect(cluster.calls("warehouse/stock")).toHaveLength(1);
    expect(await stock(cluster)).toBe(7);
  });

  it("a failure with a status answers instead of the service", async () => {
    const cluster = await start();
    cluster.fail(
      "warehouse",
      { status: 503, body: "closed for today" },
      { from: "gateway", procedure: "warehouse/stock" },
    );
    const answer = await cluster.fetch("/rpc/warehouse/stock?sku=felt");
    expect([answer.status, await answer.text()]).toEqual([503, "closed for today"]);
    expect(await failure(stock(cluster))).toMatch(/^BadGateway: A service answered 503/);
  });

  it("the failure 'slow' delays requests on the cluster's clock", async () => {
    const cluster = await start();
    cluster.fail("warehouse", { slow: 250 });
    const answer = stock(cluster);
    await cluster.clock.pass(249);
    expect(cluster.calls("warehouse/stock")).toEqual([]);
    await cluster.clock.pass(1);
    expect(await answer).toBe(7);
    using _fake = cluster.fake("warehouse/hidden", async () => {
      await cluster.clock.sleep(100);
      return 1;
    });
    const slow = stock(cluster);
    await cluster.clock.pass(350);
    expect(await slow).toBe(1);
    expect(cluster.calls("warehouse/hidden").at(-1)?.ms).toBe(100);
  });

  it("fail() refuses unknown failures, services and procedures", async () => {
    const cluster = await start();
    expect(() => cluster.fail("warehouse", "explode" as never)).toThrow(
      '"explode" is not a failure: use "refuse", "silence", "lose"',
    );
    expect(() => cluster.fail("warehose", "refuse")).toThrow(
      "This cluster has no service 'warehose'; did you mean 'warehouse'?",
    );
    expect(() => cluster.fail("warehouse", "refuse", { procedure: "warehouse/stok" })).toThrow(
      "did you mean 'warehouse/stock'?",
    );
    await expect(cluster.clock.pass(-1)).rejects.toThrow("Time passes forwards");
  });
});

describe("killing, stopping and starting nodes of a test cluster", () => {
  it("a killed node doesn't answer its running calls, and the other nodes continue", async () => {
    const cluster = await start({ nodes: { shop: "shop", a: "warehouse", b: "warehouse" } });
    cluster.fake("warehouse/hidden", async () => await new Promise<never>(() => {}), { times: 1 });
    const answer = failure(stock(cluster));
    await cluster.clock.settle();
    const { where } = cluster.calls("warehouse/hidden")[0]!;
    cluster.node(where).kill();
    expect(await answer).toBe("BadGateway: The service that had the call gave no answer");
    expect(cluster.node(where).running).toBe(false);
    for (let calls = 0; calls < 3; calls++) expect(await stock(cluster)).toBe(7);
    expect(
      new Set(
        cluster
          .calls("warehouse/stock")
          .slice(1)
          .map((call) => call.where),
      ),
    ).toEqual(new Set([where === "a" ? "b" : "a"]));
    expect(() => cluster.node(where).addHealthCheck("x", { isHealthy: async () => true })).toThrow(
      `'${where}' is not running: start it with start()`,
    );
  });

  it("a restarted node has new modules and keeps its middleware", async () => {
    const cluster = await start();
    const node = cluster.node("shop");
    let seen = 0;
    node.addMiddleware({
      handle: async (_fqn, _version, _args, _headers, next) => (seen++, await next()),
    });
    const { quote, whoAsks } = await cluster.import<Quote>("./shop/quote");
    await quote("felt");
    expect(await whoAsks()).toBe("nobody 1");
    node.kill();
    await expect(whoAsks()).rejects.toMatchObject({ name: "NodeNotAvailable" });
    await node.start();
    expect([await whoAsks(), seen]).toEqual(["nobody 0", 3]);
    await expect(node.start()).rejects.toThrow("'shop' is running already");
  });

  it("a stopping node leaves its gateway first, so no call is refused", async () => {
    const cluster = await start({ nodes: { a: "warehouse", b: "warehouse" } });
    const startedAt = cluster.clock.now();
    await cluster.node("a").stop();
    // Nothing is on its way any more when the gateway has answered its goodbye.
    expect(cluster.clock.now() - startedAt).toBe(0);
    for (let calls = 0; calls < 4; calls++) expect(await stock(cluster)).toBe(7);
    expect(cluster.log.lines.filter((line) => line.startsWith("warning"))).toEqual([]);
  });

  it("nodes rejoin when their gateway comes back", async () => {
    const cluster = await start();
    cluster.gateway.kill();
    await expect(stock(cluster)).rejects.toMatchObject({ name: "NodeNotAvailable" });
    await cluster.gateway.start();
    await cluster.clock.pass(2000);
    expect(await stock(cluster)).toBe(7);
  });
});

// Requests between services over HTTP that fail: whose fault it is, and who pays for it.

import { describe, expect, it } from "vitest";

import { type OutgoingRequest, type Unsent, UnsentError } from "../../../src/base/ports.ts";
import { ask, type TestNetwork } from "../../_cluster.ts";
import { deploy, urls } from "../../_deployment.ts";

const stock = "/rpc/shop/stock?sku=1";

/** Requests that `picks` takes are not sent, until the returned function is called. */
function failing(
  network: TestNetwork,
  unsent: Unsent,
  picks: (request: OutgoingRequest) => boolean,
): () => void {
  const send = network.send.bind(network);
  network.send = async (request) => {
    if (!picks(request)) return await send(request);
    throw new UnsentError(
      `${new URL(request.url).origin} was not asked: this process can't open more files`,
      unsent,
    );
  };
  return () => (network.send = send);
}

const isCall = ({ url }: OutgoingRequest): boolean => url.includes("/rpc/");
const isCheck = ({ url }: OutgoingRequest): boolean => url.includes("/health/");

/** `urls.b` and one more node with the same procedures. */
async function twoHolders() {
  const all = await deploy();
  const second = all.node(["b"], "second");
  all.network.roles.set("http://second", second);
  await second.start("http://second");
  return all;
}

describe("a gateway that can't open a connection itself", () => {
  it("answers 503 with retry-after, and takes no member out of rotation", async () => {
    const { gateway, network, log } = await twoHolders();
    const mend = failing(network, "local", isCall);
    for (let calls = 0; calls < 5; calls++)
      expect(await ask(gateway, "GET", stock)).toMatchObject({
        status: 503,
        text: "This service has no connection left for the request",
        headers: { "retry-after": "1", "x-svc-error": "NodeNotAvailable" },
      });
    mend();
    expect([
      (await ask(gateway, "GET", stock)).status,
      (await ask(gateway, "GET", stock)).status,
    ]).toEqual([200, 200]);
    // What is short is told by what opens connections, and nobody is blamed for it.
    expect(log.lines.filter((line) => line.startsWith("warning:"))).toEqual([]);
  });

  it("tries the next member, to which it may have a connection", async () => {
    const { gateway, network } = await twoHolders();
    failing(network, "local", (request) => isCall(request) && request.url.startsWith(urls.b));
    for (let calls = 0; calls < 4; calls++)
      expect(await ask(gateway, "GET", stock)).toMatchObject({
        status: 200,
        headers: { "x-svc-node": "second" },
      });
  });

  it("tries three members at most", async () => {
    const { gateway, network, node, clock } = await twoHolders();
    for (const name of ["third", "fourth", "fifth"]) {
      const more = node(["b"], name);
      network.roles.set(`http://${name}`, more);
      await more.start(`http://${name}`);
    }
    const tried: string[] = [];
    failing(network, "local", (request) => isCall(request) && tried.push(request.url) > 0);
    const answer = ask(gateway, "GET", stock);
    // The second member is tried at once, the third one a moment later.
    await clock.pass(19);
    expect(tried).toHaveLength(2);
    await clock.pass(31);
    expect((await answer).status).toBe(503);
    expect(tried).toHaveLength(3);
  });

  it("ignores a health check that it couldn't send", async () => {
    const { gateway, network, clock, log } = await deploy();
    failing(network, "local", isCheck);
    await clock.pass(60_000);
    expect((await ask(gateway, "GET", stock)).status).toBe(200);
    expect(log.lines.filter((line) => line.includes("unhealthy"))).toEqual([]);
  });
});

describe("a member that doesn't accept a connection in time", () => {
  it("is taken out of rotation the second time, and the call goes to another member", async () => {
    const { gateway, network } = await twoHolders();
    const tried: string[] = [];
    failing(
      network,
      "silent",
      (request) => isCall(request) && request.url.startsWith(urls.b) && tried.push(request.url) > 0,
    );
    for (let calls = 0; calls < 4; calls++)
      expect(await ask(gateway, "GET", stock)).toMatchObject({
        status: 200,
        headers: { "x-svc-node": "second" },
      });
    expect(tried).toHaveLength(2);
  });

  it("stays in rotation if it answered another call in the meantime", async () => {
    const { gateway, network, clock } = await deploy();
    const send = network.send.bind(network);
    let fail = (): void => {};
    network.send = async (request) => {
      if (!request.url.includes("sku=late")) return await send(request);
      await new Promise<void>((resolve) => (fail = resolve));
      throw new UnsentError(`${urls.b} did not accept the connection in time`, "silent");
    };
    const late = ask(gateway, "GET", "/rpc/shop/stock?sku=late");
    await clock.pass(10);
    expect((await ask(gateway, "GET", stock)).status).toBe(200);
    fail();
    expect((await late).status).toBe(503);
    expect((await ask(gateway, "GET", stock)).status).toBe(200);
  });

  it("is tried only once for each call", async () => {
    const { gateway, network } = await deploy();
    const tried: string[] = [];
    failing(network, "local", (request) => isCall(request) && tried.push(request.url) > 0);
    expect((await ask(gateway, "GET", stock)).status).toBe(503);
    expect(tried).toHaveLength(1);
  });
});

describe("a member that leaves health checks unanswered", () => {
  /** It answers calls, but no question about its health. */
  async function deaf(holders: typeof deploy | typeof twoHolders) {
    const all = await holders();
    all.network.roles.set(urls.b, {
      ...all.b,
      handle: (request) =>
        request.target.startsWith("/health/")
          ? new Promise((_, reject) =>
              request.signal.addEventListener("abort", () =>
                reject(request.signal.reason as Error),
              ),
            )
          : all.b.handle(request),
    });
    return all;
  }

  it("is taken out of rotation after two, unless it answers calls", async () => {
    const { gateway, clock } = await deaf(twoHolders);
    const nodes = async () => [
      (await ask(gateway, "GET", stock)).headers["x-svc-node"],
      (await ask(gateway, "GET", stock)).headers["x-svc-node"],
    ];
    expect(await nodes()).toEqual(["node b", "second"]);
    await clock.pass(20_000);
    expect(await nodes()).toEqual(["second", "second"]);
  });
});

describe("requests between services that are not calls", () => {
  it("use connections of their own: joins, renewals, membership checks, leaves and health checks", async () => {
    const { network, b, clock } = await deploy();
    const sent: string[] = [];
    const send = network.send.bind(network);
    network.send = async (request) => {
      sent.push(
        `${request.method} ${new URL(request.url).pathname} ${request.control === true ? "control" : "call"}`,
      );
      return await send(request);
    };
    await clock.pass(6000);
    void b.stop();
    await clock.pass(2000);
    expect(new Set(sent)).toEqual(
      new Set([
        "GET /health/status control",
        "GET /nodes/m1 control",
        "GET /nodes/m2 control",
        "PUT /nodes/m1 control",
        "PUT /nodes/m2 control",
        "DELETE /nodes/m2 control",
      ]),
    );
  });

  it("a node that has no connection left for its gateway doesn't log that the gateway is down", async () => {
    const { network, clock, log } = await deploy();
    const mend = failing(network, "local", ({ url }) => url.includes("/nodes"));
    await clock.pass(3000);
    mend();
    await clock.pass(3000);
    expect(log.lines.filter((line) => line.includes("can't be reached"))).toEqual([]);
    expect(log.lines).toContain(
      `warning: the gateway was not asked whether it knows this node (${urls.gateway} was not asked: this process can't open more files); joining again`,
    );
  });

  it("a proxy that has no connection left doesn't log that its gateway is down", async () => {
    const { network, proxy, log } = await deploy();
    failing(network, "local", () => true);
    expect(await ask(proxy, "GET", stock)).toMatchObject({
      status: 503,
      text: "This service has no connection left for the request",
    });
    expect(log.lines.filter((line) => line.startsWith("warning:"))).toEqual([]);
  });
});

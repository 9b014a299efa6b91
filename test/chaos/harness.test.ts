// The chaos tests are worth what their harness notices.

import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";

import { Balancer } from "../../lab/chaos/harness/balancer.ts";
import { readLedger } from "../../lab/chaos/harness/ledger.ts";
import { type Outcome, startLoad } from "../../lab/chaos/harness/load.ts";
import { always, keeps } from "../../lab/chaos/harness/measure.ts";
import { freePort } from "../_free-port.ts";
import { randomFrom } from "../../lab/chaos/harness/random.ts";
import { Shim } from "../../lab/chaos/harness/shim.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe("the ledger", () => {
  const outcome = (id: string, kind: "order" | "stock", status = 200): Outcome => ({
    id,
    kind,
    at: 0,
    ended: 20,
    status,
    error: undefined,
    retryAfter: undefined,
    node: "a",
    pid: 1,
  });

  async function brokenBy(outcomes: readonly Outcome[], files: Readonly<Record<string, string>>) {
    const folder = await mkdtemp(join(tmpdir(), "seamline-ledger-"));
    closing.push(() => rm(folder, { recursive: true }));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    return always(outcomes, await readLedger(folder))
      .filter((measure) => !keeps(measure))
      .map(({ what }) => what);
  }

  it("shows an order that ran on two nodes, even if its caller got an error", async () => {
    const files = { "a-1": "1 0\n2 0\n", "b-2": "2 7\n" };
    expect(await brokenBy([outcome("1", "order"), outcome("2", "order", 502)], files)).toEqual([
      "times that a call ran, at most",
    ]);
  });

  it("shows an order that one node ran twice", async () => {
    expect(await brokenBy([outcome("1", "order")], { "a-1": "1 0\n1 0\n" })).toEqual([
      "times that a call ran, at most",
    ]);
  });

  it("lets an idempotent call run twice, and not three times", async () => {
    const call = [outcome("1", "stock")];
    expect(await brokenBy(call, { "a-1": "1 0\n", "b-2": "1 0\n" })).toEqual([]);
    expect(await brokenBy(call, { "a-1": "1 0\n1 0\n", "b-2": "1 0\n" })).toEqual([
      "times that an idempotent call ran, at most",
    ]);
  });

  it("shows an answer to a call that never ran", async () => {
    expect(await brokenBy([outcome("1", "order")], {})).toEqual([
      "calls answered without having run",
    ]);
  });
});

describe("the load", () => {
  it("leaves at times fixed before, and counts latency from them, while the server doesn't answer", async () => {
    const server = createServer((_, response) => {
      setTimeout(() => response.end("a 1"), Math.max(0, begun + 400 - performance.now()));
    });
    let begun = Infinity;
    const port = await freePort();
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    begun = performance.now();
    const plan = { rate: 100, durationMs: 300, kinds: ["order"], deadlineMs: 2_000 } as const;
    const call = { method: "GET", path: "/", headers: {} } as const;
    const load = startLoad(`http://127.0.0.1:${port}`, plan, randomFrom(1), () => call);
    const outcomes = await load.outcomes;
    expect(outcomes).toHaveLength(30);
    const [first] = outcomes;
    expect(first!.at).toBeLessThan(10);
    expect(first!.ended - first!.at).toBeGreaterThan(380);
    expect(outcomes.map(({ at }) => at)).toEqual(
      outcomes.map(({ at }) => at).toSorted((a, b) => a - b),
    );
  });

  it("makes no further calls once it is stopped, and waits for those that it has made", async () => {
    const server = createServer((_, response) => void setTimeout(() => response.end("a 1"), 100));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const plan = { rate: 100, durationMs: 60_000, kinds: ["order"], deadlineMs: 2_000 } as const;
    const call = { method: "GET", path: "/", headers: {} } as const;
    const load = startLoad(`http://127.0.0.1:${port}`, plan, randomFrom(1), () => call);
    await load.at(200);
    load.stop();
    const outcomes = await load.outcomes;
    expect(outcomes.length).toBeGreaterThan(0);
    expect(outcomes.length).toBeLessThan(100);
    expect(outcomes.filter(({ status }) => status !== 200)).toEqual([]);
  });

  it("is the same for the same seed", () => {
    const numbers = (seed: number) => {
      const { next } = randomFrom(seed);
      return [next(), next(), next()];
    };
    expect(numbers(7)).toEqual(numbers(7));
    expect(numbers(7)).not.toEqual(numbers(8));
  });
});

describe("the balancer", () => {
  it("takes turns, and leaves out a proxy from when it says that it isn't ready until it says that it is", async () => {
    const proxies = await Promise.all(
      [0, 1].map(async () => {
        const proxy = { isReady: true, url: "" };
        const server = createServer((_, response) => {
          response.statusCode = proxy.isReady ? 200 : 503;
          response.end();
        });
        server.listen(0, "127.0.0.1");
        await once(server, "listening");
        closing.push(() => server.close());
        proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        return proxy;
      }),
    );
    const [first, second] = proxies as [(typeof proxies)[0], (typeof proxies)[0]];
    const balancer = new Balancer([first.url, second.url]);
    closing.push(() => balancer.close());
    const turns = () => [balancer.next(), balancer.next()].toSorted();
    const both = [first.url, second.url].toSorted();
    expect(turns()).toEqual(both);
    first.isReady = false;
    await expect.poll(turns).toEqual([second.url, second.url]);
    first.isReady = true;
    await expect.poll(turns).toEqual(both);
  });
});

describe("the shim", () => {
  async function echo() {
    const server = createTcpServer((socket) => socket.on("error", () => {}).pipe(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const shim = new Shim((server.address() as AddressInfo).port, (bytes) =>
      Buffer.from(bytes.toString().replaceAll("there", "heres")),
    );
    const port = await freePort();
    await shim.listen(port);
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => (text += part));
    closing.push(() => {
      socket.destroy();
      shim.close();
      server.close();
    });
    return { shim, socket, text: () => text };
  }
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it("passes bytes on, changed as it was told, and holds them", async () => {
    const { shim, socket, text } = await echo();
    socket.write("over there;");
    await expect.poll(text).toBe("over heres;");
    shim.weather = "held";
    socket.write("held");
    await pause(100);
    expect(text()).toBe("over heres;");
    shim.weather = "fair";
    await expect.poll(text).toBe("over heres;held");
  });

  it("lets bytes through drop by drop", async () => {
    const { shim, socket, text } = await echo();
    shim.weather = "dripping";
    socket.write("x".repeat(400));
    await expect.poll(() => text().length).toBeGreaterThan(0);
    expect(text().length).toBeLessThan(400);
    await expect.poll(() => text().length, { timeout: 10_000 }).toBe(400);
  });

  it("resets connections", async () => {
    const { shim, socket, text } = await echo();
    socket.write("a");
    await expect.poll(text).toBe("a");
    const failed = once(socket, "error");
    shim.reset();
    expect(await failed).toMatchObject([{ code: "ECONNRESET" }]);
  });
});

// A service whose limits.heldBytes and limits.maxCalls are full at once, and answers whose callers don't
// read, through real sockets.

import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { afterEach, describe, expect, it } from "vitest";

import { HeldMemory } from "../../../server/host/held-memory.ts";
import { nodeHost } from "../../../server/http/host.ts";
import { type HttpServer, listen } from "../../../server/http/http.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { createNode } from "../../../src/roles/node.ts";
import { TestLog, testModules } from "../../_cluster.ts";
import { names } from "../../spec/_shop.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).toReversed()) await cleanUp();
});

function open({ url }: HttpServer): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {});
  cleanups.push(() => socket.destroy());
  return socket;
}

describe("a service with as many calls and bytes as it can take", () => {
  const maxCalls = 8;
  const heldBytes = 1_000_000;

  async function started() {
    // Time stands still: on a busy machine, waiting uploads and calls would count as stalled, and be cut.
    const memory = new HeldMemory(heldBytes, () => 0);
    const waiting: ((value: unknown) => void)[] = [];
    const modules = testModules([
      {
        fqn: "hold",
        parameters: names("text"),
        in: { one: "public" },
        body: () => () => new Promise((resolve) => waiting.push(resolve)),
      },
      { fqn: "small", in: { one: "public" }, body: () => async () => 1 },
      { fqn: "large", in: { one: "public" }, body: () => async () => "x".repeat(600_000) },
    ]);
    const node = createNode(nodeHost({ log: new TestLog(), memory }), {
      trustKey: "the-trust-key-of-this-test",
      limits: { ...defaultLimits, maxCalls },
      gateway: undefined,
      modules,
      segments: ["one"],
      name: undefined,
    });
    const server = await listen((request) => node.handle(request), {
      host: "127.0.0.1",
      port: 0,
      memory,
    });
    cleanups.push(() => server.close(0));
    await node.start(server.url);
    const hold = (size: number): Promise<Response> =>
      fetch(`${server.url}/rpc/hold`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ text: "x".repeat(size) }),
      });
    const small = async (): Promise<readonly unknown[]> => {
      const begun = performance.now();
      const answer = await fetch(`${server.url}/rpc/small`);
      await answer.text();
      // Refusals come at once.
      if (answer.status !== 200) expect(performance.now() - begun).toBeLessThan(500);
      return [answer.status, answer.headers.get("retry-after")];
    };
    return { memory, waiting, server, hold, small };
  }

  it("refuses more with 503 at once, holds no byte too many, and takes as many as before when they are over", async () => {
    const { memory, waiting, server, hold, small } = await started();
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, memory.bytes)), 1);
    cleanups.push(() => clearInterval(watching));
    for (let round = 0; round < 3; round++) {
      // Uploads that stand still hold 200,000 bytes, running calls 640,000.
      const uploads = Array.from({ length: 4 }, () => {
        const socket = open(server);
        socket.write(
          `POST /rpc/hold HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 60000\r\n\r\n${"x".repeat(50_000)}`,
        );
        return socket;
      });
      await expect.poll(() => memory.bytes).toBeGreaterThan(200_000);
      const running = Array.from({ length: maxCalls }, () => hold(80_000));
      await expect.poll(() => waiting.length).toBe(maxCalls);
      // All calls run, and what is too much for the memory is refused as well.
      expect(await small()).toEqual([503, "1"]);
      const more = await Promise.all(Array.from({ length: 20 }, () => hold(80_000)));
      expect(new Set(more.map(({ status }) => status))).toEqual(new Set([503]));
      expect(await (await fetch(`${server.url}/health/live`)).text()).toBe("true");
      // One call ends: memory is still nearly full, and an answer that doesn't fit is refused.
      waiting.shift()?.(1);
      expect((await Promise.race(running)).status).toBe(200);
      expect((await fetch(`${server.url}/rpc/large`)).status).toBe(503);
      for (const end of waiting.splice(0)) end(1);
      const answers = await Promise.all(running);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      for (const socket of uploads) socket.destroy();
      await expect.poll(() => memory.bytes).toBe(0);
      expect(await small()).toEqual([200, null]);
    }
    expect(most).toBeLessThanOrEqual(heldBytes);
    expect(most).toBeGreaterThan(840_000);
  });
});

describe("an answer that its caller doesn't read", () => {
  it.each([
    ["a text", 1, () => "x".repeat(24_000_000)],
    ["a stream", 1, streamed],
    ["one of many small ones", 1_000, () => "x".repeat(50_000)],
  ])(
    "is cut after limits.requestTimeoutMs: %s",
    async (_, requests, make) => {
      const memory = new HeldMemory();
      const server = await listen(async () => ({ status: 200, headers: {}, body: make() }), {
        host: "127.0.0.1",
        port: 0,
        memory,
        limits: { requestTimeoutMs: 1_000 },
      });
      cleanups.push(() => server.close(0));
      const socket = open(server);
      socket.pause();
      socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(requests));
      await expect.poll(() => memory.bytes).toBeGreaterThan(0);
      const begun = performance.now();
      await expect.poll(() => memory.bytes, { timeout: 5_000 }).toBe(0);
      expect(performance.now() - begun).toBeLessThan(3_000);
      // The bytes that the system has taken can still be read, and then the connection ends.
      let read = 0;
      socket.on("data", ({ length }: Buffer) => (read += length)).resume();
      await once(socket, "close");
      expect(read).toBeLessThan(24_000_000);
    },
    20_000,
  );
});

async function* streamed(): AsyncGenerator<Uint8Array> {
  for (let parts = 0; parts < 400; parts++) yield new Uint8Array(65_536);
}

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { afterEach, describe, expect, it } from "vitest";

import { chunkBytes, HeldMemory } from "../../../server/host/held-memory.ts";
import { nodeHost } from "../../../server/http/host.ts";
import { type HttpServer, listen, type ListenOptions } from "../../../server/http/http.ts";
import type { HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import { createNode } from "../../../src/roles/node.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { TestLog, testModules } from "../../_cluster.ts";
import { body, names } from "../../spec/_shop.ts";

// The memory that callers make a service hold, through real sockets. Bodies exceed the socket buffers.

const MiB = 1024 * 1024;
const servers: HttpServer[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close(0)));
});

async function serve(
  handle: (request: HttpRequest) => Promise<HttpResponse>,
  options: Partial<ListenOptions> = {},
): Promise<HttpServer> {
  const server = await listen(handle, { host: "127.0.0.1", port: 0, ...options });
  servers.push(server);
  return server;
}

/** Sends a request and doesn't read the answer. */
function ask(server: HttpServer, text: string): Socket {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  socket.write(text);
  sockets.push(socket);
  return socket;
}

const get = "GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n";
const fields = { "content-type": "text/plain" };
/** Larger than a connection's buffers in the kernel. */
const large = 24 * MiB;

describe.each([
  ["a text", () => "x".repeat(large)],
  ["a text of other characters", () => "ü".repeat(large / 2)],
  ["bytes", () => new Uint8Array(large).fill(120)],
])("an answer that is %s", (_, make) => {
  it("counts as held until the caller has read it", async () => {
    const memory = new HeldMemory(1_000 * MiB);
    const server = await serve(async () => ({ status: 200, headers: fields, body: make() }), {
      memory,
    });
    const socket = ask(server, get);
    await expect.poll(() => memory.bytes).toBeGreaterThan(MiB);
    const held = memory.bytes;
    expect(held).toBeLessThanOrEqual(large);
    let taken = 0;
    socket.on("data", (chunk) => (taken += chunk.length)).resume();
    await expect.poll(() => memory.bytes, { timeout: 10_000 }).toBe(0);
    await expect.poll(() => taken).toBeGreaterThan(large);
  });

  it("is released when the caller disconnects", async () => {
    const memory = new HeldMemory(1_000 * MiB);
    const server = await serve(async () => ({ status: 200, headers: fields, body: make() }), {
      memory,
    });
    const socket = ask(server, get);
    await expect.poll(() => memory.bytes).toBeGreaterThan(MiB);
    socket.destroy();
    await expect.poll(() => memory.bytes).toBe(0);
  });
});

it("a large answer arrives unchanged, whatever its characters", async () => {
  const text = `${"añ€😀".repeat(100_000)}\ud800`;
  const server = await serve(async () => ({ status: 200, headers: fields, body: text }));
  const answer = await fetch(server.url);
  expect(Number(answer.headers.get("content-length"))).toBe(Buffer.byteLength(text));
  expect(Buffer.from(await answer.arrayBuffer()).equals(Buffer.from(text))).toBe(true);
  const head = await fetch(server.url, { method: "HEAD" });
  expect([head.headers.get("content-length"), await head.text()]).toEqual([
    String(Buffer.byteLength(text)),
    "",
  ]);
});

it("an answer that exceeds the memory limit is a 503 with retry-after, and small ones still fit", async () => {
  const memory = new HeldMemory(40 * MiB);
  const server = await serve(
    async ({ target }) => ({
      status: 200,
      headers: fields,
      body: target === "/big" ? "x".repeat(large) : "small",
    }),
    {
      memory,
    },
  );
  ask(server, get);
  await expect.poll(() => memory.bytes).toBeGreaterThan(17 * MiB);
  const refused = await fetch(`${server.url}/big`);
  expect([
    refused.status,
    refused.headers.get("retry-after"),
    refused.headers.get("x-svc-error"),
  ]).toEqual([503, "1", "NodeNotAvailable"]);
  expect(await (await fetch(`${server.url}/small`)).text()).toBe("small");
});

it("a stalled caller is disconnected when its memory is needed, and no other caller", async () => {
  const memory = new HeldMemory(40 * MiB);
  const server = await serve(
    async () => ({ status: 200, headers: fields, body: "x".repeat(large) }),
    { memory },
  );
  const still = ask(server, get);
  const closed = once(still, "close");
  await expect.poll(() => memory.bytes).toBeGreaterThan(17 * MiB);
  await pause(2_600);
  const answer = await fetch(`${server.url}/big`);
  expect([answer.status, (await answer.text()).length]).toEqual([200, large]);
  still.resume();
  await closed;
}, 20_000);

describe("a request's body", () => {
  const post = (length: number, text: string): string =>
    `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${text}`;
  const length = async (request: HttpRequest): Promise<HttpResponse> => {
    try {
      return { status: 200, headers: fields, body: String((await request.readBody(MiB)).length) };
    } catch (error) {
      return { status: 503, headers: fields, body: (error as Error).name };
    }
  };

  it("counts as held while it arrives and until the answer", async () => {
    const memory = new HeldMemory(10 * MiB);
    let answer!: () => void;
    const waiting = new Promise<void>((resolve) => (answer = resolve));
    const server = await serve(
      async (request) => {
        const answered = await length(request);
        await waiting;
        return answered;
      },
      { memory },
    );
    const socket = ask(server, post(1_000, "x".repeat(600)));
    await expect.poll(() => memory.bytes).toBe(600 + chunkBytes);
    socket.write("x".repeat(400));
    await expect.poll(() => memory.bytes).toBe(1_000 + 2 * chunkBytes);
    answer();
    await expect.poll(() => memory.bytes).toBe(0);
  });

  it("that is incomplete counts as held until its caller disconnects", async () => {
    const memory = new HeldMemory(10 * MiB);
    const server = await serve(length, { memory });
    const all = Array.from({ length: 5 }, () => ask(server, post(1_000, "x".repeat(600))));
    await expect.poll(() => memory.bytes).toBe(3_000 + 5 * chunkBytes);
    for (const socket of all) socket.destroy();
    await expect.poll(() => memory.bytes).toBe(0);
  });

  it("that exceeds the memory limit is refused while it arrives", async () => {
    const memory = new HeldMemory(MiB);
    const server = await serve(length, { memory });
    ask(server, post(MiB, "x".repeat(MiB - 100_000)));
    await expect.poll(() => memory.bytes).toBeGreaterThan(MiB - 100_000);
    expect(
      await (await fetch(server.url, { method: "POST", body: "x".repeat(200_000) })).text(),
    ).toBe("NodeNotAvailable");
    expect(
      await (await fetch(server.url, { method: "POST", body: "x".repeat(50_000) })).text(),
    ).toBe("50000");
  });

  it("that arrives byte by byte counts as more than its bytes", async () => {
    const memory = new HeldMemory(10 * MiB);
    const server = await serve(length, { memory });
    const socket = ask(server, post(1_000, "x"));
    for (let index = 1; index <= 5; index++) {
      await expect.poll(() => memory.bytes).toBe(index * (1 + chunkBytes));
      socket.write("x");
    }
  });
});

it("a caller that doesn't read its answer is disconnected for a new one at the connection limit", async () => {
  const server = await serve(
    async ({ target }) => ({
      status: 200,
      headers: fields,
      body: target === "/big" ? "x".repeat(large) : "small",
    }),
    {
      limits: { maxConnections: 1 },
    },
  );
  const stalled = ask(server, get);
  const closed = once(stalled, "close");
  // Two seconds after the last look, each half second, at which bytes had moved.
  await expect
    .poll(async () => await (await fetch(`${server.url}/rpc/small`)).text(), { interval: 200 })
    .toBe("small");
  stalled.resume();
  await closed;
});

describe("a service without free memory", () => {
  it("answers 503 with retry-after before a call runs, and still answers health requests", async () => {
    const memory = new HeldMemory(1_000 + chunkBytes);
    let ran = 0;
    const modules = testModules([
      { fqn: "f", parameters: names("a"), in: { one: "public" }, body: body("f", () => ++ran) },
    ]);
    const host = nodeHost({ log: new TestLog(), memory });
    const common = { trustKey: "the-trust-key-of-this-test", limits: defaultLimits };
    const node = createNode(host, {
      ...common,
      gateway: undefined,
      modules,
      segments: ["one"],
      name: undefined,
    });
    const server = await serve((request) => node.handle(request), { memory });
    await node.start(server.url);
    const call = (): Promise<Response> => fetch(`${server.url}/rpc/f?a=1`);
    expect((await call()).status).toBe(200);
    ask(
      server,
      `POST /rpc/f HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2000\r\n\r\n${"x".repeat(900)}`,
    );
    await expect.poll(() => memory.bytes).toBe(900 + chunkBytes);
    const refused = await call();
    expect([
      refused.status,
      refused.headers.get("retry-after"),
      refused.headers.get("x-svc-error"),
      ran,
    ]).toEqual([503, "1", "NodeNotAvailable", 1]);
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
  });

  it("a body that is too slow answers 408, even if the call's time is over as well", async () => {
    const modules = testModules([
      { fqn: "f", parameters: names("a"), in: { one: "public" }, body: body("f", () => 1) },
    ]);
    const limits = { ...defaultLimits, callTimeoutMs: 300, requestTimeoutMs: 300 };
    const node = createNode(nodeHost({ log: new TestLog() }), {
      trustKey: "the-trust-key-of-this-test",
      limits,
      gateway: undefined,
      modules,
      segments: ["one"],
      name: undefined,
    });
    const server = await serve((request) => node.handle(request), { limits });
    await node.start(server.url);
    const socket = ask(
      server,
      "POST /rpc/f HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{",
    );
    socket.resume();
    const [chunk] = (await once(socket, "data")) as [Buffer];
    expect(chunk.toString()).toMatch(
      /^HTTP\/1\.1 408 Request Timeout\r\n[^]*x-svc-error: RequestTimeout[^]*did not arrive in time$/i,
    );
    expect(chunk.toString()).toMatch(/\r\nconnection: close\r\n/i);
    const more: Buffer[] = [];
    socket.on("data", (data: Buffer) => more.push(data));
    await once(socket, "close");
    expect(Buffer.concat(more).toString()).toBe("");
  });
});

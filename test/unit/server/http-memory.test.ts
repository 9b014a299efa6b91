import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { afterEach, describe, expect, it } from "vitest";

import { chunkBytes, HeldMemory } from "../../../server/held-memory.ts";
import { nodeHost } from "../../../server/host.ts";
import { type HttpServer, listen, type ListenOptions } from "../../../server/http.ts";
import type { HttpRequest, HttpResponse } from "../../../src/ports.ts";
import { createNode } from "../../../src/roles/node.ts";
import { defaultLimits } from "../../../src/serializer/limits.ts";
import { TestLog, testModules } from "../../_cluster.ts";
import { body, names } from "../../spec/_shop.ts";

// What callers make a service hold, through real sockets: more than the system's own buffers take.

const MiB = 1024 * 1024;
const servers: HttpServer[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((one) => one.close(0)));
});

async function serve(
  handle: (request: HttpRequest) => Promise<HttpResponse>,
  options: Partial<ListenOptions> = {},
): Promise<HttpServer> {
  const server = await listen(handle, { host: "127.0.0.1", port: 0, ...options });
  servers.push(server);
  return server;
}

/** A caller who asks and takes nothing. */
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
/** Larger than what the system buffers of one connection. */
const large = 24 * MiB;

describe.each([
  ["a text", () => "x".repeat(large)],
  ["a text of other characters", () => "ü".repeat(large / 2)],
  ["bytes", () => new Uint8Array(large).fill(120)],
])("an answer that is %s", (_, make) => {
  it("is held as far as nobody has taken it, and let go of when it is taken", async () => {
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

  it("is let go of when the caller leaves", async () => {
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

it("a large answer arrives as it was, whatever its characters", async () => {
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

it("an answer that doesn't fit any more is a 503 with retry-after, and small ones still fit", async () => {
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

it("callers who stand still are cut when their room is needed, and no others", async () => {
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

describe("a body", () => {
  const post = (length: number, text: string): string =>
    `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${text}`;
  const length = async (request: HttpRequest): Promise<HttpResponse> => {
    try {
      return { status: 200, headers: fields, body: String((await request.readBody(MiB)).length) };
    } catch (error) {
      return { status: 503, headers: fields, body: (error as Error).name };
    }
  };

  it("is held while it comes, and until there is an answer", async () => {
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

  it("that stops short is held until its caller leaves", async () => {
    const memory = new HeldMemory(10 * MiB);
    const server = await serve(length, { memory });
    const all = Array.from({ length: 5 }, () => ask(server, post(1_000, "x".repeat(600))));
    await expect.poll(() => memory.bytes).toBe(3_000 + 5 * chunkBytes);
    for (const socket of all) socket.destroy();
    await expect.poll(() => memory.bytes).toBe(0);
  });

  it("that doesn't fit any more is refused while it comes", async () => {
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

  it("costs more than its bytes when it comes one by one", async () => {
    const memory = new HeldMemory(10 * MiB);
    const server = await serve(length, { memory });
    const socket = ask(server, post(1_000, "x"));
    for (let index = 1; index <= 5; index++) {
      await expect.poll(() => memory.bytes).toBe(index * (1 + chunkBytes));
      socket.write("x");
    }
  });
});

it("a caller who takes nothing gives its connection to another, when there are as many as may be", async () => {
  const server = await serve(
    async ({ target }) => ({
      status: 200,
      headers: fields,
      body: target === "/big" ? "x".repeat(large) : "small",
    }),
    {
      limits: { connections: 1 },
    },
  );
  const stalled = ask(server, get);
  const closed = once(stalled, "close");
  await pause(2_600);
  expect(await (await fetch(`${server.url}/rpc/small`)).text()).toBe("small");
  stalled.resume();
  await closed;
});

describe("a service that is full", () => {
  it("answers new calls 503 with retry-after before anything runs, and health as ever", async () => {
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

  it("a body that is too slow is 408, though the time for the call is over as well", async () => {
    const modules = testModules([
      { fqn: "f", parameters: names("a"), in: { one: "public" }, body: body("f", () => 1) },
    ]);
    const limits = { ...defaultLimits, time: 300, requestTime: 300 };
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

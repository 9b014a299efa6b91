// Links over sockets: the services that get one, and their cost.

import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, createServer, type Socket } from "node:net";

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { connectionOf } from "../../../server/http/links/socket-channel.ts";
import { collected } from "../../../src/http/bodies.ts";
import { accept, behindTls, dial, trusted, serviceOf } from "./_services.ts";

/** Asks for an upgrade, and returns the status and what was said with it. */
async function ask(
  url: string,
  headers: Record<string, string> = {},
  { method = "GET", path = "/svc/link" } = {},
): Promise<{ status: number; text: string; socket: Socket }> {
  const { hostname, port } = new URL(url);
  const asking = request({
    hostname,
    port,
    path,
    method,
    agent: false,
    headers: { connection: "upgrade", upgrade: "seamline-link", ...headers },
  });
  asking.end();
  const [answer, socket] = (await Promise.race([
    once(asking, "upgrade"),
    once(asking, "response"),
  ])) as [IncomingMessage, Socket | undefined];
  onTestFinished(() => void (socket ?? answer.socket).destroy());
  if (socket !== undefined) return { status: 101, text: "", socket };
  let text = "";
  for await (const part of answer) text += String(part);
  return { status: answer.statusCode!, text, socket: answer.socket };
}

/** Sends text, and resolves with all that came until the connection was closed. */
async function raw(url: string, text: string, options = {}): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, ...options });
  onTestFinished(() => void socket.destroy());
  let said = "";
  socket.on("data", (bytes: Buffer) => (said += bytes.toString("latin1")));
  socket.on("error", () => {});
  socket.write(text, "latin1");
  const closed = once(socket, "close");
  // A link or a kept connection doesn't end: the bytes of this time are all.
  await Promise.race([once(socket, "end"), closed, new Promise((late) => setTimeout(late, 3_000))]);
  return said;
}

describe("a link over a socket", () => {
  it("carries requests both ways, and says where a call is from", async () => {
    const answer = async ({ target, from }: { target: string; from?: string | undefined }) => ({
      status: 200,
      headers: {},
      body: `${target} ${from}`,
    });
    const { server, proven } = await accept(answer);
    const dialled = await dial(server.url, serviceOf("node", answer));
    expect([dialled.other.role, dialled.version]).toEqual(["gateway", 1]);
    await vi.waitFor(() => expect(proven).toHaveLength(1), 20_000);
    for (const { peer } of [dialled, proven[0]!]) {
      const url = "http://anywhere/rpc/add?a=1";
      const { body } = await collected(peer.send({ url, method: "GET", ...trusted }));
      expect(new TextDecoder().decode(body)).toBe("/rpc/add?a=1 service");
    }
  });

  it.each([
    ["a page's", { origin: "https://shop.example" }, {}],
    ["a page's that hides where it is from", { origin: "null" }, {}],
    ["a browser's", { "sec-fetch-site": "same-origin" }, {}],
    ["one for a WebSocket without its fields", { upgrade: "websocket" }, {}],
    ["one for both", { "sec-websocket-key": "x" }, {}],
    ["one with a cookie", { cookie: "a=1" }, {}],
    ["one of another method", {}, { method: "POST" }],
    ["one that announces a body", { "content-length": "5" }, {}],
    ["one that announces no body", { "content-length": "0" }, {}],
    ["one that announces a body in chunks", { "transfer-encoding": "chunked" }, {}],
    ["one with a query", {}, { path: "/svc/link?" }],
    ["one elsewhere", {}, { path: "/elsewhere" }],
  ])("is refused to a request that is %s", async (_, headers, options) => {
    const { server, proven, failed } = await accept();
    const { status, text } = await ask(server.url, headers, options);
    expect([status, text]).toEqual([403, "Links are for the services of this deployment"]);
    expect([proven, failed]).toEqual([[], []]);
  });

  it("asks twice over one connection, which becomes the link", async () => {
    const { server } = await accept();
    let connections = 0;
    const heads: string[] = [];
    const middle = createServer((socket) => {
      connections++;
      const onwards = connect(Number(new URL(server.url).port), "127.0.0.1");
      for (const end of [socket, onwards]) end.on("error", () => {});
      onwards.on("data", (bytes: Buffer) => heads.push(bytes.toString("latin1").slice(0, 12)));
      socket.pipe(onwards).pipe(socket);
    });
    middle.listen(0, "127.0.0.1");
    await once(middle, "listening");
    onTestFinished(() => void middle.close());
    await dial(`http://127.0.0.1:${(middle.address() as { port: number }).port}`);
    expect(connections).toBe(1);
    expect(heads.slice(0, 2)).toEqual(["HTTP/1.1 401", "HTTP/1.1 101"]);
  });

  it("asks over another connection if something closes the first one", async () => {
    const { server } = await accept();
    const middle = createServer((socket) => {
      const onwards = connect(Number(new URL(server.url).port), "127.0.0.1");
      for (const end of [socket, onwards]) end.on("error", () => {});
      socket.pipe(onwards);
      onwards.on("data", (bytes: Buffer) => {
        if (!bytes.toString("latin1").startsWith("HTTP/1.1 401")) return void socket.write(bytes);
        socket.end(bytes.toString("latin1").replace("connection: keep-alive", "connection: close"));
        onwards.destroy();
      });
    });
    middle.listen(0, "127.0.0.1");
    await once(middle, "listening");
    onTestFinished(() => void middle.close());
    await dial(`http://127.0.0.1:${(middle.address() as { port: number }).port}`);
  });

  it("is found behind a balancer that hands each request to the next of three gateways", async () => {
    const gateways = await Promise.all([accept(), accept(), accept()]);
    let turn = 0;
    const middle = createServer((socket) => {
      socket.on("error", () => {});
      let onwards: Socket | undefined;
      socket.on("data", (bytes: Buffer) => {
        if (!bytes.toString("latin1").startsWith("GET /svc/link"))
          return void onwards?.write(bytes);
        onwards?.removeAllListeners("data").destroy();
        onwards = connect(Number(new URL(gateways[turn++ % 3]!.server.url).port), "127.0.0.1");
        onwards.on("error", () => {}).on("data", (answer: Buffer) => socket.write(answer));
        onwards.write(bytes);
      });
      socket.on("close", () => onwards?.destroy());
    });
    middle.listen(0, "127.0.0.1");
    await once(middle, "listening");
    onTestFinished(() => void middle.close());
    const { other } = await dial(`http://127.0.0.1:${(middle.address() as { port: number }).port}`);
    expect([other.role, turn]).toEqual(["gateway", 4]);
  });

  it("a proof that something recorded opens no second link", async () => {
    const { server, proven } = await accept();
    const said: string[] = [];
    const middle = createServer((socket) => {
      const onwards = connect(Number(new URL(server.url).port), "127.0.0.1");
      for (const end of [socket, onwards]) end.on("error", () => {});
      socket.on("data", (bytes: Buffer) => said.push(bytes.toString("latin1")));
      socket.pipe(onwards).pipe(socket);
    });
    middle.listen(0, "127.0.0.1");
    await once(middle, "listening");
    onTestFinished(() => void middle.close());
    await dial(`http://127.0.0.1:${(middle.address() as { port: number }).port}`);
    expect(proven).toHaveLength(1);
    const recorded = said.find((text) => text.includes("x-svc-link-proof"))!;
    const answer = await raw(server.url, recorded.slice(0, recorded.indexOf("\r\n\r\n") + 4));
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(proven).toHaveLength(1);
  });

  const upgrade =
    "GET /svc/link HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: seamline-link\r\n";

  it("a refused connection goes on as HTTP: with what was sent after the request, and as often as it asks", async () => {
    const { server } = await accept(async ({ target }) => ({
      status: 200,
      headers: {},
      body: `this is ${target}`,
    }));
    const warned: unknown[] = [];
    const warn = (warning: Error): void => void warned.push(warning);
    process.on("warning", warn);
    onTestFinished(() => void process.off("warning", warn));
    const last = "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const answer = await raw(server.url, `${upgrade}\r\n`.repeat(50) + last);
    expect(answer.split("HTTP/1.1 401 ")).toHaveLength(51);
    expect(answer).toMatch(/this is \/last$/);
    expect(warned).toEqual([]);
  });

  it("a request for a link isn't answered before those that came earlier on its connection", async () => {
    let answer = (): void => {};
    const { server } = await accept(
      async () => await new Promise((done) => (answer = () => done({ status: 200, headers: {} }))),
    );
    const text = raw(server.url, `GET /slow HTTP/1.1\r\nHost: x\r\n\r\n${upgrade}\r\n`);
    expect(await text).toBe("");
    answer();
  });

  it.each([
    ["bytes that are no HTTP", "nonsense", /^HTTP\/1\.1 401 .*HTTP\/1\.1 400 /s],
    ["half a request", "GET /", /^HTTP\/1\.1 401 .*HTTP\/1\.1 408 /s],
    ["nothing", "", /^HTTP\/1\.1 401 .*HTTP\/1\.1 408 /s],
  ])(
    "a refused connection on which %s follows is cut after limits.headerTimeoutMs",
    async (_, rest, expected) => {
      const { server } = await accept(undefined, { limits: { headerTimeoutMs: 300 } });
      expect(await raw(server.url, `${upgrade}\r\n${rest}`)).toMatch(expected);
    },
  );

  it("head fields over the limit are refused as in any request", async () => {
    const { server } = await accept();
    const long = `x-svc-link-hello: ${"x".repeat(100_000)}\r\n`;
    expect(await raw(server.url, `${upgrade}${long}\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it("a refused connection whose other end never closes is closed", async () => {
    const { server } = await accept();
    // The other end keeps its half open.
    const refused = raw(server.url, `${upgrade}Origin: http://x\r\n\r\n`, { allowHalfOpen: true });
    expect(await refused).toMatch(/^HTTP\/1\.1 403 /);
    await server.close(5_000);
  });

  it("counts in limits.maxConnections", async () => {
    const { server } = await accept(undefined, { limits: { maxConnections: 2 } });
    await dial(server.url);
    await dial(server.url);
    await expect(dial(server.url)).rejects.toThrow("closed the connection before it answered");
    const { status } = await fetch(`${server.url}/rpc/add`, { method: "POST" });
    expect(status).toBe(503);
  });

  it("counts what waits in it in limits.heldBytes, until it is read", async () => {
    const { server, memory } = await accept(async ({ body }) => {
      const reader = body[Symbol.asyncIterator]();
      await reader.next();
      await new Promise((resolve) => setTimeout(resolve, 100));
      for (;;) if ((await reader.next()).done === true) break;
      return { status: 200, headers: {}, body: "" };
    });
    const { peer } = await dial(server.url);
    const before = memory.bytes;
    const answer = peer.send({
      url: "http://anywhere/",
      method: "POST",
      ...trusted,
      body: new Uint8Array(300_000),
    });
    await vi.waitFor(() => expect(memory.bytes - before).toBeGreaterThan(100_000), 20_000);
    await answer;
    await vi.waitFor(() => expect(memory.bytes).toBe(before), 20_000);
  });
});

describe("over TLS", () => {
  it("a link knows its connection: nobody can hand on a proof, even with a certificate that is trusted", async () => {
    const { url, middle, authorities, failed } = await behindTls();
    expect((await dial(url, undefined, { authorities })).other.role).toBe("gateway");
    await expect(dial(middle, undefined, { authorities })).rejects.toThrow("trustKey");
    await vi.waitFor(() => expect(failed).toHaveLength(1), 20_000);
  });
});

it.each([
  ["a socket without TLS", {}, undefined],
  [
    "one of a runtime that tells nothing",
    { encrypted: true },
    { lack: "this runtime can't tell what only the two ends of a TLS connection know: use Node" },
  ],
  [
    "one of an earlier version",
    { encrypted: true, getProtocol: () => "TLSv1.2", exportKeyingMaterial: () => Buffer.from("x") },
    {
      lack: "something between the two services ends TLS, as they speak TLS 1.3 and this is TLSv1.2: let it pass TLS through",
    },
  ],
])("what a link is tied to: %s", (_, socket, expected) => {
  expect(connectionOf(socket as never)).toEqual({ way: "socket", tls: expected });
});

it("a link is opened through something that changes the Host, which is in no proof", async () => {
  const { server } = await accept();
  const middle = createServer((socket) => {
    const onwards = connect(Number(new URL(server.url).port), "127.0.0.1");
    for (const end of [socket, onwards]) end.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      const text = bytes.toString("latin1");
      onwards.write(text.replace(/^host: .*$/im, "Host: gateway.example"), "latin1");
    });
    onwards.pipe(socket);
  });
  middle.listen(0, "127.0.0.1");
  await once(middle, "listening");
  onTestFinished(() => void middle.close());
  const { port } = middle.address() as { port: number };
  expect((await dial(`http://127.0.0.1:${port}`)).other.role).toBe("gateway");
});

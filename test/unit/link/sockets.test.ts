// Links over sockets: who gets one, and what they cost.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { collected } from "../../../src/http/bodies.ts";
import { createCertificates } from "../../_certificates.ts";
import { accept, dial, serviceOf } from "./_services.ts";

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
    await vi.waitFor(() => expect(proven).toHaveLength(1));
    for (const { peer } of [dialled, proven[0]!]) {
      const url = "http://anywhere/rpc/add?a=1";
      const { body } = await collected(peer.send({ url, method: "GET", headers: {} }));
      expect(new TextDecoder().decode(body)).toBe("/rpc/add?a=1 outside");
    }
  });

  it.each([
    ["a page's", { origin: "https://shop.example" }, {}],
    ["a page's that hides where it is from", { origin: "null" }, {}],
    ["a browser's", { "sec-fetch-site": "same-origin" }, {}],
    ["one for a WebSocket", { upgrade: "websocket", "sec-websocket-key": "x" }, {}],
    ["one for both", { "sec-websocket-key": "x" }, {}],
    ["one with a body", {}, { method: "POST" }],
    ["one with a query", {}, { path: "/svc/link?" }],
    ["one elsewhere", {}, { path: "/elsewhere" }],
  ])("is refused to a request that is %s", async (_, headers, options) => {
    const { server, proven, failed } = await accept();
    const { status, text } = await ask(server.url, headers, options);
    expect([status, text]).toEqual([403, "Links are for the services of this deployment"]);
    expect([proven, failed]).toEqual([[], []]);
  });

  it("is refused to the 101st that shows no key, and not to those who come after it is shown", async () => {
    const { server, memory, failed } = await accept();
    const waiting = await Promise.all(Array.from({ length: 100 }, () => ask(server.url)));
    expect(waiting.map(({ status }) => status)).toEqual(waiting.map(() => 101));
    expect(memory.bytes).toBe(0);
    // An answer would mean that there are no links: the connection ends without one.
    await expect(ask(server.url)).rejects.toThrow("socket hang up");
    await expect(dial(server.url)).rejects.toThrow("closed the connection before it answered");
    waiting[0]!.socket.destroy();
    await vi.waitFor(() => expect(failed).toHaveLength(1));
    for (let links = 0; links < 3; links++) await dial(server.url);
  });

  it("costs a service its socket if it is 4 KiB before a proof", async () => {
    const { server, failed } = await accept();
    const { socket } = await ask(server.url);
    // Frames of a kind that may be skipped.
    const frame = Buffer.from([0, 0, 3, 0xf6, 0x7f, 0, 0, 0, 0, 0, ...new Uint8Array(0x3f0)]);
    for (let sent = 0; sent < 5; sent++) socket.write(frame);
    await once(socket, "close");
    expect(failed).toMatchObject([{ message: "More than 4096 bytes before a proof" }]);
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
      headers: {},
      body: new Uint8Array(300_000),
    });
    await vi.waitFor(() => expect(memory.bytes - before).toBeGreaterThan(100_000));
    await answer;
    await vi.waitFor(() => expect(memory.bytes).toBe(before));
  });

  it("doesn't stay open when its other end reads nothing", async () => {
    const { server, failed } = await accept();
    const { socket } = await ask(server.url);
    socket.pause();
    socket.write("nonsense");
    await vi.waitFor(() => expect(failed).toHaveLength(1));
    await server.close(0);
  });
});

describe("over TLS", () => {
  it("a link knows its connection: nobody can hand on a proof, even with a certificate that is trusted", async () => {
    const certificates = createCertificates();
    const { cert, key } = certificates.sign("gateway", { hosts: "DNS:localhost" });
    const tls = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
    const authorities = [readFileSync(certificates.ca, "utf8")];
    const { server, failed } = await accept(undefined, { tls });
    const { port } = new URL(server.url);
    const url = `https://localhost:${port}`;
    const { other } = await dial(url, undefined, { authorities });
    expect(other.role).toBe("gateway");
    // Ends the one connection, opens the other, and hands on each byte, with the Host as it was.
    const handOn = (socket: Socket): void => {
      const onwards = connectTls({ port: Number(port), host: "localhost", ca: authorities });
      for (const end of [socket, onwards]) end.on("error", () => {});
      socket.pipe(onwards).pipe(socket);
    };
    const middle = createTlsServer(tls, handOn);
    middle.listen(0, "127.0.0.1");
    await once(middle, "listening");
    onTestFinished(() => void middle.close());
    const { port: there } = middle.address() as { port: number };
    await expect(dial(`https://localhost:${there}`, undefined, { authorities })).rejects.toThrow(
      "trustKey",
    );
    await vi.waitFor(() => expect(failed).toHaveLength(1));
  });
});

it("a link through something that changes the Host fails, as its other end may be anybody's", async () => {
  const { server } = await accept();
  const middle = createServer((socket) => {
    const onwards = connect(Number(new URL(server.url).port), "127.0.0.1");
    for (const end of [socket, onwards]) end.on("error", () => {});
    socket.once("data", (head: Buffer) => {
      onwards.write(head.toString("latin1").replace(/host: .*/i, "Host: gateway.example"));
      socket.pipe(onwards).pipe(socket);
    });
  });
  middle.listen(0, "127.0.0.1");
  await once(middle, "listening");
  onTestFinished(() => void middle.close());
  const { port } = middle.address() as { port: number };
  await expect(dial(`http://127.0.0.1:${port}`)).rejects.toThrow("trustKey");
});

// Callers that speak HTTP/2 as no browser does. Frames are made by hand where Node's client refuses to make them.

import { readFileSync } from "node:fs";
import { connect, type TLSSocket } from "node:tls";

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { HeldMemory } from "../../server/host/held-memory.ts";
import { listen, type ListenOptions } from "../../server/http/http.ts";
import type { HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import { ask, certified, openSession } from "../_http2.ts";

const type = { data: 0, headers: 1, rst: 3, settings: 4, ping: 6, goaway: 7, continuation: 9 };
const endStream = 1;
const endHeaders = 4;

function frame(
  kind: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = kind;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Fields without compression, none of them remembered (RFC 7541, section 6.2.2). */
function block(...fields: readonly (readonly [name: string, value: string])[]): Buffer {
  const text = (value: string): Buffer => {
    const bytes = Buffer.from(value, "latin1");
    if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
    const length = [127];
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    return Buffer.concat([Buffer.from([...length, rest]), bytes]);
  };
  return Buffer.concat(
    fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]),
  );
}

const pseudo = [
  [":method", "GET"],
  [":scheme", "https"],
  [":path", "/health/live"],
  [":authority", "localhost"],
] as const;

interface Seen {
  readonly kind: number;
  readonly stream: number;
  readonly payload: Buffer;
}

interface Connection {
  readonly socket: TLSSocket;
  readonly frames: Seen[];
  readonly isClosed: () => boolean;
}

async function service(options: Partial<ListenOptions> = {}, handle = answering) {
  const tls = certified();
  const faults: unknown[] = [];
  const memory = new HeldMemory();
  const server = await listen(handle, {
    host: "127.0.0.1",
    port: 0,
    tls: { cert: readFileSync(tls.cert, "utf8"), key: readFileSync(tls.key, "utf8") },
    memory,
    onFault: (fault) => faults.push(fault),
    ...options,
  });
  onTestFinished(async () => {
    await server.close(0);
    expect(faults).toEqual([]);
    expect(memory.bytes).toBe(0);
  });
  const raw = async (): Promise<Connection> => {
    const socket = connect({
      port: Number(new URL(server.url).port),
      ca: readFileSync(tls.ca),
      host: "127.0.0.1",
      ALPNProtocols: ["h2"],
    });
    onTestFinished(() => void socket.destroy());
    const frames: Seen[] = [];
    let waiting: Buffer = Buffer.alloc(0);
    let closed = false;
    socket.on("error", () => {}).on("close", () => (closed = true));
    socket.on("data", (chunk: Buffer) => {
      waiting = Buffer.concat([waiting, chunk]);
      while (waiting.length >= 9 && waiting.length >= 9 + waiting.readUIntBE(0, 3)) {
        const end = 9 + waiting.readUIntBE(0, 3);
        frames.push({
          kind: waiting[3]!,
          stream: waiting.readUInt32BE(5),
          payload: waiting.subarray(9, end),
        });
        waiting = waiting.subarray(end);
      }
    });
    await new Promise((resolve) => socket.once("secureConnect", resolve));
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write(frame(type.settings, 0, 0));
    return { socket, frames, isClosed: () => closed };
  };
  /** Others are served as before. */
  const serves = async (): Promise<void> => {
    const session = openSession(server.url, tls.ca);
    expect((await ask(session, "/health/live")).status).toBe(200);
  };
  return { server, raw, serves, memory, open: () => openSession(server.url, tls.ca) };
}

const requests: HttpRequest[] = [];
async function answering(request: HttpRequest): Promise<HttpResponse> {
  requests.push(request);
  return {
    status: 200,
    headers: { "content-type": "text/plain" },
    body: String(request.headers["host"]),
  };
}

const ended = ({ frames, isClosed }: Connection): boolean =>
  isClosed() || frames.some(({ kind }) => kind === type.goaway);
const reset = ({ frames }: Connection, stream: number): boolean =>
  frames.some((seen) => seen.kind === type.rst && seen.stream === stream);

describe("attacks over HTTP/2", () => {
  it("Thousands of streams that are opened and reset at once end their connection, and no other (CVE-2023-44487)", async () => {
    let running = 0;
    const { raw, serves } = await service({}, async (request) => {
      if (request.target === "/health/live" && request.headers["x-slow"] === undefined)
        return await answering(request);
      running++;
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      running--;
      return { status: 200, headers: {} };
    });
    const connection = await raw();
    const slow = block(...pseudo, ["x-slow", "1"]);
    for (let at = 0; at < 20_000 && !ended(connection); at++) {
      const stream = 2 * at + 1;
      connection.socket.write(
        Buffer.concat([
          frame(type.headers, endStream | endHeaders, stream, slow),
          frame(type.rst, 0, stream, Buffer.from([0, 0, 0, 8])),
        ]),
      );
      if (at % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await vi.waitFor(() => expect(ended(connection)).toBe(true), { timeout: 10_000 });
    await vi.waitFor(() => expect(running).toBe(0));
    await serves();
  });

  it("A header block without an end, in ever more CONTINUATION frames, ends its connection (CVE-2024-27983)", async () => {
    const { raw, serves } = await service();
    const connection = await raw();
    connection.socket.write(frame(type.headers, endStream, 1, block(...pseudo)));
    const more = frame(type.continuation, 0, 1, block(["x-more", "a".repeat(8_000)]));
    for (let at = 0; at < 2_000 && !ended(connection); at++) {
      connection.socket.write(more);
      if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await vi.waitFor(() => expect(ended(connection)).toBe(true), { timeout: 10_000 });
    await serves();
  });

  it("More streams at once than the connection allows are refused, and the others are served", async () => {
    let running = 0;
    let most = 0;
    const { raw, serves } = await service({}, async (request) => {
      if (request.headers["x-slow"] === undefined) return await answering(request);
      most = Math.max(most, ++running);
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      running--;
      return { status: 200, headers: {} };
    });
    const connection = await raw();
    for (let at = 0; at < 150; at++)
      connection.socket.write(
        frame(type.headers, endStream | endHeaders, 2 * at + 1, block(...pseudo, ["x-slow", "1"])),
      );
    await vi.waitFor(() => expect(reset(connection, 299)).toBe(true));
    expect(most).toBe(100);
    connection.socket.destroy();
    await vi.waitFor(() => expect(running).toBe(0));
    await serves();
  });

  it("Floods of settings and pings whose answers nobody reads end their connection", async () => {
    for (const flood of [
      frame(type.settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100])),
      frame(type.ping, 0, 0, Buffer.alloc(8)),
    ]) {
      const { raw, serves } = await service();
      const connection = await raw();
      connection.socket.pause();
      const many = Buffer.concat(Array.from({ length: 1_000 }, () => flood));
      for (let at = 0; at < 2_000 && !connection.socket.destroyed; at++) {
        connection.socket.write(many);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await serves();
      connection.socket.resume();
      await vi.waitFor(() => expect(ended(connection)).toBe(true), { timeout: 10_000 });
      await serves();
    }
  }, 60_000);

  it.each<[string, readonly (readonly [string, string])[]]>([
    ["a name in capitals", [...pseudo, ["X-Svc-Trust-Key", "a"]]],
    ["a pseudo-header field twice", [...pseudo, [":path", "/rpc/other"]]],
    ["an authority twice", [...pseudo, [":authority", "other"]]],
    ["a pseudo-header field after others", [["x-a", "1"], ...pseudo]],
    ["an unknown pseudo-header field", [...pseudo, [":admin", "1"]]],
    ["a field of the connection", [...pseudo, ["connection", "x-a"]]],
    ["a transfer coding", [...pseudo, ["transfer-encoding", "chunked"]]],
    ["no path", pseudo.filter(([name]) => name !== ":path")],
    ["an empty path", pseudo.map(([name, value]) => [name, name === ":path" ? "" : value])],
    ["no host at all", pseudo.filter(([name]) => name !== ":authority")],
  ])("A request with %s never reaches a handler", async (_, fields) => {
    const { raw, serves } = await service();
    requests.length = 0;
    const connection = await raw();
    connection.socket.write(frame(type.headers, endStream | endHeaders, 1, block(...fields)));
    await vi.waitFor(() => expect(reset(connection, 1) || ended(connection)).toBe(true));
    expect(requests).toEqual([]);
    await serves();
  });

  it("A field with a line break in its value never reaches a handler", async () => {
    const { raw, serves } = await service();
    requests.length = 0;
    const connection = await raw();
    const fields = block(...pseudo, ["x-a", "1\r\nx-b: 2"]);
    connection.socket.write(frame(type.headers, endStream | endHeaders, 1, fields));
    await serves();
    for (const { headers } of requests)
      expect(Object.keys(headers)).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^x-/)]),
      );
  });

  it("A request whose Host field differs from its authority is 400, and one with the same is served", async () => {
    const { open } = await service();
    const session = open();
    requests.length = 0;
    const fields = { ":authority": "localhost" };
    expect((await ask(session, "/", { ...fields, host: "evil.example" })).status).toBe(400);
    expect(requests).toEqual([]);
    expect(await ask(session, "/", { ...fields, host: "localhost" })).toMatchObject({
      status: 200,
      body: "localhost",
    });
    expect((await ask(session, "/", { ...fields, ":authority": "a@b" })).status).toBe(400);
  });

  it("More header fields, or longer ones, than the limits allow are 431 or reset, as over HTTP/1.1", async () => {
    const { open, serves } = await service({ limits: { headerCount: 20, headerBytes: 2_000 } });
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`x-${at}`, "1"]));
    expect((await ask(open(), "/", many)).status).toBe(431);
    expect((await ask(open(), "/", { "x-long": "a".repeat(3_000) })).status).toBe(431);
    const more = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`x-${at}`, "1"]));
    await expect(ask(open(), "/", more)).rejects.toThrow();
    expect((await ask(open(), "/", { "x-long": "a".repeat(40_000) })).status).toBe(431);
    await serves();
  });

  it("A body that has more or fewer bytes than its content-length says is no request", async () => {
    const bodies: string[] = [];
    const { open } = await service({}, async (request) => {
      const body = await Promise.resolve(request.readBody(100)).catch(() => undefined);
      if (body !== undefined) bodies.push(Buffer.from(body).toString());
      return { status: 200, headers: {} };
    });
    for (const body of ["1234", "123456"])
      await expect(ask(open(), "/", { "content-length": 5 }, body)).rejects.toThrow();
    expect(bodies).toEqual([]);
  });

  it("A connection beyond the limit of connections is answered 503 for calls, and ends after that", async () => {
    const { open } = await service({ limits: { maxConnections: 1 } });
    const first = open();
    expect((await ask(first, "/health/live")).status).toBe(200);
    const second = open();
    const over = new Promise((resolve) => second.once("close", resolve));
    expect((await ask(second, "/rpc/a")).status).toBe(503);
    await over;
    expect((await ask(first, "/health/live")).status).toBe(200);
  });
});

// Streams over sockets: lengths, `100-continue`, limits of time and memory.

import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { HeldMemory } from "../../../server/host/held-memory.ts";
import { type HttpServer, listen, type ListenOptions } from "../../../server/http/http.ts";
import { statusOf } from "../../../src/base/errors.ts";
import type { HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import { bytesOf } from "../../../src/http/bodies.ts";
import { raw } from "./_raw.ts";

const servers: HttpServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close(0))));

async function serve(
  handle: (request: HttpRequest) => Promise<HttpResponse>,
  options: Partial<ListenOptions> = {},
): Promise<HttpServer> {
  const server = await listen(handle, { host: "127.0.0.1", port: 0, ...options });
  servers.push(server);
  return server;
}

/** Counts the bytes of a streamed body, or answers with its error. */
async function count(request: HttpRequest): Promise<HttpResponse> {
  try {
    return { status: 200, headers: {}, body: String((await bytesOf(request.body)).length) };
  } catch (error) {
    const { name, message } = error as Error;
    return { status: statusOf(error), headers: {}, body: `${name}: ${message}` };
  }
}

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

const head = (fields: string, method = "POST"): string =>
  `${method} / HTTP/1.1\r\nhost: a\r\n${fields}\r\n`;
const chunked = "transfer-encoding: chunked\r\n";

describe("an answer that streams", () => {
  it("has the length that its head names, or is sent in chunks", async () => {
    const server = await serve(async ({ target }) => ({
      status: 200,
      headers: target === "/known" ? { "content-length": "4" } : {},
      body: chunks("ab", "cd"),
    }));
    const known = await fetch(`${server.url}/known`);
    expect([known.headers.get("content-length"), await known.text()]).toEqual(["4", "abcd"]);
    const unknown = await fetch(server.url);
    expect([unknown.headers.get("transfer-encoding"), await unknown.text()]).toEqual([
      "chunked",
      "abcd",
    ]);
    const headOnly = await fetch(`${server.url}/known`, { method: "HEAD" });
    expect([headOnly.headers.get("content-length"), await headOnly.text()]).toEqual(["4", ""]);
  });

  it.each([
    ["less", "9"],
    ["more", "3"],
  ])(
    "with %s bytes than its head names cuts the connection, and is reported",
    async (_, length) => {
      const onFault = vi.fn<(fault: unknown) => void>();
      const server = await serve(
        async () => ({
          status: 200,
          headers: { "content-length": length },
          body: chunks("ab", "cd"),
        }),
        { onFault },
      );
      await expect(fetch(server.url).then((answer) => answer.text())).rejects.toThrow();
      expect(onFault).toHaveBeenCalledOnce();
    },
  );

  it("that breaks, without a length or chunks, ends in a reset: a close would mean its end", async () => {
    const server = await serve(
      async () => ({
        status: 200,
        headers: {},
        body: (async function* () {
          yield* chunks("half");
          await pause(50);
          throw new Error("broken");
        })(),
      }),
      { onFault: () => {} },
    );
    const { socket, until } = raw(server, "GET / HTTP/1.0\r\n\r\n");
    const failed = once(socket, "error", { signal: AbortSignal.timeout(2_000) }).catch(
      (error: unknown) => [error],
    );
    await until(/half$/);
    await expect(failed).resolves.toEqual([expect.objectContaining({ code: "ECONNRESET" })]);
  });

  it.each<[string, string, HttpResponse["body"]]>([
    [
      "a stream whose first chunk is late",
      "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
      (async function* () {
        await pause(50);
        yield* chunks("\u00fc");
      })(),
    ],
    ["a text, before the caller has sent its body", head("content-length: 99999999\r\n"), "\u00fc"],
    [
      "nothing, before the caller has sent its body",
      head("content-length: 99999999\r\n"),
      undefined,
    ],
  ])("has headers in Latin-1 beside %s", async (_, request, body) => {
    const server = await serve(async () => ({
      status: 200,
      headers: { "x-name": "\u00fc" },
      ...(body !== undefined && { body }),
    }));
    const connection = raw(server, request);
    expect(await connection.until(/\r\n\r\n/)).toMatch(/^x-name: \xfc\r$/m);
    connection.socket.destroy();
  });
});

describe("a caller that has all of an answer whose length is known", () => {
  it("hasn't left when it closes, though the stream has yet to end, and the stream ends by itself", async () => {
    let ended = false;
    const departed = vi.fn<() => void>();
    const server = await serve(async ({ signal }) => {
      signal.addEventListener("abort", departed);
      return {
        status: 200,
        headers: { "content-length": "4" },
        body: (async function* () {
          yield Buffer.from("abcd");
          await pause(50);
          ended = true;
        })(),
      };
    });
    const caller = raw(server, head("", "GET"));
    await caller.until(/abcd$/);
    caller.socket.destroy();
    await vi.waitFor(() => expect(ended).toBe(true), 20_000);
    expect(departed).not.toHaveBeenCalled();
  });

  it.each([
    ["more comes", "/more"],
    ["the stream breaks", "/breaks"],
  ])("keeps it when %s, which is reported", async (_, path) => {
    const onFault = vi.fn<(fault: unknown) => void>();
    const server = await serve(
      async ({ target }) => ({
        status: 200,
        headers: { "content-length": "2" },
        body: (async function* () {
          yield Buffer.from("ab");
          if (target === "/breaks") throw new Error("it broke");
          yield Buffer.from("cd");
        })(),
      }),
      { onFault },
    );
    expect(await (await fetch(server.url + path)).text()).toBe("ab");
    await vi.waitFor(() => expect(onFault).toHaveBeenCalledOnce(), 20_000);
  });
});

it("an answer to HEAD names the length that its head or body has, and no other", async () => {
  const bodies: Readonly<Record<string, HttpResponse["body"]>> = {
    "/text": "ab",
    "/none": undefined,
  };
  const server = await serve(async ({ target }) => ({
    status: 200,
    headers: target === "/told" ? { "content-length": "7" } : {},
    ...(bodies[target] !== undefined && { body: bodies[target] }),
  }));
  const lengthOf = async (path: string, method: string): Promise<string | null> =>
    (await fetch(server.url + path, { method })).headers.get("content-length");
  expect(await lengthOf("/text", "HEAD")).toBe("2");
  expect(await lengthOf("/told", "HEAD")).toBe("7");
  expect(await lengthOf("/none", "HEAD")).toBe(null);
  expect(await lengthOf("/none", "GET")).toBe("0");
});

describe("an upload that streams", () => {
  it("is asked for with 100 Continue when it's first read, and not before", async () => {
    let read = (): void => {};
    const mayRead = new Promise<void>((resolve) => (read = resolve));
    const server = await serve(async (request) => {
      await mayRead;
      return await count(request);
    });
    const caller = raw(server, head("expect: 100-continue\r\ncontent-length: 3\r\n"));
    await pause(30);
    expect(caller.text()).toBe("");
    read();
    await caller.until(/100 Continue/);
    caller.socket.write("abc");
    await caller.until(/\r\n\r\n3$/);
  });

  it("that is partly read leaves the connection to the next request", async () => {
    const server = await serve(async ({ body }) => {
      await body[Symbol.asyncIterator]().next();
      return { status: 200, headers: {}, body: "seen" };
    });
    const caller = raw(server, `${head("content-length: 6\r\n")}abc`);
    await caller.until(/seen/);
    caller.socket.write(`def${head("content-length: 1\r\n")}x`);
    await caller.until(/seen[^]*seen/);
  });

  it("may take longer than requestTimeoutMs while it moves; a collected body may not", async () => {
    const limits = { headerTimeoutMs: 60, requestTimeoutMs: 120 };
    const server = await serve(count, { limits });
    const caller = raw(server, head(chunked));
    for (let sent = 0; sent < 12; sent++) {
      caller.socket.write("1\r\nx\r\n");
      await pause(40);
    }
    caller.socket.write("0\r\n\r\n");
    await caller.until(/\r\n\r\n12$/);
    const collecting = await serve(
      async (request) => ({
        status: 200,
        headers: {},
        body: String((await request.readBody(100)).length),
      }),
      { limits },
    );
    expect(await raw(collecting, `${head(chunked)}1\r\nx\r\n`).closed()).toContain("408 ");
  });

  it("that stands still for idleTimeoutMs gets 408; one that isn't read, 504", async () => {
    const server = await serve(
      async (request) => {
        if (request.headers["x-slow"] === undefined) return await count(request);
        const reader = request.body[Symbol.asyncIterator]();
        await reader.next();
        await new Promise((resolve) => setTimeout(resolve, 1_600));
        return await count({ ...request, body: { [Symbol.asyncIterator]: () => reader } });
      },
      { limits: { idleTimeoutMs: 100 } },
    );
    const stalled = raw(server, `${head(chunked)}1\r\nx\r\n`);
    const unread = raw(server, head(`x-slow: 1\r\ncontent-length: 1000000\r\n`));
    unread.socket.write("x".repeat(500_000));
    await stalled.until(/408 [^]*Nothing more of the request's body arrived/);
    await unread.until(/504 [^]*Nothing of the request's body was read/);
    expect(await (await fetch(server.url, { method: "POST", body: "ab" })).text()).toBe("2");
  });
});

it("an answer that stands still for idleTimeoutMs is cut, and one that moves isn't", async () => {
  const ended = { stalled: false };
  const server = await serve(
    async ({ target }) => ({
      status: 200,
      headers: {},
      body: (async function* () {
        try {
          for (let n = 0; n < 8; n++) {
            yield Buffer.from(".");
            await pause(target === "/stalled" ? 3_000 : 150);
          }
        } finally {
          ended.stalled ||= target === "/stalled";
        }
      })(),
    }),
    { limits: { idleTimeoutMs: 400 } },
  );
  const moving = fetch(`${server.url}/moving`).then((answer) => answer.text());
  const stalled = fetch(`${server.url}/stalled`).then((answer) => answer.text());
  await expect(stalled).rejects.toThrow("terminated");
  expect(await moving).toBe("........");
});

it("streams hold in memory what waits, and give it back", async () => {
  const memory = new HeldMemory(64 * 1_048_576);
  const size = 20 * 1_048_576;
  let most = 0;
  const server = await serve(
    async ({ body }) => ({
      status: 200,
      headers: {},
      body: (async function* () {
        for await (const chunk of body) {
          most = Math.max(most, memory.bytes);
          yield chunk;
        }
      })(),
    }),
    { memory },
  );
  const answer = await fetch(server.url, { method: "POST", body: new Uint8Array(size) });
  expect((await answer.arrayBuffer()).byteLength).toBe(size);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(524_288);
  await expect.poll(() => memory.bytes).toBe(0);
});

// Pages that attack over their link.

import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { afterAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";

import {
  key,
  noted,
  openOf,
  openPage,
  openPageServices,
  pageServices,
  type RawPage,
  rawly,
  refusalOf,
} from "../_page-links.ts";

const services = await openPageServices();
afterAll(async () => await services.close());
beforeEach(() => void noted.splice(0));

/** The service still answers, and holds nothing. */
async function expectAlive(): Promise<void> {
  const page = await openPage(services.ports.proxy);
  page.send(openOf(1, "shop/count", { to: 1 }));
  expect((await page.stream(1))[0].status).toBe(200);
  page.webSocket.terminate();
  await expect.poll(() => services.memory.proxy.bytes).toBe(0);
}

describe("what a page says of itself in a message", () => {
  it.each([
    "x-authenticated-user",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-real-ip",
    "cf-access-jwt-assertion",
    "cookie",
    "Cookie",
    "host",
    "origin",
    "sec-fetch-site",
    "x-svc-trust-key",
    "x-svc-request",
    "x-svc-locals",
    "x-svc-hops",
    "x-svc-cross-site",
    "x-svc-data-encoding",
    "content-type",
    "content-length",
    "accept",
    "transfer-encoding",
    "__proto__",
    "constructor",
  ])("is a 400: %s", async (name) => {
    const page = await openPage(services.ports.proxy);
    // Not an object literal, where `__proto__` would be something else.
    const headers = JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(key)}}`) as object;
    page.send(openOf(1, "shop/closed", {}, { headers }));
    expect((await page.stream(1))[0].status).toBe(400);
    await expectAlive();
  });

  it("is ignored where the handshake says it, and a message can't blank it", async () => {
    const page = await openPage(services.ports.gateway, {
      headers: { authorization: "Bearer ann" },
    });
    page.send(
      openOf(1, "shop/who", {}, { headers: { authorization: "Bearer root" } }),
      openOf(2, "shop/who", {}, { headers: { Authorization: "" } }),
    );
    for (const id of [1, 2])
      expect((await page.stream(id))[1]).toContain('"authorization":"Bearer ann"');
  });

  it("can't start another field, nor a request", async () => {
    for (const value of ["a\r\nx-b: c", "a\nb", "a\0b", "€"]) {
      const page = await openPage(services.ports.proxy);
      page.send(openOf(1, "shop/who", {}, { headers: { authorization: value } }));
      expect(await page.closed).toEqual([1008, "The head of stream 1 isn't one"]);
    }
  });

  it("doesn't open what has no link: the key of a handshake counts as over HTTP, one of a message not at all", async () => {
    const page = await openPage(services.ports.gateway, { headers: { "x-svc-trust-key": key } });
    page.send(openOf(1, "shop/closed"));
    expect((await page.stream(1))[0].status).toBe(200);
    const other = await openPage(services.ports.gateway);
    other.send(openOf(1, "shop/closed"));
    expect((await other.stream(1))[0].status).toBe(401);
  });
});

describe("targets over a link", () => {
  it.each([
    "/svc/console",
    "/svc/modules/manifest.json",
    "/nodes",
    "/health",
    "/",
    "*",
    "",
    "rpc/shop/count",
    "//evil.example/rpc/shop/count",
    "http://127.0.0.1/rpc/shop/count",
    "/rpc",
    "/RPC/shop/count",
    "/%72pc/shop/count",
    "/rpc/shop/count HTTP/1.1\r\nx-a: b",
    "/rpc/shop/ count",
    "/rpc/é",
  ])("that aren't calls are a 400: %j", async (target) => {
    const page = await openPage(services.ports.proxy);
    page.send(openOf(1, "shop/count", {}, { target }));
    expect((await page.stream(1))[0].status).toBe(400);
  });

  it.each(["/rpc/../svc/console", "/rpc/..%2fsvc%2fconsole", "/rpc/", "/rpc//shop/count"])(
    "that lead out of calls lead to no procedure: %s",
    async (target) => {
      const page = await openPage(services.ports.proxy);
      page.send(openOf(1, "shop/count", {}, { target }));
      expect((await page.stream(1))[0].status).toBe(404);
    },
  );
});

describe("origins", () => {
  it.each(pageServices)("that aren't the service's get no link at: %s", async (name) => {
    const port = services.ports[name];
    for (const origin of [
      undefined,
      "",
      "null",
      "http://evil.example",
      `http://127.0.0.1:${port}.evil.example`,
      `http://evil.example:${port}`,
      `http://127.0.0.1`,
      `http://user@127.0.0.1:${port}@evil.example`,
      `http://127.0.0.1:${port}, http://evil.example`,
      "file://",
      "javascript:alert(1)",
    ])
      expect(await refusalOf(port, { origin }), String(origin)).toBe(403);
  });

  it("can't be had by a name that was made to lead here", async () => {
    const port = services.ports.standalone;
    expect(await refusalOf(port, { host: `evil.example:${port}` })).toBe(421);
  });

  it("don't come from two fields, nor from a request with a body", async () => {
    const { standalone: port } = services.ports;
    const ask = (more: string) =>
      rawly(
        port,
        `GET /svc/page HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: seamline-page.1\r\n${more}\r\n`,
      );
    const own = `Origin: http://127.0.0.1:${port}\r\n`;
    expect(await ask(`Origin: http://evil.example\r\n${own}`)).toMatch(/^HTTP\/1.1 403 /);
    expect(await ask(`${own}Content-Length: 40\r\n`)).toMatch(/^HTTP\/1.1 426 /);
    expect(await ask(`${own}Transfer-Encoding: chunked\r\n`)).toMatch(/^HTTP\/1.1 4\d\d /);
    expect(await ask(`${own}Host: evil.example\r\n`)).toMatch(/^HTTP\/1.1 400 /);
    await expectAlive();
  });
});

describe("messages", () => {
  it("over the limit close the link, also in pieces", async () => {
    const page = await openPage(services.ports.standalone);
    page.send(`open 1 ${"x".repeat(262_145)}`);
    expect((await page.closed)[0]).toBe(1009);
    const other = await openPage(services.ports.standalone);
    for (let piece = 0; piece < 40; piece++)
      other.webSocket.send("x".repeat(1_000), { fin: false });
    expect((await other.closed)[0]).toBe(1009);
    await expectAlive();
  });

  it("that aren't UTF-8, or not of RFC 6455, close the link", async () => {
    const closing = async (bytes: readonly number[]): Promise<number> => {
      const page = await openPage(services.ports.standalone);
      page.socket.write(Buffer.from(bytes));
      return (await page.closed)[0];
    };
    // Not masked, a reserved bit, an unknown opcode, a text of half a character.
    expect(await closing([0x81, 1, 97])).toBe(1002);
    expect(await closing([0xc1, 0x81, 0, 0, 0, 0, 97])).toBe(1002);
    expect(await closing([0x83, 0x81, 0, 0, 0, 0, 97])).toBe(1002);
    expect(await closing([0x81, 0x81, 0, 0, 0, 0, 0xe2])).toBe(1007);
    await expectAlive();
  });

  it("that stay half hold up the end of nothing", async () => {
    const own = await openPageServices();
    const page = await openPage(own.ports.standalone);
    page.socket.write(Buffer.from([0x81, 0xfe, 0x10, 0x00, 1, 2, 3, 4, 5]));
    const began = performance.now();
    await own.servers.standalone.close(100);
    expect(performance.now() - began).toBeLessThan(3_000);
    await own.close();
  });

  it("with deep or odd JSON end in an answer or the end of the link", async () => {
    const page = await openPage(services.ports.proxy);
    page.send(openOf(1, "shop/count", {}, { body: "[".repeat(8_000) }));
    expect((await page.stream(1))[0].status).toBe(400);
    page.send(`open 2 ${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`);
    expect(await page.closed).toEqual([1008, "The head of stream 2 isn't one"]);
    expect(({} as { a?: unknown }).a).toBeUndefined();
    await expectAlive();
  });
});

describe("floods", () => {
  const flood = async (page: RawPage, from: number, count: number, fqn: string): Promise<void> => {
    for (let id = from; id < from + count; id++) {
      if (page.webSocket.readyState !== page.webSocket.OPEN) return;
      page.send(openOf(id, fqn));
      if (id % 500 === 0) await pause(0);
    }
  };

  it("of streams run no more than streamsPerLink, and the others are 503", async () => {
    const page = await openPage(services.ports.standalone);
    await flood(page, 1, 2_000, "shop/wait");
    await expect
      .poll(() => page.came.filter((text) => /^open \d+ \{"status":503/.test(text)).length)
      .toBe(1_744);
    expect(noted.filter((text) => text === "wait begins")).toHaveLength(256);
    page.webSocket.terminate();
    await expect.poll(() => noted.filter((text) => text === "wait ended").length).toBe(256);
    await expectAlive();
  });

  it("of streams that are cancelled at once run no more than that at once, and end", async () => {
    const page = await openPage(services.ports.standalone);
    for (let id = 1; id <= 5_000; id++) {
      page.send(openOf(id, "shop/wait"), `cancel ${id}`);
      if (id % 500 === 0) await pause(0);
    }
    page.send(openOf(5_001, "shop/count", { to: 1 }));
    await expect.poll(() => page.came.some((text) => text.startsWith("open 5001 "))).toBe(true);
    const count = (what: string): number => noted.filter((text) => text === what).length;
    await expect.poll(() => count("wait ended")).toBe(count("wait begins"));
    await expectAlive();
  });

  it("of a page that reads nothing hold a bounded part of the memory, and it is cut", async () => {
    const own = await openPageServices({ limits: { requestTimeoutMs: 1_500 } });
    onTestFinished(async () => await own.close());
    const page = await openPage(own.ports.standalone);
    page.socket.pause();
    void flood(page, 1, 100_000, "shop/plain");
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, own.memory.standalone.bytes)), 5);
    await expect.poll(() => own.links.standalone.size).toBe(0);
    clearInterval(watch);
    page.webSocket.terminate();
    expect(most).toBeGreaterThan(50_000);
    // Some thousand messages have come with what was read last: each of them waits for its answer.
    expect(most).toBeLessThan(4_000_000);
    expect(own.memory.standalone.bytes).toBe(0);
  });

  it("of pings get no more pongs than fit", async () => {
    const page = await openPage(services.ports.standalone);
    page.socket.pause();
    const before = process.memoryUsage.rss();
    for (let count = 0; count < 100_000; count++) page.webSocket.ping("x".repeat(120));
    await pause(500);
    expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000);
    page.webSocket.terminate();
    await expectAlive();
  });

  it("of credit that never comes back keep one chunk of each stream, and are cut when memory is short", async () => {
    const own = await openPageServices({ heldBytes: 400_000 });
    onTestFinished(async () => await own.close());
    const page = await openPage(own.ports.standalone);
    for (let id = 1; id <= 20; id++) page.send(openOf(id, "shop/count", { to: 1_000_000 }));
    await expect.poll(() => page.came.length > 100).toBe(true);
    const held = (): number => own.memory.standalone.bytes;
    // Their credit ends one after the other.
    await expect.poll(held).toBeGreaterThan(200_000);
    // Those that have stood still for two seconds are cut, until the rest fits.
    await expect.poll(held).toBeLessThan(400_000);
    await pause(300);
    expect(held()).toBeGreaterThan(0);
    expect(held()).toBeLessThan(400_000);
  });

  it("of connections that never become a WebSocket hold nothing", async () => {
    const own = await openPageServices();
    onTestFinished(async () => await own.close());
    for (let count = 0; count < 50; count++) {
      const socket = connect(own.ports.standalone, "127.0.0.1");
      socket.on("error", () => {});
      await once(socket, "connect");
      socket.write(`GET /svc/page HTTP/1.1\r\nHost: 127.0.0.1:${own.ports.standalone}\r\n`);
      socket.destroy();
    }
    expect(own.links.standalone.size).toBe(0);
  });
});

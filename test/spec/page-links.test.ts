// Links of pages, over sockets: the WebSocket that carries a page's streams.

import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

import { afterAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";

import { createPageLink } from "../../client/page-link.ts";
import { CorsMiddleware } from "../../src/http/cors.ts";
import type { ByteStream } from "../../src/base/ports.ts";
import { nodeClock } from "../../server/host/clock.ts";
import {
  noted,
  openOf,
  openPage,
  openPageServices,
  type PageServices,
  type PageServicesOptions,
  pageServices,
  rawly,
  refusalOf,
} from "../_page-links.ts";

const services = await openPageServices();
afterAll(async () => await services.close());
beforeEach(() => void noted.splice(0));

async function opened(options: PageServicesOptions): Promise<PageServices> {
  const own = await openPageServices(options);
  onTestFinished(async () => await own.close());
  return own;
}

/** Resolves when `text` was noted this often. */
async function untilNoted(text: string, times = 1): Promise<void> {
  await expect.poll(() => noted.filter((each) => each === text).length).toBe(times);
}

describe("the link of a page", () => {
  it.each(pageServices)(
    "page-links-1: standalone, gateway and proxy take a WebSocket at /svc/page, and streams go over it: %s",
    async (name) => {
      const page = await openPage(services.ports[name]);
      page.send(openOf(1, "shop/count", { to: 3 }));
      const [head, text, end] = await page.stream(1);
      expect(head).toEqual({
        status: 200,
        headers: {
          "content-type": "text/event-stream; charset=utf-8",
          "x-svc-data-type": "stream",
          "x-svc-node": "one",
        },
      });
      expect(text).toContain("data: 1\n");
      expect(text).toMatch(/event: end\nid: end\ndata: "end"\n\n$/);
      expect([end, page.came[0]]).toEqual(["end 1", 'open 0 {"headers":[]}']);
    },
  );

  it("page-links-2: nodes and repositories take none", async () => {
    for (const name of ["node", "repository"] as const)
      expect(await refusalOf(services.ports[name]), name).toBe(404);
  });

  it("page-links-3: the client's end carries many streams over one WebSocket, in a runtime that has one", async () => {
    const port = services.ports.proxy;
    const base = `http://127.0.0.1:${port}`;
    let sockets = 0;
    const { WebSocket } = await import("ws");
    const link = createPageLink({
      base,
      clock: nodeClock,
      open(url) {
        sockets++;
        const socket = new WebSocket(url, "seamline-page.1", { headers: { origin: base } });
        onTestFinished(() => socket.terminate());
        return socket as never;
      },
      fetch: async () => await Promise.reject(new Error("not needed")),
    });
    const texts = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        const { body } = await link.send({
          url: `${base}/rpc/shop/count?version=0.0.0`,
          method: "POST",
          headers: { "content-type": "application/json", "x-svc-data-encoding": "serialized" },
          body: JSON.stringify({ to: at }),
        });
        return new TextDecoder().decode(await (body as ByteStream).bytes());
      }),
    );
    for (const [at, text] of texts.entries())
      expect(text.match(/^data: \d+$/gm)?.length ?? 0).toBe(at);
    expect(sockets).toBe(1);
  });

  it("page-links-4: a call that fails before its first item is an ordinary error answer", async () => {
    const page = await openPage(services.ports.proxy);
    page.send(openOf(1, "shop/refused"), openOf(2, "shop/nothing"), openOf(3, "shop/closed"));
    expect((await page.stream(1))[0].status).toBe(401);
    expect((await page.stream(2))[0].status).toBe(404);
    expect((await page.stream(3))[0].status).toBe(401);
    expect((await page.stream(1))[1]).toContain("Sign in first");
  });

  it("page-links-24: in a stream no cookie can change: response.cookies.writable is false, and what changes one throws TypeError, on any node", async () => {
    const page = await openPage(services.ports.proxy, { headers: { cookie: "name=Ada" } });
    page.send(openOf(1, "shop/baked"));
    const text = (await page.stream(1))[1];
    expect(text).toContain('data: [false,"TypeError","TypeError"]');
  });

  it("A cookie of a middleware is lost, and the log says so once (page-links-24)", async () => {
    const { ports, log } = await opened({
      middleware: {
        async handle(_fqn, _version, _args, headers, next) {
          const result = await next();
          headers.set("set-cookie", "seen=1");
          return result;
        },
      },
    });
    const page = await openPage(ports.standalone);
    page.send(openOf(1, "shop/count", { to: 1 }), openOf(2, "shop/count", { to: 1 }));
    const [[head], [second]] = [await page.stream(1), await page.stream(2)];
    expect([head.status, second.status]).toEqual([200, 200]);
    expect(page.came.join()).not.toContain("seen=1");
    expect(log.lines.filter((line) => line.includes("set a cookie"))).toHaveLength(1);
  });

  it("page-links-5: a page that cancels a stream, or goes, ends its generator on the last machine", async () => {
    const page = await openPage(services.ports.proxy);
    page.send(openOf(1, "shop/wait"), openOf(2, "shop/wait"), openOf(3, "shop/wait"));
    await untilNoted("wait begins", 3);
    page.send("cancel 1");
    await untilNoted("wait ended");
    page.webSocket.terminate();
    await untilNoted("wait ended", 3);
  });

  it("page-links-6: a half-closed connection counts as closed", async () => {
    const page = await openPage(services.ports.standalone);
    page.send(openOf(1, "shop/wait"));
    await untilNoted("wait begins");
    page.socket.end();
    await untilNoted("wait ended");
  });

  it("page-links-7: a reader without credit for more stops the generator, and holds up no other stream", async () => {
    const page = await openPage(services.ports.standalone);
    page.send(openOf(1, "shop/count", { to: 100_000 }), openOf(2, "shop/count", { to: 3 }));
    await page.stream(2);
    const size = (): number =>
      page.came
        .filter((text) => text.startsWith("data 1 "))
        .reduce((sum, text) => sum + Buffer.byteLength(text) - "data 1 ".length, 0);
    await expect.poll(size).toBe(262_144);
    await pause(100);
    expect(size()).toBe(262_144);
    page.send("credit 1 100000");
    await expect.poll(size).toBe(362_144);
    page.send("cancel 1");
    await untilNoted("count ended", 2);
    await expect.poll(() => services.memory.standalone.bytes).toBe(0);
  });

  it("page-links-8: a page may add four headers to a stream, and those in streamHeaders; the handshake's win", async () => {
    const { ports } = await opened({ streamHeaders: ["x-tenant"] });
    const page = await openPage(ports.gateway, {
      headers: { cookie: "session=1", authorization: "Basic proxy" },
    });
    expect(page.came).toEqual(['open 0 {"headers":["x-tenant"]}']);
    const headers = { authorization: "Bearer page", "accept-language": "nl", "x-tenant": "t1" };
    page.send(openOf(1, "shop/who", {}, { headers }));
    expect((await page.stream(1))[1]).toMatch(
      /(?=.*"authorization":"Basic proxy")(?=.*"accept-language":"nl")(?=.*"x-tenant":"t1")(?=.*"cookie":"session=1")/,
    );
    page.send(openOf(2, "shop/who", {}, { headers: { "x-other": "1" } }));
    const [head, text] = await page.stream(2);
    expect([head.status, text]).toEqual([400, expect.stringContaining("'streamHeaders'")]);
  });

  it("page-links-9: a link carries calls only, and no more than streamsPerLink at once", async () => {
    const { ports } = await opened({ limits: { streamsPerLink: 2 } });
    const page = await openPage(ports.standalone);
    page.send(openOf(1, "a", {}, { target: "/health/live" }));
    expect((await page.stream(1))[0].status).toBe(400);
    page.send(openOf(2, "shop/wait"), openOf(3, "shop/wait"), openOf(4, "shop/wait"));
    const [head, text] = await page.stream(4);
    expect([head.status, text]).toEqual([503, expect.stringContaining("limits.streamsPerLink")]);
    page.send("cancel 2");
    await untilNoted("wait ended");
    page.send(openOf(5, "shop/count", { to: 1 }));
    expect((await page.stream(5))[0].status).toBe(200);
  });

  it("page-links-10: messages that make no sense close the link with 1008, binary ones with 1003, long ones with 1009", async () => {
    const closing = async (send: (page: Awaited<ReturnType<typeof openPage>>) => void) => {
      const page = await openPage(services.ports.standalone);
      send(page);
      return await page.closed;
    };
    expect(await closing((page) => page.send("hello"))).toEqual([
      1008,
      "A message isn't one of a page's link",
    ]);
    expect(await closing((page) => page.send("cancel 7"))).toEqual([1008, "Stream 7 isn't open"]);
    expect(await closing((page) => page.webSocket.send(Buffer.from("open")))).toEqual([
      1003,
      "A page's link takes texts",
    ]);
    expect((await closing((page) => page.send("x".repeat(300_000))))[0]).toBe(1009);
  });

  it("page-links-11: the WebSocket isn't compressed", async () => {
    const page = await openPage(services.ports.standalone);
    expect(page.webSocket.extensions).toBe("");
  });

  it("page-links-12: a request for anything but such a WebSocket is 426, and other upgrades are left alone", async () => {
    const port = services.ports.proxy;
    const upgrade = (path: string, more: string) =>
      rawly(
        port,
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: http://127.0.0.1:${port}\r\nConnection: upgrade, close\r\n${more}\r\n\r\n`,
      );
    expect(await upgrade("/svc/page", "Upgrade: other")).toMatch(/^HTTP\/1.1 426 /);
    expect(await upgrade("/svc/page", "Upgrade: websocket")).toMatch(/^HTTP\/1.1 426 /);
    expect(await upgrade("/rpc/shop/plain", "Upgrade: websocket")).toMatch(/^HTTP\/1.1 200 /);
    expect(await refusalOf(port, { protocol: "other" })).toBe(426);
  });
});

describe("pages that get a link", () => {
  it("page-links-13: are those of the service's own origin: none without an Origin, with null, or of another", async () => {
    for (const name of pageServices) {
      const port = services.ports[name];
      for (const origin of [
        undefined,
        "null",
        "http://evil.example",
        `http://127.0.0.1:${port + 1}`,
      ])
        expect(await refusalOf(port, { origin }), `${name} ${origin}`).toBe(403);
      expect(await refusalOf(port), name).toBe(101);
    }
  });

  it("page-links-14: with 'origin' it counts instead of Host, as behind a proxy that doesn't pass it on", async () => {
    const { ports } = await opened({ web: { origins: ["https://shop.example"] } });
    const port = ports.proxy;
    expect(await refusalOf(port, { origin: "https://shop.example" })).toBe(101);
    expect(await refusalOf(port)).toBe(403);
  });

  it("page-links-15: are those that the CorsMiddleware with credentials names; * admits none", async () => {
    const origin = "https://admin.example";
    const named = await opened({
      middleware: new CorsMiddleware([origin], "*", { credentials: true }),
    });
    expect(await refusalOf(named.ports.gateway, { origin })).toBe(101);
    expect(await refusalOf(named.ports.gateway, { origin: "https://other.example" })).toBe(403);
    for (const cors of [new CorsMiddleware(), new CorsMiddleware([origin])]) {
      const { ports } = await opened({ middleware: cors });
      expect(await refusalOf(ports.gateway, { origin })).toBe(403);
    }
  });

  it("page-links-16: a refused origin is logged once, with the keys to set", async () => {
    const { ports, log } = await opened({});
    for (let times = 0; times < 3; times++)
      await refusalOf(ports.proxy, { origin: "https://shop.example" });
    const lines = log.lines.filter((line) => line.includes("https://shop.example"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/'origin'.*Host.*CorsMiddleware/);
  });

  it("page-links-17: ask for a host of the service: any other is 421", async () => {
    expect(await refusalOf(services.ports.standalone, { host: "evil.example" })).toBe(421);
  });

  it("page-links-18: at one public address have at most linksPerAddress, by the address that the proxy in front saw", async () => {
    const web = { forwarded: true };
    const { ports, log } = await opened({ web, limits: { linksPerAddress: 2 } });
    const from = (address: string) =>
      refusalOf(ports.proxy, {
        headers: {
          "x-forwarded-for": `10.0.0.1, ${address}`,
          "x-forwarded-host": `127.0.0.1:${ports.proxy}`,
          "x-forwarded-proto": "http",
        },
      });
    expect([await from("203.0.113.7"), await from("203.0.113.7")]).toEqual([101, 101]);
    expect([await from("203.0.113.7"), await from("203.0.113.8")]).toEqual([503, 101]);
    // One caller has a whole /64.
    expect([await from("2001:db8::1"), await from("2001:db8::2")]).toEqual([101, 101]);
    expect([await from("2001:db8::3"), await from("2001:db8:0:1::1")]).toEqual([503, 101]);
    // Any number may be behind a private one.
    for (let times = 0; times < 4; times++) expect(await from("192.168.1.1")).toBe(101);
    expect(log.lines.filter((line) => line.includes("linksPerAddress"))).toHaveLength(1);
  });

  it("page-links-19: without 'forwarded', x-forwarded-for doesn't count", async () => {
    const { ports } = await opened({ limits: { linksPerAddress: 1 } });
    for (let times = 0; times < 3; times++)
      expect(await refusalOf(ports.proxy, { headers: { "x-forwarded-for": "203.0.113.7" } })).toBe(
        101,
      );
  });

  it("page-links-20: count as connections: past maxConnections there are none", async () => {
    const { ports, links } = await opened({ limits: { maxConnections: 2 } });
    const pages = [await openPage(ports.standalone), await openPage(ports.standalone)];
    expect(links.standalone.size).toBe(2);
    expect(await refusalOf(ports.standalone)).toBe(503);
    pages[0]!.webSocket.terminate();
    await expect.poll(() => refusalOf(ports.standalone)).toBe(101);
  });
});

describe("a service that stops", () => {
  it("page-links-21: tells pages to open their next streams elsewhere, and takes no new links", async () => {
    const { ports, servers } = await opened({});
    const page = await openPage(ports.proxy);
    page.send(openOf(1, "shop/wait"));
    await untilNoted("wait begins");
    servers.proxy.drain();
    await expect.poll(() => page.came).toContain("end 0");
    expect(await refusalOf(ports.proxy)).toBe(503);
    // Streams on their way are answered.
    page.send(openOf(2, "shop/count", { to: 1 }), "cancel 1");
    expect((await page.stream(2))[0].status).toBe(200);
    expect(await page.closed).toEqual([1001, "This service has stopped"]);
  });

  it("page-links-22: lets streams end for its time, and then cuts them", async () => {
    const { ports, servers, links } = await opened({});
    const page = await openPage(ports.proxy);
    page.send(openOf(1, "shop/wait"));
    await untilNoted("wait begins");
    await expect.poll(() => page.came.some((text) => text.startsWith("open 1 "))).toBe(true);
    const began = performance.now();
    const closing = servers.proxy.close(300);
    expect(await page.closed).toEqual([1001, "This service has stopped"]);
    await closing;
    expect(performance.now() - began).toBeGreaterThanOrEqual(295);
    expect(page.came).toContain("cancel 1");
    expect(links.proxy.size).toBe(0);
    await untilNoted("wait ended");
  });

  it("page-links-23: closes at once if no page has a link", async () => {
    const { servers, ports } = await opened({});
    const page = await openPage(ports.standalone);
    page.webSocket.close();
    await once(page.webSocket, "close");
    const began = performance.now();
    await servers.standalone.close(5_000);
    expect(performance.now() - began).toBeLessThan(3_000);
  });
});

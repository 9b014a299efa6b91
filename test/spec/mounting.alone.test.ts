import { once } from "node:events";
import { createServer, type IncomingMessage, request as httpRequest } from "node:http";
import { connect, constants } from "node:http2";
import { connect as openSocket, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";

import { createHandler } from "../../server/start/create-handler.ts";
import type { Handler, HandlerOptions } from "../../server/start/server.ts";
import { startServer } from "../../server/start/start-server.ts";
import { TestLog } from "../_cluster.ts";
import { openOf, openPage } from "../_page-links.ts";
import { raw } from "../unit/server/_raw.ts";
import { close, http2Server, listening, servers } from "./_mounted.ts";
import { anyPort, applicationOf } from "./_started.ts";

const files = {
  "index.html": "<!doctype html><title>Mounted</title>",
  "src/about.txt": "About us",
  "src/site/site.ts": `import { getContext } from "seamline";

const events: string[] = [];

export async function greet(name: string): Promise<string> {
  return "Hello, " + name;
}
export async function seen(): Promise<string[]> {
  return events;
}
export async function fail(): Promise<void> {
  throw new Error("broken");
}
export async function visit(): Promise<string> {
  const { cookies, response } = getContext();
  response.cookies.set("visited", "yes");
  return cookies.get("visited") ?? "no";
}
export async function caller(): Promise<string> {
  const { url, address } = getContext().request;
  return url + " " + address;
}
export async function size(file: File): Promise<string> {
  return file.name + " " + (await file.arrayBuffer()).byteLength;
}
export async function wait(name: string): Promise<string> {
  events.push(name + " waits");
  const { signal } = getContext();
  await new Promise<void>((done) => {
    signal.addEventListener("abort", () => (events.push(name + " aborted"), done()));
    setTimeout(done, 400);
  });
  return name;
}
export async function echo(request: Request): Promise<Response> {
  return new Response(request.body);
}
export async function refuse(): Promise<Response> {
  return new Response("no", { status: 413 });
}
export async function endless(): Promise<Response> {
  events.push("endless begins");
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    cancel: () => void events.push("endless cancelled"),
  });
  return new Response(body);
}
export async function breaks(): Promise<Response> {
  let count = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (count++ > 0) throw new Error("broken off");
      controller.enqueue(new Uint8Array(10));
    },
  });
  return new Response(body);
}
`,
  "site.segment.json": JSON.stringify({
    "./site/site": {
      ...Object.fromEntries(
        ["greet", "seen", "fail", "visit", "caller", "size", "wait"].map((name) => [
          name,
          { access: "public" },
        ]),
      ),
      echo: { access: "public", route: "POST /site/echo" },
      refuse: { access: "public", route: "POST /site/refuse" },
      endless: { access: "public", route: "GET /site/endless" },
      breaks: { access: "public", route: "GET /site/breaks" },
    },
  }),
};
const config = {
  mode: "standalone",
  url: anyPort,
  assets: ["*.txt"],
  trustKey: "a-key-for-these-tests",
};

const closing: (() => unknown)[] = [];
let application: ReturnType<typeof applicationOf>;
let handler: Handler;
const log = new TestLog();

const create = async (options: HandlerOptions = {}): Promise<Handler> =>
  await createHandler(application.importer, {
    root: application.root,
    config,
    build: false,
    log: new TestLog(),
    ...options,
  });

beforeAll(async () => {
  application = applicationOf(files, (remove) => closing.push(remove));
  await application.build();
  handler = await create({ log });
}, 60_000);
afterAll(async () => {
  await handler?.close();
  for (const end of closing) await end();
});

// A connection each: some servers close one after a body that wasn't read, without a word.
const post = (body: BodyInit, type = "application/json"): RequestInit => ({
  method: "POST",
  headers: { "content-type": type, connection: "close" },
  body,
});
const eventsOf = async (url: string): Promise<string[]> =>
  (await (await fetch(`${url}/rpc/site/seen`)).json()) as string[];

describe.each(Object.keys(servers))("mounted in %s", (name) => {
  let url = "";
  let server: Awaited<ReturnType<(typeof servers)[string]>>;
  beforeAll(async () => {
    server = await servers[name]!(handler);
    url = await listening(server);
  });
  afterAll(() => close(server));
  const get = async (path: string, init?: RequestInit): Promise<[number, string]> => {
    const answer = await fetch(url + path, init);
    return [answer.status, await answer.text()];
  };

  it("mounting-1: a mounted service answers calls, routes, files, health and the runtime of pages", async () => {
    expect(await get("/rpc/site/greet?name=Ada")).toEqual([200, "Hello, Ada"]);
    expect(await get("/rpc/site/greet", post('{"name":"Bo"}'))).toEqual([200, "Hello, Bo"]);
    expect(await get("/site/echo", post("{}"))).toEqual([200, "{}"]);
    expect(await get("/about.txt")).toEqual([200, "About us"]);
    expect((await get("/"))[1]).toContain("<title>Mounted</title>");
    expect(await get("/health/ready")).toEqual([200, "true"]);
    expect((await get("/svc/client.js"))[0]).toBe(200);
    expect((await get("/rpc/site/none"))[0]).toBe(404);
    expect((await get("/svc/none.js"))[0]).toBe(404);
    expect(await get("/rpc/site/caller")).toEqual([
      200,
      name.startsWith("Hono")
        ? `${url}/rpc/site/caller undefined`
        : `${url}/rpc/site/caller 127.0.0.1`,
    ]);
  });

  it("mounting-2: what isn't for the service goes to the other server, its body unread", async () => {
    for (const path of ["/own/a?b=1", "/own/site/greet"])
      expect((await get(path, post("text", "text/plain")))[1]).toBe(
        `own POST ${name.startsWith("Hono") ? path.split("?")[0] : path} text`,
      );
    const answer = await fetch(`${url}/own/other`);
    expect([answer.status, answer.headers.get("x-own")]).toEqual([200, "yes"]);
  });

  it("a request with a transfer coding other than chunked is refused, and its connection closes", async () => {
    const head =
      "POST /rpc/site/greet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json";
    const body = 'd\r\n{"name":"Cy"}\r\n0\r\n\r\n';
    for (const coding of ["gzip, chunked", "identity, chunked"]) {
      const bytes = `${head}\r\nTransfer-Encoding: ${coding}\r\n\r\n${body}`;
      const text = await raw({ url }, bytes).closed();
      expect(text, coding).toMatch(/^HTTP\/1\.1 501 /);
    }
    const bytes = `${head}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
    expect(await raw({ url }, bytes).closed()).toMatch(/^HTTP\/1\.1 200 [^]*Hello, Cy/);
  });

  it("mounting-3: bodies stream both ways", async () => {
    const headers = { "content-type": "application/octet-stream" };
    const upload = httpRequest(`${url}/site/echo`, { method: "POST", headers });
    upload.write("first");
    const [answer] = (await once(upload, "response")) as [IncomingMessage];
    const chunks = answer[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    expect(String((await chunks.next()).value)).toBe("first");
    upload.write("second");
    expect(String((await chunks.next()).value)).toBe("second");
    upload.end();
    expect((await chunks.next()).done).toBe(true);
    const large = Buffer.alloc(8_000_000, "abc");
    const echoed = await fetch(`${url}/site/echo`, post(large, "application/octet-stream"));
    expect(large.equals(Buffer.from(await echoed.arrayBuffer()))).toBe(true);
  });

  it("mounting-4: a caller that leaves aborts the signal, and ends what streams", async () => {
    const leaving = new AbortController();
    const left = fetch(`${url}/rpc/site/wait?name=${name}`, { signal: leaving.signal });
    left.catch(() => {});
    await vi.waitFor(async () => expect(await eventsOf(url)).toContain(`${name} waits`), 20_000);
    leaving.abort();
    await vi.waitFor(async () => expect(await eventsOf(url)).toContain(`${name} aborted`), 20_000);
    const before = (await eventsOf(url)).filter((event) => event === "endless cancelled").length;
    const stream = await fetch(`${url}/site/endless`);
    await stream.body?.cancel();
    await vi.waitFor(
      async () =>
        expect((await eventsOf(url)).filter((event) => event === "endless cancelled").length).toBe(
          before + 1,
        ),
      { timeout: 5_000 },
    );
  });

  it("mounting-5: errors have the status and text of a service that listens itself, and an answer that breaks off is cut", async () => {
    const failed = await fetch(`${url}/rpc/site/fail`);
    expect([failed.status, failed.headers.get("x-content-type-options")]).toEqual([500, "nosniff"]);
    expect((await failed.text()).split("\n")[0]).toBe("broken");
    expect((await get("/rpc/site/greet"))[0]).toBe(400);
    expect((await get("/rpc/site/greet", { method: "DELETE" }))[0]).toBe(405);
    const broken = await fetch(`${url}/site/breaks`);
    await expect(broken.arrayBuffer()).rejects.toThrow();
    expect(await get("/site/refuse", post(Buffer.alloc(300_000)))).toEqual([413, "no"]);
    expect((await get("/rpc/site/greet", post(`"${"x".repeat(1_100_000)}"`)))[0]).toBe(413);
  });

  it("mounting-6: cookies and uploads pass, and calls that pages of other origins cause are refused", async () => {
    const visited = await fetch(`${url}/rpc/site/visit`, { headers: { cookie: "visited=yes" } });
    expect(await visited.text()).toBe("yes");
    expect(visited.headers.getSetCookie()).toEqual([expect.stringMatching(/^visited=yes;/)]);
    const form = new FormData();
    form.set("file", new File(["12345"], "a.txt"));
    expect(await get("/rpc/site/size", { method: "POST", body: form })).toEqual([200, "a.txt 5"]);
    const foreign = { headers: { "sec-fetch-site": "cross-site" } };
    expect((await get("/rpc/site/greet?name=Ada", foreign))[0]).toBe(403);
    const answer = await get("/rpc/site/size", { method: "POST", body: form, ...foreign });
    expect(answer[0]).toBe(403);
  });

  it("a path that the server's URL parser has rewritten is 404, as where it comes unchanged (mounting-7)", async () => {
    const { hostname, port } = new URL(url);
    const answer = async (path: string): Promise<string> => {
      const socket = openSocket(Number(port), hostname);
      socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
      let text = "";
      for await (const chunk of socket) text += String(chunk);
      return text;
    };
    const [, greeting] = await get("/rpc/site/greet?name=Ada");
    expect(await answer("/rpc/site/greet?name=Ada&x=../a")).not.toContain(" 404 ");
    for (const path of [
      "/x/../rpc/site/greet?name=Ada",
      "/x/%2e%2E/rpc/site/greet?name=Ada",
      "/rpc/./site/greet?name=Ada",
      "/rpc\\site/greet?name=Ada",
    ])
      expect([path, (await answer(path)).includes(`\n${greeting}`)]).toEqual([path, false]);
  });

  it("mounting-7: HEAD has the fields of GET and no body, and another host is 421 for the service's own paths only", async () => {
    const head = await fetch(`${url}/about.txt`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "8"]);
    expect(await get("/rpc/site/greet?name=Ada", { method: "HEAD" })).toEqual([405, ""]);
    expect(await get("/site/endless", { method: "HEAD" })).toEqual([200, ""]);
    const status = (path: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const asked = httpRequest(url + path, { headers: { host: "evil.example" } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asked.on("error", reject).end();
      });
    expect(await status("/rpc/site/greet?name=Ada")).toBe(421);
    expect(await status("/about.txt")).toBe(421);
    expect(await status("/own/other")).toBe(200);
  });
});

describe("a mistake in the mounting", () => {
  const serve = async (server: Parameters<typeof listening>[0]): Promise<string> => {
    onTestFinished(() => close(server));
    return await listening(server);
  };
  const read = "This request's body has been read already: mount Seamline before body parsers";

  it("mounting-8: behind something that has read the body, calls and routes are 500 and say so: in Express", async () => {
    const app = express().use(express.json(), express.text()).use(handler.node);
    const url = await serve(createServer(app));
    for (const path of ["/rpc/site/greet", "/site/echo"])
      for (const body of ['{"name":"Ada"}', "{}", "[]"]) {
        const answer = await fetch(url + path, post(body));
        expect([answer.status, await answer.text()]).toEqual([500, read]);
      }
    expect((await fetch(`${url}/rpc/site/greet?name=Ada`)).status).toBe(200);
    expect(log.lines.filter((line) => line.includes(read)).length).toBe(1);
  });

  it("behind something that has read the body, calls are 500 and say so: in Fastify (mounting-8)", async () => {
    const app = fastify();
    app.all("/*", (request, reply) => {
      reply.hijack();
      handler.node(request.raw, reply.raw);
    });
    await app.ready();
    const url = await serve(app.server);
    const answer = await fetch(`${url}/rpc/site/greet`, post('{"name":"Ada"}'));
    expect([answer.status, await answer.text()]).toEqual([500, read]);
  });

  it("behind something that has read the body, calls are 500 and say so: in Hono (mounting-8)", async () => {
    const app = new Hono();
    app.use(async ({ req }, next) => {
      await req.text();
      await next();
    });
    app.notFound(({ req }) => handler.fetch(req.raw));
    const url = await serve(createAdaptorServer(app));
    const answer = await fetch(`${url}/rpc/site/greet`, post('{"name":"Ada"}'));
    expect([answer.status, await answer.text()]).toEqual([500, read]);
  });

  it("mounting-9: below a prefix every answer is 500 with the reason: in Express", async () => {
    const app = express().use("/api", handler.node);
    const url = await serve(createServer(app));
    for (const path of ["/api/rpc/site/greet?name=Ada", "/api", "/api/about.txt"]) {
      const answer = await fetch(url + path);
      expect([answer.status, await answer.text()]).toEqual([
        500,
        "Seamline is mounted below '/api': set base: \"/api/\" in the Vite configuration and build again, or mount it at the root, since pages and other services expect /rpc and /svc there",
      ]);
    }
  });

  it("below a prefix that a server leaves on, calls are 500 with the reason (mounting-9)", async () => {
    const answer = await handler.fetch(new Request("http://localhost/a/b/rpc/site/greet?name=A"));
    expect([answer.status, await answer.text()]).toEqual([
      500,
      expect.stringMatching(/^Seamline is mounted below '\/a\/b'/),
    ]);
    expect((await handler.fetch(new Request("http://localhost/other"))).status).toBe(404);
  });

  it("mounting-10: a start that fails rejects, and says why: for a mode that can't be mounted", async () => {
    await expect(create({ config: { mode: "gateway", url: anyPort } })).rejects.toThrow(
      "createHandler runs a standalone or a node, not a gateway",
    );
    await expect(create({ config: "none.json" })).rejects.toThrow("none.json");
    await expect(createHandler("./main.js" as never)).rejects.toThrow(
      new TypeError(
        "createHandler takes a module importer: createHandler((specifier) => import(specifier))",
      ),
    );
    const broken = { ...config, segments: ["none"] };
    await expect(create({ config: broken })).rejects.toThrow("none");
    const node = {
      mode: "node",
      url: anyPort,
      gateway: "http://g",
      repository: "http://r",
      segments: ["site"],
    };
    await expect(create({ config: node })).rejects.toThrow("the port can't be 0");
  });
});

describe("a mounted service that closes", () => {
  const started = async (options: HandlerOptions) => {
    const closed = await create(options);
    const server = await servers["node:http"]!(closed);
    onTestFinished(() => close(server));
    return { closed, url: await listening(server) };
  };

  it("mounting-11: close() lets calls in flight finish, refuses later ones, and leaves the server to its owner", async () => {
    const { closed, url } = await started({});
    const running = fetch(`${url}/rpc/site/wait?name=last`);
    await vi.waitFor(async () => expect(await eventsOf(url)).toContain("last waits"), 20_000);
    const ended = closed.close();
    expect((await fetch(`${url}/health/ready`)).status).toBe(503);
    expect(await (await running).text()).toBe("last");
    await ended;
    const late = await fetch(`${url}/rpc/site/greet?name=Ada`);
    expect([late.status, late.headers.get("x-svc-not-started")]).toEqual([503, "leaving"]);
    expect(await (await fetch(`${url}/own/a`)).text()).toBe("own GET /own/a ");
  });

  it("close() cuts what runs after drainMs: 503, and the signal is aborted (mounting-11)", async () => {
    const lines = new TestLog();
    const { closed, url } = await started({ config: { ...config, drainMs: 50 }, log: lines });
    const running = fetch(`${url}/rpc/site/wait?name=cut`);
    const stream = await fetch(`${url}/site/endless`);
    await vi.waitFor(async () => expect(await eventsOf(url)).toContain("cut waits"), 20_000);
    await closed.close();
    expect((await running).status).toBe(503);
    await expect(stream.arrayBuffer()).rejects.toThrow();
    expect(lines.lines.join()).toContain("cut 2 requests that were still running");
  });
});

describe("other ways", () => {
  it("mounting-12: over HTTP/2 a mounted service answers as over HTTP/1", async () => {
    const server = http2Server(handler);
    onTestFinished(() => close(server));
    const url = await listening(server);
    const session = connect(url);
    onTestFinished(() => session.destroy());
    const ask = async (fields: object, body = "") => {
      const stream = session.request({ ...fields }, { endStream: body === "" });
      const head = once(stream, "response") as Promise<[Record<string, unknown>]>;
      if (body !== "") stream.end(body);
      let text = "";
      for await (const chunk of stream) text += String(chunk);
      return [(await head)[0][":status"], text];
    };
    const json = { ":method": "POST", "content-type": "application/json" };
    expect(await ask({ ":path": "/rpc/site/greet?name=Ada" })).toEqual([200, "Hello, Ada"]);
    expect(await ask({ ...json, ":path": "/rpc/site/greet" }, '{"name":"Bo"}')).toEqual([
      200,
      "Hello, Bo",
    ]);
    expect(await ask({ ...json, ":path": "/site/echo" }, "echo")).toEqual([200, "echo"]);
    expect(await ask({ ":path": "/about.txt" })).toEqual([200, "About us"]);
    expect(await ask({ ...json, ":path": "/own/a" }, "b")).toEqual([200, "own POST /own/a b"]);
    const left = session.request({ ":path": "/rpc/site/wait?name=http2" });
    await vi.waitFor(
      async () => expect((await ask({ ":path": "/rpc/site/seen" }))[1]).toContain("http2 waits"),
      20_000,
    );
    left.close(constants.NGHTTP2_CANCEL);
    await vi.waitFor(
      async () => expect((await ask({ ":path": "/rpc/site/seen" }))[1]).toContain("http2 aborted"),
      20_000,
    );
  });

  it("mounting-13: a mounted node joins its gateway and answers its calls", async () => {
    const options = { root: application.root, signals: false, build: false, log: new TestLog() };
    const start = async (values: object) =>
      await startServer(application.importer, {
        ...options,
        config: { url: anyPort, trustKey: config.trustKey, ...values } as never,
      });
    const [repository, gateway] = await Promise.all([
      start({ mode: "repository" }),
      start({ mode: "gateway" }),
    ]);
    let node: Handler | undefined = undefined;
    const server = createServer((message, response) => node?.node(message, response));
    const url = await listening(server);
    node = await create({
      config: {
        mode: "node",
        url,
        trustKey: config.trustKey,
        gateway: gateway.url,
        repository: repository.url,
        segments: ["site"],
      } as never,
    });
    expect(node.info).toMatchObject({ mode: "node", segments: ["site"] });
    const answer = await fetch(`${gateway.url}/rpc/site/greet?name=Ada`);
    expect([answer.status, await answer.text()]).toEqual([200, "Hello, Ada"]);
    expect(await node.runProcedure("site/greet", "0.0.0", { name: "Bo" })).toBe("Hello, Bo");
    await node.close();
    expect((await fetch(`${gateway.url}/rpc/site/greet?name=Ada`)).status).toBe(503);
    close(server);
    closing.push(() => Promise.all([gateway.stop(), repository.stop()]));
    await pause(0);
  });

  /** A proxy that is linked to the mounted service at `url`. */
  async function proxyOf(url: string) {
    const { trustKey } = config;
    const proxy = await startServer(application.importer, {
      root: application.root,
      signals: false,
      log: new TestLog(),
      config: { mode: "proxy", url: anyPort, node: url, repository: url, trustKey },
    });
    closing.push(() => proxy.stop());
    return proxy;
  }

  it("mounting-15: a service links to a mounted one whose server hands upgrades over, and others are left to that server", async () => {
    const server = await servers["node:http"]!(handler);
    const left: (string | undefined)[] = [];
    server.on("upgrade", (message: IncomingMessage, socket: Socket, head: Buffer) => {
      if (handler.upgrade(message, socket, head)) return;
      left.push(message.url);
      socket.end("HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\n\r\n");
    });
    const url = await listening(server);
    onTestFinished(() => close(server));
    const proxy = await proxyOf(url);
    expect(proxy.info).toMatchObject({ ways: [{ to: url, isLinked: true }] });
    const get = async (path: string) => await (await fetch(proxy.url + path)).text();
    expect(await get("/rpc/site/greet?name=Ada")).toBe("Hello, Ada");
    expect(await get("/about.txt")).toBe("About us");
    expect(
      await raw(
        { url },
        "GET /chat HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
      ).closed(),
    ).toMatch(/^HTTP\/1.1 426/);
    expect(
      await raw(
        { url },
        "GET /svc/link HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: seamline-link\r\n\r\n",
      ).closed(),
    ).toMatch(/^HTTP\/1.1 401/);
    expect(left).toEqual(["/chat"]);
  });

  it("a mounted service that closes lets its links end with their calls, and takes no more (mounting-15)", async () => {
    const mounted = await create();
    const server = await servers["node:http"]!(mounted);
    server.on("upgrade", mounted.upgrade);
    const url = await listening(server);
    onTestFinished(() => close(server));
    const proxy = await proxyOf(url);
    const waiting = fetch(`${proxy.url}/rpc/site/wait?name=closed`);
    await vi.waitFor(async () => expect(await eventsOf(url)).toContain("closed waits"), 20_000);
    await mounted.close();
    expect(await (await waiting).text()).toBe("closed");
    expect(proxy.info).toMatchObject({ ways: [{ to: url, isLinked: false }] });
    expect((await fetch(`${proxy.url}/rpc/site/greet?name=Ada`)).status).toBe(503);
  });

  it("pages open their link to a mounted service whose server hands upgrades over, and it ends when the service closes (mounting-15, page-links-1)", async () => {
    const mounted = await create();
    const server = await servers["node:http"]!(mounted);
    server.on("upgrade", mounted.upgrade);
    const url = await listening(server);
    onTestFinished(() => close(server));
    const page = await openPage(Number(new URL(url).port));
    page.send(openOf(1, "site/greet", { name: "Ada" }));
    // It isn't a stream.
    expect((await page.stream(1))[0].status).toBe(200);
    expect((await page.stream(1))[1]).toBe("Hello, Ada");
    await mounted.close();
    expect(await page.closed).toEqual([1001, "This service has stopped"]);
    expect(page.came).toContain("end 0");
  });
});

import { readFileSync } from "node:fs";
import { get } from "node:https";
import { connect as connectTls } from "node:tls";
import { gunzipSync } from "node:zlib";

import { describe, expect, it, onTestFinished, vi } from "vitest";

import type { HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import { HeldMemory } from "../../server/host/held-memory.ts";
import { listen, type ListenOptions } from "../../server/http/http.ts";
import { answerOf, ask, certified, openSession } from "../_http2.ts";
import { builtOnce, start } from "./_started.ts";

const application = builtOnce({
  "src/shop.ts": `import { getContext } from "seamline";
export async function greet(name: string) { return "Hello, " + name; }
export async function list(count: number) { return Array.from({ length: count }, (_, at) => ({ at, title: "number " + at })); }
export async function* count(to: number) { for (let at = 0; at < to; at++) yield at; }
export async function seen() {
  const { headers, request, cookies } = getContext();
  getContext().response.cookies.set("a", "1");
  getContext().response.cookies.set("b", "2");
  return { names: [...headers.keys()], host: headers.get("host"), method: request.method, url: request.url, address: request.address, cookie: cookies.get("c") };
}
export async function size(file: Blob) { return file.size; }
export async function save(request: Request) {
  let bytes = 0;
  for await (const chunk of request.body ?? []) bytes += chunk.length;
  return new Response(request.url + " " + bytes, { status: 201, headers: { "x-letter": "é" } });
}
`,
  "shop.segment.json": JSON.stringify({
    "./shop": {
      ...Object.fromEntries(
        ["greet", "list", "count", "seen", "size"].map((name) => [
          name,
          { access: "public", safe: true },
        ]),
      ),
      save: { access: "public", route: "POST /save" },
    },
  }),
  "index.html": "<p>the page",
});

const json = { "content-type": "application/json" };

/** A service that answers with `handle`. */
async function serve(
  handle: (request: HttpRequest) => Promise<HttpResponse>,
  options: Partial<ListenOptions> = {},
) {
  const tls = certified();
  const files = { cert: readFileSync(tls.cert, "utf8"), key: readFileSync(tls.key, "utf8") };
  const server = await listen(handle, { host: "127.0.0.1", port: 0, tls: files, ...options });
  onTestFinished(async () => await server.close(0));
  return { server, url: server.url, ca: tls.ca, open: () => openSession(server.url, tls.ca) };
}

async function standalone(more: object = {}) {
  const { ca, ...tls } = certified();
  const server = await start(application, {
    mode: "standalone",
    url: "https://127.0.0.1:0",
    tls,
    ...more,
  });
  return { url: server.url, ca, open: () => openSession(server.url, ca), server };
}

const answered = (body: HttpResponse["body"] = "yes"): HttpResponse => ({
  status: 200,
  headers: { "content-type": "text/plain" },
  ...(body !== undefined && { body }),
});

describe("HTTP/2", () => {
  it("http-two-1: a service with tls speaks HTTP/2 with callers that offer it, and HTTP/1.1 with all others, at the same port", async () => {
    const { url, ca, open } = await standalone();
    const protocol = async (offered?: string[]): Promise<unknown> =>
      await new Promise((resolve, reject) => {
        const socket = connectTls(
          {
            host: "127.0.0.1",
            port: Number(new URL(url).port),
            ca: readFileSync(ca),
            ...(offered && { ALPNProtocols: offered }),
          },
          () => {
            resolve(socket.alpnProtocol);
            socket.destroy();
          },
        ).on("error", reject);
      });
    expect(await protocol(["h2", "http/1.1"])).toBe("h2");
    expect(await protocol(["http/1.1"])).toBe("http/1.1");
    expect(await protocol()).toBe(false);
    expect(await ask(open(), "/rpc/greet?name=Ada")).toMatchObject({
      status: 200,
      body: "Hello, Ada",
    });
    const old = await new Promise((resolve) =>
      get(`${url}/rpc/greet?name=Ada`, { ca: readFileSync(ca), agent: false }, (answer) =>
        resolve(answer.httpVersion),
      ),
    );
    expect(old).toBe("1.1");
  });

  it("http-two-2: calls, routes, files, streams, cookies and compressed answers are the same as over HTTP/1.1", async () => {
    const { url, open } = await standalone();
    const session = open();
    const authority = new URL(url).host;
    expect(await ask(session, "/rpc/greet", json, '{"name":"Bob"}')).toMatchObject({
      status: 200,
      body: "Hello, Bob",
    });
    const seen = await ask(session, "/rpc/seen", { cookie: "c=3" });
    expect(JSON.parse(seen.body)).toEqual({
      names: expect.not.arrayContaining([expect.stringMatching(/^:/)]),
      host: authority,
      method: "GET",
      url: `https://${authority}/rpc/seen`,
      address: "127.0.0.1",
      cookie: "3",
    });
    expect(seen.headers["set-cookie"]).toHaveLength(2);
    expect(await ask(session, "/save", { "content-type": "text/x" }, "a".repeat(500_000))).toEqual({
      status: 201,
      headers: expect.objectContaining({ "x-letter": "é" }),
      body: `https://${authority}/save 500000`,
    });
    const page = await ask(session, "/", { accept: "text/html" });
    expect(page.body).toContain("the page");
    expect(
      (await ask(session, "/", { "if-none-match": String(page.headers["etag"]) })).status,
    ).toBe(304);
    expect(await ask(session, "/", { ":method": "HEAD" })).toMatchObject({ status: 200, body: "" });
    const stream = await ask(session, "/rpc/count?to=3", { accept: "text/event-stream" });
    expect(stream.body.match(/^data: .*$/gm)?.slice(0, 3)).toEqual([
      "data: 0",
      "data: 1",
      "data: 2",
    ]);
    const packed = session.request({
      ":path": "/rpc/list?count=1000",
      "accept-encoding": "gzip",
    });
    const chunks: Buffer[] = [];
    for await (const chunk of packed) chunks.push(chunk as Buffer);
    expect(JSON.parse(gunzipSync(Buffer.concat(chunks)).toString())).toHaveLength(1_000);
    const large = await ask(session, "/rpc/list?count=50000");
    expect(JSON.parse(large.body)).toHaveLength(50_000);
    expect(large.headers["content-length"]).toBe(String(Buffer.byteLength(large.body)));
    expect((await ask(session, "/nothing")).status).toBe(404);
    expect((await ask(session, "/rpc/greet", { ":method": "PUT" })).status).toBe(405);
  });

  it("http-two-3: a hundred calls run at once over one connection, each answered when it is ready", async () => {
    const waiting: (() => void)[] = [];
    const { open } = await serve(async ({ target }) => {
      if (target === "/last") for (const go of waiting) go();
      else await new Promise<void>((go) => waiting.push(go));
      return answered(target);
    });
    const session = open();
    const calls = Array.from({ length: 99 }, (_, at) => ask(session, `/${at}`));
    await vi.waitFor(() => expect(waiting).toHaveLength(99));
    expect((await ask(session, "/last")).body).toBe("/last");
    expect((await Promise.all(calls)).map(({ body }) => body)).toEqual(
      calls.map((_, at) => `/${at}`),
    );
  });

  it("http-two-4: a caller that resets its stream ends the call, and no other of its connection", async () => {
    const left: string[] = [];
    let goOn = (): void => {};
    const { open } = await serve(async ({ target, signal }) => {
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => left.push(target) && resolve());
        if (target === "/stays") goOn = resolve;
      });
      return answered(target);
    });
    const session = open();
    const leaver = session.request({ ":path": "/leaves" });
    leaver.on("error", () => {});
    const other = ask(session, "/stays");
    await vi.waitFor(() => expect(goOn.name).toBe("resolve".slice(0, goOn.name.length)));
    await vi.waitFor(() => expect(session.state.outboundQueueSize).toBe(0));
    await new Promise((resolve) => session.ping(resolve));
    leaver.close(8);
    await vi.waitFor(() => expect(left).toEqual(["/leaves"]));
    goOn();
    expect((await other).body).toBe("/stays");
    expect(left).toEqual(["/leaves"]);
  });

  it("http-two-5: an answer that breaks resets its stream, so that it doesn't look complete", async () => {
    const faults: unknown[] = [];
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(10_000);
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error("the disk has died");
    }
    const { open } = await serve(async () => answered(broken()), {
      onFault: (fault) => faults.push(fault),
    });
    const session = open();
    await expect(ask(session, "/")).rejects.toThrow();
    expect(faults).toEqual([new Error("the disk has died")]);
    expect(session.destroyed).toBe(false);
  });

  it("http-two-6: an answer may come before the end of the request's body, whose rest is refused", async () => {
    const { open } = await serve(async () => ({ ...answered("too large"), status: 413 }));
    const session = open();
    const stream = session.request({ ":path": "/", ":method": "POST" });
    stream.write(Buffer.alloc(1_000_000));
    let status: unknown;
    stream.on("response", (fields) => (status = fields[":status"]));
    let body = "";
    stream.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    await vi.waitFor(() => expect([status, body]).toEqual([413, "too large"]));
    // With NO_ERROR (RFC 9113, section 8.1), after which Node's own client waits for its own end.
    await vi.waitFor(() => expect([stream.closed, stream.rstCode]).toEqual([true, 0]));
    stream.destroy();
    expect((await ask(session, "/")).status).toBe(413);
  });

  it("http-two-7: a stop lets running calls end, and tells callers to open another connection", async () => {
    let goOn = (): void => {};
    const { open, server } = await serve(async () => {
      await new Promise<void>((resolve) => (goOn = resolve));
      return answered();
    });
    const session = open();
    const running = ask(session, "/");
    const told = new Promise((resolve) => session.once("goaway", resolve));
    await vi.waitFor(() => expect(goOn.name).not.toBe("goOn"));
    server.drain();
    expect(await told).toBe(0);
    const closed = server.close(5_000);
    goOn();
    expect((await running).body).toBe("yes");
    await closed;
  });

  it("http-two-8: a call that runs on when the time of a stop is over gets an answer, and then the connection ends", async () => {
    const cut: number[] = [];
    const { open, server } = await serve(
      async (request) =>
        await new Promise((resolve) => {
          request.onCut = () => resolve({ ...answered("stopped"), status: 503 });
        }),
      { onCut: (count) => cut.push(count) },
    );
    const session = open();
    const all = [ask(session, "/1"), ask(session, "/2")];
    await new Promise((resolve) => session.ping(resolve));
    await server.close(50);
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([503, 503]);
    expect(cut).toEqual([2]);
  });

  it("http-two-9: what a caller doesn't read is counted for each stream, and cut after the time that it has for that", async () => {
    const memory = new HeldMemory();
    const body = "a".repeat(1_000_000);
    const { open } = await serve(
      async ({ target }) => answered(target === "/small" ? "yes" : body),
      { memory, limits: { requestTimeoutMs: 1_500, idleTimeoutMs: 1_500 } },
    );
    const session = open();
    const unread = Array.from({ length: 20 }, () => {
      const stream = session.request({ ":path": "/large" });
      stream.on("error", () => {});
      return stream;
    });
    await vi.waitFor(() => expect(memory.bytes).toBeGreaterThan(15_000_000));
    // The connection moves on all the while.
    const reading = setInterval(() => void ask(session, "/small").catch(() => {}), 50);
    onTestFinished(() => clearInterval(reading));
    await vi.waitFor(() => expect(memory.bytes).toBeLessThan(1_000_000), { timeout: 8_000 });
    expect((await ask(session, "/small")).body).toBe("yes");
    for (const stream of unread) stream.destroy();
  }, 20_000);

  it("http-two-10: a body that doesn't come in time is 408, and a connection without requests ends after its time", async () => {
    const { open } = await serve(
      async (request) => answered(Buffer.from(await request.readBody(1_000))),
      { limits: { requestTimeoutMs: 300, keepAliveTimeoutMs: 300, headerTimeoutMs: 300 } },
    );
    const session = open();
    const ended = new Promise((resolve) => session.once("close", resolve));
    const stream = session.request({ ":path": "/", ":method": "POST" });
    const answer = answerOf(stream);
    stream.write("half");
    expect((await answer).status).toBe(408);
    await ended;
  });
});

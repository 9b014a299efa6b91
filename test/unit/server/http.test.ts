import { once } from "node:events";
import { createServer } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type HttpServer, listen, type ListenOptions } from "../../../server/http/http.ts";
import { PayloadTooLarge } from "../../../src/base/errors.ts";
import type { HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
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

const text = (body: string, status = 200): HttpResponse => ({
  status,
  headers: { "content-type": "text/plain" },
  body,
});
const echo = async (request: HttpRequest): Promise<HttpResponse> => {
  try {
    return text(Buffer.from(await request.readBody(10)).toString());
  } catch (error) {
    return text((error as Error).name, error instanceof PayloadTooLarge ? 413 : 400);
  }
};
const post = (length: number, body: string, more = ""): string =>
  `POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n${more}\r\n${body}`;
const get = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

async function* slow(rest: Promise<void>): AsyncGenerator<Uint8Array> {
  yield Buffer.from("begun");
  await rest;
  yield Buffer.from("done");
}

/** A promise and its handle. */
function gate<T = void>(): { promise: Promise<T>; open: (value: T) => void } {
  let open!: (value: T) => void;
  return { promise: new Promise<T>((resolve) => (open = resolve)), open };
}

describe("an HTTP request", () => {
  it("keeps its method, undecoded target, lower-case headers and body", async () => {
    let seen: HttpRequest | undefined;
    const server = await serve(async (request) => {
      seen = request;
      return await echo(request);
    });
    const answer = await fetch(`${server.url}/rpc/a%2Fb?x=%zz`, {
      method: "POST",
      headers: { "X-One": "1" },
      body: "hello",
    });
    expect(await answer.text()).toBe("hello");
    expect(seen).toMatchObject({
      method: "POST",
      target: "/rpc/a%2Fb?x=%zz",
      headers: { "x-one": "1" },
    });
  });

  it.each(["/%E0%A4%A", "/%", "/..%2f..%2fetc", "//", "*", "abc://a/b", "/a\\b"])(
    "with the target %s reaches the handler",
    async (target) => {
      const server = await serve(async (request) => text(request.target));
      const answer = await raw(
        server,
        `OPTIONS ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
      ).closed();
      expect(answer.endsWith(`\r\n\r\n${target}`)).toBe(true);
    },
  );

  it.each([
    ["http://a/b?c=http://d/e", "a", "/b?c=http://d/e"],
    ["HTTPS://a:1", "a:1", "/"],
    ["http://a?b", "A:80", "/?b"],
  ])("with the URL %s as its target is for that URL's path", async (target, host, path) => {
    const server = await serve(async (request) => text(request.target));
    const answer = await raw(
      server,
      `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
    ).closed();
    expect(answer.endsWith(`\r\n\r\n${path}`)).toBe(true);
  });

  it("has an empty body if none was sent, and can be read twice", async () => {
    const server = await serve(async (request) => {
      const first = await request.readBody(10);
      return text(`${first.length} ${first === (await request.readBody(10))}`);
    });
    expect(await (await fetch(server.url)).text()).toBe("0 true");
  });

  it("can be chunked and arrive in pieces", async () => {
    const server = await serve(echo);
    const connection = raw(
      server,
      "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
    );
    connection.socket.write("2\r\nde\r\n0\r\n\r\n");
    expect(await connection.until(/abcde$/)).toContain("200 OK");
  });

  it("that is pipelined is answered in order", async () => {
    const first = gate<HttpResponse>();
    const server = await serve((request) =>
      request.target === "/1" ? first.promise : Promise.resolve(text(request.target)),
    );
    const connection = raw(
      server,
      "GET /1 HTTP/1.1\r\nhost: a\r\n\r\nGET /2 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
    );
    await once(connection.socket, "connect");
    first.open(text("/1"));
    const answer = await connection.closed();
    expect(answer.indexOf("\r\n\r\n/1")).toBeGreaterThan(0);
    expect(answer.indexOf("\r\n\r\n/2")).toBeGreaterThan(answer.indexOf("\r\n\r\n/1"));
  });
});

describe("a request body over the limit", () => {
  it("is refused by its content-length, and the next connection works", async () => {
    const server = await serve(echo);
    const answer = await raw(server, post(100_000, "")).until(/PayloadTooLarge/);
    expect(answer).toContain("413 Payload Too Large");
    expect(answer.toLowerCase()).toContain("connection: close");
    expect(await (await fetch(server.url, { method: "POST", body: "ok" })).text()).toBe("ok");
  });

  it("is refused while it arrives, and a caller that reads only after sending gets the answer", async () => {
    const server = await serve(echo);
    const connection = raw(
      server,
      "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    const chunk = "x".repeat(65_536);
    for (let i = 0; i < 20; i++) connection.socket.write(`10000\r\n${chunk}\r\n`);
    connection.socket.write("0\r\n\r\n");
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 413 .*PayloadTooLarge$/s);
  });

  it("is never parsed as the next request", async () => {
    const targets: string[] = [];
    const server = await serve(async (request) => {
      targets.push(request.target);
      return await echo(request);
    });
    const smuggled = "GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n";
    await raw(server, post(100_000, smuggled)).until(/413/);
    const short = raw(server, post(smuggled.length, smuggled) + get);
    await short.until(/413.*200 OK/s);
    expect(targets).toEqual(["/x", "/x", "/"]);
  });

  it("only gets a 100 Continue if its content-length is allowed", async () => {
    const server = await serve(echo);
    expect(
      await raw(server, post(11, "", "expect: 100-continue\r\n")).until(/PayloadTooLarge/),
    ).not.toContain("100 Continue");
    const connection = raw(server, post(2, "", "expect: 100-continue\r\n"));
    await connection.until(/100 Continue\r\n\r\n$/);
    connection.socket.write("ok");
    expect(await connection.until(/ok$/)).toContain("200 OK");
  });
});

describe("a request body that the handler doesn't read", () => {
  it("is dropped if it is complete, and the connection stays open", async () => {
    const server = await serve(async (request) => text(request.target));
    const connection = raw(server, post(3, "abc"));
    await connection.until(/\/x$/);
    connection.socket.write(get);
    await connection.until(/\r\n\r\n\/$/);
  });

  it("closes the connection if it is incomplete", async () => {
    const server = await serve(async () => text("no", 404));
    const connection = raw(server, post(100_000, "abc"));
    expect((await connection.until(/no$/)).toLowerCase()).toContain("connection: close");
    connection.socket.write("x".repeat(99_997));
    expect(await connection.closed()).toContain("404");
  });
});

describe("a caller that disconnects", () => {
  it("aborts the signal and makes reading the incomplete body fail", async () => {
    const body = gate<unknown>();
    const aborted = gate();
    const server = await serve(async (request) => {
      request.signal.addEventListener("abort", () => aborted.open());
      await Promise.resolve(request.readBody(100)).catch(body.open);
      return text("too late");
    });
    const connection = raw(server, post(50, "half"));
    await once(connection.socket, "connect");
    connection.socket.resetAndDestroy();
    expect(await body.promise).toMatchObject({ name: "BadRequest" });
    await aborted.promise;
  });

  it("aborts a signal and a body that are first read afterwards", async () => {
    const gone = gate();
    const seen = gate<unknown>();
    const server = await serve(async (request) => {
      request.signal.addEventListener("abort", () => gone.open());
      await gone.promise;
      const late = await Promise.resolve(request.readBody(10)).catch((error: unknown) => error);
      seen.open([request.signal.aborted, (late as Error).name]);
      return text("");
    });
    const connection = raw(server, post(5, ""));
    await once(connection.socket, "connect");
    connection.socket.destroy();
    expect(await seen.promise).toEqual([true, "BadRequest"]);
  });

  it("aborts all of its pipelined requests", async () => {
    const signals: AbortSignal[] = [];
    const both = gate();
    const server = await serve(async (request) => {
      signals.push(request.signal);
      if (signals.length === 2) both.open();
      return await new Promise((resolve) =>
        request.signal.addEventListener("abort", () => resolve(text(""))),
      );
    });
    const connection = raw(server, get + get);
    await both.promise;
    connection.socket.destroy();
    for (const signal of signals) if (!signal.aborted) await once(signal, "abort");
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
  });

  it("doesn't abort the signal after the answer", async () => {
    let signal: AbortSignal | undefined;
    const server = await serve(async (request) => {
      signal = request.signal;
      return text("done");
    });
    const connection = raw(server, get);
    await connection.until(/done$/);
    connection.socket.end();
    await connection.closed();
    expect(signal?.aborted).toBe(false);
  });

  it("leaves the caller's address readable", async () => {
    const seen = gate<HttpRequest>();
    const server = await serve(async (request) => {
      seen.open(request);
      await once(request.signal, "abort");
      return text("done");
    });
    const connection = raw(server, get);
    const request = await seen.promise;
    connection.socket.destroy();
    await once(request.signal, "abort");
    expect(request.address).toBe("127.0.0.1");
  });

  it("ends the answer's stream", async () => {
    const ended = gate();
    const server = await serve(async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        try {
          while (true) {
            yield Buffer.alloc(65_536, "x");
            await new Promise((resolve) => setImmediate(resolve));
          }
        } finally {
          ended.open();
        }
      })(),
    }));
    const connection = raw(server, get);
    await connection.until(/x{100}/);
    connection.socket.destroy();
    await ended.promise;
  });
});

describe("an HTTP answer", () => {
  it.each([
    ["a text", "ü"],
    ["bytes", Buffer.from("ü")],
  ])("has headers in Latin-1 beside %s in UTF-8", async (_what, body) => {
    const server = await serve(async () => ({ status: 200, headers: { "x-name": "ü" }, body }));
    const answer = await raw(
      server,
      get.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"),
    ).closed();
    expect(answer).toMatch(/^x-name: \xfc\r$/m);
    expect(answer.endsWith("\r\n\r\n\xc3\xbc")).toBe(true);
  });

  it("has its length in bytes", async () => {
    const server = await serve(async () => text("äö"));
    expect((await fetch(server.url)).headers.get("content-length")).toBe("4");
  });

  it.each([204, 304])("with status %i has neither a body nor a length", async (status) => {
    const server = await serve(async () => ({ status, headers: {} }));
    expect(
      (
        await raw(server, "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").closed()
      ).toLowerCase(),
    ).not.toMatch(/content-length|transfer-encoding/);
  });

  it("to HEAD has the headers of GET and no body, even for a stream", async () => {
    const destroyed = vi.fn<() => void>();
    const server = await serve(async (request) =>
      request.target === "/text"
        ? text("hello")
        : {
            status: 200,
            headers: { "content-length": "5" },
            body: Readable.from([Buffer.from("hello")]).on("close", destroyed),
          },
    );
    for (const path of ["text", "stream"]) {
      const answer = await raw(
        server,
        `HEAD /${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
      ).closed();
      expect(answer.toLowerCase()).toContain("content-length: 5");
      expect(answer.endsWith("\r\n\r\n")).toBe(true);
    }
    expect(destroyed).toHaveBeenCalledOnce();
  });

  it("can be a stream and have several cookies", async () => {
    const body = (async function* () {
      yield Buffer.from("a");
      yield Buffer.from("b");
    })();
    const server = await serve(async () => ({
      status: 200,
      headers: { "set-cookie": ["a=1", "b=2"] },
      body,
    }));
    const answer = await fetch(server.url);
    expect(await answer.text()).toBe("ab");
    expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });

  it("whose stream breaks is cut and reported, and the next request works", async () => {
    const onFault = vi.fn<(fault: unknown) => void>();
    const server = await serve(
      async (request) =>
        request.target === "/ok"
          ? text("ok")
          : {
              status: 200,
              headers: {},
              body: (async function* () {
                yield Buffer.from("begun");
                throw new Error("broke");
              })(),
            },
      { onFault },
    );
    await expect(fetch(server.url).then((answer) => answer.text())).rejects.toThrow("terminated");
    expect(onFault.mock.calls).toEqual([[expect.objectContaining({ message: "broke" })]]);
    expect(await (await fetch(`${server.url}/ok`)).text()).toBe("ok");
  });

  it.each([
    ["a handler that throws", () => Promise.reject(new Error("a secret of the program"))],
    [
      "a header that can't be sent",
      () => Promise.resolve({ status: 200, headers: { "x-a": "1\r\nx-b: 2" } }),
    ],
    ["a status that there isn't", () => Promise.resolve({ status: 7, headers: {} })],
  ])(
    "is an empty 500 for %s, and the error is reported",
    async (_, handle: () => Promise<HttpResponse>) => {
      const onFault = vi.fn<(fault: unknown) => void>();
      const server = await serve(handle, { onFault });
      const answer = await fetch(server.url);
      expect([answer.status, await answer.text()]).toEqual([500, ""]);
      expect(onFault).toHaveBeenCalledOnce();
    },
  );
});

describe("the HTTP server's limits", () => {
  it("answer 408 to slow headers and slow bodies", async () => {
    const server = await serve(echo, { limits: { headerTimeoutMs: 60, requestTimeoutMs: 120 } });
    expect(await raw(server, "GET / HTTP/1.1\r\nhost").closed()).toContain("408 Request Timeout");
    expect(await raw(server, post(5, "ab")).closed()).toContain("408 Request Timeout");
  });

  it.each([
    ["a slow next request", get.replace("\r\n\r\n", ""), ""],
    ["a slow body", "", "content-length: 5\r\n"],
  ])(
    "answer 408 on a connection whose upgrade was refused, and on which comes %s",
    async (_, next, fields) => {
      const limits = { headerTimeoutMs: 60, requestTimeoutMs: 120 };
      const server = await serve(echo, { limits, acceptLink: () => undefined });
      const upgrade = `connection: upgrade\r\nupgrade: websocket\r\n${fields}`;
      const connection = raw(server, get.replace("\r\n\r\n", `\r\n${upgrade}\r\n`) + next);
      if (fields === "") expect(await connection.until(/HTTP\/1\.1 200/)).toContain("200 OK");
      expect(await connection.closed()).toContain("408 Request Timeout");
    },
  );

  it("answer a request whose upgrade is refused with all of its fields, and then others", async () => {
    const seen: unknown[] = [];
    const server = await serve(
      async ({ headers }) => {
        seen.push([headers["connection"], headers["upgrade"]]);
        return text("ok");
      },
      { acceptLink: () => undefined },
    );
    const upgrade = "connection: upgrade\r\nupgrade: h2c\r\n\r\n";
    const plain = get.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    await raw(server, get.replace("\r\n\r\n", `\r\n${upgrade}`) + plain).closed();
    expect(seen).toEqual([
      ["upgrade", "h2c"],
      ["close", undefined],
    ]);
  });

  it("answer 431 to long headers and 400 to invalid HTTP", async () => {
    const server = await serve(echo, { limits: { headerBytes: 1_024 } });
    expect(
      await raw(server, `GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(2_000)}\r\n\r\n`).closed(),
    ).toContain("431 ");
    expect(await raw(server, "nonsense\r\n\r\n").closed()).toContain("400 Bad Request");
    expect(await raw(server, "GET / HTTP/1.1\r\n\r\n").closed()).toContain("400 Bad Request");
    expect(
      await raw(
        server,
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      ).closed(),
    ).toContain("400 Bad Request");
  });

  it.each([
    ["text", () => "x".repeat(50_000_000)],
    [
      "a stream",
      async function* () {
        while (true) yield Buffer.alloc(1_000_000, "x");
      },
    ],
  ])(
    "disconnect a caller that doesn't read an answer of %s, but not one that waits for a slow answer",
    async (_, body) => {
      const done = gate();
      const server = await serve(
        async (request) => {
          if (request.target === "/big") return { status: 200, headers: {}, body: body() };
          return { status: 200, headers: {}, body: slow(done.promise) };
        },
        { limits: { requestTimeoutMs: 50 } },
      );
      const waiting = raw(server, get);
      await waiting.until(/begun/);
      const stalled = raw(server, "GET /big HTTP/1.1\r\nhost: a\r\n\r\n");
      stalled.socket.pause();
      await once(stalled.socket, "connect");
      await new Promise<void>((resolve) => {
        // A paused socket only notices the close when it writes.
        const timer = setInterval(() => stalled.socket.write("x"), 10);
        stalled.socket.on("close", () => {
          clearInterval(timer);
          resolve();
        });
      });
      done.open();
      await waiting.until(/done/);
    },
  );

  it("stay open without a request for keepAliveTimeoutMs, however short other limits are", async () => {
    const limits = { keepAliveTimeoutMs: 400, headerTimeoutMs: 100, requestTimeoutMs: 100 };
    const server = await serve(echo, { limits });
    const caller = raw(server, get);
    await caller.until(/200 OK/);
    // A second request long after the first one, for which the time begins anew.
    await pause(250);
    caller.socket.write(get);
    await caller.until(/200 OK[^]*200 OK/);
    const began = performance.now();
    await caller.closed();
    expect(performance.now() - began).toBeGreaterThan(300);
    // Node may wait a second longer than it says.
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it("close the oldest idle connection for a new one past maxConnections", async () => {
    const server = await serve(echo, { limits: { maxConnections: 2 } });
    const [oldest, newer] = [raw(server, get), raw(server, get)];
    await oldest.until(/200 OK/);
    await newer.until(/200 OK/);
    await pause(1_000);
    await raw(server, "GET /rpc/shop/stock HTTP/1.1\r\nhost: a\r\n\r\n").until(/200 OK/);
    await oldest.closed();
    expect(newer.socket.destroyed).toBe(false);
  });

  it("refuse calls with 503 if all connections are busy, answer other requests, and close the connection", async () => {
    const answer = gate<HttpResponse>();
    const server = await serve(
      async ({ target }) => (target === "/slow" ? await answer.promise : text("200 OK")),
      {
        limits: { maxConnections: 1 },
      },
    );
    const busy = raw(server, "GET /slow HTTP/1.1\r\nhost: a\r\n\r\n");
    await once(busy.socket, "connect");
    const refused = await raw(server, "GET /rpc/shop/stock HTTP/1.1\r\nhost: a\r\n\r\n").closed();
    expect(refused).toMatch(
      /^HTTP\/1\.1 503 [^]*retry-after: 1[^]*x-svc-not-started: overload[^]*connection: close/i,
    );
    expect(await raw(server, "GET /health/status HTTP/1.1\r\nhost: a\r\n\r\n").closed()).toMatch(
      /^HTTP\/1\.1 200 [^]*connection: close/i,
    );
    answer.open(text("done"));
    await busy.until(/done/);
  });

  it("close new connections at once far past maxConnections", async () => {
    const answer = gate<HttpResponse>();
    const server = await serve(async () => await answer.promise, { limits: { maxConnections: 1 } });
    const busy = Array.from({ length: 65 }, () => raw(server, get));
    await Promise.all(busy.map(async ({ socket }) => await once(socket, "connect")));
    await pause(100);
    expect(await raw(server, get).closed()).toBe("");
    answer.open(text("done"));
    await busy[0]!.until(/done/);
  });

  it("keep an idle connection open for 65 s", async () => {
    const server = await serve(echo);
    expect(await raw(server, get).until(/200 OK/)).toContain("Keep-Alive: timeout=65");
  });
});

describe("closing the HTTP server", () => {
  it("closes idle connections, used or unused, and lets a running request finish", async () => {
    const begun = gate();
    const answer = gate<HttpResponse>();
    const server = await serve(async (request) => {
      if (request.target !== "/slow") return text("");
      begun.open();
      return await answer.promise;
    });
    const unused = raw(server, "");
    await once(unused.socket, "connect");
    const used = raw(server, get);
    await used.until(/200 OK/);
    const busy = raw(server, "GET /slow HTTP/1.1\r\nhost: a\r\n\r\n");
    await begun.promise;
    const closed = server.close(60_000);
    await Promise.all([unused.closed(), used.closed()]);
    answer.open(text("finished"));
    expect(await busy.closed()).toMatch(/connection: close.*finished$/is);
    await closed;
    await expect(fetch(server.url)).rejects.toThrow("fetch failed");
  });

  it("closes a connection once an answer that began before is written", async () => {
    const rest = gate();
    const server = await serve(async () => ({
      status: 200,
      headers: {},
      body: slow(rest.promise),
    }));
    const busy = raw(server, get);
    await busy.until(/begun/);
    const closed = server.close(60_000);
    rest.open();
    expect(await busy.closed()).toContain("done");
    await closed;
  });

  it("answers requests on connections that were just opened, and closes older ones without a request", async () => {
    const server = await serve(async () => text("late"));
    const older = raw(server, "");
    await once(older.socket, "connect");
    await pause(1_100);
    const young = raw(server, "");
    await once(young.socket, "connect");
    await fetch(server.url).then((answer) => answer.text());
    const closed = server.close(60_000);
    expect(await older.closed()).toBe("");
    young.socket.write(get);
    expect(await young.closed()).toMatch(/connection: close.*late$/is);
    await closed;
  });

  it("cuts requests that don't finish in time", async () => {
    const begun = gate();
    const server = await serve(async () => {
      begun.open();
      return await new Promise<HttpResponse>(() => {});
    });
    const busy = raw(server, get);
    await begun.promise;
    await server.close(10);
    expect(await busy.closed()).toBe("");
  });
});

describe("an address at which the server can't listen", () => {
  it("is reported with its URL", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    await expect(listen(echo, { host: "127.0.0.1", port })).rejects.toThrow(
      `Can't listen at http://127.0.0.1:${port}: port ${port} is used by another process. Stop it, or set another port in 'url'`,
    );
    taken.close();
    await expect(listen(echo, { host: "192.0.2.1", port: 0 })).rejects.toThrow(
      "192.0.2.1 is not an address of this machine. Set one of its addresses in 'url', or 0.0.0.0 for all of them",
    );
  });

  it("has brackets if it is IPv6", async () => {
    const server = await serve(echo, { host: "::1" });
    expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    await expect(
      listen(echo, { host: "::1", port: Number(new URL(server.url).port) }),
    ).rejects.toThrow("http://[::1]:");
  });
});

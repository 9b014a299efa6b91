import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type HttpServer, listen } from "../../../server/http/http.ts";
import { createTransport, type SocketTransport } from "../../../server/http/transport.ts";
import { transportFailure } from "../../../server/http/outgoing/transport-failure.ts";
import { DeadlineExceeded } from "../../../src/base/errors.ts";
import { TransportError, unsentOf } from "../../../src/base/ports.ts";
import { collected } from "../../../src/http/bodies.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).toReversed()) await cleanUp();
});

let quickAfter: number | undefined;

function transport(options: Parameters<typeof createTransport>[0] = {}): SocketTransport {
  const created = createTransport({ quickAfter, ...options });
  cleanups.push(() => created.close());
  return created;
}

async function service(handle: Parameters<typeof listen>[0]): Promise<HttpServer> {
  const server = await listen(handle, { host: "127.0.0.1", port: 0 });
  cleanups.push(() => server.close(0));
  return server;
}

/** A TCP server. `serve` gets each connection. */
async function bare(serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    serve(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

async function freeUrl(): Promise<string> {
  const server = await listen(async () => ({ status: 200, headers: {} }), {
    host: "127.0.0.1",
    port: 0,
  });
  await server.close(0);
  return server.url;
}

const failure = (promise: Promise<unknown>): Promise<TransportError> =>
  promise.then(
    () => expect.fail("an answer came"),
    (error: unknown) => error as TransportError,
  );

describe.each([
  ["node:http", Infinity],
  ["undici", 0],
])("by %s", (_, after) => {
  beforeEach(() => {
    quickAfter = after;
  });

  describe("the transport's answer", () => {
    it("has status, headers and bytes", async () => {
      const { url } = await service(async (request) => ({
        status: 404,
        headers: {
          "x-got": `${request.method} ${request.target} ${request.headers["x-a"] as string}`,
        },
        body: await request.readBody(100),
      }));
      const answer = await collected(
        transport().send({
          url: `${url}/rpc/a?b=%20`,
          method: "POST",
          headers: { "x-a": "1" },
          body: Buffer.from([1, 2, 255]),
        }),
      );
      expect([answer.status, answer.headers["x-got"], [...answer.body]]).toEqual([
        404,
        "POST /rpc/a?b=%20 1",
        [1, 2, 255],
      ]);
    });

    it.each([
      ["a text", "\u00fc"],
      ["bytes", Buffer.from("\u00fc")],
      [
        "a stream whose first chunk is late",
        (async function* () {
          await pause(50);
          yield Buffer.from("\u00fc");
        })(),
      ],
    ])("is for header fields in Latin-1, with a body of %s in UTF-8", async (_what, body) => {
      let sent = "";
      const url = await bare((socket) =>
        socket.on("data", (chunk) => {
          sent += chunk.toString("latin1");
          if (/\xc3\xbc/.test(sent.split("\r\n\r\n").slice(1).join("")))
            socket.end("HTTP/1.1 204 No Content\r\n\r\n");
        }),
      );
      await transport().send({
        url: `${url}/`,
        method: "POST",
        headers: { "x-a": "\u00fc" },
        body,
      });
      expect(sent).toMatch(/^x-a: \xfc\r$/m);
    });

    it("is for the path as it was written, not as a URL parser would normalize it", async () => {
      const server = await service(async (request) => ({
        status: 200,
        headers: {},
        body: request.target,
      }));
      for (const path of [
        "/rpc/../nodes",
        "/rpc/%2e%2e/nodes",
        "/rpc/..\\nodes",
        "/a?b=/../c",
        "//b/c",
      ]) {
        const answer = await collected(
          transport().send({ url: server.url + path, method: "GET", headers: {} }),
        );
        expect(new TextDecoder().decode(answer.body)).toBe(path);
      }
      expect(
        (
          await collected(transport().send({ url: server.url, method: "GET", headers: {} }))
        ).body.toString(),
      ).toBe("/");
    });

    it("can be a redirect, which isn't followed", async () => {
      let calls = 0;
      const { url } = await service(async () => {
        calls++;
        return { status: 302, headers: { location: "/elsewhere" } };
      });
      const answer = await transport().send({ url: `${url}/`, method: "GET", headers: {} });
      expect([answer.status, answer.headers["location"], calls]).toEqual([302, "/elsewhere", 1]);
    });

    it("can follow informational answers", async () => {
      const url = await bare((socket) => {
        socket.once("data", () =>
          socket.write(
            "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
          ),
        );
      });
      const answer = await collected(transport().send({ url, method: "GET", headers: {} }));
      expect([answer.status, answer.headers["link"], Buffer.from(answer.body).toString()]).toEqual([
        200,
        undefined,
        "ok",
      ]);
    });

    it("leaves the connection open for the next request", async () => {
      const sockets = new Set<Socket>();
      const url = await bare((socket) => {
        sockets.add(socket);
        socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
      });
      const created = transport();
      for (let i = 0; i < 10; i++) await created.send({ url, method: "GET", headers: {} });
      // undici frees a connection one turn after its answer.
      expect(sockets.size).toBeLessThanOrEqual(2);
    });
  });

  describe("a failed outbound request:", () => {
    it("a refused connection counts as not sent", async () => {
      const url = await freeUrl();
      const error = await failure(
        transport().send({ url, method: "POST", headers: {}, body: "x" }),
      );
      expect(error).toBeInstanceOf(TransportError);
      expect([error.sent, error.message]).toEqual([false, `${url} refused the connection`]);
    });

    it("an unknown host counts as not sent", async () => {
      const error = await failure(
        transport().send({ url: "http://nowhere.invalid", method: "GET", headers: {} }),
      );
      expect(error.sent).toBe(false);
    });

    it("a connection that closes after the request counts as sent", async () => {
      const url = await bare((socket) => socket.once("data", () => socket.destroy()));
      const error = await failure(
        transport().send({ url, method: "POST", headers: {}, body: "x" }),
      );
      expect([error.sent, error.message]).toEqual([
        true,
        `${url} closed the connection before it answered`,
      ]);
    });

    it("an incomplete answer counts as sent", async () => {
      const url = await bare((socket) =>
        socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")),
      );
      const answer = transport().send({ url, method: "GET", headers: {} });
      const error = await failure(collected(answer));
      expect([error.sent, error.message]).toEqual([true, `${url} broke off its answer`]);
    });

    it("an answer that isn't HTTP counts as sent", async () => {
      const url = await bare((socket) => socket.once("data", () => socket.end("nonsense")));
      expect((await failure(transport().send({ url, method: "GET", headers: {} }))).sent).toBe(
        true,
      );
    });

    it("an answer over the limit counts as sent and isn't collected", async () => {
      const { url } = await service(async () => ({
        status: 200,
        headers: {},
        body: "x".repeat(1_000),
      }));
      const error = await failure(
        collected(transport({ answerBytes: 100 }).send({ url, method: "GET", headers: {} })),
      );
      expect([error.sent, error.message]).toEqual([
        true,
        `${url} sent an answer that is too large`,
      ]);
    });

    it("a request is never sent a second time", async () => {
      let requests = 0;
      const url = await bare((socket) => {
        let answered = false;
        socket.on("data", () => {
          requests++;
          if (answered) socket.destroy();
          else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
          answered = true;
        });
      });
      const created = transport();
      await created.send({ url, method: "POST", headers: {}, body: "x" });
      // Wait until the connection is free for the next request.
      await new Promise((resolve) => setTimeout(resolve, 10));
      await failure(created.send({ url, method: "POST", headers: {}, body: "x" }));
      expect(requests).toBe(2);
    });
  });

  describe("aborting an outbound request", () => {
    it("before it begins sends nothing", async () => {
      const reason = new Error("no longer");
      await expect(
        transport().send({
          url: await freeUrl(),
          method: "GET",
          headers: {},
          signal: AbortSignal.abort(reason),
        }),
      ).rejects.toBe(reason);
    });

    it("while it waits for the answer rejects with the reason and closes the connection", async () => {
      const controller = new AbortController();
      let closed: Promise<unknown> | undefined;
      const url = await bare((socket) => {
        closed = once(socket, "close");
        socket.once("data", () => controller.abort(new Error("no longer")));
      });
      await expect(
        transport().send({ url, method: "GET", headers: {}, signal: controller.signal }),
      ).rejects.toThrow("no longer");
      await closed;
    });
  });

  describe("closing the transport", () => {
    it("rejects running requests and refuses new ones", async () => {
      const created = createTransport({ quickAfter });
      let arrived!: () => void;
      const here = new Promise<void>((resolve) => (arrived = resolve));
      const url = await bare((socket) => socket.once("data", arrived));
      const pending = failure(created.send({ url, method: "GET", headers: {} }));
      await here;
      await created.close();
      expect((await pending).sent).toBe(true);
      expect((await failure(created.send({ url, method: "GET", headers: {} }))).sent).toBe(false);
    });
  });

  /** A server that holds every request until `release` is called. */
  async function holding(): Promise<{ url: string; held: () => number; release: () => void }> {
    let release = (): void => {};
    let held = 0;
    const released = new Promise<void>((resolve) => (release = resolve));
    const { url } = await service(async ({ target }) => {
      if (target === "/quick") return { status: 200, headers: {} };
      held++;
      await released;
      return { status: 200, headers: {} };
    });
    return { url, held: () => held, release };
  }

  describe("with many concurrent outbound calls,", () => {
    const get = (url: string) => ({ url, method: "GET", headers: {} }) as const;

    it("a call doesn't wait for slow calls before it, however many there are", async () => {
      const { url, held, release } = await holding();
      const created = transport();
      const slow = Array.from({ length: 600 }, () => created.send(get(`${url}/slow`)));
      await vi.waitFor(() => expect(held()).toBe(600), 10_000);
      // The slow calls end after that.
      expect((await created.send(get(`${url}/quick`))).status).toBe(200);
      release();
      await Promise.all(slow);
    });

    it("a control request is sent even at the limit of calls", async () => {
      const { url, held, release } = await holding();
      const created = transport({ connections: 40 });
      const slow = Array.from({ length: 30 }, () => created.send(get(`${url}/slow`)));
      await expect.poll(() => held()).toBe(30);
      expect(unsentOf(await failure(created.send(get(`${url}/quick`))))).toBe("local");
      expect((await created.send({ ...get(`${url}/quick`), control: true })).status).toBe(200);
      release();
      await Promise.all(slow);
    });

    it("one service can use at most three quarters of the connections", async () => {
      const first = await holding();
      const second = await holding();
      const created = transport({ connections: 8 });
      const slow = Array.from({ length: 8 }, () =>
        created.send(get(`${first.url}/slow`)).catch((error: unknown) => error),
      );
      await expect.poll(() => first.held()).toBe(6);
      expect((await failure(created.send(get(`${first.url}/quick`)))).message).toBe(
        `${first.url} was not asked: 6 requests to it are open, and limits.maxConnections allows no more`,
      );
      expect((await created.send(get(`${second.url}/quick`))).status).toBe(200);
      const more = Array.from({ length: 2 }, () => created.send(get(`${second.url}/slow`)));
      await expect.poll(() => second.held()).toBe(2);
      expect((await failure(created.send(get(`${second.url}/quick`)))).message).toBe(
        `${second.url} was not asked: 8 requests are open, and limits.maxConnections allows no more`,
      );
      first.release();
      second.release();
      await Promise.all([...slow, ...more]);
      // Finished requests have released their slots.
      expect((await created.send(get(`${first.url}/quick`))).status).toBe(200);
    });

    it("a burst opens a few connections at a time, so that the service's backlog doesn't overflow, and reuses them", async () => {
      let requests = 0;
      const sockets = new Set<Socket>();
      const url = await bare((socket) => {
        sockets.add(socket);
        socket.on(
          "data",
          () => (requests++, socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")),
        );
      });
      const created = transport({ opening: 8 });
      const answers = await Promise.all(
        Array.from({ length: 2_000 }, () => created.send(get(url))),
      );
      expect([answers.every(({ status }) => status === 200), requests]).toEqual([true, 2_000]);
      expect(sockets.size).toBeLessThan(2_000);
    });

    it("a shortage is reported once, however many calls it affects", async () => {
      const { url, held, release } = await holding();
      const shortages: string[] = [];
      const created = transport({ connections: 4, onShortage: (why) => void shortages.push(why) });
      const slow = Array.from({ length: 3 }, () => created.send(get(`${url}/slow`)));
      await expect.poll(() => held()).toBe(3);
      for (let calls = 0; calls < 5; calls++) await failure(created.send(get(`${url}/quick`)));
      expect(shortages).toEqual([
        `${url} was not asked: 3 requests to it are open, and limits.maxConnections allows no more`,
      ]);
      release();
      await Promise.all(slow);
    });

    it("a call that waits too long for a connection isn't sent and isn't reported as refused", async () => {
      const url = "http://stuck.test:1";
      // The queue is the same, but the first request would wait for undici.
      const created = transport({ quickAfter: 9, opening: 1, waitMs: 50, lookup: () => {} });
      const first = created.send(get(url)).catch((error: unknown) => error);
      const error = await failure(created.send(get(url)));
      expect([error.sent, unsentOf(error), error.message]).toEqual([
        false,
        "silent",
        `${url} took no connection for 50 ms`,
      ]);
      await created.close();
      await first;
    });

    it("a connection that nothing accepts fails after a second and a quarter", async () => {
      const created = transport({ lookup: () => {} });
      const begun = performance.now();
      const error = await failure(created.send(get("http://stuck.test:1")));
      expect([error.sent, unsentOf(error)]).toEqual([false, "silent"]);
      expect(performance.now() - begun).toBeGreaterThan(1_200);
      expect(performance.now() - begun).toBeLessThan(2_600);
    });

    it("an idle connection is closed by its caller long before the service closes it", async () => {
      const real = await service(async () => ({ status: 200, headers: {} }));
      const { headers } = await fetch(real.url);
      const sockets: Socket[] = [];
      const url = await bare((socket) => {
        sockets.push(socket);
        socket.on("data", () =>
          socket.write(
            `HTTP/1.1 200 OK\r\ncontent-length: 0\r\nkeep-alive: ${headers.get("keep-alive")}\r\n\r\n`,
          ),
        );
      });
      expect(headers.get("keep-alive")).toBe("timeout=65");
      const created = transport({ quickAfter: 0 });
      await created.send(get(url));
      await new Promise((turn) => setImmediate(turn));
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      try {
        await created.send(get(url));
        const [socket] = sockets;
        for (let seconds = 0; seconds < 49; seconds++) await vi.advanceTimersByTimeAsync(1_000);
        await new Promise((turn) => setImmediate(turn));
        expect([sockets.length, socket?.readableEnded]).toEqual([1, false]);
        for (let seconds = 0; seconds < 4; seconds++) await vi.advanceTimersByTimeAsync(1_000);
      } finally {
        vi.useRealTimers();
      }
      await expect.poll(() => sockets[0]?.destroyed).toBe(true);
    });

    it("calls that wait behind connections whose first packet is lost are sent", async () => {
      const { url } = await service(async () => ({ status: 200, headers: {} }));
      const created = transport({
        opening: 2,
        // A system repeats the packet after a second.
        lookup: (_name, _options, callback) =>
          void setTimeout(() => callback(null, [{ address: "127.0.0.1", family: 4 }]), 1_060),
      });
      const lost = url.replace("127.0.0.1", "lost.test");
      const answers = await Promise.all(Array.from({ length: 8 }, () => created.send(get(lost))));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    });

    it("a call whose time is over before it has a connection wasn't sent, and one that has it was", async () => {
      const { url, held, release } = await holding();
      const created = transport({
        lookup: (name, options, callback) => {
          if (name === "held.test") callback(null, [{ address: "127.0.0.1", family: 4 }]);
        },
      });
      const late = new DeadlineExceeded();
      const controller = new AbortController();
      const unsent = failure(
        created.send({ ...get("http://stuck.test:1"), signal: controller.signal }),
      );
      const sent = created
        .send({
          ...get(`${url.replace("127.0.0.1", "held.test")}/slow`),
          signal: controller.signal,
        })
        .catch((error: unknown) => error);
      await vi.waitFor(() => expect(held()).toBe(1));
      controller.abort(late);
      const error = await unsent;
      expect([error.sent, unsentOf(error), error.cause]).toEqual([false, "silent", late]);
      expect(await sent).toBe(late);
      release();
    });

    it("a stall of this process isn't blamed on the service", async () => {
      const { url, held, release } = await holding();
      const created = transport({ opening: 1, waitMs: 100 });
      const first = created.send(get(`${url}/slow`));
      await expect.poll(() => held()).toBe(1);
      const more: ReturnType<typeof created.send>[] = [];
      // In one turn, so that one connects and the other waits. Timers then run before socket events.
      setImmediate(() =>
        more.push(created.send(get(`${url}/quick`)), created.send(get(`${url}/quick`))),
      );
      await new Promise<void>((resolve) =>
        setImmediate(() => {
          for (const end = performance.now() + 300; performance.now() < end;);
          resolve();
        }),
      );
      expect((await Promise.all(more)).map(({ status }) => status)).toEqual([200, 200]);
      release();
      await first;
    });

    it("aborting ends the wait for a connection at once", async () => {
      const url = "http://stuck.test:1";
      const created = transport({ opening: 1, lookup: () => {} });
      const first = created.send(get(url)).catch((error: unknown) => error);
      const controller = new AbortController();
      const second = created.send({ ...get(url), signal: controller.signal });
      await new Promise((resolve) => setImmediate(resolve));
      controller.abort(new Error("no longer"));
      await expect(second).rejects.toThrow("no longer");
      await created.close();
      await first;
    });
  });

  describe("a connection failure", () => {
    const url = "http://127.0.0.1:9";
    const unsent = (code: string): string | undefined =>
      unsentOf(transportFailure(Object.assign(new Error(code), { code }), url, "waiting"));

    it.each(["EMFILE", "ENFILE", "EADDRNOTAVAIL", "ENOBUFS", "ENOMEM", "EBUSY"])(
      "of %s is this host's own",
      (code) => {
        const error = transportFailure(
          Object.assign(new Error(`connect ${code}`), { code }),
          url,
          "waiting",
        );
        expect([unsentOf(error), error.message]).toEqual([
          "local",
          expect.stringMatching(/^http:\/\/127\.0\.0\.1:9 was not asked: this /),
        ]);
      },
    );

    it.each(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ERR_TLS_CERT_ALTNAME_INVALID"])(
      "of %s means that nothing listens there",
      (code) => {
        expect(unsent(code)).toBe("refused");
      },
    );

    it.each(["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT", "EAI_AGAIN"])(
      "of %s means that the service is silent",
      (code) => {
        expect(unsent(code)).toBe("silent");
      },
    );

    it("for a name with several addresses is this host's own if one of them is", () => {
      const errors = ["ECONNREFUSED", "EMFILE"].map((code) =>
        Object.assign(new Error(code), { code }),
      );
      const both = Object.assign(new AggregateError(errors), { code: "ECONNREFUSED" });
      expect(unsentOf(transportFailure(both, url, "waiting"))).toBe("local");
    });

    it("of an invalid request isn't the service's silence", async () => {
      const error = await failure(
        transport().send({ url, method: "GET", headers: { "bad name": "x" } }),
      );
      expect([error.sent, unsentOf(error)]).toEqual([false, "local"]);
    });
  });

  describe("a guarded transport", () => {
    it("only connects to a name if none of its current addresses is refused, and reports the reason", async () => {
      const { url } = await service(async () => ({ status: 200, headers: {} }));
      const { port } = new URL(url);
      const to = (...addresses: string[]): SocketTransport => {
        const found = addresses.map((address) => ({ address, family: 4 }));
        const created = transport({ lookup: (_host, _options, callback) => callback(null, found) });
        created.guard((host, address) =>
          address === "127.0.0.2" ? `${host} is at ${address} now` : undefined,
        );
        return created;
      };
      const request = { url: `http://member.test:${port}/`, method: "GET", headers: {} };
      expect((await to("127.0.0.1").send(request)).status).toBe(200);
      for (const control of [{}, { control: true }] as const) {
        const error = await failure(to("127.0.0.1", "127.0.0.2").send({ ...request, ...control }));
        expect([error.sent, unsentOf(error), error.message]).toEqual([
          false,
          "refused",
          `http://member.test:${port} could not be reached: member.test is at 127.0.0.2 now`,
        ]);
      }
      // An IP address in the URL itself is checked when the URL is accepted.
      expect((await to("127.0.0.2").send({ ...request, url })).status).toBe(200);
    });
  });
});

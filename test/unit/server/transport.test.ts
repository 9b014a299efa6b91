import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type HttpServer, listen } from "../../../server/http.ts";
import { createTransport, type SocketTransport } from "../../../server/transport.ts";
import { transportFailure } from "../../../server/transport-failure.ts";
import { TransportError, unsentOf } from "../../../src/ports.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0).toReversed()) await one();
});

function transport(options: Parameters<typeof createTransport>[0] = {}): SocketTransport {
  const one = createTransport(options);
  cleanups.push(() => one.close());
  return one;
}

async function service(handle: Parameters<typeof listen>[0]): Promise<HttpServer> {
  const server = await listen(handle, { host: "127.0.0.1", port: 0 });
  cleanups.push(() => server.close(0));
  return server;
}

/** A server of bytes; `serve` gets each connection. */
async function bare(serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    serve(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    for (const one of sockets) one.destroy();
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

describe("an answer", () => {
  it("is collected: status, headers, bytes", async () => {
    const { url } = await service(async (request) => ({
      status: 404,
      headers: {
        "x-got": `${request.method} ${request.target} ${request.headers["x-a"] as string}`,
      },
      body: await request.readBody(100),
    }));
    const answer = await transport().send({
      url: `${url}/rpc/a?b=%20`,
      method: "POST",
      headers: { "x-a": "1" },
      body: Buffer.from([1, 2, 255]),
    });
    expect([answer.status, answer.headers["x-got"], [...answer.body]]).toEqual([
      404,
      "POST /rpc/a?b=%20 1",
      [1, 2, 255],
    ]);
  });

  it("is to the path as it was written, whatever an address parser would make of it", async () => {
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
      const answer = await transport().send({ url: server.url + path, method: "GET", headers: {} });
      expect(new TextDecoder().decode(answer.body)).toBe(path);
    }
    expect(
      (await transport().send({ url: server.url, method: "GET", headers: {} })).body.toString(),
    ).toBe("/");
  });

  it("may be a redirect, which is not followed", async () => {
    let calls = 0;
    const { url } = await service(async () => {
      calls++;
      return { status: 302, headers: { location: "/elsewhere" } };
    });
    const answer = await transport().send({ url: `${url}/`, method: "GET", headers: {} });
    expect([answer.status, answer.headers["location"], calls]).toEqual([302, "/elsewhere", 1]);
  });

  it("may come after informational ones", async () => {
    const url = await bare((socket) => {
      socket.once("data", () =>
        socket.write(
          "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
        ),
      );
    });
    const answer = await transport().send({ url, method: "GET", headers: {} });
    expect([answer.status, answer.headers["link"], Buffer.from(answer.body).toString()]).toEqual([
      200,
      undefined,
      "ok",
    ]);
  });

  it("comes over a connection that is kept, for requests one after the other", async () => {
    const sockets = new Set<Socket>();
    const url = await bare((socket) => {
      sockets.add(socket);
      socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
    });
    const one = transport();
    for (let i = 0; i < 10; i++) await one.send({ url, method: "GET", headers: {} });
    // undici frees a connection one turn after its answer.
    expect(sockets.size).toBeLessThanOrEqual(2);
  });
});

describe("without an answer", () => {
  it("a refused connection is not sent", async () => {
    const url = await freeUrl();
    const error = await failure(transport().send({ url, method: "POST", headers: {}, body: "x" }));
    expect(error).toBeInstanceOf(TransportError);
    expect([error.sent, error.message]).toEqual([false, `${url} refused the connection`]);
  });

  it("an unknown host is not sent", async () => {
    const error = await failure(
      transport().send({ url: "http://nowhere.invalid", method: "GET", headers: {} }),
    );
    expect(error.sent).toBe(false);
  });

  it("a connection that closes after the request is sent", async () => {
    const url = await bare((socket) => socket.once("data", () => socket.destroy()));
    const error = await failure(transport().send({ url, method: "POST", headers: {}, body: "x" }));
    expect([error.sent, error.message]).toEqual([
      true,
      `${url} closed the connection before it answered`,
    ]);
  });

  it("half an answer is sent", async () => {
    const url = await bare((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")),
    );
    expect((await failure(transport().send({ url, method: "GET", headers: {} }))).sent).toBe(true);
  });

  it("nonsense is sent", async () => {
    const url = await bare((socket) => socket.once("data", () => socket.end("nonsense")));
    expect((await failure(transport().send({ url, method: "GET", headers: {} }))).sent).toBe(true);
  });

  it("an answer over the limit is sent, and not collected", async () => {
    const { url } = await service(async () => ({
      status: 200,
      headers: {},
      body: "x".repeat(1_000),
    }));
    const error = await failure(
      transport({ answer: 100 }).send({ url, method: "GET", headers: {} }),
    );
    expect([error.sent, error.message]).toEqual([true, `${url} sent more than may come back`]);
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
    const one = transport();
    await one.send({ url, method: "POST", headers: {}, body: "x" });
    // Until its connection is free for the next one.
    await new Promise((resolve) => setTimeout(resolve, 10));
    await failure(one.send({ url, method: "POST", headers: {}, body: "x" }));
    expect(requests).toBe(2);
  });
});

describe("abort", () => {
  it("before the request sends nothing", async () => {
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

  it("while waiting for the answer rejects with the reason and closes the connection", async () => {
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

describe("close", () => {
  it("fails what is on its way, and refuses what comes after", async () => {
    const one = createTransport();
    let arrived!: () => void;
    const here = new Promise<void>((resolve) => (arrived = resolve));
    const url = await bare((socket) => socket.once("data", arrived));
    const pending = failure(one.send({ url, method: "GET", headers: {} }));
    await here;
    await one.close();
    expect((await pending).sent).toBe(true);
    expect((await failure(one.send({ url, method: "GET", headers: {} }))).sent).toBe(false);
  });
});

/** Holds every request until it is told to answer them all. */
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

describe("many calls at once", () => {
  const get = (url: string) => ({ url, method: "GET", headers: {} }) as const;

  it("a call doesn't wait for the slow calls before it, however many there are", async () => {
    const { url, held, release } = await holding();
    const one = transport();
    const slow = Array.from({ length: 600 }, () => one.send(get(`${url}/slow`)));
    await vi.waitFor(() => expect(held()).toBe(600), 10_000);
    const begun = performance.now();
    expect((await one.send(get(`${url}/quick`))).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(1_000);
    release();
    await Promise.all(slow);
  });

  it("a control request goes out when no call may any more", async () => {
    const { url, held, release } = await holding();
    const one = transport({ connections: 40 });
    const slow = Array.from({ length: 30 }, () => one.send(get(`${url}/slow`)));
    await vi.waitFor(() => expect(held()).toBe(30));
    expect(unsentOf(await failure(one.send(get(`${url}/quick`))))).toBe("local");
    expect((await one.send({ ...get(`${url}/quick`), control: true })).status).toBe(200);
    release();
    await Promise.all(slow);
  });

  it("one service can take three quarters of the connections: the rest is for the others", async () => {
    const first = await holding();
    const second = await holding();
    const one = transport({ connections: 8 });
    const slow = Array.from({ length: 8 }, () =>
      one.send(get(`${first.url}/slow`)).catch((error: unknown) => error),
    );
    await vi.waitFor(() => expect(first.held()).toBe(6));
    expect((await failure(one.send(get(`${first.url}/quick`)))).message).toBe(
      `${first.url} was not asked: 6 requests to it are open, and limits.connections allows no more`,
    );
    expect((await one.send(get(`${second.url}/quick`))).status).toBe(200);
    const more = Array.from({ length: 2 }, () => one.send(get(`${second.url}/slow`)));
    await vi.waitFor(() => expect(second.held()).toBe(2));
    expect((await failure(one.send(get(`${second.url}/quick`)))).message).toBe(
      `${second.url} was not asked: 8 requests are open, and limits.connections allows no more`,
    );
    first.release();
    second.release();
    await Promise.all([...slow, ...more]);
    // What ended has given its place back.
    expect((await one.send(get(`${first.url}/quick`))).status).toBe(200);
  });

  it("a burst of calls opens a few connections at a time, so that the other side's queue doesn't overflow, and uses them again", async () => {
    let requests = 0;
    const sockets = new Set<Socket>();
    const url = await bare((socket) => {
      sockets.add(socket);
      socket.on(
        "data",
        () => (requests++, socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")),
      );
    });
    const one = transport({ opening: 8 });
    const answers = await Promise.all(Array.from({ length: 2_000 }, () => one.send(get(url))));
    expect([answers.every(({ status }) => status === 200), requests]).toEqual([true, 2_000]);
    expect(sockets.size).toBeLessThan(2_000);
  });

  it("a shortage is told once, however many calls it costs", async () => {
    const { url, held, release } = await holding();
    const told: string[] = [];
    const one = transport({ connections: 4, onShortage: (why) => void told.push(why) });
    const slow = Array.from({ length: 3 }, () => one.send(get(`${url}/slow`)));
    await vi.waitFor(() => expect(held()).toBe(3));
    for (let calls = 0; calls < 5; calls++) await failure(one.send(get(`${url}/quick`)));
    expect(told).toEqual([
      `${url} was not asked: 3 requests to it are open, and limits.connections allows no more`,
    ]);
    release();
    await Promise.all(slow);
  });

  it("a call that waits too long for a connection is not sent, and says nothing of a refusal", async () => {
    const url = "http://stuck.test:1";
    const one = transport({ opening: 1, patience: 50, lookup: () => {} });
    const first = one.send(get(url)).catch((error: unknown) => error);
    const error = await failure(one.send(get(url)));
    expect([error.sent, unsentOf(error), error.message]).toEqual([
      false,
      "silent",
      `${url} took no connection for 50 ms`,
    ]);
    await one.close();
    await first;
  });

  it("a stall of this process is not taken for one of the other side", async () => {
    const { url, held, release } = await holding();
    const one = transport({ opening: 1, patience: 100 });
    const first = one.send(get(`${url}/slow`));
    await vi.waitFor(() => expect(held()).toBe(1));
    const more: ReturnType<typeof one.send>[] = [];
    // In one turn: one of them is on its way, and the other waits; then timers are due before the sockets are looked at.
    setImmediate(() => more.push(one.send(get(`${url}/quick`)), one.send(get(`${url}/quick`))));
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

  it("an abort ends the wait for a connection at once", async () => {
    const url = "http://stuck.test:1";
    const one = transport({ opening: 1, lookup: () => {} });
    const first = one.send(get(url)).catch((error: unknown) => error);
    const controller = new AbortController();
    const second = one.send({ ...get(url), signal: controller.signal });
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error("no longer"));
    await expect(second).rejects.toThrow("no longer");
    await one.close();
    await first;
  });
});

describe("what a failure says of the other side", () => {
  const url = "http://127.0.0.1:9";
  const unsent = (code: string): string | undefined =>
    unsentOf(transportFailure(Object.assign(new Error(code), { code }), url, false));

  it.each(["EMFILE", "ENFILE", "EADDRNOTAVAIL", "ENOBUFS", "ENOMEM", "EBUSY"])(
    "%s is this host's own failure",
    (code) => {
      const error = transportFailure(
        Object.assign(new Error(`connect ${code}`), { code }),
        url,
        false,
      );
      expect([unsentOf(error), error.message]).toEqual([
        "local",
        expect.stringMatching(/^http:\/\/127\.0\.0\.1:9 was not asked: this /),
      ]);
    },
  );

  it.each(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ERR_TLS_CERT_ALTNAME_INVALID"])(
    "%s says that nobody is there",
    (code) => {
      expect(unsent(code)).toBe("refused");
    },
  );

  it.each(["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT", "EAI_AGAIN"])("%s is silence", (code) => {
    expect(unsent(code)).toBe("silent");
  });

  it("of a name with several addresses this host's own failure comes first", () => {
    const errors = ["ECONNREFUSED", "EMFILE"].map((code) =>
      Object.assign(new Error(code), { code }),
    );
    const both = Object.assign(new AggregateError(errors), { code: "ECONNREFUSED" });
    expect(unsentOf(transportFailure(both, url, false))).toBe("local");
  });

  it("a request that can't be written down is nobody's silence", async () => {
    const error = await failure(
      transport().send({ url, method: "GET", headers: { "bad name": "x" } }),
    );
    expect([error.sent, unsentOf(error)]).toEqual([false, "local"]);
  });
});

describe("a guarded transport", () => {
  it("connects to a name only if no address that it has now is refused, and says why it didn't", async () => {
    const { url } = await service(async () => ({ status: 200, headers: {} }));
    const { port } = new URL(url);
    const to = (...addresses: string[]): SocketTransport => {
      const found = addresses.map((address) => ({ address, family: 4 }));
      const one = transport({ lookup: (_host, _options, callback) => callback(null, found) });
      one.guard((host, address) =>
        address === "127.0.0.2" ? `${host} is at ${address} now` : undefined,
      );
      return one;
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
    // An address that stands in the URL itself is judged by whoever takes the URL up.
    expect((await to("127.0.0.2").send({ ...request, url })).status).toBe(200);
  });
});

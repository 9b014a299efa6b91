import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getContext } from "../../server/host/carrier.ts";
import { routeModules, type TestRoute } from "../_routes.ts";
import { application } from "./_application.ts";
import { attack, callServices, expectAlive } from "./_attack.ts";
import { bytesOf, exchange, openSockets, type Service, type Sockets } from "./_sockets.ts";

// Hostile requests for routes, through real sockets. After each one, the next valid request works.

// Much longer than a busy machine stops a process between two bytes.
const idleTimeoutMs = 1_000;

/** The events that the routes with streams have noticed, in order. */
const noticed: string[] = [];
let runs = 0;

const routes: TestRoute[] = [
  { route: "GET /feed", run: async () => new Response("feed") },
  {
    route: "POST /hooks/:provider",
    async run(request) {
      runs++;
      return new Response(`${getContext().params["provider"]} ${await request.text()}`);
    },
  },
  {
    route: "PUT /upload/*path",
    async run(request) {
      request.signal.addEventListener("abort", () => noticed.push("aborted"));
      let bytes = 0;
      try {
        for await (const chunk of request.body ?? []) {
          bytes += chunk.length;
          noticed.push("bytes");
        }
      } catch (error) {
        noticed.push("broken");
        throw error;
      }
      noticed.push("complete");
      return new Response(String(bytes));
    },
  },
  {
    route: "GET /endless",
    async run(request) {
      request.signal.addEventListener("abort", () => noticed.push("aborted"));
      return new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(10_000)),
          cancel: () => void noticed.push("cancelled"),
        }),
      );
    },
  },
  {
    route: "GET /stalls",
    async run(request) {
      request.signal.addEventListener("abort", () => noticed.push("aborted"));
      return new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode("the first part")),
          pull: async () => await new Promise(() => {}),
          cancel: () => void noticed.push("cancelled"),
        }),
      );
    },
  },
  { route: "GET /fields", run: async (request) => Response.json([...request.headers.keys()]) },
  { route: "GET /protected", access: "protected", run: async () => new Response("protected") },
];

let sockets: Sockets;
beforeAll(async () => {
  const modules = routeModules(routes, application);
  sockets = await openSockets({ modules, limits: { idleTimeoutMs } });
});
afterAll(() => sockets.close());

const upload = "PUT /upload/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n";
const chunked = `${upload}Transfer-Encoding: chunked\r\n\r\n`;

/** The next requests for routes, one with a body, work. */
async function expectRoutes(service: Service): Promise<void> {
  await expectAlive(sockets, service);
  const port = sockets.ports[service];
  expect(await exchange(port, bytesOf({ target: "/feed" }))).toMatchObject({
    status: 200,
    body: expect.stringContaining("feed"),
  });
  const post = bytesOf({ target: "/hooks/bank", body: "paid" });
  expect(await exchange(port, post)).toMatchObject({
    status: 200,
    body: expect.stringContaining("bank paid"),
  });
}

async function hears(notices: readonly string[]): Promise<void> {
  await expect.poll(() => noticed, { interval: 5 }).toEqual(expect.arrayContaining([...notices]));
}

/** Everything that comes until the connection ends; `act` gets the open connection. */
function conversation(service: Service, act: (socket: Socket) => unknown): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(sockets.ports[service], "127.0.0.1", () => act(socket));
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
  });
}

const statuses = (text: string): number[] =>
  [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(callServices)("bodies of routes at the %s", (service) => {
  it.each([
    ["with a length", `${upload}Content-Length: 100\r\n\r\n12345`],
    ["in chunks", `${chunked}5\r\n12345\r\n`],
  ])("an upload %s that is cut off breaks the handler's body", async (_, bytes) => {
    noticed.length = 0;
    const answer = conversation(service, async (socket) => {
      socket.write(bytes);
      // Without that a service whose event loop is late sees that the caller has left, and runs nothing.
      await hears(["bytes"]);
      socket.end();
    });
    await hears(["broken", "aborted"]);
    expect(noticed).not.toContain("complete");
    // The caller can't be answered, or hears that it's the caller's mistake.
    expect([[], [400]]).toContainEqual(statuses(await answer));
    await expectRoutes(service);
  });

  it("an upload whose caller resets the connection breaks the handler's body", async () => {
    noticed.length = 0;
    await conversation(service, async (socket) => {
      socket.write(`${upload}Content-Length: 100\r\n\r\n12345`);
      await hears(["bytes"]);
      socket.resetAndDestroy();
    });
    await hears(["broken", "aborted"]);
    await expectRoutes(service);
  });

  it("an upload that pauses is complete, and one that stops answers 408", async () => {
    const slow = conversation(service, async (socket) => {
      socket.write(`${upload}Connection: close\r\nContent-Length: 4\r\n\r\n`);
      for (let sent = 0; sent < 4; sent++) {
        await pause(idleTimeoutMs / 2.5);
        socket.write("x");
      }
    });
    const stopped = exchange(sockets.ports[service], `${upload}Content-Length: 5\r\n\r\n1234`);
    expect(statuses(await slow)).toEqual([200]);
    expect(await stopped).toMatchObject({ status: 408 });
    await expectRoutes(service);
  });

  it("a caller that leaves in the middle of an answer cancels the handler's stream", async () => {
    noticed.length = 0;
    await conversation(service, (socket) => {
      socket.write(bytesOf({ target: "/endless" }));
      socket.once("data", () => socket.destroy());
    });
    await hears(["cancelled", "aborted"]);
    await expectRoutes(service);
  });

  it("a caller that stops reading is cut, and so is the handler's stream", async () => {
    noticed.length = 0;
    let socket: Socket | undefined;
    const answer = conversation(service, (opened) => {
      socket = opened;
      opened.write(bytesOf({ target: "/endless" }));
      opened.once("data", () => opened.pause());
    });
    await hears(["cancelled", "aborted"]);
    socket?.destroy();
    expect(statuses(await answer)).toEqual([200]);
    await expectRoutes(service);
  });

  it("an answer that stops in the middle is broken off, and so is the handler's stream", async () => {
    noticed.length = 0;
    const text = await conversation(service, (socket) =>
      socket.write(bytesOf({ target: "/stalls" })),
    );
    expect(text).toContain("the first part");
    expect(text).not.toMatch(/\r\n0\r\n\r\n$/);
    await hears(["cancelled", "aborted"]);
    await expectRoutes(service);
  });

  it("bytes after the length aren't the body's, and never a request that runs", async () => {
    const before = runs;
    const post =
      "POST /hooks/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n12345\r\n\r\n";
    const text = await conversation(service, (socket) => socket.write(post));
    // The next request may be refused before the first one has its answer.
    expect([[400], [200, 400]]).toContainEqual(statuses(text));
    expect(runs).toBeLessThanOrEqual(before + 1);
    await expectRoutes(service);
  });
});

describe("requests for routes with invalid framing:", () => {
  it.each([
    ["a chunk without a size", `${chunked}zz\r\n\r\n`],
    ["a negative size", `${chunked}-5\r\n12345\r\n0\r\n\r\n`],
    ["a size over 64 bits", `${chunked}fffffffffffffffff\r\n1\r\n0\r\n\r\n`],
    ["a chunk longer than its size", `${chunked}2\r\n12345\r\n0\r\n\r\n`],
    ["a chunk that ends in LF", `${chunked}5\r\n12345\n0\r\n\r\n`],
    ["two lengths", `${upload}Content-Length: 2\r\nContent-Length: 5\r\n\r\n12345`],
    ["a list of lengths", `${upload}Content-Length: 5, 5\r\n\r\n12345`],
    ["a negative length", `${upload}Content-Length: -1\r\n\r\n`],
    [
      "length and chunks",
      `${upload}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ["two transfer codings", `${upload}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
  ])("%s answers 400", async (_, bytes) => {
    noticed.length = 0;
    await attack(sockets, callServices, bytes, 400);
    expect(noticed).not.toContain("complete");
    for (const service of callServices) await expectRoutes(service);
  });
});

describe("paths of routes", () => {
  const before = "POST /hooks";
  it.each([
    ["an empty part before", "//hooks/a"],
    ["an empty part within", "/hooks//a"],
    ["a dot part", "/hooks/."],
    ["two dots", "/hooks/a/../b"],
    ["escaped dots", "/hooks/%2e%2e"],
    ["escaped dots before", "/%2e%2e/hooks/a"],
    ["half escaped dots", "/hooks/.%2E/hooks/a"],
    ["dots behind an escaped slash", "/hooks/a%2f..%2fb"],
    ["dots behind an escaped backslash", "/hooks/a%5c..%5cb"],
    ["an absolute path behind an escaped slash", "/hooks/%2fetc%2fpasswd"],
    ["an escaped backslash", "/hooks/a%5cb"],
    ["a backslash", "/hooks\\a"],
    ["a backslash within", "/hooks/a\\b"],
    ["an escaped slash in the first part", "/hooks%2fa"],
    ["an escaped first part", "/%68ooks/a"],
    ["a bad escape", "/hooks/%zz"],
    ["an escape that is no text", "/hooks/%ff"],
    ["another case", "/HOOKS/a"],
    ["a slash at the end", "/hooks/a/"],
  ])(`with %s aren't those of "${before}/:provider"`, async (_, target) => {
    const count = runs;
    // Behind a proxy it is a file's path, which only GET may ask for.
    await attack(sockets, callServices, bytesOf({ target, body: "x" }), [400, 404, 405]);
    expect(runs).toBe(count);
  });

  it("are decoded once", async () => {
    for (const [target, expected] of [
      ["/hooks/a%2fb", "a/b x"],
      ["/hooks/%252e%252e", "%2e%2e x"],
      ["/hooks/__proto__", "__proto__ x"],
      ["/hooks/a?b=/../c", "a x"],
    ] as const)
      for (const { body } of await attack(
        sockets,
        callServices,
        bytesOf({ target, body: "x" }),
        200,
      ))
        // Plain or chunked.
        expect(body.split("\r\n")).toContain(expected);
  });
});

describe("heads of requests for routes", () => {
  const forged = [
    "x-svc-hops: 1",
    "x-svc-trust-key: wrong",
    "x-svc-fqn: a/secret",
    "x-svc-access: private",
    "x-svc-origin: https://evil.example",
    "x-svc-data-encoding: serialized",
    "x-svc-__proto__: 1",
  ];

  it("with forged fields of the runtime open no protected route, and reach no handler", async () => {
    const refused = bytesOf({ target: "/protected", fields: forged });
    await attack(sockets, callServices, refused, 401);
    const fields = bytesOf({ target: "/fields", fields: forged });
    for (const { body } of await attack(sockets, callServices, fields, 200))
      expect(body).not.toContain("x-svc-");
  });

  it.each([
    ["websocket", ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]],
    ["h2c", ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"]],
  ])("with an upgrade to %s answer 501", async (_, fields) => {
    await attack(sockets, callServices, bytesOf({ target: "/feed", fields }), 501);
    const post = bytesOf({ target: "/hooks/a", body: "x", fields });
    await attack(sockets, callServices, post, 501);
  });

  it("HEAD has no body, OPTIONS runs nothing, other methods answer 405", async () => {
    const count = runs;
    for (const { body } of await attack(
      sockets,
      callServices,
      bytesOf({ target: "/feed", method: "HEAD", fields: ["Connection: close"] }),
      200,
    ))
      expect(body).toBe("");
    for (const { head } of await attack(
      sockets,
      callServices,
      bytesOf({ target: "/hooks/a", method: "OPTIONS" }),
      204,
    ))
      expect(head).toMatch(/\r\nallow: POST, OPTIONS/i);
    for (const method of ["TRACE", "DELETE", "PROPFIND"])
      await attack(sockets, callServices, bytesOf({ target: "/hooks/a", method }), 405);
    expect(runs).toBe(count);
  });

  it.each([
    ["a form", "application/x-www-form-urlencoded"],
    ["a form with parameters", "Multipart/Form-Data ; boundary=b"],
    ["text", "text/plain;charset=utf-8"],
  ])("with %s of another site answer 403", async (_, type) => {
    const count = runs;
    for (const site of [
      ["Sec-Fetch-Site: cross-site"],
      ["Origin: https://evil.example"],
      ["Origin: null"],
    ]) {
      const fields = [`Content-Type: ${type}`, ...site];
      const post = bytesOf({ target: "/hooks/a", body: "a=1", fields });
      await attack(sockets, callServices, post, 403);
    }
    expect(runs).toBe(count);
  });
});

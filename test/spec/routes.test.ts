// Routes: the requests that reach them, their arguments and their answers.

import { describe, expect, it } from "vitest";

import { getContext } from "../../server/main.ts";
import { Unauthorized } from "../../src/base/errors.ts";
import { CorsMiddleware } from "../../src/http/cors.ts";
import type { Middleware } from "../../src/http/middleware.ts";
import { sentBy } from "../_deployment.ts";
import { dialAsMember, memoryDial } from "../_fake-member.ts";
import { inBothShapes, startSite, type TestRoute } from "../_routes.ts";

const text =
  (answer: string): TestRoute["run"] =>
  async () =>
    new Response(answer);
const echo: TestRoute["run"] = async (request) =>
  new Response(`${request.method} ${await request.text()}`);
const form = { "content-type": "application/x-www-form-urlencoded" };
const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };

describe("requests for routes", () => {
  it("routes-1: a route answers its path and method, and HEAD where it answers GET", async () => {
    await inBothShapes(
      [
        { route: "GET /feed", run: text("feed") },
        { route: "POST /feed", run: echo },
      ],
      async ({ request }) => {
        expect(await request("GET /feed?x=1")).toMatchObject({ status: 200, text: "feed" });
        expect(await request("HEAD /feed")).toMatchObject({ status: 200 });
        expect(await request("POST /feed", { "content-length": "2" }, "hi")).toMatchObject({
          text: "POST hi",
        });
      },
    );
  });

  it("routes-2: part by part, a literal comes before a parameter, and that before a wildcard", async () => {
    await inBothShapes(
      [
        { route: "GET /a/*rest", run: text("wildcard") },
        { route: "GET /a/:x", run: text("parameter") },
        { route: "GET /a/b", run: text("literal") },
      ],
      async ({ request }) => {
        expect((await request("GET /a/b")).text).toBe("literal");
        expect((await request("GET /a/c")).text).toBe("parameter");
        expect((await request("GET /a/b/c")).text).toBe("wildcard");
      },
    );
  });

  it("routes-3: getContext().params has the parameters of the path, decoded once", async () => {
    const run = async () => Response.json(getContext().params);
    await inBothShapes(
      [
        { route: "GET /hooks/:provider", run },
        { route: "GET /files/*path", run },
      ],
      async ({ request }) => {
        expect((await request("GET /hooks/%2541%20b")).text).toBe('{"provider":"%41 b"}');
        expect((await request("GET /files/a/b%20c")).text).toBe('{"path":"a/b c"}');
      },
    );
  });

  it("routes-4: a path with dot parts, empty parts, backslashes or bad escapes answers 404", async () => {
    await inBothShapes([{ route: "GET /a/*rest", run: text("ran") }], async ({ request }) => {
      for (const path of [
        "/a/..",
        "/a/%2e%2e/b",
        "/a/x%2f..%2fy",
        "/a/%2fetc/passwd",
        "/a/b%5cc",
        "/a//b",
        "/a/\\b",
        "/a/%zz",
      ])
        expect([path, (await request(`GET ${path}`)).status]).toEqual([path, 404]);
      expect((await request("GET /a/b")).text).toBe("ran");
    });
  });

  it("routes-5: case and a trailing slash count", async () => {
    await inBothShapes([{ route: "POST /a/b", run: text("ran") }], async ({ request, shape }) => {
      for (const path of ["/A/b", "/a/b/", "/a/B"])
        // The proxy asks the repository for files, and there is none.
        expect([404, 503]).toContain((await request(`POST ${path}`)).status);
      expect([(await request("POST /a/b")).status, shape]).toEqual([200, shape]);
    });
  });

  it("routes-6: another method than a route of the path has answers 405 with Allow", async () => {
    await inBothShapes(
      [
        { route: "GET /a/:x", run: text("") },
        { route: "PUT /a/b", run: text("") },
      ],
      async ({ request }) => {
        const { status, headers } = await request("POST /a/b");
        expect([status, headers["allow"]]).toEqual([405, "PUT, GET, HEAD, OPTIONS"]);
        expect((await request("TRACE /a/b")).status).toBe(405);
      },
    );
  });

  it("routes-7: OPTIONS answers 204 with Allow, and runs nothing", async () => {
    let ran = 0;
    const run = async () => (ran++, new Response(""));
    await inBothShapes([{ route: "* /a", run }], async ({ request }) => {
      const { status, headers } = await request("OPTIONS /a");
      expect([status, headers["allow"]]).toEqual([
        204,
        "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
      ]);
    });
    expect(ran).toBe(0);
  });

  it("routes-8: a request to upgrade the connection answers 501", async () => {
    await inBothShapes([{ route: "GET /a", run: text("") }], async ({ request }) => {
      const fields = { connection: "keep-alive, Upgrade", upgrade: "websocket" };
      expect((await request("GET /a", fields)).status).toBe(501);
    });
  });

  it("routes-9: a route can't be called: /rpc answers 404, and runProcedure rejects", async () => {
    await inBothShapes(
      [{ route: "GET /a", name: "site/hook", run: text("ran") }],
      async ({ request, inner }) => {
        expect((await request("GET /rpc/site/hook")).status).toBe(404);
        await expect(inner.runProcedure?.("site/hook")).rejects.toThrow(/not found/);
      },
    );
  });
});

describe("access to routes", () => {
  it("routes-10: a protected route answers 401 to outsiders, and a private one doesn't exist", async () => {
    await inBothShapes(
      [
        { route: "GET /protected", access: "protected", run: text("ran") },
        { route: "GET /private", access: "private", run: text("ran") },
      ],
      async ({ request, shape }) => {
        expect((await request("GET /protected")).status).toBe(401);
        expect((await request("GET /protected", sentBy.trusted)).text).toBe("ran");
        // Behind a proxy it is the repository's, which this test doesn't have.
        expect((await request("GET /private")).status).toBe(shape === "standalone" ? 404 : 503);
      },
    );
  });

  it("routes-11: a request that a form of another origin can send answers 403, unless it reads only", async () => {
    const routes = [{ route: "* /a", run: text("ran") }];
    await inBothShapes(routes, async ({ request }) => {
      for (const type of [
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain;charset=utf-8",
        "",
      ])
        expect([
          type,
          (await request("POST /a", { ...foreign, "content-type": type })).status,
        ]).toEqual([type, 403]);
      expect((await request("POST /a", foreign)).status).toBe(403);
      expect((await request("DELETE /a", foreign)).status).toBe(403);
      expect((await request("POST /a", { origin: "null", ...form })).status).toBe(403);
      expect((await request("GET /a", foreign)).status).toBe(200);
      expect((await request("POST /a", form)).status).toBe(200);
      const json = { "content-type": "application/json" };
      expect((await request("POST /a", { ...foreign, ...json })).status).toBe(200);
    });
  });

  it('routes-12: "crossSite", and CORS that names the origin exactly, let forms of other origins in', async () => {
    const routes: TestRoute[] = [{ route: "POST /a", crossSite: true, run: text("ran") }];
    await inBothShapes(routes, async ({ request }) => {
      expect((await request("POST /a", { ...foreign, ...form })).status).toBe(200);
    });
    const closed: TestRoute[] = [{ route: "POST /a", run: text("ran") }];
    for (const [origin, status] of [
      ["https://evil.example", 200],
      ["*", 403],
    ] as const)
      await inBothShapes(
        closed,
        async ({ request }) => {
          expect((await request("POST /a", { ...foreign, ...form })).status).toBe(status);
        },
        { outerMiddleware: [new CorsMiddleware(origin)] },
      );
  });

  it("routes-13: a preflight for a route lists the methods of its path", async () => {
    await inBothShapes(
      [
        { route: "PUT /a", run: text("") },
        { route: "DELETE /a", run: text("") },
      ],
      async ({ request }) => {
        const { status, headers } = await request("OPTIONS /a", { origin: "https://a.example" });
        expect(status).toBe(204);
        expect(headers["access-control-allow-methods"]).toBe("PUT, DELETE");
        expect(headers["access-control-allow-origin"]).toBe("https://a.example");
        const answer = await request("PUT /a", { origin: "https://a.example" });
        expect(answer.headers["access-control-allow-origin"]).toBe("https://a.example");
      },
      { outerMiddleware: [new CorsMiddleware("https://a.example")] },
    );
  });
});

describe("what a route gets and answers", () => {
  it("routes-14: the request has the public origin's absolute URL, and none of the runtime's own fields", async () => {
    const run: TestRoute["run"] = async (request) =>
      Response.json([request.url, [...request.headers].filter(([name]) => name !== "accept")]);
    await inBothShapes(
      [{ route: "GET /a", run }],
      async ({ request }) => {
        const { text: answer } = await request("GET /a?x=%20", {
          host: "shop.example",
          "x-svc-hops": "3",
          "x-own": "1",
          connection: "x-drop",
          "x-drop": "1",
        });
        const [url, fields] = JSON.parse(answer) as [string, [string, string][]];
        expect(url).toBe("https://shop.example/a?x=%20");
        const names = fields.map(([name]) => name);
        expect(fields).toContainEqual(["host", "shop.example"]);
        expect(names).toContain("x-own");
        expect(names.filter((name) => /^x-svc-|^connection$|^x-drop$/.test(name))).toEqual([]);
      },
      { origins: ["https://shop.example"] },
    );
  });

  it("routes-15: status, headers and every Set-Cookie of the Response are sent, and those of getContext().response", async () => {
    const run = async () => {
      getContext().response.cookies.set("c", "3");
      const headers = new Headers({
        location: "/next",
        "x-own": "1",
        "x-svc-error": "Forged",
        connection: "close",
      });
      headers.append("set-cookie", "a=1");
      headers.append("set-cookie", "b=2");
      return new Response(null, { status: 303, headers });
    };
    await inBothShapes([{ route: "GET /a", run }], async ({ request }) => {
      const { status, headers } = await request("GET /a");
      expect([status, headers["location"], headers["x-own"]]).toEqual([303, "/next", "1"]);
      expect(headers["set-cookie"]).toEqual(["a=1", "b=2", expect.stringMatching(/^c=3;/)]);
      expect(headers).not.toHaveProperty("x-svc-error");
      expect(headers).not.toHaveProperty("connection");
    });
  });

  it("routes-16: middleware runs with the route's name; its args hold the request where the route runs, and are empty elsewhere", async () => {
    const seen: unknown[] = [];
    const noting: Middleware = {
      async handle(fqn, version, args, _headers, next) {
        const result = await next();
        seen.push([fqn, version.toString(), [...args.keys()], result instanceof Response]);
        return result;
      },
    };
    await inBothShapes(
      [{ route: "GET /a", name: "site/hook", run: text("ran") }],
      async ({ request, shape }) => {
        seen.length = 0;
        expect((await request("GET /a")).text).toBe("ran");
        expect(seen[0]).toEqual(["site/hook", "0.0.0", ["request"], true]);
        if (shape !== "standalone") expect(seen[1]).toEqual(["site/hook", "0.0.0", [], true]);
      },
      { middleware: [noting], outerMiddleware: [noting] },
    );
  });

  it("routes-17: headers that middleware sets before next() are the request's, and after it the answer's", async () => {
    const adding: Middleware = {
      async handle(_fqn, _version, _args, headers, next) {
        headers.set("x-user", "ada");
        headers.delete("x-drop");
        const result = await next();
        headers.set("x-after", "1");
        headers.set("set-cookie", "m=1");
        return result;
      },
    };
    const run: TestRoute["run"] = async ({ headers }) =>
      new Response(`${headers.get("x-user")} ${headers.get("x-drop")}`, {
        headers: { "set-cookie": "a=1" },
      });
    for (const where of ["middleware", "outerMiddleware"] as const)
      await inBothShapes(
        [{ route: "GET /a", run }],
        async ({ request }) => {
          const { text: answer, headers } = await request("GET /a", { "x-drop": "1" });
          expect([answer, headers["x-after"]]).toEqual(["ada null", "1"]);
          expect(headers["set-cookie"]).toEqual(["a=1", "m=1"]);
        },
        { [where]: [adding] },
      );
  });

  it("routes-18: middleware may change the Response of the route, clone it, or return another one", async () => {
    const replacing: Middleware = {
      async handle(_fqn, _version, _args, _headers, next) {
        const response = (await next()) as Response;
        return new Response(`<${await response.text()}>`, { status: 201 });
      },
    };
    for (const where of ["middleware", "outerMiddleware"] as const)
      await inBothShapes(
        [{ route: "GET /a", run: text("ran") }],
        async ({ request }) => {
          expect(await request("GET /a")).toMatchObject({ status: 201, text: "<ran>" });
        },
        { [where]: [replacing] },
      );
  });

  const streamed: TestRoute["run"] = async () => {
    let count = 0;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (count++ === 3) controller.close();
        else controller.enqueue(new TextEncoder().encode("part "));
      },
    });
    const headers = new Headers({ "content-length": "15", "x-old": "1" });
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    return new Response(body, { headers });
  };
  const handling = (act: (response: Response) => unknown): Middleware => ({
    handle: async (_fqn, _version, _args, _headers, next) => await act((await next()) as Response),
  });

  it.each(["middleware", "outerMiddleware"] as const)(
    "headers that %s changes in the Response of next() are changed (routes-18)",
    async (where) => {
      const changing = handling((response) => {
        response.headers.set("x-new", "1");
        response.headers.delete("x-old");
        return response;
      });
      await inBothShapes(
        [{ route: "GET /a", run: streamed }],
        async ({ request }) => {
          const { text: body, headers } = await request("GET /a");
          expect(body).toBe("part part part ");
          expect([headers["x-new"], headers["x-old"], headers["set-cookie"]]).toEqual([
            "1",
            undefined,
            ["a=1", "b=2"],
          ]);
        },
        { [where]: [changing] },
      );
    },
  );

  it.each(["middleware", "outerMiddleware"] as const)(
    "%s may clone a streamed Response, and replace it with a longer one that has its headers (routes-18)",
    async (where) => {
      let seen = "";
      const cloning = handling(async (response) => {
        seen = await response.clone().text();
        return response;
      });
      const replacing = handling(
        async (response) =>
          new Response(`<${await response.text()}>`, { headers: response.headers }),
      );
      for (const [middleware, text] of [
        [cloning, "part part part "],
        [replacing, "<part part part >"],
      ] as const)
        await inBothShapes(
          [{ route: "GET /a", run: streamed }],
          async ({ request }) => {
            expect((await request("GET /a")).text).toBe(text);
          },
          { [where]: [middleware] },
        );
      expect(seen).toBe("part part part ");
    },
  );
});

describe("routes that fail", () => {
  const good: TestRoute = { route: "GET /good", run: text("good") };
  const shared = new Response("once");
  it.each<[string, TestRoute["run"], RegExp]>([
    ["nothing", async () => undefined, /The route 'site\/route0' returned nothing, not a Response/],
    ["an object", async () => ({ status: 200 }), /returned an object, not a Response/],
    ["text", async () => "hello", /returned a string, not a Response/],
    ["Response.error()", async () => Response.error(), /returned Response\.error\(\)/],
    [
      "a Response that was read",
      async () => (await shared.text().catch(() => ""), shared),
      /returned a Response whose body has been read/,
    ],
  ])(
    "routes-19: a result that isn't a Response to send answers 500 and names the route: %s",
    async (_name, run, message) => {
      await inBothShapes([{ route: "GET /a", run }, good], async ({ request, local }) => {
        const { status, text: answer } = await request("GET /a");
        expect(status).toBe(500);
        expect(answer).toMatch(message);
        expect(local.log.lines.join("\n")).toMatch(/GET \/a failed/);
        expect((await request("GET /good")).text).toBe("good");
      });
    },
  );

  it("routes-20: a route that throws answers 500, or the status of the error's class", async () => {
    await inBothShapes(
      [
        { route: "GET /a", run: () => Promise.reject(new Error("broken")) },
        { route: "GET /b", run: () => Promise.reject(new Unauthorized("who are you?")) },
        good,
      ],
      async ({ request }) => {
        expect(await request("GET /a")).toMatchObject({
          status: 500,
          text: expect.stringContaining("broken") as string,
        });
        expect(await request("GET /b")).toMatchObject({ status: 401 });
        expect((await request("GET /good")).text).toBe("good");
      },
    );
  });

  it("routes-21: a route that never answers is 504 at the deadline, and its signal is aborted", async () => {
    let aborted = false;
    let started = (): void => {};
    const run: TestRoute["run"] = (request) =>
      new Promise(() => {
        request.signal.addEventListener("abort", () => (aborted = true));
        started();
      });
    await inBothShapes([{ route: "GET /a", run }, good], async ({ request, local }) => {
      aborted = false;
      const running = new Promise<void>((resolve) => (started = resolve));
      const answer = request("GET /a");
      await running;
      await local.clock.pass(30_000);
      expect((await answer).status).toBe(504);
      expect(aborted).toBe(true);
      expect((await request("GET /good")).text).toBe("good");
    });
  });

  it("routes-22: an answer that breaks after its head cuts the connection, and the log names the route", async () => {
    const run: TestRoute["run"] = async () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode("half")),
          pull: () => Promise.reject(new Error("gone")),
        }),
      );
    await inBothShapes([{ route: "GET /a", run }, good], async ({ request }) => {
      const broken = await request("GET /a").catch((error: unknown) => error as Error);
      expect(broken).toBeInstanceOf(Error);
      expect((await request("GET /good")).text).toBe("good");
    });
  });

  it("a content-length that isn't a number answers 500, and one that the body doesn't have cuts the connection (routes-19, routes-22)", async () => {
    const answer =
      (length: string, body: BodyInit | null, status = 200): TestRoute["run"] =>
      async () =>
        new Response(body, { status, headers: { "content-length": length } });
    await inBothShapes(
      [
        { route: "GET /invalid", run: answer("abc", "12345") },
        { route: "GET /short", run: answer("10", "12345") },
        { route: "GET /long", run: answer("3", "12345") },
        { route: "GET /nothing", run: answer("10", null) },
        { route: "GET /right", run: answer("5", "12345") },
        { route: "GET /none", run: answer("5", null, 204) },
      ],
      async ({ request, local }) => {
        expect((await request("GET /invalid")).status).toBe(500);
        expect(local.log.lines.join("\n")).toContain(
          "The route 'site/route0' set content-length to \"abc\", which isn't a number of bytes",
        );
        for (const path of ["/short", "/long", "/nothing"])
          await expect(request(`GET ${path}`), path).rejects.toThrow();
        expect(await request("GET /right")).toMatchObject({ text: "12345" });
        const head = await request("HEAD /nothing");
        expect([head.status, head.headers["content-length"]]).toEqual([200, "10"]);
        const none = await request("GET /none");
        expect([none.status, none.headers["content-length"]]).toEqual([204, undefined]);
      },
    );
  });

  it("a Response of fetch is sent decoded, as fetch left its body (routes-15)", async () => {
    const fetched = (encoding: string): TestRoute["run"] => {
      return async () => {
        const headers = { "content-encoding": encoding, "content-length": "2", etag: "e" };
        const response = new Response("decoded", { headers });
        return Object.defineProperty(response, "url", { value: "https://shop.example/" });
      };
    };
    await inBothShapes(
      [
        { route: "GET /a", run: fetched("gzip") },
        { route: "GET /b", run: fetched("br, GZIP") },
      ],
      async ({ request }) => {
        for (const path of ["/a", "/b"]) {
          const { text: body, headers } = await request(`GET ${path}`);
          expect([body, headers["etag"], headers["content-encoding"]]).toEqual([
            "decoded",
            "e",
            undefined,
          ]);
        }
      },
    );
  });

  it('routes-23: a body over the entry\'s "bodyBytes" answers 413; without it there is no limit', async () => {
    await inBothShapes(
      [
        { route: "POST /few", bodyBytes: 4, run: echo },
        {
          route: "POST /many",
          run: async (request) => new Response(String((await request.bytes()).length)),
        },
      ],
      async ({ request }) => {
        expect((await request("POST /few", { "content-length": "5" }, "12345")).status).toBe(413);
        const streamed = { "transfer-encoding": "chunked" };
        expect((await request("POST /few", streamed, "12345")).status).toBe(413);
        expect((await request("POST /few", streamed, "1234")).text).toBe("POST 1234");
        const large = new Uint8Array(3 * 1024 * 1024);
        expect((await request("POST /many", streamed, large)).text).toBe(String(large.length));
      },
    );
  });
});

describe("bodies of routes", () => {
  it("routes-24: bodies stream both ways at every service, each chunk as it comes", async () => {
    const run: TestRoute["run"] = async (request) => new Response(request.body);
    await inBothShapes([{ route: "POST /echo", run }], async ({ outer }) => {
      const { exchange } = await import("../../src/roles/memory-exchange.ts");
      const produced: number[] = [];
      async function* upload() {
        for (let at = 0; at < 3; at++) {
          produced.push(at);
          yield new Uint8Array([at]);
        }
      }
      const answer = await exchange(outer, {
        method: "POST",
        target: "/echo",
        headers: { "transfer-encoding": "chunked" },
        body: upload(),
        signal: undefined,
      });
      const received: number[] = [];
      for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
        received.push(...chunk);
        // The number of items on the way is bounded by the services that they pass.
        expect(produced.length).toBeLessThanOrEqual(received.length + 2);
      }
      expect(received).toEqual([0, 1, 2]);
    });
  });

  it("routes-25: a stream in which nothing moves for idleTimeoutMs is ended", async () => {
    const run: TestRoute["run"] = async () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode("begun")),
        }),
      );
    await inBothShapes(
      [{ route: "GET /a", run }],
      async ({ request, local }) => {
        const answer = request("GET /a").catch((error: unknown) => error);
        await local.clock.settle();
        await local.clock.pass(1_000);
        expect(await answer).toBeInstanceOf(Error);
      },
      { limits: { idleTimeoutMs: 1_000 } },
    );
  });

  it("routes-26: the handler's signal is aborted when the caller goes away, and its stream is cancelled", async () => {
    await inBothShapes(
      [
        {
          route: "GET /a",
          run: async (request) => {
            let cancelled = (): void => {};
            ended = Promise.all([
              new Promise<void>((resolve) =>
                request.signal.addEventListener("abort", () => resolve()),
              ),
              new Promise<void>((resolve) => (cancelled = resolve)),
            ]);
            started();
            return new Response(
              new ReadableStream({
                start: (controller) => controller.enqueue(new Uint8Array(1)),
                cancel: () => cancelled(),
              }),
            );
          },
        },
      ],
      async ({ request }) => {
        const caller = new AbortController();
        const running = new Promise<void>((resolve) => (started = resolve));
        const answer = request("GET /a", {}, "", caller.signal).catch((error: unknown) => error);
        await running;
        // The head is on its way.
        for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
        caller.abort(new Error("left"));
        await answer;
        await ended;
      },
    );
  });
  let started = (): void => {};
  let ended: Promise<unknown> = Promise.resolve();
});

describe("routes of several nodes", () => {
  it("routes-27: a gateway balances over the members that have the route, and a proxy learns of routes from it", async () => {
    const { local, request } = await startSite("behind a proxy", [
      { route: "GET /a", run: text("a") },
    ]);
    const { routeModules } = await import("../_routes.ts");
    const modules = routeModules([{ route: "GET /a", run: text("b") }]);
    await local.node("b", { modules, segments: ["site"] });
    const answers = [];
    for (let at = 0; at < 4; at++) answers.push((await request("GET /a")).text);
    expect(answers.sort()).toEqual(["a", "a", "b", "b"]);
    const more = routeModules([{ route: "GET /new", name: "site/new", run: text("new") }]);
    await local.node("c", { modules: more, segments: ["site"] });
    await local.clock.pass(5_000);
    expect((await request("GET /new")).text).toBe("new");
  });

  it("routes-28: a node whose routes clash with another member's can't join: 400 with both names", async () => {
    const { local } = await startSite("behind a proxy", [
      { route: "GET /a/:x", name: "site/first", run: text("a") },
    ]);
    const member = await dialAsMember({ dial: memoryDial(local.network) });
    const join = async (routes: unknown) => await member.announce({ procedures: [], routes });
    const clash = await join([{ name: "site/second", method: "*", path: "/a/:y" }]);
    expect(clash.status).toBe(400);
    expect(clash.text).toMatch(/site\/second.*site\/first/);
    expect((await join([{ name: "x", method: "GET", path: "/rpc" }])).status).toBe(400);
    expect((await join("x")).status).toBe(400);
    expect((await join([{ name: "site/first", method: "GET", path: "/a/:z" }])).status).toBe(201);
  });

  it("routes-29: a route whose members have all left answers 503", async () => {
    const { request, inner } = await startSite("behind a proxy", [
      { route: "GET /a", run: text("a") },
    ]);
    expect((await request("GET /a")).text).toBe("a");
    const stopping = inner.stop();
    await new Promise((resolve) => setImmediate(resolve));
    expect((await request("GET /a")).status).toBe(503);
    void stopping;
  });
});

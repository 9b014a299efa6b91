// Guards, which callers from outside must pass before a procedure or a route runs.

import { describe, expect, it } from "vitest";

import type { Context } from "../../src/base/context.ts";
import { Forbidden, NotFound, Unauthorized } from "../../src/base/errors.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import type { Middleware } from "../../src/http/middleware.ts";
import type { ServerModules } from "../../src/roles/application/application.ts";
import { getContext } from "../../server/host/carrier.ts";
import { ask, key, type TestProcedure } from "../_cluster.ts";
import { sentBy } from "../_deployment.ts";
import { entrances, guardedModules, guardedSite } from "../_guards.ts";
import type { TestRoute } from "../_routes.ts";
import { body, call, names } from "./_shop.ts";

const guarded = { access: "public", guard: "auth#signedIn" } as const;

/** Callers with this header are signed in. */
const user = { authorization: "Bearer 1" };

/** The functions that ran, in order. */
let ran: string[] = [];

const guards = {
  async signedIn(): Promise<void> {
    ran.push("guard");
    if (getContext().headers.get("authorization") !== user.authorization)
      throw new Unauthorized("Sign in first");
  },
};

const procedures: readonly TestProcedure[] = [
  {
    fqn: "shop/order",
    parameters: names("sku"),
    in: { a: guarded },
    body: body("shop/order", (_, _graph, sku: string) => {
      ran.push("order");
      return `ordered ${sku}`;
    }),
  },
  {
    fqn: "shop/audit",
    in: { a: { access: "protected", guard: "auth#signedIn" } },
    body: body("shop/audit", () => "audited"),
  },
  {
    fqn: "shop/open",
    in: { a: "public" },
    body: body("shop/open", (_, graph) => call(graph, "shop/order", names("sku"), "1")),
  },
  {
    fqn: "shop/byName",
    in: { a: "public" },
    body: body("shop/byName", (_, graph) => graph.runProcedure("shop/order", "", { sku: "1" })),
  },
];

const siteOf = (
  own: object = guards,
  more: readonly TestProcedure[] = [],
  routes: readonly TestRoute[] = [],
) => {
  ran = [];
  return async (options: Parameters<typeof guardedSite>[1] = {}) =>
    await guardedSite(
      () => guardedModules(own as never, [...procedures, ...more], routes),
      options,
    );
};

describe("a guard", () => {
  it.each(entrances)(
    "guards-1: a guard that throws refuses a call from outside, and one that returns lets it run (at the %s)",
    async (entrance) => {
      const { [entrance]: role } = await siteOf()();
      for (const [method, target, content] of [
        ["GET", "/rpc/shop/order?sku=1", ""],
        ["POST", "/rpc/shop/order", '{"sku":"1"}'],
      ] as const) {
        const json = { "content-type": "application/json" };
        expect(await ask(role, method, target, json, content)).toMatchObject({
          status: 401,
          text: "Sign in first",
        });
        expect(ran.splice(0)).toEqual(["guard"]);
        expect(await ask(role, method, target, { ...json, ...user }, content)).toMatchObject({
          status: 200,
          text: "ordered 1",
        });
        expect(ran.splice(0)).toEqual(["guard", "order"]);
      }
    },
  );

  it.each([
    ["false", async () => false, 200],
    ["nothing", async () => undefined, 200],
    ["a promise of null", async () => null, 200],
  ])(
    "guards-2: what a guard returns doesn't count: %s lets the call run",
    async (_, signedIn, status) => {
      const { standalone } = await siteOf({ signedIn })();
      expect((await ask(standalone, "GET", "/rpc/shop/order?sku=1")).status).toBe(status);
    },
  );

  it.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["false", false],
    ["a text", "no"],
    ["an object with a status of success", { status: 200 }],
    ["an error with a status of success", Object.assign(new Error("no"), { status: 200 })],
  ])("whatever it throws refuses the call: %s (guards-2)", async (_, thrown) => {
    const signedIn = (): never => {
      throw thrown;
    };
    const { standalone, proxy } = await siteOf({ signedIn })();
    for (const role of [standalone, proxy])
      expect((await ask(role, "GET", "/rpc/shop/order?sku=1")).status).toBe(500);
    expect(ran).toEqual([]);
  });

  it("guards-3: what a guard throws reaches callers as what a procedure throws, with class and status", async () => {
    const errors = [new Forbidden("not yours"), new NotFound("nobody"), new TypeError("a mistake")];
    let at = 0;
    const signedIn = async (): Promise<void> => {
      throw errors[at]!;
    };
    const { proxy } = await siteOf({ signedIn })();
    for (const [status, text] of [
      [403, "not yours"],
      [404, "nobody"],
      [500, "a mistake"],
    ] as const) {
      const answer = await ask(proxy, "GET", "/rpc/shop/order?sku=1", {
        "x-svc-data-encoding": "serialized",
      });
      expect(answer.status).toBe(status);
      expect(JSON.parse(answer.text)).toMatchObject({
        type: errors[at]!.name,
        message: text,
        trace: [],
      });
      // The runtime asks for the trust key, and the application doesn't.
      expect(answer.headers).not.toHaveProperty("www-authenticate");
      at++;
    }
  });

  it("a guard's own mistakes are masked like a procedure's (guards-3)", async () => {
    const signedIn = async (): Promise<void> => {
      throw new TypeError("the database is at 10.0.0.7");
    };
    const { standalone, proxy, local } = await siteOf({ signedIn })({ errors: "masked" });
    for (const role of [standalone, proxy]) {
      const { status, text } = await ask(role, "GET", "/rpc/shop/order?sku=1");
      expect([status, text]).toEqual([
        500,
        expect.stringMatching(/^Internal error \([0-9a-f]{16}\)$/),
      ]);
    }
    expect(local.log.lines.join("\n")).toContain("GET /rpc/shop/order failed");
  });

  it("guards-4: in a guard getContext() is the call's: its headers, cookies and outer request, and what the guard puts there the procedure and the answer have", async () => {
    const seen: unknown[] = [];
    const signedIn = async function (this: Context): Promise<void> {
      const context = getContext();
      const { headers, cookies, request, response, locals } = context;
      seen.push(headers.get("x-tenant"), cookies.get("session"), request?.method, this === context);
      Object.assign(locals, { user: "Ada" });
      response.headers.set("x-seen", "by the guard");
      response.cookies.set("visited", "1");
      await Promise.resolve();
      seen.push(getContext() === context);
    };
    const whoami: TestProcedure = {
      fqn: "shop/whoami",
      in: { a: guarded },
      body: body("shop/whoami", (context) => {
        expect(() => Object.assign(context.locals, { user: "Eve" })).toThrow(TypeError);
        return (context.locals as { user?: string }).user;
      }),
    };
    const site = await siteOf({ signedIn }, [whoami])();
    for (const entrance of entrances) {
      seen.length = 0;
      const fields = { "x-tenant": "7", cookie: "session=s1" };
      const answer = await ask(site[entrance], "GET", "/rpc/shop/whoami", fields);
      expect([entrance, answer.status, answer.text]).toEqual([entrance, 200, "Ada"]);
      expect(answer.headers["x-seen"]).toBe("by the guard");
      expect(String(answer.headers["set-cookie"])).toMatch(/^visited=1;/);
      expect(seen).toEqual(["7", "s1", "GET", true, true]);
    }
  });

  it("guards-5: a call that a procedure makes meets no guard, wherever it runs, nor does runProcedure", async () => {
    const site = await siteOf()();
    for (const entrance of entrances)
      for (const name of ["open", "byName"]) {
        expect((await ask(site[entrance], "GET", `/rpc/shop/${name}`)).text).toBe("ordered 1");
        expect(ran.splice(0)).toEqual(["order"]);
      }
    // From another node, through the gateway.
    const other = await site.local.node("b", {
      modules: guardedModules(guards, [
        ...procedures,
        {
          fqn: "far/open",
          in: { b: "public" },
          body: body("far/open", (_, graph) => call(graph, "shop/order", names("sku"), "2")),
        },
      ]),
      segments: ["b"],
    });
    ran = [];
    expect((await ask(site.proxy, "GET", "/rpc/far/open")).text).toBe("ordered 2");
    expect(await other.runProcedure?.("shop/order", "", { sku: "3" })).toBe("ordered 3");
    expect(await site.node.runProcedure?.("shop/order", "", { sku: "4" })).toBe("ordered 4");
    expect(ran).toEqual(["order", "order", "order"]);
  });

  it("guards-6: the trust key opens no guard: over HTTP, and passed on by gateway and proxy", async () => {
    const site = await siteOf()();
    for (const entrance of entrances)
      for (const fields of [
        { "x-svc-trust-key": key },
        ...(entrance === "proxy" ? [] : [sentBy.trusted]),
      ]) {
        const { [entrance]: role } = site;
        expect((await ask(role, "GET", "/rpc/shop/order?sku=1", fields)).status).toBe(401);
        expect((await ask(role, "GET", "/rpc/shop/audit", fields)).text).toBe("Sign in first");
        expect((await ask(role, "GET", "/rpc/shop/audit", { ...fields, ...user })).text).toBe(
          "audited",
        );
      }
    expect(ran).not.toContain("order");
  });

  it("guards-7: access and the cross-site rule come before a guard", async () => {
    const { standalone, proxy } = await siteOf()();
    for (const role of [standalone, proxy]) {
      expect((await ask(role, "GET", "/rpc/shop/audit", user)).text).toBe("Unauthorized");
      const foreign = { ...user, "sec-fetch-site": "cross-site" };
      expect((await ask(role, "GET", "/rpc/shop/order?sku=1", foreign)).status).toBe(403);
      expect((await ask(role, "GET", "/rpc/shop/order?sku=1&version=9", user)).status).toBe(404);
      expect((await ask(role, "PUT", "/rpc/shop/order", user)).status).toBe(405);
    }
    expect(ran).toEqual([]);
  });

  it.each(entrances)(
    "guards-8: arguments are looked at after the guard: who is refused doesn't learn what is wrong with them (at the %s)",
    async (entrance) => {
      const { [entrance]: role } = await siteOf()();
      const json = { "content-type": "application/json" };
      for (const [fields, content, refused] of [
        [json, "{", 400],
        [json, '{"other":1}', 400],
        [json, '{"__proto__":1}', 400],
        [{ "content-type": "text/plain" }, "x", 415],
        [
          { ...json, "x-svc-data-encoding": "serialized" },
          '{"sku":{"serialized":true,"name":"Nothing"}}',
          400,
        ],
        [{ ...json, "x-svc-data-encoding": "superjson" }, '{"json":[]}', 400],
      ] as const) {
        expect((await ask(role, "POST", "/rpc/shop/order", fields, content)).status).toBe(401);
        expect(
          (await ask(role, "POST", "/rpc/shop/order", { ...fields, ...user }, content)).status,
        ).toBe(refused);
      }
      expect((await ask(role, "GET", "/rpc/shop/order?other=1")).status).toBe(401);
      expect((await ask(role, "GET", "/rpc/shop/order?other=1", user)).status).toBe(400);
      expect(ran).not.toContain("order");
    },
  );

  it("guards-9: middleware runs around the guard, and reads arguments that are decoded at its first look", async () => {
    const { standalone } = await siteOf()();
    let look = (_args: ReadonlyMap<string, unknown>): unknown => undefined;
    const layer: Middleware = {
      async handle(_fqn, _version, args, headers, next) {
        ran.push("middleware");
        if (headers.get("x-token") === "t") headers.set("authorization", user.authorization);
        ran.push(`saw ${String(look(args))}`);
        return await next();
      },
    };
    standalone.addMiddleware(layer);
    const json = { "content-type": "application/json" };
    const post = async (content: string, fields: object = {}) =>
      await ask(standalone, "POST", "/rpc/shop/order", { ...json, ...fields }, content);
    // Malformed arguments are nothing to a middleware that doesn't look, and to a guard that refuses.
    expect((await post("{")).status).toBe(401);
    expect(ran.splice(0)).toEqual(["middleware", "saw undefined", "guard"]);
    expect((await post("{", user)).status).toBe(400);
    expect(ran.splice(0)).toEqual(["middleware", "saw undefined", "guard"]);
    expect((await post('{"sku":"5"}', { "x-token": "t" })).text).toBe("ordered 5");
    look = (args) => args.get("sku");
    ran = [];
    expect((await post("{")).status).toBe(400);
    expect(ran.splice(0)).toEqual(["middleware"]);
    expect((await post('{"sku":"6"}')).status).toBe(401);
    expect(ran.splice(0)).toEqual(["middleware", "saw 6", "guard"]);
    look = (args) => (args as Map<string, unknown>).set("sku", "7");
    expect((await post('{"sku":"6"}', user)).text).toBe("ordered 7");
  });

  it("guards-10: a guard has the time of its call, and a call that is over by then doesn't run", async () => {
    let end = (): void => {};
    const waiting = async (): Promise<void> => {
      const { signal } = getContext();
      await new Promise<void>((resolve) => (end = resolve));
      ran.push(`aborted: ${signal.aborted}`);
    };
    const quick: TestProcedure = {
      fqn: "shop/quick",
      in: { a: { ...guarded, timeoutMs: 100 } },
      body: body("shop/quick", () => void ran.push("quick")),
    };
    const { standalone, local } = await siteOf({ signedIn: waiting }, [quick])({
      limits: { ...defaultLimits, callTimeoutMs: 1_000 },
    });
    const settled = async () => await new Promise((resolve) => setImmediate(resolve));
    for (const [path, ms] of [
      ["order?sku=1", 1_000],
      ["quick", 100],
    ] as const) {
      const answer = ask(standalone, "GET", `/rpc/shop/${path}`);
      await settled();
      await local.clock.pass(ms);
      expect((await answer).status).toBe(504);
      end();
      await settled();
      expect(ran.splice(0)).toEqual(["aborted: true"]);
    }
    const leaving = new AbortController();
    const left = ask(standalone, "GET", "/rpc/shop/order?sku=1", {}, "", leaving.signal);
    left.catch(() => {});
    await settled();
    leaving.abort();
    end();
    await settled();
    expect(ran).toEqual(["aborted: true"]);
  });

  it("guards-11: a guard that can't be loaded ends the start, and so does one that the build doesn't have", async () => {
    const start = async (own: object | Error): Promise<unknown> => {
      const modules = (): ServerModules => {
        const found = guardedModules(own as never, procedures);
        return own instanceof Error
          ? {
              ...found,
              import: async (file) => {
                if (file === "auth.js") throw own;
                return await found.import(file);
              },
            }
          : found;
      };
      return await guardedSite(modules);
    };
    await expect(start(new Error("no database"))).rejects.toThrow("no database");
    await expect(start({})).rejects.toThrow(
      "auth.js has no function 'signedIn' for a guard: build again",
    );
    await expect(start({ signedIn: true })).rejects.toThrow("has no function 'signedIn'");
  });

  it("guards-12: versions have guards of their own, and no version is a way around another's", async () => {
    const old: TestProcedure = {
      fqn: "shop/order",
      version: "1.0.0",
      parameters: names("sku"),
      in: { a: { access: "public", guard: "auth#refuse" } },
      body: body("shop/order", () => "old", "1.0.0"),
    };
    const refuse = async (): Promise<void> => {
      throw new Forbidden("the old one is closed");
    };
    const { proxy } = await siteOf({ ...guards, refuse }, [old])();
    const asked = async (query: string) =>
      (await ask(proxy, "GET", `/rpc/shop/order?sku=1${query}`, user)).text;
    expect(await asked("")).toBe("ordered 1");
    expect(await asked("&version=")).toBe("ordered 1");
    for (const version of ["1", "1.0", "1.0.0"])
      expect(await asked(`&version=${version}`)).toBe("the old one is closed");
  });

  it("guards-13: in several segments of a node a function has the guard that one of them names", async () => {
    const both: TestProcedure = {
      fqn: "shop/both",
      in: { a: "private", b: guarded, c: "private" },
      body: body("shop/both", () => "ran"),
    };
    const { standalone } = await siteOf(guards, [both])();
    expect((await ask(standalone, "GET", "/rpc/shop/both")).status).toBe(401);
    expect((await ask(standalone, "GET", "/rpc/shop/both", user)).text).toBe("ran");
  });
});

describe("a guard of a route", () => {
  const routes: readonly TestRoute[] = [
    {
      route: "GET /files/:owner",
      guard: "auth#owner",
      run: (request) => {
        ran.push(`route ${request.method}`);
        return new Response("the file");
      },
    },
    {
      route: "POST /upload",
      guard: "auth#signedIn",
      bodyBytes: 10,
      run: async (request) => new Response(await request.text()),
    },
  ];
  const owner = async (): Promise<void> => {
    const { params, headers } = getContext();
    ran.push(`guard ${String(params["owner"])}`);
    if (params["owner"] !== headers.get("x-user")) throw new Forbidden("not yours");
  };

  it("guards-14: a guard of a route has its parameters; HEAD runs it, and a preflight or OPTIONS doesn't", async () => {
    const { standalone, proxy } = await siteOf({ ...guards, owner }, [], routes)();
    for (const role of [standalone, proxy]) {
      ran = [];
      expect((await ask(role, "GET", "/files/ada", { "x-user": "eve" })).text).toBe("not yours");
      expect((await ask(role, "HEAD", "/files/ada", { "x-user": "eve" })).status).toBe(403);
      expect(ran.splice(0)).toEqual(["guard ada", "guard ada"]);
      expect((await ask(role, "GET", "/files/ada", { "x-user": "ada" })).text).toBe("the file");
      expect((await ask(role, "HEAD", "/files/ada", { "x-user": "ada" })).status).toBe(200);
      expect(ran.splice(0)).toEqual(["guard ada", "route GET", "guard ada", "route HEAD"]);
      const preflight = { origin: "https://other.example", "access-control-request-method": "GET" };
      expect((await ask(role, "OPTIONS", "/files/ada", preflight)).status).toBe(204);
      expect((await ask(role, "POST", "/files/ada")).status).toBe(405);
      expect(ran).toEqual([]);
    }
  });

  it("the limit of a route's body counts after its guard (guards-14)", async () => {
    const { standalone, proxy } = await siteOf({ ...guards, owner }, [], routes)();
    for (const role of [standalone, proxy]) {
      const upload = async (text: string, fields: Readonly<Record<string, string>> = {}) =>
        await ask(role, "POST", "/upload", { "content-length": `${text.length}`, ...fields }, text);
      expect((await upload("x".repeat(11))).status).toBe(401);
      expect((await upload("x".repeat(11), user)).status).toBe(413);
      expect((await upload("x", user)).text).toBe("x");
    }
  });

  it("middleware runs around a route's guard, too (guards-14)", async () => {
    const { standalone } = await siteOf({ ...guards, owner }, [], routes)();
    standalone.addMiddleware({
      async handle(_fqn, _version, args, headers, next) {
        headers.set("x-user", "ada");
        ran.push(`saw ${(args.get("request") as Request).method}`);
        return await next();
      },
    });
    expect((await ask(standalone, "GET", "/files/ada")).text).toBe("the file");
    expect(ran).toEqual(["saw GET", "guard ada", "route GET"]);
  });
});

describe("calls that a guard makes", () => {
  it("guards-15: a guard may call other procedures, as procedures do: its calls meet no guard", async () => {
    const session: TestProcedure = {
      fqn: "users/session",
      in: { b: { access: "protected", guard: "auth#signedIn" } },
      body: body("users/session", (context) => context.headers.get("authorization") ?? "nobody"),
    };
    const modules = () => {
      const own = guardedModules(
        {
          signedIn: async () => {
            ran.push("guard");
            const graph = (await own.import("_seam.js")) as never as Parameters<typeof call>[0];
            const found = await call(graph, "users/session", []);
            if (found !== user.authorization)
              throw new Unauthorized(`${String(found)} isn't signed in`);
          },
        },
        [...procedures, session],
      );
      return own;
    };
    ran = [];
    const { local, proxy } = await guardedSite(modules);
    await local.node("far", { modules: modules(), segments: ["b"] });
    const near = await local.node("near", { modules: modules(), segments: ["a"] });
    for (const role of [near, proxy]) {
      expect((await ask(role, "GET", "/rpc/shop/order?sku=1")).text).toBe("nobody isn't signed in");
      expect((await ask(role, "GET", "/rpc/shop/order?sku=1", user)).text).toBe("ordered 1");
    }
    expect(ran.filter((what) => what === "guard")).toHaveLength(4);
  });
});

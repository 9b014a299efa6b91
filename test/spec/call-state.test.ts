// Cookies, locals, the outer request and settings of the answer, from browser to the last node and
// back.

import { describe, expect, it } from "vitest";

import { getContext } from "../../server/host/carrier.ts";
import { type Context, noContext as getContextOfPages } from "../../src/base/context.ts";
import type { HeaderFields } from "../../src/base/ports.ts";
import type { Middleware } from "../../src/http/middleware.ts";
import type { TextResponse } from "../../src/roles/memory-network.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { ask, TestDeployment, testModules, type TestProcedure } from "../_cluster.ts";
import { key, sentBy } from "../_deployment.ts";
import { body, call } from "./_shop.ts";

type Act = (
  context: Context,
  callInner: () => Promise<unknown>,
  byName: (options: object) => Promise<unknown>,
) => unknown;

interface Acts {
  readonly outer?: Act;
  readonly inner?: Act;
  /** Of the gateway, or of a standalone. */
  readonly middleware?: readonly Act[];
  readonly origins?: readonly string[];
}

interface Application {
  request(headers?: HeaderFields, target?: string): Promise<TextResponse>;
  readonly roles: readonly Role[];
  readonly sent: TestDeployment["network"]["sent"];
}

function proceduresOf({ outer, inner }: Acts): TestProcedure[] {
  return [
    {
      fqn: "outer",
      in: { a: "public" },
      body: body("outer", (_, graph) =>
        (outer ?? ((_context, callInner) => callInner()))(
          getContext(),
          async () => await call(graph, "inner", []),
          async (options) => await graph.runProcedure("inner", "", {}, options),
        ),
      ),
    },
    {
      fqn: "inner",
      in: { b: "public" },
      body: body("inner", () => inner?.(getContext(), idle, idle)),
    },
  ];
}

const idle = async (): Promise<void> => {};

const middlewareOf = (act: Act): Middleware => ({
  async handle(_fqn, _version, _args, _headers, next) {
    await act(getContext(), idle, idle);
    return await next();
  },
});

/** Both procedures in one service. */
async function together(acts: Acts): Promise<Application> {
  const local = new TestDeployment();
  const modules = testModules(proceduresOf(acts));
  const role = await local.standalone({
    modules,
    ...(acts.origins && { web: { origins: acts.origins } }),
  });
  for (const act of acts.middleware ?? []) role.addMiddleware(middlewareOf(act));
  return applicationOf(local, role, [role]);
}

/** proxy → gateway → node of `outer` → gateway → node of `inner`. */
async function apart(acts: Acts): Promise<Application> {
  const local = new TestDeployment();
  const gateway = await local.gateway();
  const nodes: Role[] = [];
  for (const segment of ["a", "b"])
    nodes.push(
      await local.node(segment, { modules: testModules(proceduresOf(acts)), segments: [segment] }),
    );
  const proxy = await local.proxy({ ...(acts.origins && { web: { origins: acts.origins } }) });
  for (const act of acts.middleware ?? []) gateway.addMiddleware(middlewareOf(act));
  return applicationOf(local, proxy, [proxy, gateway, ...nodes]);
}

function applicationOf(local: TestDeployment, role: Role, roles: readonly Role[]): Application {
  return {
    roles,
    sent: local.network.sent,
    request: async (headers = {}, target = "/rpc/outer") =>
      await ask(role, "GET", target, { host: "localhost", ...headers }),
  };
}

const everywhere = [
  ["in one service", together],
  ["over proxy, gateway and two nodes", apart],
] as const;

describe.each(everywhere)("what a call sets for its answer, %s", (_, start) => {
  it("context-8: getContext() is the running call's context, in procedures, what they await, and middleware", async () => {
    const seen: Context[] = [];
    const application = await start({
      middleware: [() => void seen.push(getContext())],
      async outer(context) {
        await new Promise(setImmediate);
        seen.push(context, getContext());
        return getContext() === context;
      },
    });
    expect((await application.request()).text).toBe("true");
    expect(seen).toHaveLength(3);
    expect(() => getContext()).toThrow(/getContext\(\) needs a running call/);
  });

  it("context-9: cookies that any procedure of the call sets are in the one answer to the outermost caller", async () => {
    const application = await start({
      async outer(context, callInner) {
        context.response.cookies.set("a", "1");
        await callInner();
        return "done";
      },
      inner: (context) => context.response.cookies.set("session", "ü", { maxAge: 60 }),
    });
    const answer = await application.request();
    expect(answer.text).toBe("done");
    expect(answer.headers["set-cookie"]).toEqual([
      "a=1; Path=/; HttpOnly; SameSite=Lax",
      "session=%C3%BC; Max-Age=60; Path=/; HttpOnly; SameSite=Lax",
    ]);
    expect(Object.keys(answer.headers)).not.toContain("x-svc-response");
  });

  it("a call with options shares locals and the answer's settings of the call that makes it (context-9, context-16)", async () => {
    let seen: unknown;
    const application = await start({
      middleware: [({ locals }) => void Object.assign(locals, { user: "Ann" })],
      outer: async (_context, _callInner, byName) => await byName({ headers: { "x-own": "1" } }),
      inner({ headers, locals, response }) {
        seen = [headers.get("x-own"), locals];
        response.cookies.set("c", "1");
      },
    });
    const { headers } = await application.request();
    expect(seen).toEqual(["1", { user: "Ann" }]);
    expect(headers["set-cookie"]).toEqual(["c=1; Path=/; HttpOnly; SameSite=Lax"]);
  });

  it("context-10: cookies.get reads the request's cookies, also in inner calls, and skips malformed ones", async () => {
    const read = ({ cookies }: Context): unknown =>
      ["a", "b", "c", "__proto__"].map((name) => cookies.get(name) ?? null);
    const seen: unknown[] = [];
    const application = await start({
      async outer(context, callInner) {
        context.response.cookies.set("a", "new");
        seen.push(read(context));
        await callInner();
      },
      inner: (context) => void seen.push(read(context)),
    });
    await application.request({ cookie: "a=1; =; ;;b; b=%E0%A4%A; c=%41; d" });
    expect(seen).toEqual([
      ["1", "%E0%A4%A", "A", null],
      ["1", "%E0%A4%A", "A", null],
    ]);
  });

  it("context-11: of a header, and of a cookie with the same name, path and domain, the last one set is sent", async () => {
    const application = await start({
      async outer({ response }, callInner) {
        response.headers.set("x-first", "outer");
        response.headers.set("x-last", "outer");
        response.headers.append("vary", "accept");
        response.cookies.set("c", "outer");
        response.cookies.set("c", "other path", { path: "/x" });
        await callInner();
        response.headers.set("X-Last", "outer again");
        response.headers.set("x-gone", "1");
        response.headers.delete("x-gone");
      },
      inner({ response }) {
        response.headers.set("x-first", "inner");
        response.headers.set("x-last", "inner");
        response.headers.append("vary", "accept-language");
        response.cookies.set("c", "inner");
      },
    });
    const { headers } = await application.request();
    expect(headers).toMatchObject({
      "x-first": "inner",
      "x-last": "outer again",
      "set-cookie": [
        "c=other%20path; Path=/x; HttpOnly; SameSite=Lax",
        "c=inner; Path=/; HttpOnly; SameSite=Lax",
      ],
    });
    expect(headers).not.toHaveProperty("x-gone");
    // An answer to a plain call depends on what it asks for, too.
    const names = (headers["vary"] as string).split(", ");
    expect(names.toSorted()).toEqual(["accept", "accept-language", "x-svc-data-encoding"]);
  });

  it("context-12: settings of an inner call count also if it failed; an answer that is an error only gets cookies", async () => {
    const inner: Act = ({ response }) => {
      response.headers.set("x-set", "inner");
      response.cookies.set("c", "inner");
      throw new Error("no");
    };
    const caught = await start({
      outer: async (_context, callInner) => await callInner().catch(() => "caught"),
      inner,
    });
    expect(await caught.request()).toMatchObject({
      text: "caught",
      headers: { "x-set": "inner", "set-cookie": [expect.stringContaining("c=inner")] },
    });
    const failed = await (await start({ inner })).request();
    expect(failed.status).toBe(500);
    expect(failed.headers).toMatchObject({ "set-cookie": [expect.stringContaining("c=inner")] });
    expect(failed.headers).not.toHaveProperty("x-set");
  });

  it("context-13: response.status from 200 to 203 shows in plain answers; encoded ones stay 200", async () => {
    const application = await start({ outer: ({ response }) => ((response.status = 201), "made") });
    expect(await application.request()).toMatchObject({ status: 201, text: "made" });
    expect((await application.request({ "x-svc-data-encoding": "serialized" })).status).toBe(200);
    for (const status of [199, 204, 302, 404, Number.NaN, 200.5]) {
      const refused = await start({ outer: ({ response }) => void (response.status = status) });
      expect((await refused.request()).text).toMatch(/^response\.status can be 200 to 203/);
    }
  });

  it("context-14: cache-control may be set, and is no-store again when the answer sets a cookie", async () => {
    const caching = await start({
      outer: ({ response }) => response.headers.set("cache-control", "max-age=60"),
    });
    expect((await caching.request()).headers["cache-control"]).toBe("max-age=60");
    const both = await start({
      async outer({ response }, callInner) {
        response.headers.set("cache-control", "max-age=60");
        await callInner();
      },
      inner: ({ response }) => response.cookies.set("c", "1"),
    });
    expect((await both.request()).headers["cache-control"]).toBe("no-store");
  });

  it("context-28: an answer that changes a cookie of its request says x-svc-cookies: changed; the same value again, and deleting what isn't there, is no change", async () => {
    const cases: [sets: Act, isChange: boolean][] = [
      [({ response }) => response.cookies.set("c", "1"), false],
      [({ response }) => response.cookies.set("c", "1", { maxAge: 60 }), false],
      [({ response }) => response.cookies.delete("d"), false],
      [({ response }) => response.cookies.set("c", "2"), true],
      [({ response }) => response.cookies.set("d", "1"), true],
      [({ response }) => response.cookies.delete("c"), true],
      [({ response }) => response.cookies.set("c", "1", { expires: new Date(0) }), true],
      [() => {}, false],
    ];
    for (const [inner, isChange] of cases) {
      const { headers } = await (await start({ inner })).request({ cookie: "a=2; c=1" });
      expect(headers["x-svc-cookies"]).toBe(isChange ? "changed" : undefined);
    }
  });

  it("context-15: once the answer is on its way, response throws", async () => {
    let late: Promise<unknown> | undefined;
    const application = await start({
      outer({ response }) {
        response.headers.set("x-set", "1");
        late = new Promise((resolve) => setTimeout(resolve, 5)).then(() =>
          response.headers.set("x-late", "1"),
        );
        late.catch(() => {});
      },
    });
    expect((await application.request()).headers).toMatchObject({ "x-set": "1" });
    await expect(late).rejects.toThrow("The answer is already sent");
  });

  it("context-16: middleware fills locals, which procedures of the call see on every node", async () => {
    const since = new Date(0);
    const seen: unknown[] = [];
    const application = await start({
      middleware: [
        ({ locals }) => void Object.assign(locals, { second: Object.keys(locals).length }),
        ({ locals }) => void Object.assign(locals, { user: { name: "Ann", since } }),
      ],
      async outer({ locals }, callInner) {
        seen.push(locals);
        await callInner();
      },
      inner: ({ locals }) => void seen.push(locals),
    });
    await application.request();
    expect(seen[0]).toEqual({ user: { name: "Ann", since }, second: 1 });
    expect(seen).toHaveLength(2);
    expect(seen[1]).toMatchObject({ user: { name: "Ann", since } });
  });

  it("context-17: locals are frozen, deeply, when the procedure starts", async () => {
    const change: Act = ({ locals }) => {
      const { user } = locals as { user: { roles: string[] } };
      expect(() => user.roles.push("admin")).toThrow(TypeError);
      expect(() => Object.assign(locals, { more: 1 })).toThrow(TypeError);
    };
    const application = await start({
      middleware: [({ locals }) => void Object.assign(locals, { user: { roles: [] } })],
      async outer(context, callInner) {
        await change(context, idle, idle);
        await callInner();
      },
      inner: change,
    });
    expect(await application.request()).toMatchObject({ status: 204, text: "" });
  });

  it("a procedure can't change a Map, Set or Date in locals, or middleware anything after next() (context-17)", async () => {
    const values = { roles: new Map([["a", 1]]), tags: new Set(["a"]), since: new Date(0) };
    const change: Act = ({ locals }) => {
      const { roles, tags, since } = locals as typeof values;
      expect(() => roles.set("admin", 1)).toThrow(TypeError);
      expect(() => tags.add("admin")).toThrow(TypeError);
      expect(() => since.setTime(1)).toThrow(TypeError);
      expect([roles.get("a"), tags.has("a"), since.getTime()]).toEqual([1, true, 0]);
    };
    let after: unknown;
    const application = await start({
      middleware: [({ locals }) => void Object.assign(locals, structuredClone(values))],
      async outer(context, callInner) {
        await change(context, idle, idle);
        await callInner();
        return context.locals;
      },
      inner: change,
    });
    application.roles[0]?.addMiddleware({
      async handle(_fqn, _version, _args, _headers, next) {
        const result = await next();
        try {
          Object.assign(getContext().locals, { more: 1 });
        } catch (error) {
          after = error;
        }
        return result;
      },
    });
    expect(await application.request()).toMatchObject({ status: 200 });
    expect(after).toBeInstanceOf(TypeError);
  });

  it.each([
    ["that are too large", { cart: "x".repeat(9000) }, /^locals\.cart: locals have 9011 bytes/],
    ["with a function", { user: { act: () => 1 } }, /^locals\.user\.act: a function can't be sent/],
    ["with an instance", { user: new (class User {})() }, /^locals\.user: /],
    ["with a Blob", { user: new Blob(["x"]) }, /^locals\.user: a Blob can't be in locals$/],
    ["with bytes", { user: new Uint8Array(1) }, /^locals\.user: a value of type Uint8Array/],
    ["with a cycle", cycle(), /^locals\.self\.self: a cycle/],
  ])(
    "context-18: a call with locals that can't travel is 500 ValueNotSerializable, which names the key, before anything is sent (%s)",
    async (_what, values, message) => {
      let ran = false;
      const application = await start({
        middleware: [({ locals }) => void Object.assign(locals, values)],
        outer: () => void (ran = true),
      });
      const answer = await application.request();
      expect([answer.status, answer.headers["x-svc-error"], ran]).toEqual([
        500,
        "ValueNotSerializable",
        false,
      ]);
      expect(answer.text).toMatch(message);
    },
  );

  it("context-19: request is the outermost caller's, with an absolute URL, also in inner calls", async () => {
    const seen: unknown[] = [];
    const application = await start({
      async outer({ request }, callInner) {
        seen.push(request);
        await callInner();
      },
      inner: ({ request }) => void seen.push(request),
    });
    await application.request({ host: "shop.localhost:8080" }, "/rpc/outer?version=0&");
    const url = "http://shop.localhost:8080/rpc/outer?version=0&";
    expect(seen).toEqual([
      { method: "GET", url, address: undefined },
      { method: "GET", url, address: undefined },
    ]);
  });

  it("context-20: the origin of request.url and whether cookies are Secure follow the configured origin", async () => {
    const acts: Acts = {
      outer: async (_context, callInner) => await callInner(),
      inner({ request, response }) {
        response.cookies.set("c", "1");
        return request?.url;
      },
    };
    const https = await (await start({ ...acts, origins: ["https://shop.example"] })).request();
    expect(https.text).toBe("https://shop.example/rpc/outer");
    expect(https.headers["set-cookie"]).toEqual(["c=1; Path=/; HttpOnly; Secure; SameSite=Lax"]);
    const http = await (await start({ ...acts, origins: ["http://shop.example"] })).request();
    expect(http.text).toBe("http://shop.example/rpc/outer");
    expect(http.headers["set-cookie"]).toEqual(["c=1; Path=/; HttpOnly; SameSite=Lax"]);
  });

  it("context-21: headers of a context can't be changed: the TypeError names response.headers and withOptions", async () => {
    const application = await start({
      outer({ headers }) {
        (headers as Map<string, string>).set("x-a", "1");
      },
    });
    const answer = await application.request();
    expect(answer.status).toBe(500);
    expect(answer.text).toMatch(/response\.headers.*withOptions/);
  });

  it("context-22: timeLeft() is the milliseconds until the deadline", async () => {
    const application = await start({ outer: (context) => context.timeLeft() });
    expect(Number((await application.request()).text)).toBe(30_000);
  });

  it("what outsiders send as locals, settings or outer request has no effect (context-23)", async () => {
    const form = (value: unknown): string =>
      Buffer.from(JSON.stringify(value)).toString("base64url");
    const application = await start({
      outer: async (_context, callInner) => await callInner(),
      inner: ({ locals, request }) => [locals, request?.url, request?.address ?? null],
    });
    const forged = {
      "x-svc-locals": form({ user: { name: "root" } }),
      "x-svc-response": form({ cookies: [["k", "c=1"]] }),
      "x-svc-request": "DELETE secure 10.0.0.1 https://evil.example/",
      "x-forwarded-for": "10.0.0.1",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
    };
    for (const credential of [{}, { "x-svc-credential": "service forged" }]) {
      const answer = await application.request({ ...forged, ...credential });
      expect(JSON.parse(answer.text)).toEqual([{}, "http://localhost/rpc/outer", null]);
      expect(answer.headers).not.toHaveProperty("set-cookie");
    }
  });
});

function cycle(): object {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

it("context-27: in a page, getContext() always throws and says why", () => {
  expect(getContextOfPages).toThrow("getContext() needs Node: pages carry none");
});

describe("what travels between services", () => {
  it("context-23: locals, settings and the outer request are believed from services only, and never sent to outsiders", async () => {
    const { roles } = await apart({
      outer: ({ locals, request, response }) => {
        response.cookies.set("c", "1");
        return [locals, request];
      },
    });
    const [, , node] = roles as [Role, Role, Role];
    const fields = {
      "x-svc-locals": Buffer.from('{"user":"Ann"}').toString("base64url"),
      "x-svc-request": "POST secure 10.0.0.1 https://shop.example/outer?a=1",
    };
    const ofMember = await ask(node, "GET", "/rpc/outer", { ...fields, ...sentBy.outside });
    const request = { method: "POST", url: "https://shop.example/outer?a=1", address: "10.0.0.1" };
    expect(JSON.parse(ofMember.text)).toEqual([{ user: "Ann" }, request]);
    expect(ofMember.headers).toHaveProperty("x-svc-response");
    expect(ofMember.headers).not.toHaveProperty("set-cookie");
    // People with the key are no service.
    const ofKey = await ask(node, "GET", "/rpc/outer", { ...fields, "x-svc-trust-key": key });
    expect(JSON.parse(ofKey.text)).toMatchObject([
      {},
      { url: expect.stringMatching(/\/rpc\/outer$/) as string },
    ]);
    expect(ofKey.headers).toMatchObject({
      "set-cookie": [expect.stringMatching(/^c=1; Path=\/; HttpOnly;/)],
    });
    expect(ofKey.headers).not.toHaveProperty("x-svc-response");
  });

  it("context-24: a plain Set-Cookie in the answer to an inner call is dropped", async () => {
    const application = await apart({ outer: async (_context, callInner) => await callInner() });
    const inner = application.roles.at(-1) as Role;
    inner.addMiddleware({
      async handle(_fqn, _version, _args, headers, next) {
        const result = await next();
        headers.set("set-cookie", "inner=1");
        return result;
      },
    });
    expect((await application.request()).headers).not.toHaveProperty("set-cookie");
    expect((await application.request({}, "/rpc/inner")).headers["set-cookie"]).toEqual([
      "inner=1",
    ]);
  });

  it("a call that uses none of them sends only the outer request between services", async () => {
    const application = await apart({});
    await application.request();
    const names = application.sent.flatMap(({ headers }) => Object.keys(headers));
    expect(names).not.toContain("x-svc-locals");
    expect(names).toContain("x-svc-request");
  });
});

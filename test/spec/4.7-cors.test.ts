import { describe, expect, it, vi } from "vitest";

import { CorsMiddleware } from "../../src/cors.ts";
import { ask } from "../_cluster.ts";
import { kinds, layer, layered, services } from "./_services.ts";

const page = "https://shop.example";
const preflight = { origin: page, "access-control-request-method": "POST", "access-control-request-headers": "content-type" };

/** The CORS headers of an answer, and nothing else of it. */
const corsOf = (headers: object) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("access-control-") || name === "vary"));

const open = { "access-control-allow-origin": "*", "access-control-allow-methods": "GET, POST", "access-control-allow-headers": "*" };
const narrow = {
  "access-control-allow-origin": page,
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers": "content-type, authorization",
  vary: "origin",
};

describe.each(kinds)("on a %s", (kind) => {
  it("§4.7-1 CorsMiddleware(origin?, headers?) is added with addMiddleware", async () => {
    const { call } = await layered(kind);
    expect(corsOf((await call()).headers)).toEqual({});
    for (const [cors, expected] of [
      [new CorsMiddleware(), open],
      [new CorsMiddleware(page), { ...narrow, "access-control-allow-headers": "*" }],
      [new CorsMiddleware(page, "content-type, authorization"), narrow],
    ] as const) {
      const answer = await (await layered(kind, cors)).call();
      expect([answer.text, corsOf(answer.headers)]).toEqual(["a", expected]);
    }
  });

  it("D5.cors-1 CorsMiddleware answers OPTIONS with 204, whatever it asks", async () => {
    const { role, ran } = await layered(kind, new CorsMiddleware(page));
    for (const path of ["/rpc/app/echo", "/rpc/app/none", "/rpc/", "/rpc/app/echo?version=x"])
      for (const headers of [preflight, {}]) expect(await ask(role, "OPTIONS", path, headers)).toMatchObject({ status: 204, text: "" });
    expect(ran).toEqual([]);
  });

  it("D5.cors-2 CorsMiddleware sets the three headers in the answer to a preflight", async () => {
    const { role } = await layered(kind, new CorsMiddleware(page, "content-type, authorization"));
    expect(corsOf((await ask(role, "OPTIONS", "/rpc/app/echo", preflight)).headers)).toMatchObject(narrow);
  });

  it("D5.cors-3 CorsMiddleware lets browsers keep the answer to a preflight for a day", async () => {
    const { role, call } = await layered(kind, new CorsMiddleware());
    expect(corsOf((await ask(role, "OPTIONS", "/rpc/app/echo", preflight)).headers)).toEqual({
      ...open,
      "access-control-max-age": "86400",
    });
    expect((await call()).headers).not.toHaveProperty("access-control-max-age");
  });

  it("stands on every error of a call, whoever found it (D6.errors, §4.7-2)", async () => {
    const { role, call } = await layered(kind, new CorsMiddleware(page));
    const json = { "content-type": "application/json" };
    for (const [status, answer] of [
      [404, await call({}, "/rpc/app/none")],
      [404, await call({}, "/rpc/")],
      [404, await call({ how: "own" }, "/rpc/app/fail")],
      [500, await call({ how: "text" }, "/rpc/app/fail")],
      [400, await call({})],
      [400, await ask(role, "POST", "/rpc/app/echo", json, "{")],
      [400, await call({}, "/rpc/app/echo?version=x")],
      [400, await ask(role, "GET", "/rpc/%E0%A4%A")],
      [415, await call({}, "/rpc/app/echo", { "x-svc-data-encoding": "xml" })],
      [405, await ask(role, "PUT", "/rpc/app/echo")],
    ] as const)
      expect([answer.status, corsOf(answer.headers)]).toEqual([status, { ...narrow, "access-control-allow-headers": "*" }]);
  });

  it("stands on the answers while the service starts (§4.7-2)", async () => {
    const { [kind]: role } = await services({ started: false });
    role.addMiddleware(new CorsMiddleware());
    const answer = await ask(role, "GET", "/rpc/app/echo?value=a");
    expect(answer).toMatchObject({ status: 503, headers: { ...open, "retry-after": "1" } });
  });

  it("stands on the answer of a middleware that refuses, beside what that one set (§4.7-2)", async () => {
    const { call } = await layered(
      kind,
      layer(async () => {
        throw new Error("no");
      }),
      layer(async (_fqn, _version, _args, headers, next) => {
        try {
          return await next();
        } finally {
          headers.set("vary", "accept-language");
        }
      }),
      new CorsMiddleware(page),
    );
    expect(await call()).toMatchObject({ status: 500, headers: { "access-control-allow-origin": page, vary: "accept-language, origin" } });
  });

  it("is about calls: neither health nor files have its headers, and a preflight of them is no more than it was (§4.7-1)", async () => {
    const { role } = await layered(kind, new CorsMiddleware());
    expect(corsOf((await ask(role, "GET", "/health")).headers)).toEqual({});
    expect(corsOf((await ask(role, "GET", "/a.txt")).headers)).toEqual({});
    expect(await ask(role, "OPTIONS", "/health", preflight)).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  });
});

describe("CorsMiddleware", () => {
  const answered = async (...given: readonly [origin?: string, headers?: string]) =>
    corsOf((await (await layered("node", new CorsMiddleware(...given))).call()).headers);

  it("§4.7-2 CorsMiddleware sets Access-Control-Allow-Origin to its first argument", async () => {
    expect((await answered(page))["access-control-allow-origin"]).toBe(page);
  });

  it.each([
    page,
    "http://localhost:5173",
    "http://127.0.0.1",
    "http://[::1]:8080",
    "https://xn--mller-kva.example",
    "capacitor://localhost",
    "*",
  ])("§4.7-3 CorsMiddleware takes a single origin or a wildcard: %s", async (origin) => {
    expect((await answered(origin))["access-control-allow-origin"]).toBe(origin);
  });

  it.each([
    ["", ""],
    ["shop.example", ""],
    ["https://", ""],
    ["null", ""],
    ["https://shop.example/", ": did you mean 'https://shop.example'?"],
    ["https://shop.example/shop", ": did you mean 'https://shop.example'?"],
    ["https://Shop.example", ": did you mean 'https://shop.example'?"],
    ["https://shop.example:443", ": did you mean 'https://shop.example'?"],
    ["https://a@shop.example", ": did you mean 'https://shop.example'?"],
    ["https://müller.example", ": did you mean 'https://xn--mller-kva.example'?"],
    ["https://a.example, https://b.example", ""],
    ["https://*.example", ""],
    ["https://shop.example\r\nset-cookie: a=b", ""],
  ])("refuses what no browser sends as an origin: %j (§4.7-3)", (origin, hint) => {
    expect(() => new CorsMiddleware(origin)).toThrow(
      new TypeError(
        `CorsMiddleware takes one origin as browsers send it ('https://shop.example'), or '*'; '${origin.slice(0, 64)}' is none${hint}`,
      ),
    );
  });

  it.each([[["https://a.example"]], [null], [1], [{ origin: "*" }]])("refuses an origin that is no text: %j (§4.7-3)", (origin) => {
    expect(() => new CorsMiddleware(origin as unknown as string)).toThrow(TypeError);
  });

  it("§4.7-4 CorsMiddleware allows every origin when none is given", async () => {
    expect((await answered())["access-control-allow-origin"]).toBe("*");
    expect((await answered(undefined, "content-type"))["access-control-allow-origin"]).toBe("*");
  });

  it("§4.7-5 CorsMiddleware sets Access-Control-Allow-Headers to its second argument", async () => {
    expect((await answered("*", "authorization"))["access-control-allow-headers"]).toBe("authorization");
  });

  it.each(["authorization", "content-type, authorization", "content-type,x-svc-data-encoding , x-a", "*"])(
    "§4.7-6 CorsMiddleware takes a comma separated list of headers or a wildcard: %s",
    async (headers) => {
      expect((await answered("*", headers))["access-control-allow-headers"]).toBe(headers);
    },
  );

  it.each(["", "a b", "a,,b", "a;b", "a\r\nb: c", ["a"], null])("refuses what can't be names of headers: %j (§4.7-6)", (headers) => {
    expect(() => new CorsMiddleware("*", headers as string)).toThrow(/^CorsMiddleware takes the names of headers, comma separated/);
  });

  it("§4.7-7 CorsMiddleware allows every header when none is given", async () => {
    expect((await answered(page))["access-control-allow-headers"]).toBe("*");
  });

  it("§4.7-8 CorsMiddleware always sets Access-Control-Allow-Methods to GET, POST", async () => {
    const { role, call } = await layered("node", new CorsMiddleware(page, "authorization"));
    const asked = { ...preflight, "access-control-request-method": "DELETE" };
    const answers = [await call(), await call({}, "/rpc/app/none"), await ask(role, "OPTIONS", "/rpc/app/echo", asked)];
    expect(answers.map((one) => one.headers["access-control-allow-methods"])).toEqual(["GET, POST", "GET, POST", "GET, POST"]);
  });

  it("tells caches that an answer for one origin is none for another (§4.7-3)", async () => {
    expect((await answered(page))["vary"]).toBe("origin");
    expect(await answered()).not.toHaveProperty("vary");
  });

  it("added twice counts as it was added last (§4.7-1)", async () => {
    const { call } = await layered("node", new CorsMiddleware(page), new CorsMiddleware("https://other.example"));
    expect((await call()).headers["access-control-allow-origin"]).toBe("https://other.example");
  });

  it("of a second copy of the package is one as well (§4.7-1)", async () => {
    vi.resetModules();
    const { CorsMiddleware: Copy } = await import("../../src/cors.ts");
    expect(Copy).not.toBe(CorsMiddleware);
    expect((await (await layered("gateway", new Copy(page))).call()).headers["access-control-allow-origin"]).toBe(page);
  });
});

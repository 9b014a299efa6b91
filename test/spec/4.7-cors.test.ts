import { describe, expect, it, vi } from "vitest";

import { CorsMiddleware, type CorsOptions } from "../../src/cors.ts";
import { ask } from "../_cluster.ts";
import { kinds, layer, layered, services } from "./_services.ts";

const page = "https://shop.example";
const preflight = {
  origin: page,
  "access-control-request-method": "POST",
  "access-control-request-headers": "content-type",
};

/** The CORS headers of an answer, and nothing else of it. */
const corsOf = (headers: object) =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => name.startsWith("access-control-") || name === "vary",
    ),
  );

const open = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers": "*",
};
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
      for (const headers of [preflight, {}])
        expect(await ask(role, "OPTIONS", path, headers)).toMatchObject({ status: 204, text: "" });
    expect(ran).toEqual([]);
  });

  it("D5.cors-2 CorsMiddleware sets the three headers in the answer to a preflight", async () => {
    const { role } = await layered(kind, new CorsMiddleware(page, "content-type, authorization"));
    expect(corsOf((await ask(role, "OPTIONS", "/rpc/app/echo", preflight)).headers)).toMatchObject(
      narrow,
    );
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
      expect([answer.status, corsOf(answer.headers)]).toEqual([
        status,
        { ...narrow, "access-control-allow-headers": "*" },
      ]);
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
    expect(await call()).toMatchObject({
      status: 500,
      headers: { "access-control-allow-origin": page, vary: "accept-language, origin" },
    });
  });

  it("is about calls: neither health nor files have its headers, and a preflight of them is no more than it was (§4.7-1)", async () => {
    const { role } = await layered(kind, new CorsMiddleware());
    expect(corsOf((await ask(role, "GET", "/health")).headers)).toEqual({});
    expect(corsOf((await ask(role, "GET", "/a.txt")).headers)).toEqual({});
    expect(await ask(role, "OPTIONS", "/health", preflight)).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD" },
    });
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
        `CorsMiddleware takes an origin as browsers send it ('https://shop.example'), a list of them, or '*'; found '${origin.slice(0, 64)}'${hint}`,
      ),
    );
  });

  it.each([[[]], [["*"]], [["https://a.example", 1]], [null], [1], [{ origin: "*" }]])(
    "refuses an origin that is neither a text nor a list of them: %j (§4.7-3)",
    (origin) => {
      expect(() => new CorsMiddleware(origin as unknown as string)).toThrow(TypeError);
    },
  );

  it("§4.7-4 CorsMiddleware allows every origin when none is given", async () => {
    expect((await answered())["access-control-allow-origin"]).toBe("*");
    expect((await answered(undefined, "content-type"))["access-control-allow-origin"]).toBe("*");
  });

  it("§4.7-5 CorsMiddleware sets Access-Control-Allow-Headers to its second argument", async () => {
    expect((await answered("*", "authorization"))["access-control-allow-headers"]).toBe(
      "authorization",
    );
  });

  it.each([
    "authorization",
    "content-type, authorization",
    "content-type,x-svc-data-encoding , x-a",
    "*",
  ])(
    "§4.7-6 CorsMiddleware takes a comma separated list of headers or a wildcard: %s",
    async (headers) => {
      expect((await answered("*", headers))["access-control-allow-headers"]).toBe(headers);
    },
  );

  it.each(["", "a b", "a,,b", "a;b", "a\r\nb: c", ["a"], null])(
    "refuses what can't be names of headers: %j (§4.7-6)",
    (headers) => {
      expect(() => new CorsMiddleware("*", headers as string)).toThrow(
        /^CorsMiddleware takes the names of headers, comma separated/,
      );
    },
  );

  it("§4.7-7 CorsMiddleware allows every header when none is given", async () => {
    expect((await answered(page))["access-control-allow-headers"]).toBe("*");
  });

  it("§4.7-8 CorsMiddleware always sets Access-Control-Allow-Methods to GET, POST", async () => {
    const { role, call } = await layered("node", new CorsMiddleware(page, "authorization"));
    const asked = { ...preflight, "access-control-request-method": "DELETE" };
    const answers = [
      await call(),
      await call({}, "/rpc/app/none"),
      await ask(role, "OPTIONS", "/rpc/app/echo", asked),
    ];
    expect(answers.map((one) => one.headers["access-control-allow-methods"])).toEqual([
      "GET, POST",
      "GET, POST",
      "GET, POST",
    ]);
  });

  it("tells caches that an answer for one origin is none for another (§4.7-3)", async () => {
    expect((await answered(page))["vary"]).toBe("origin");
    expect(await answered()).not.toHaveProperty("vary");
  });

  it("added twice counts as it was added last (§4.7-1)", async () => {
    const { call } = await layered(
      "node",
      new CorsMiddleware(page),
      new CorsMiddleware("https://other.example"),
    );
    expect((await call()).headers["access-control-allow-origin"]).toBe("https://other.example");
  });

  it("of a second copy of the package is one as well (§4.7-1)", async () => {
    vi.resetModules();
    const { CorsMiddleware: Copy } = await import("../../src/cors.ts");
    expect(Copy).not.toBe(CorsMiddleware);
    expect(
      (await (await layered("gateway", new Copy(page))).call()).headers[
        "access-control-allow-origin"
      ],
    ).toBe(page);
  });
});

describe("CorsMiddleware with a list of origins", () => {
  const other = "https://m.shop.example";
  const listed = async (
    headers: Readonly<Record<string, string>>,
    ...more: [headers?: string, options?: CorsOptions]
  ) =>
    corsOf(
      (
        await (
          await layered("proxy", new CorsMiddleware([page, other], ...more))
        ).call({ value: "a" }, "/rpc/app/echo", headers)
      ).headers,
    );

  it("D5.cors-4 CorsMiddleware with a list answers with the origin that matches, and says that the answer varies by it", async () => {
    for (const origin of [page, other])
      expect(await listed({ origin })).toEqual({
        ...open,
        "access-control-allow-origin": origin,
        vary: "origin",
      });
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: `${page}, ${other}` },
      { origin: page.toUpperCase() },
      {},
    ])
      expect(await listed(headers as Record<string, string>)).toEqual({ vary: "origin" });
  });

  it("says the same in the answer to a preflight (D5.cors-4)", async () => {
    const { role } = await layered("proxy", new CorsMiddleware([page, other]));
    const asked = (origin: string) =>
      ask(role, "OPTIONS", "/rpc/app/echo", { ...preflight, origin });
    expect(corsOf((await asked(other)).headers)).toMatchObject({
      "access-control-allow-origin": other,
      vary: "origin",
    });
    expect((await asked("https://evil.example")).headers).not.toHaveProperty(
      "access-control-allow-origin",
    );
  });
});

describe("CorsMiddleware with credentials", () => {
  const withCredentials = (headers?: string) =>
    new CorsMiddleware([page], headers, { credentials: true });

  it("D5.cors-5 CorsMiddleware with credentials says so in answers and preflights, to origins that it names only", async () => {
    const { role, call } = await layered("standalone", withCredentials("content-type"));
    const allowed = {
      "access-control-allow-origin": page,
      "access-control-allow-credentials": "true",
    };
    expect((await call({ value: "a" }, "/rpc/app/echo", { origin: page })).headers).toMatchObject(
      allowed,
    );
    expect((await ask(role, "OPTIONS", "/rpc/app/echo", preflight)).headers).toMatchObject(allowed);
    const evil = await ask(role, "OPTIONS", "/rpc/app/echo", {
      ...preflight,
      origin: "https://evil.example",
    });
    expect(corsOf(evil.headers)).toEqual({ "access-control-max-age": "86400", vary: "origin" });
  });

  it("names the headers that a preflight asks for, as browsers take * for a name then (D5.cors-5)", async () => {
    const { role } = await layered("standalone", withCredentials());
    const asked = async (headers: string) =>
      (
        await ask(role, "OPTIONS", "/rpc/app/echo", {
          ...preflight,
          "access-control-request-headers": headers,
        })
      ).headers;
    expect(await asked("authorization,content-type")).toMatchObject({
      "access-control-allow-headers": "authorization,content-type",
      vary: "origin, access-control-request-headers",
    });
    expect(await asked("a b\u0000")).not.toHaveProperty("access-control-allow-headers");
  });

  it("D5.cors-6 CorsMiddleware refuses credentials for every origin", () => {
    for (const origin of ["*", undefined])
      expect(() => new CorsMiddleware(origin, "*", { credentials: true })).toThrow(
        /^CorsMiddleware: credentials take origins that are named/,
      );
  });

  it("D5.cors-7 CorsMiddleware lets pages read the headers of answers that exposeHeaders names", async () => {
    for (const exposeHeaders of ["x-total, x-page", ["x-total", "x-page"]] as const) {
      const { call } = await layered("node", new CorsMiddleware(page, "*", { exposeHeaders }));
      expect((await call()).headers["access-control-expose-headers"]).toBe("x-total, x-page");
    }
    expect(
      (await (await layered("node", new CorsMiddleware("*", "*", { exposeHeaders: "*" }))).call())
        .headers,
    ).toMatchObject({
      "access-control-expose-headers": "*",
    });
  });

  it.each<[unknown, RegExp]>([
    [{ credentials: "include" }, /credentials is true or false; found 'include'/],
    [{ credential: true }, /no option 'credential'; it has credentials and exposeHeaders/],
    [{ exposeHeaders: "a b" }, /comma separated .* as exposeHeaders; found 'a b'/],
    [{ exposeHeaders: [] }, /as exposeHeaders/],
    [{ exposeHeaders: ["a", "b c"] }, /as exposeHeaders/],
    [{ credentials: true, exposeHeaders: "*" }, /list the headers/],
    [null, /third argument; found null/],
    ["credentials", /third argument; found 'credentials'/],
  ])("refuses the options %j (D5.cors-5)", (options, message) => {
    expect(() => new CorsMiddleware(page, "*", options as CorsOptions)).toThrow(message);
    expect(() => new CorsMiddleware(page, "*", options as CorsOptions)).toThrow(TypeError);
  });
});

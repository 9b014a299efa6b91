import { describe, expect, it, vi } from "vitest";

import { CorsMiddleware, type CorsOptions } from "../../src/http/cors.ts";
import { ask } from "../_cluster.ts";
import { kinds, layer, layered, services } from "./_services.ts";

const page = "https://shop.example";
const preflight = {
  origin: page,
  "access-control-request-method": "POST",
  "access-control-request-headers": "content-type",
};

/** Only the CORS headers of an answer. */
/** `vary` without the fields that answers of calls depend on anyway. */
const corsOf = (headers: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const vary = ((headers["vary"] as string | undefined) ?? "").replace(
    /^accept, x-svc-data-encoding(?:, |$)/,
    "",
  );
  const fields = Object.entries(headers).filter(([name]) => name.startsWith("access-control-"));
  return { ...Object.fromEntries(fields), ...(vary !== "" && { vary }) };
};

const open = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, POST, QUERY",
  "access-control-allow-headers": "*",
};
const narrow = {
  "access-control-allow-origin": page,
  "access-control-allow-methods": "GET, POST, QUERY",
  "access-control-allow-headers": "content-type, authorization",
  vary: "origin",
};

describe.each(kinds)("on a %s", (kind) => {
  it("cors-1: CorsMiddleware(origin?, headers?) is added with addMiddleware", async () => {
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

  it("cors-9: CorsMiddleware answers every OPTIONS with 204", async () => {
    const { role, ran } = await layered(kind, new CorsMiddleware(page));
    for (const path of ["/rpc/app/echo", "/rpc/app/none", "/rpc/", "/rpc/app/echo?version=x"])
      for (const headers of [preflight, {}])
        expect(await ask(role, "OPTIONS", path, headers)).toMatchObject({ status: 204, text: "" });
    expect(ran).toEqual([]);
  });

  it("cors-10: CorsMiddleware sets the three headers in the answer to a preflight", async () => {
    const { role } = await layered(kind, new CorsMiddleware(page, "content-type, authorization"));
    expect(corsOf((await ask(role, "OPTIONS", "/rpc/app/echo", preflight)).headers)).toMatchObject(
      narrow,
    );
  });

  it("cors-11: CorsMiddleware lets browsers keep the answer to a preflight for a day", async () => {
    const { role, call } = await layered(kind, new CorsMiddleware());
    expect(corsOf((await ask(role, "OPTIONS", "/rpc/app/echo", preflight)).headers)).toEqual({
      ...open,
      "access-control-max-age": "86400",
    });
    expect((await call()).headers).not.toHaveProperty("access-control-max-age");
  });

  it("every error of a call has CORS headers, whichever service found it (cors-2)", async () => {
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

  it("answers have CORS headers while the service starts (cors-2)", async () => {
    const { [kind]: role } = await services({ started: false });
    role.addMiddleware(new CorsMiddleware());
    const answer = await ask(role, "GET", "/rpc/app/echo?value=a");
    expect(answer).toMatchObject({ status: 503, headers: { ...open, "retry-after": "1" } });
  });

  it("the answer of a middleware that refuses a call has CORS headers, beside those it set (cors-2)", async () => {
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
      headers: {
        "access-control-allow-origin": page,
        vary: "accept-language, accept, x-svc-data-encoding, origin",
      },
    });
  });

  it("CorsMiddleware applies to calls only: health and files have no CORS headers and no preflight (cors-1)", async () => {
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
  const answered = async (...options: readonly [origin?: string, headers?: string]) =>
    corsOf((await (await layered("node", new CorsMiddleware(...options))).call()).headers);

  it("cors-2: CorsMiddleware sets Access-Control-Allow-Origin to its first argument", async () => {
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
  ])("cors-3: CorsMiddleware takes a single origin or a wildcard: %s", async (origin) => {
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
  ])("refuses what no browser sends as an origin: %j (cors-3)", (origin, hint) => {
    expect(() => new CorsMiddleware(origin)).toThrow(
      new TypeError(
        `CorsMiddleware takes an origin as browsers send it ('https://shop.example'), a list of them, or '*'; found '${origin.slice(0, 64)}'${hint}`,
      ),
    );
  });

  it.each([[[]], [["*"]], [["https://a.example", 1]], [null], [1], [{ origin: "*" }]])(
    "CorsMiddleware refuses an origin that is neither a string nor a list of strings: %j (cors-3)",
    (origin) => {
      expect(() => new CorsMiddleware(origin as unknown as string)).toThrow(TypeError);
    },
  );

  it("cors-4: CorsMiddleware allows every origin by default", async () => {
    expect((await answered())["access-control-allow-origin"]).toBe("*");
    expect((await answered(undefined, "content-type"))["access-control-allow-origin"]).toBe("*");
  });

  it("cors-5: CorsMiddleware sets Access-Control-Allow-Headers to its second argument", async () => {
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
    "cors-6: CorsMiddleware takes a comma separated list of headers or a wildcard: %s",
    async (headers) => {
      expect((await answered("*", headers))["access-control-allow-headers"]).toBe(headers);
    },
  );

  it.each(["", "a b", "a,,b", "a;b", "a\r\nb: c", ["a"], null])(
    "CorsMiddleware refuses what can't be header names: %j (cors-6)",
    (headers) => {
      expect(() => new CorsMiddleware("*", headers as string)).toThrow(
        /^CorsMiddleware takes the names of headers, comma separated/,
      );
    },
  );

  it("cors-7: CorsMiddleware allows every header by default", async () => {
    expect((await answered(page))["access-control-allow-headers"]).toBe("*");
  });

  it("cors-8: CorsMiddleware always sets Access-Control-Allow-Methods to GET, POST, QUERY", async () => {
    const { role, call } = await layered("node", new CorsMiddleware(page, "authorization"));
    const deletePreflight = { ...preflight, "access-control-request-method": "DELETE" };
    const answers = [
      await call(),
      await call({}, "/rpc/app/none"),
      await ask(role, "OPTIONS", "/rpc/app/echo", deletePreflight),
    ];
    expect(answers.map((answer) => answer.headers["access-control-allow-methods"])).toEqual([
      "GET, POST, QUERY",
      "GET, POST, QUERY",
      "GET, POST, QUERY",
    ]);
  });

  it("CorsMiddleware tells caches that answers vary by origin (cors-3)", async () => {
    expect((await answered(page))["vary"]).toBe("origin");
    expect(await answered()).not.toHaveProperty("vary");
  });

  it("of two CorsMiddleware, the one added last counts (cors-1)", async () => {
    const { call } = await layered(
      "node",
      new CorsMiddleware(page),
      new CorsMiddleware("https://other.example"),
    );
    expect((await call()).headers["access-control-allow-origin"]).toBe("https://other.example");
  });

  it("a CorsMiddleware from a second copy of the package works as well (cors-1)", async () => {
    vi.resetModules();
    const { CorsMiddleware: Copy } = await import("../../src/http/cors.ts");
    expect(Copy).not.toBe(CorsMiddleware);
    expect(
      (await (await layered("gateway", new Copy(page))).call()).headers[
        "access-control-allow-origin"
      ],
    ).toBe(page);
  });
});

describe("CorsMiddleware with a list of origins", () => {
  const otherOrigin = "https://m.shop.example";
  const listed = async (
    headers: Readonly<Record<string, string>>,
    ...more: [headers?: string, options?: CorsOptions]
  ) =>
    corsOf(
      (
        await (
          await layered("proxy", new CorsMiddleware([page, otherOrigin], ...more))
        ).call({ value: "a" }, "/rpc/app/echo", headers)
      ).headers,
    );

  it("cors-12: CorsMiddleware with a list answers with the origin that matches, and Vary: Origin", async () => {
    for (const origin of [page, otherOrigin])
      expect(await listed({ origin })).toEqual({
        ...open,
        "access-control-allow-origin": origin,
        vary: "origin",
      });
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: `${page}, ${otherOrigin}` },
      { origin: page.toUpperCase() },
      {},
    ])
      expect(await listed(headers as Record<string, string>)).toEqual({ vary: "origin" });
  });

  it("CorsMiddleware with a list does the same for a preflight (cors-12)", async () => {
    const { role } = await layered("proxy", new CorsMiddleware([page, otherOrigin]));
    const sendPreflight = (origin: string) =>
      ask(role, "OPTIONS", "/rpc/app/echo", { ...preflight, origin });
    expect(corsOf((await sendPreflight(otherOrigin)).headers)).toMatchObject({
      "access-control-allow-origin": otherOrigin,
      vary: "origin",
    });
    expect((await sendPreflight("https://evil.example")).headers).not.toHaveProperty(
      "access-control-allow-origin",
    );
  });
});

describe("CorsMiddleware with credentials", () => {
  const withCredentials = (headers?: string) =>
    new CorsMiddleware([page], headers, { credentials: true });

  it("cors-13: CorsMiddleware with credentials allows them in answers and preflights, and only to origins that it names", async () => {
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

  it("with credentials, CorsMiddleware repeats the headers that a preflight asks for, as browsers then take * literally (cors-13)", async () => {
    const { role } = await layered("standalone", withCredentials());
    const sendPreflight = async (headers: string) =>
      (
        await ask(role, "OPTIONS", "/rpc/app/echo", {
          ...preflight,
          "access-control-request-headers": headers,
        })
      ).headers;
    expect(await sendPreflight("authorization,content-type")).toMatchObject({
      "access-control-allow-headers": "authorization,content-type",
      vary: "origin, access-control-request-headers",
    });
    expect(await sendPreflight("a b\u0000")).not.toHaveProperty("access-control-allow-headers");
  });

  it("cors-14: CorsMiddleware refuses credentials for every origin", () => {
    for (const origin of ["*", undefined])
      expect(() => new CorsMiddleware(origin, "*", { credentials: true })).toThrow(
        /^CorsMiddleware: credentials take origins that are named/,
      );
  });

  it("cors-15: CorsMiddleware lets pages read the response headers in exposeHeaders", async () => {
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
  ])("refuses the options %j (cors-13)", (options, message) => {
    expect(() => new CorsMiddleware(page, "*", options as CorsOptions)).toThrow(message);
    expect(() => new CorsMiddleware(page, "*", options as CorsOptions)).toThrow(TypeError);
  });
});

// Plain calls whose callers ask for JSON: their answers, and their errors as problem details (RFC 9457).

import { describe, expect, it } from "vitest";

import { BadRequest, NotFound } from "../../src/base/errors.ts";
import { CorsMiddleware } from "../../src/http/cors.ts";
import { ask, TestDeployment, testModules, type TestProcedure } from "../_cluster.ts";
import { callEndpoint, type Endpoint } from "../_endpoint.ts";
import { entrances, guardedSite } from "../_guards.ts";
import { typedModules } from "../_typed.ts";
import { kinds, layer, layered, services, serviceWith } from "./_services.ts";
import { body, names, OutOfStock } from "./_shop.ts";

const json = { accept: "application/json" };
const serialized = { "x-svc-data-encoding": "serialized" };
const vary = "accept, x-svc-data-encoding";

const answering = (value: unknown): Endpoint => ({ parameters: [], run: () => value });
const isJson = async (accept: string): Promise<boolean> =>
  (await callEndpoint(answering("tea"), { headers: { accept } })).text === '"tea"';

describe("a plain call that asks for JSON", () => {
  it("json-1: `accept: application/json` makes every plain answer JSON, and x-svc-data-type says what it was", async () => {
    for (const [value, type, text] of [
      ["tea", "string", '"tea"'],
      ["\ud800", "string", '"\\ud800"'],
      [12, "number", "12"],
      [-0, "number", "-0"],
      [true, "boolean", "true"],
      [null, "null", "null"],
      [[1, { a: new Map([["b", 2n]]) }], "object", '[1,{"a":[["b","2"]]}]'],
    ] as const) {
      const answer = await callEndpoint(answering(value), { headers: json });
      expect(answer.text).toBe(text);
      expect(answer.headers).toMatchObject({
        "content-type": "application/json",
        "x-svc-data-type": type,
      });
    }
  });
  it("json-2: a bigint is its digits as text, NaN and the infinities are null, a date is its ISO text", async () => {
    for (const [value, text] of [
      [12n ** 20n, '"3833759992447475122176"'],
      [Number.NaN, "null"],
      [-Infinity, "null"],
      [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ] as const)
      expect((await callEndpoint(answering(value), { headers: json })).text).toBe(text);
  });
  it("json-3: bytes are base64 text, with the type base64; a Blob or File is sent as it is", async () => {
    for (const value of [new Uint8Array([104, 105]), new Uint8Array([104, 105]).buffer]) {
      const answer = await callEndpoint(answering(value), { headers: json });
      expect(answer.text).toBe('"aGk="');
      expect(answer.headers).toMatchObject({
        "content-type": "application/json",
        "x-svc-data-type": "base64",
      });
    }
    const blob = new Blob(["<svg/>"], { type: "image/svg+xml" });
    expect(await callEndpoint(answering(blob), { headers: json })).toMatchObject({
      text: "<svg/>",
      headers: { "content-type": "image/svg+xml", "x-svc-data-type": "binary" },
    });
  });
  it("json-4: undefined is 204 without a body", async () => {
    const answer = await callEndpoint(answering(undefined), { headers: json });
    expect(answer).toMatchObject({ status: 204, text: "" });
    expect(answer.headers["content-type"]).toBeUndefined();
  });
  it("json-5: JSON is asked for by name: it has to be the range that `accept` likes best, by weight and then by order", async () => {
    for (const accept of [
      "application/json",
      "Application/JSON; charset=utf-8",
      "application/json, text/plain, */*",
      "text/plain;q=0.5, application/json",
      "text/plain;q=0.5,application/json; q=0.9 , */*;q=0.1",
      "*/*;q=0, application/json;q=0.001",
      "application/problem+json, application/json",
      'text/html;q=0.1;title="a, b", application/json;q=0.2',
    ])
      expect([accept, await isJson(accept)]).toEqual([accept, true]);
    for (const accept of [
      "",
      "*/*",
      "application/*",
      "text/plain, application/json",
      "*/*, application/json",
      "application/json;q=0.5, text/plain",
      "application/json;q=0.5, */*",
      "application/json;q=0",
      "application/json;q=0.000, text/plain;q=0",
      "application/json;q=much, text/plain;q=0.1",
      "application/jsonl",
      "application/geo+json",
      'text/html;title=", application/json, "',
      'text/html;title="application/json',
    ])
      expect([accept, await isJson(accept)]).toEqual([accept, false]);
  });
  it("json-6: a caller that names an encoding gets that encoding, whatever it accepts", async () => {
    const date = answering(new Date(0));
    const headers = { ...json, ...serialized };
    expect((await callEndpoint(date, { headers })).text).toBe(
      (await callEndpoint(date, { headers: serialized })).text,
    );
    expect((await callEndpoint(answering("tea"), { headers })).text).toBe("tea");
  });
});

const throwing = (thrown: unknown): Endpoint => ({
  parameters: [],
  run: () => {
    throw thrown;
  },
});

/** Its members, with the content type. */
async function problemOf(thrown: unknown, headers: Readonly<Record<string, string>> = json) {
  const answer = await callEndpoint(throwing(thrown), { headers });
  expect(answer.headers["content-type"]).toBe("application/problem+json");
  const problem = JSON.parse(answer.text) as Record<string, unknown>;
  expect(problem["status"]).toBe(answer.status);
  return problem;
}

const application: TestProcedure[] = [
  {
    fqn: "a/echo",
    parameters: names("value"),
    in: { a: { access: "public", safe: true } },
    body: body("a/echo", (_, _graph, value) => value),
  },
  {
    fqn: "a/fail",
    in: { a: "public" },
    body: body("a/fail", () => {
      throw new NotFound("No such tea");
    }),
  },
  {
    fqn: "a/cached",
    in: { a: { access: "public", safe: true } },
    body: body("a/cached", (context) => {
      context.response.headers.set("cache-control", "public, max-age=60");
      context.response.headers.set("vary", "accept-language");
      return new Date(0);
    }),
  },
  { fqn: "a/secret", in: { a: "private" }, body: body("a/secret", () => 1) },
  { fqn: "a/guarded", in: { a: "protected" }, body: body("a/guarded", () => 1) },
];

describe("problem details", () => {
  it("json-7: an error is application/problem+json: a type, the error's name as title, the status, the message as detail", async () => {
    expect(await problemOf(new NotFound("No such tea"))).toEqual({
      type: "urn:seamline:NotFound",
      title: "NotFound",
      status: 404,
      detail: "No such tea",
    });
    expect(await problemOf(new OutOfStock("no tea left", "tea"))).toMatchObject({
      type: "urn:seamline:OutOfStock",
      title: "OutOfStock",
      status: 404,
    });
    expect(await problemOf("a text")).toEqual({
      type: "urn:seamline:Error",
      title: "Error",
      status: 500,
      detail: "a text",
    });
  });
  it("the type of problem details is a URN, whatever an error is named (json-7)", async () => {
    for (const [name, type] of [
      ["Not Found", "Not%20Found"],
      ["a/b?c#d", "a%2Fb%3Fc%23d"],
      ["\ud800", "%EF%BF%BD"],
    ] as const)
      expect((await problemOf(Object.assign(new Error("x"), { name })))["type"]).toBe(
        `urn:seamline:${type}`,
      );
    const odd = Object.defineProperty(new BadRequest("x"), "name", {
      get() {
        throw new Error("not now");
      },
    });
    expect(await problemOf(odd)).toMatchObject({ title: "Error", status: 400 });
  });
  it.each(entrances)(
    "json-8: faults of arguments are a list of paths and messages, and the detail has a line for each (at the %s)",
    async (entrance) => {
      const { [entrance]: role } = await guardedSite(
        typedModules(
          [
            {
              fqn: "shop/order",
              signature: "(sku: string, metres: number)",
              in: { a: "public" },
              body: body("shop/order", () => "ran"),
            },
          ],
          {},
        ),
      );
      const headers = { ...json, "content-type": "application/json" };
      const args = JSON.stringify({ sku: 7, metres: "many" });
      const answer = await ask(role, "POST", "/rpc/shop/order", headers, args);
      expect(JSON.parse(answer.text)).toEqual({
        type: "urn:seamline:InvalidParameterValue",
        title: "InvalidParameterValue",
        status: 400,
        detail: "sku: expected text, got number\nmetres: expected number, got text",
        faults: [
          { path: "sku", message: "expected text, got number" },
          { path: "metres", message: "expected number, got text" },
        ],
      });
    },
  );
  it.each(kinds)(
    "json-9: every refusal of a call is problem details, whichever service writes it, and keeps its header fields (at the %s)",
    async (place) => {
      const { role } = await serviceWith(place, application);
      for (const [method, target, status, title, headers] of [
        ["GET", "/rpc/a/nowhere", 404, "ProcedureNotFound"],
        ["GET", "/rpc/a/secret", 404, "ProcedureNotFound"],
        ["GET", "/rpc/", 404, "ProcedureNotFound"],
        ["GET", "/rpc/a/%zz", 400, "BadRequest"],
        ["GET", "/rpc/a/../b", 404, "ProcedureNotFound"],
        ["GET", "/rpc/a/echo?version=x", 400, "InvalidVersionNumber"],
        ["GET", "/rpc/a/echo", 400, "MissingParameterValue"],
        ["GET", "/rpc/a/guarded", 401, "Unauthorized"],
        ["DELETE", "/rpc/a/echo", 405, "MethodNotAllowed"],
        [
          "POST",
          "/rpc/a/echo",
          415,
          "UnsupportedEncoding",
          { "content-type": "text/plain", "content-length": "1" },
        ],
        ["GET", "/rpc/a/echo", 415, "UnsupportedEncoding", { "x-svc-data-encoding": "morse" }],
        ["GET", "/rpc/a/echo?value=1", 421, "MisdirectedRequest", { host: "elsewhere.example" }],
        ["GET", "/rpc/a/fail", 404, "NotFound"],
      ] as const) {
        const answer = await ask(
          role,
          method,
          target,
          { ...json, ...headers },
          method === "POST" ? "x" : "",
        );
        const at = `${method} ${target} ${title}`;
        expect([at, answer.status, answer.headers["content-type"]]).toEqual([
          at,
          status,
          "application/problem+json",
        ]);
        expect(answer.headers, at).toMatchObject({ vary, "x-svc-error": title });
        expect(JSON.parse(answer.text), at).toMatchObject({
          status,
          title,
          type: `urn:seamline:${title}`,
        });
      }
      expect((await ask(role, "DELETE", "/rpc/a/echo", json)).headers["allow"]).toBe(
        (await ask(role, "DELETE", "/rpc/a/echo")).headers["allow"],
      );
    },
  );
  it("a gateway and a proxy without the services behind them answer problem details (json-9)", async () => {
    for (const place of ["gateway", "proxy"] as const) {
      const { local, role } = await serviceWith(place, application);
      for (const url of ["http://a", ...(place === "proxy" ? ["http://gateway"] : [])])
        await local.network.roles.get(url)!.stop();
      const answer = await ask(role, "GET", "/rpc/a/echo?value=1", json);
      expect(JSON.parse(answer.text)).toMatchObject({ status: 503, title: "NodeNotAvailable" });
      expect(answer.headers).toMatchObject({ "retry-after": "1", vary });
    }
  });
  it("json-10: the trace lines of an error are a list beside its detail, unless errors are masked", async () => {
    const { role } = await serviceWith("proxy", application);
    expect(JSON.parse((await ask(role, "GET", "/rpc/a/fail", json)).text)).toEqual({
      type: "urn:seamline:NotFound",
      title: "NotFound",
      status: 404,
      detail: "No such tea",
      trace: ["[a/fail | v0.0.0]"],
    });
  });
});

describe("the vary field", () => {
  it.each(kinds)(
    "json-11: an answer to a call without an encoding names accept and x-svc-data-encoding in vary (at the %s)",
    async (place) => {
      const { role } = await serviceWith(place, application);
      for (const headers of [{}, json])
        for (const target of ["/rpc/a/echo?value=1", "/rpc/a/fail", "/rpc/a/nowhere"])
          expect((await ask(role, "GET", target, headers)).headers["vary"]).toBe(vary);
      expect((await ask(role, "GET", "/rpc/a/echo?value=1", serialized)).headers["vary"]).toBe(
        undefined,
      );
    },
  );
  it.each(kinds)(
    "json-12: vary keeps what CORS and the application put there, and an answer that caches may keep has it in any encoding (at the %s)",
    async (place) => {
      const { role } = await serviceWith(place, application);
      role.addMiddleware(new CorsMiddleware(["https://a.example", "https://b.example"]));
      for (const headers of [{}, json, serialized])
        expect((await ask(role, "GET", "/rpc/a/cached", headers)).headers["vary"]).toBe(
          "accept-language, accept, x-svc-data-encoding, origin",
        );
      expect((await ask(role, "GET", "/rpc/a/nowhere", json)).headers["vary"]).toBe(
        `${vary}, origin`,
      );
    },
  );
});

describe.each(kinds)("middleware of a %s, for a caller that asks for JSON", (kind) => {
  const seen: unknown[] = [];
  const watching = layer(async (_fqn, _version, _args, _headers, next) => {
    const value = await next();
    seen.push(value);
    return value;
  });

  it("json-13: middleware sees the result itself, and may replace it", async () => {
    const { role } = await layered(kind, watching);
    const echo = (value: unknown, headers: object = json) =>
      ask(
        role,
        "POST",
        "/rpc/app/echo",
        { "content-type": "application/json", ...headers },
        JSON.stringify({ value }),
      );
    for (const value of ["tea", 12, true, null, [1, "a"]]) {
      expect((await echo(value)).text).toBe(JSON.stringify(value));
      expect(seen.pop()).toEqual(value);
    }
    const { call } = await layered(
      kind,
      layer(
        async (_fqn, _version, _args, _headers, next) => (await next(), new Uint8Array([104, 105])),
      ),
    );
    expect((await call({ value: "a" }, "/rpc/app/echo", json)).text).toBe('"aGk="');
  });
  it("middleware sees bytes and bigints that travel as JSON as what they were (json-13)", async () => {
    const modules = testModules([
      {
        fqn: "app/bytes",
        in: { all: "public" },
        body: body("app/bytes", () => new Uint8Array([104, 105])),
      },
      { fqn: "app/big", in: { all: "public" }, body: body("app/big", () => 12n) },
      { fqn: "app/nan", in: { all: "public" }, body: body("app/nan", () => Number.NaN) },
    ]);
    const local = new TestDeployment();
    const roles =
      kind === "standalone"
        ? { standalone: await local.standalone({ modules, segments: ["all"] }) }
        : {
            gateway: await local.gateway(),
            node: await local.node("a", { modules, segments: ["all"] }),
            proxy: await local.proxy(),
          };
    const role = (roles as Record<string, (typeof roles)["gateway"]>)[kind]!;
    role.addMiddleware(watching);
    for (const [name, value, text] of [
      ["bytes", new Uint8Array([104, 105]), '"aGk="'],
      ["big", 12n, '"12"'],
      ["nan", Number.NaN, "null"],
    ] as const) {
      expect((await ask(role, "GET", `/rpc/app/${name}`, json)).text).toBe(text);
      expect(seen.pop()).toEqual(value);
    }
  });
  it("json-14: an error that middleware lets through keeps its problem details, with its trace; another one gets its own", async () => {
    const caught: unknown[] = [];
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => {
        try {
          return await next();
        } catch (error) {
          caught.push(error);
          throw error;
        }
      }),
    );
    const answer = await call({ how: "own" }, "/rpc/app/fail", json);
    expect(JSON.parse(answer.text)).toEqual({
      type: "urn:seamline:OutOfStock",
      title: "OutOfStock",
      status: 404,
      detail: "no tea left",
      trace: ["[app/fail | v0.0.0]"],
    });
    expect(caught).toMatchObject([{ message: "no tea left", trace: ["[app/fail | v0.0.0]"] }]);
    expect(caught[0]).toBeInstanceOf(NotFound);
    const other = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => {
        await next().catch(() => {});
        throw new BadRequest("No");
      }),
    );
    expect(JSON.parse((await other.call({ how: "own" }, "/rpc/app/fail", json)).text)).toEqual({
      type: "urn:seamline:BadRequest",
      title: "BadRequest",
      status: 400,
      detail: "No",
    });
  });
  it("arguments that middleware changes arrive, and the answer stays JSON (json-13)", async () => {
    const { role, ran } = await layered(
      kind,
      layer(async (_fqn, _version, args, _headers, next) => {
        args.set("value", "changed");
        return await next();
      }),
    );
    const answer = await ask(role, "GET", "/rpc/app/echo?value=a", json);
    expect(answer.text).toBe('"changed"');
    expect(ran[0]?.[0]).toBe("changed");
  });
});

it("json-15: only calls answer in JSON: files, health and the errors of other paths are as they are", async () => {
  const { standalone } = await services();
  for (const target of ["/nowhere.txt", "/health", "/svc/nowhere.js", "/a.txt"]) {
    const { status, text } = await ask(standalone, "GET", target);
    expect(await ask(standalone, "GET", target, json)).toMatchObject({ status, text });
  }
  const elsewhere = { ...json, host: "elsewhere.example" };
  expect((await ask(standalone, "GET", "/a.txt", elsewhere)).headers["content-type"]).toBe(
    "text/plain; charset=utf-8",
  );
});

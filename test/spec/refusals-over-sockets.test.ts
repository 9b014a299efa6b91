// Refused requests and errors of procedures over real sockets: status, headers and body for
// callers outside.

import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { frameworkErrors, type ServiceError } from "../../src/base/errors.ts";
import { traceOf } from "../../src/base/trace.ts";
import { every, everyPlain } from "../_call.ts";
import { callFrom, fetchFrom, key, postTo, type Sockets, startSockets } from "../_sockets.ts";
import { OutOfStock, Refused } from "../_wire-classes.ts";

let sockets: Sockets;
beforeAll(async () => {
  sockets = await startSockets();
});
afterAll(() => sockets.close());

const encoded = { "x-svc-data-encoding": "serialized" };
const text = { ...everyPlain, "content-type": "text/plain; charset=utf-8" };
const ran = { "x-svc-node": "node wire" };
const line = "[wire/fail | v0.0.0]";

/** A request, and its answer: the error's name, its status and its text. */
interface Refusal {
  readonly name: string;
  readonly path: string;
  readonly body?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly error: string;
  readonly status: number;
  readonly text: string;
  /** The procedure's own node found it; `"alone"`: only where the call came straight to it. */
  readonly atProcedure?: true | "alone";
}

const post = { method: "POST", headers: { "content-type": "application/json" } };
const refusals: readonly Refusal[] = [
  {
    name: "a body that is no JSON by its type",
    path: "wire/echo",
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: '{"value":1}',
    error: "UnsupportedEncoding",
    status: 415,
    text: "A call's body must have the content type application/json or multipart/form-data",
    atProcedure: true,
  },
  {
    name: "an encoding that is not known",
    path: "wire/example?name=text",
    headers: { "x-svc-data-encoding": "xml" },
    error: "UnsupportedEncoding",
    status: 415,
    text: "Unsupported encoding 'xml' in x-svc-data-encoding: known are 'serialized' and 'superjson'",
  },
  {
    name: "a packed body",
    path: "wire/echo",
    method: "POST",
    headers: { ...post.headers, "content-encoding": "gzip" },
    body: "x",
    error: "UnsupportedEncoding",
    status: 415,
    text: "Unsupported content encoding 'gzip'",
    atProcedure: true,
  },
  {
    name: "half a JSON text",
    path: "wire/echo",
    ...post,
    body: '{"value":',
    error: "BadRequest",
    status: 400,
    text: "The text is not JSON",
    atProcedure: true,
  },
  {
    name: "a body that is no object",
    path: "wire/echo",
    ...post,
    body: "[1]",
    error: "BadRequest",
    status: 400,
    text: "The body must be a JSON object",
    atProcedure: true,
  },
  {
    name: "a value that is missing",
    path: "wire/echo",
    ...post,
    body: "{}",
    error: "MissingParameterValue",
    status: 400,
    text: "Missing value for parameter 'value'",
    atProcedure: true,
  },
  {
    name: "a parameter that isn't there",
    path: "wire/example?name=a&other=b",
    error: "UnknownParameter",
    status: 400,
    text: "Unknown parameter 'other'",
    atProcedure: true,
  },
  {
    name: "a version that is none",
    path: "wire/example?name=a&version=one",
    error: "InvalidVersionNumber",
    status: 400,
    text: "Invalid version number 'one'",
  },
  {
    name: "a key that is not allowed",
    path: "wire/echo",
    ...post,
    body: '{"value":{"__proto__":1}}',
    error: "InvalidSerializedValue",
    status: 400,
    text: "args.value.__proto__: this key is not allowed",
    atProcedure: true,
  },
  {
    name: "a value that doesn't convert",
    path: "wire/typed?text=a&number=b&flag=true&big=1&days=2021-01-01",
    error: "InvalidParameterValue",
    status: 400,
    text: "parameter 'number' must be a number",
    atProcedure: true,
  },
  {
    name: "a protected procedure",
    path: "wire/guarded",
    error: "Unauthorized",
    status: 401,
    text: "Unauthorized",
  },
  {
    name: "a procedure that isn't there",
    path: "wire/nothing",
    error: "ProcedureNotFound",
    status: 404,
    text: "Procedure 'wire/nothing' v0.0.0 not found",
  },
  {
    name: "a private procedure",
    path: "wire/hidden",
    error: "ProcedureNotFound",
    status: 404,
    text: "Procedure 'wire/hidden' v0.0.0 not found",
  },
  {
    name: "a version that isn't there",
    path: "wire/echo?version=2",
    ...post,
    body: '{"value":1}',
    error: "ProcedureNotFound",
    status: 404,
    text: "Procedure 'wire/echo' v2.0.0 not found; there is v0.0.0",
  },
  {
    name: "a body over the limit",
    path: "wire/echo",
    ...post,
    body: JSON.stringify({ value: "x".repeat(70_000) }),
    error: "PayloadTooLarge",
    status: 413,
    text: "The request's body is over the limit of 65536 bytes",
    atProcedure: "alone",
  },
];

describe.each([
  ["straight to its node", "node"],
  ["through proxy and gateway", "proxy"],
] as const)("over sockets, %s:", (_, endpoint) => {
  it.each(refusals)(
    "$status $error for $name",
    async ({ path, error, status, text: body, atProcedure, name: _name, ...init }) => {
      const node =
        atProcedure === true || (atProcedure === "alone" && endpoint === "node") ? ran : {};
      const more = {
        "x-svc-error": error,
        ...node,
        ...(status === 401 && { "www-authenticate": "x-svc-trust-key" }),
      };
      const answer = await fetchFrom(`${sockets[endpoint]}/rpc/${path}`, init);
      expect([answer.status, answer.headers, answer.text]).toEqual([
        status,
        { ...text, ...more },
        body,
      ]);
      const serialized = await fetchFrom(`${sockets[endpoint]}/rpc/${path}`, {
        ...init,
        headers: { ...encoded, ...init.headers },
      });
      if (init.headers?.["x-svc-data-encoding"] === undefined) {
        expect([serialized.status, serialized.headers]).toEqual([
          status,
          { ...every, "content-type": "application/json", ...more },
        ]);
        expect(JSON.parse(serialized.text)).toMatchObject({
          serialized: true,
          name: "Error",
          type: error,
          message: body,
          trace: [],
          fields: {},
        });
      }
    },
  );

  it("a private procedure gets the same answer as an unknown one, byte for byte", async () => {
    const [hidden, none] = await Promise.all(
      ["hidden", "nobody"].map((name) => fetchFrom(`${sockets[endpoint]}/rpc/wire/${name}`)),
    );
    expect(hidden).toEqual({
      ...none,
      text: none?.text.replace("nobody", "hidden"),
      bytes: hidden?.bytes,
    });
  });

  it("a protected procedure runs with the trust key, and with no other", async () => {
    const [right, wrong] = await Promise.all(
      [key, `${key}x`].map((trustKey) =>
        fetchFrom(`${sockets[endpoint]}/rpc/wire/guarded`, {
          headers: { "x-svc-trust-key": trustKey },
        }),
      ),
    );
    expect([right?.status, right?.text, wrong?.status, wrong?.text]).toEqual([
      200,
      "guarded",
      401,
      "Unauthorized",
    ]);
  });

  it.each(["HEAD", "PUT", "DELETE", "PATCH"])(
    "the RPC endpoint answers 405 to %s and lists the allowed methods",
    async (method) => {
      const answer = await fetchFrom(`${sockets[endpoint]}/rpc/wire/example?name=text`, { method });
      expect([answer.status, answer.headers["allow"]]).toEqual([405, "GET, POST, QUERY"]);
      expect(answer.text).toBe(method === "HEAD" ? "" : "Method not allowed");
    },
  );

  it("a request whose content-length is over the limit answers 413 before its body arrives", async () => {
    // A client that sends `Expect: 100-continue`, which `fetch` can't.
    const { hostname, port } = new URL(sockets[endpoint]);
    const status = await new Promise((resolve, reject) => {
      const headers = {
        "content-type": "application/json",
        "content-length": 70_000,
        expect: "100-continue",
      };
      const asking = request({ hostname, port, path: "/rpc/wire/echo", method: "POST", headers });
      asking.on("continue", () => resolve("continue")).on("error", reject);
      asking.on("response", (response) => {
        resolve(response.statusCode);
        asking.destroy();
      });
      asking.flushHeaders();
    });
    expect(status).toBe(413);
  });

  it.each([...frameworkErrors])(
    "%s, thrown by a procedure, keeps class, status, text and trace line",
    async (name, Kind) => {
      const message = name === "Teapot" ? "I'm a teapot" : `by ${name}`;
      const { status } = Kind as unknown as typeof ServiceError;
      const answer = await postTo(`${sockets[endpoint]}/rpc/wire/fail`, JSON.stringify({ name }));
      expect([
        answer.status,
        answer.headers["x-svc-error"],
        answer.headers["content-type"],
        answer.text,
      ]).toEqual([status, name, "text/plain; charset=utf-8", `${message}\n${line}`]);
      const back = await callFrom(sockets.host, sockets[endpoint], "wire/fail", { name }).catch(
        (thrown: unknown) => thrown,
      );
      expect((back as Error).constructor).toBe(Kind);
      expect([(back as Error).message, ...traceOf(back)]).toEqual([message, line]);
    },
  );

  it("application errors keep class, fields, inherited status and trace line", async () => {
    const back = await callFrom(sockets.host, sockets[endpoint], "wire/fail", {
      name: "OutOfStock",
    }).catch((thrown: unknown) => thrown);
    expect(back).toBeInstanceOf(OutOfStock);
    expect(back).toMatchObject({ sku: "tea", message: "Nothing left of tea" });
    expect(traceOf(back)).toEqual([line]);
    const refused = await callFrom(sockets.host, sockets[endpoint], "wire/fail", {
      name: "Refused",
    }).catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(Refused);
    expect(refused).toMatchObject({ code: 7, message: "no" });
    const answers = await Promise.all(
      ["OutOfStock", "Refused"].map((name) =>
        fetchFrom(`${sockets[endpoint]}/rpc/wire/fail?name=${name}`),
      ),
    );
    expect(
      answers.map((answer) => [answer.status, answer.text, answer.headers["x-svc-node"]]),
    ).toEqual([
      [404, `Nothing left of tea\n${line}`, "node wire"],
      [500, `no\n${line}`, "node wire"],
    ]);
  });

  it("a thrown text is a 500 with that text", async () => {
    const answer = await fetchFrom(`${sockets[endpoint]}/rpc/wire/fail?name=just%20text`);
    expect([answer.status, answer.headers, answer.text]).toEqual([
      500,
      { ...text, ...ran },
      `just text\n${line}`,
    ]);
  });
});

describe("over sockets, an error that passes two nodes", () => {
  it("an error that passes two nodes has a trace line of each, the origin first, and keeps its class", async () => {
    const back = await callFrom(sockets.host, sockets.proxy, "wire/relayFail", {
      name: "OutOfStock",
    }).catch((thrown: unknown) => thrown);
    expect(back).toBeInstanceOf(OutOfStock);
    expect(traceOf(back)).toEqual([line, "[wire/relayFail | v0.0.0]"]);
    const answer = await fetchFrom(`${sockets.proxy}/rpc/wire/relayFail?name=OutOfStock`);
    expect([answer.status, answer.headers["x-svc-node"]]).toEqual([404, "node relay"]);
    expect(answer.text).toBe(`Nothing left of tea\n${line}\n[wire/relayFail | v0.0.0]`);
  });
});

import { describe, expect, it } from "vitest";
import { attack, callServices, socketsForAll } from "./_attack.ts";
import { bytesOf, services, exchange, type RawAnswer, type RawRequest } from "./_sockets.ts";

// Bad requests through real sockets, adapter, transport and roles. After each one, the next valid
// request must work in the same process, and no answer may leak files, addresses or stacks.

const sockets = await socketsForAll();

const serialized = ["x-svc-data-encoding: serialized"];
const echo = (body: string, fields: readonly string[] = []): Buffer =>
  bytesOf({ target: "/rpc/a/echo", body, fields });
const form = (name: unknown, more: object = {}): object => ({ serialized: true, name, ...more });

describe("an invalid call body", () => {
  const bodies: Record<string, string> = {
    "no JSON": '{"value":',
    "more than JSON": '{"value":1}x',
    "a byte order mark": "\ufeff{}x",
    "a list": "[]",
    null: "null",
    text: '"value"',
    "a control character": '{"value":"\u0001"}',
    "5,000 lists in each other": `{"value":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
    "5,000 objects in each other": `{"value":${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}}`,
    "a million open lists": `{"value":${"[".repeat(1_000_000)}`,
    "one level too many": `{"value":${"[".repeat(128)}${"]".repeat(128)}}`,
    "a value too many": `{"value":[${"1,".repeat(100_000)}1]}`,
    "a key for the prototype": '{"value":{"__proto__":{"polluted":1}}}',
    "the same, escaped": '{"value":[[{"\\u005f_proto__":{"polluted":1}}]]}',
    "the way by the constructor": '{"value":{"constructor":{"prototype":{"polluted":1}}}}',
    "the same, half escaped": '{"value":{"c\\u006fnstructor":{"pr\\u006ftotype":1}}}',
    "a parameter for the prototype": '{"__proto__":1,"value":1}',
    "names of every object": '{"value":1,"toString":1,"hasOwnProperty":1}',
  };
  it.each(Object.entries(bodies))("with %s answers 400, plain and serialized", async (_, body) => {
    await attack(sockets, callServices, echo(body), 400);
    await attack(sockets, callServices, echo(body, serialized), 400);
  });

  it.each([
    [
      "by its length alone",
      bytesOf({
        target: "/rpc/a/echo",
        fields: ["Content-Type: application/json", "Content-Length: 99999999999"],
        method: "POST",
      }),
    ],
    ["in one piece", echo(`{"value":"${"x".repeat(1_048_576)}"}`)],
    [
      "in chunks without a length",
      `POST /rpc/a/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${`10000\r\n${"x".repeat(65_536)}\r\n`.repeat(20)}0\r\n\r\n`,
    ],
  ])("over the limit answers 413, %s", async (_, bytes) => {
    await attack(sockets, callServices, bytes, 413);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/mixed; boundary=x",
    "application/jsonx",
    "application/json, text/plain",
    "",
  ])("of the type '%s' answers 415", async (type) => {
    await attack(sockets, callServices, echo('{"value":1}', [`Content-Type: ${type}`]), 415);
  });

  it.each(["superjson, serialized", "__proto__", "serialized, plain", "x".repeat(3_000)])(
    "in the encoding %s answers 415",
    async (encoding) => {
      await attack(
        sockets,
        callServices,
        echo('{"value":1}', [`x-svc-data-encoding: ${encoding}`]),
        415,
      );
    },
  );
});

describe("an invalid serialized value", () => {
  const person = (more: object): object =>
    form("class", { key: "a/Person", args: { 0: "Ada" }, fields: {}, ...more });
  const forms: Record<string, readonly unknown[]> = {
    name: [
      form("Nope"),
      form({}),
      form(["Date"]),
      form("toString"),
      form(null),
      { serialized: true },
    ],
    Date: [
      "nope",
      1,
      {},
      "+275760-09-13T00:00:00.001Z",
      "2021-13-01T00:00:00.000Z",
      "2021-01-01",
    ].map((value) => form("Date", { value })),
    Map: [
      undefined,
      1,
      { keys: [1], values: [] },
      { keys: "ab", values: "cd" },
      { keys: { length: 1e9 }, values: { length: 1e9 } },
    ].map((entries) => form("Map", { entries })),
    Set: [undefined, "abc", { length: 1e9 }].map((values) => form("Set", { values })),
    BigInt: [undefined, "0x10", "", " 1 ", 1, "1\n", "-", "1.5", "9".repeat(10_002)].map((value) =>
      form("BigInt", { value }),
    ),
    Number: [undefined, "5", ["NaN"], "constructor"].map((value) => form("Number", { value })),
    Url: ["nope", {}].map((value) => form("Url", { value })),
    Binary: [
      { type: "Object", base64: "" },
      { type: "SharedArrayBuffer", base64: "" },
      { type: "constructor", base64: "" },
      { type: ["Uint8Array"], base64: "" },
      { type: { toString: 1 }, base64: "" },
      { base64: "" },
      { type: "Uint8Array", base64: "!!!" },
      { type: "Uint8Array", base64: 1e9 },
      { type: "Float64Array", base64: "AAA=" },
      { type: "Blob", base64: "", mediaType: {} },
    ].map((more) => form("Binary", more)),
    class: [
      form("class"),
      ...["a/Nope", "__proto__", "constructor", "Function", "../../etc/passwd", {}].map((key) =>
        person({ key }),
      ),
      ...[{ role: "admin" }, { name: "x" }, { constructor: 1 }, []].map((fields) =>
        person({ fields }),
      ),
      ...[{ 1: "x" }, { "00": "x" }, { 4294967295: "x" }, { length: 1 }, { name: "x" }, ["x"]].map(
        (args) => person({ args }),
      ),
    ],
    "members that no form has": [
      form("Date", { value: null, then: 1 }),
      form("Undefined", { value: 1 }),
      form("Set", { values: [], entries: 1 }),
      form("Object", { value: {}, x: 1 }),
      person({ then: 1 }),
    ],
    "what only services may send": [
      form("RegExp", { source: "(a+)+$", flags: "" }),
      form("Error", { type: "NotFound", message: "x", trace: [] }),
      form("Error", { type: "E", message: "x", key: "a/Person" }),
    ],
    "more objects than may be": [
      Array.from({ length: 10_001 }, () => form("Date", { value: null })),
    ],
  };
  it.each(Object.entries(forms))(
    "of kind '%s' answers 400 with its path at every service",
    async (_, values) => {
      for (const value of values) {
        for (const { body } of await attack(
          sockets,
          ["node"],
          echo(JSON.stringify({ value }), serialized),
          400,
        ))
          expect(JSON.parse(body)).toMatchObject({
            type: "InvalidSerializedValue",
            message: expect.stringMatching(/^args\.value/) as string,
          });
        // The same applies to nested values, and through gateway and proxy.
        const nested = JSON.stringify({ value: [{ a: value }] });
        if (nested.length < 1_000_000)
          await attack(sockets, ["proxy"], echo(nested, serialized), 400);
      }
    },
  );

  it("with a property `then` is data and isn't awaited", async () => {
    for (const { body } of await attack(
      sockets,
      callServices,
      echo('{"value":{"then":{"then":1}}}', serialized),
      200,
    ))
      expect(body).toBe('{"then":{"then":1}}');
  });

  it("without the encoding's header is plain data", async () => {
    for (const { body } of await attack(
      sockets,
      callServices,
      echo(JSON.stringify({ value: form("RegExp", { source: "(" }) })),
      200,
    ))
      expect(JSON.parse(body)).toEqual({ serialized: true, name: "RegExp", source: "(" });
  });
});

describe("an invalid query", () => {
  it.each([
    "__proto__=1&value=2",
    "%5f_proto__=1&value=2",
    "__proto__[x]=1&value=2",
    "constructor=1&value=2",
    "value=1&other=2",
    "",
    Array.from({ length: 101 }, (_, index) => `value=${index}`).join("&"),
    "version=1.2.3.4&value=1",
    "version=1&version=2&value=1",
    "version=__proto__&value=1",
    "version=-1&value=1",
    "version=%00&value=1",
    `version=${"1".repeat(5_000)}&value=1`,
  ])("?%s answers 400", async (query) => {
    await attack(sockets, callServices, bytesOf({ target: `/rpc/a/echo?${query}` }), 400);
  });

  it("with a version that doesn't exist answers 404", async () => {
    await attack(sockets, callServices, bytesOf({ target: "/rpc/a/echo?version=9&value=1" }), 404);
  });
});

describe("an invalid path or method:", () => {
  const paths = [
    "/rpc/%",
    "/rpc/%E0%A4%A",
    "/rpc/a/%00",
    "/rpc/__proto__",
    "/rpc/a/constructor",
    "/rpc/a/echo/",
    "/rpc//a/echo",
    "/rpc/A/ECHO",
    "/rpc/a/echo%0d%0aX:1",
  ];
  const more = [
    "/%",
    "/%00",
    "/..",
    "/nodes/x",
    "/health/x",
    "/svc/modules/manifest.json",
    "/svc/modules/%",
    "/svc/..%2fx",
    "/svc/__proto__",
    "/constructor",
  ];
  it.each([...paths, ...more, `/${"a/".repeat(4_000)}`])(
    "%s is refused by each service",
    async (target) => {
      await attack(sockets, services, bytesOf({ target }), [400, 401, 404, 405]);
      await attack(sockets, services, bytesOf({ target, json: {} }), [400, 401, 404, 405]);
    },
  );

  it.each(["HEAD", "TRACE", "PUT", "DELETE", "PATCH", "PROPFIND"])(
    "%s at the RPC endpoint answers 405 and runs no procedure",
    async (method) => {
      // An answer to HEAD has a length but no body, so `exchange` waits for the connection's end.
      await attack(
        sockets,
        callServices,
        bytesOf({ target: "/rpc/a/echo?value=1", method, fields: ["Connection: close"] }),
        405,
      );
    },
  );
});

describe("a caller from outside", () => {
  it.each([
    ["a guess", ["x-svc-trust-key: guess"]],
    ["an empty key", ["x-svc-trust-key:"]],
    ["two guesses", ["x-svc-trust-key: one", "x-svc-trust-key: two"]],
    ["claims about itself", ["x-svc-origin: trusted", "x-svc-credential: service"]],
    [
      "a Connection that names our headers",
      ["Connection: x-svc-trust-key, x-svc-credential, x-svc-hops"],
    ],
    ["a forwarded loopback address", ["X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1"]],
  ])("doesn't become trusted by %s", async (_, fields) => {
    await attack(sockets, callServices, bytesOf({ target: "/rpc/a/audit", fields }), 401);
    await attack(sockets, callServices, bytesOf({ target: "/rpc/a/secret", fields }), 404);
    await attack(
      sockets,
      ["gateway"],
      bytesOf({ target: "/nodes", fields, json: { url: "http://a", procedures: ["a/echo"] } }),
      401,
    );
    await attack(
      sockets,
      ["repository", "proxy"],
      bytesOf({ target: "/svc/modules/manifest.json", fields }),
      404,
    );
    const body = JSON.stringify({ value: form("RegExp", { source: "a", flags: "" }) });
    await attack(sockets, callServices, echo(body, [...fields, ...serialized]), 400);
  });

  const normalized = (answer: RawAnswer): string =>
    `${answer.head}\n${answer.body}`.replaceAll(/secret|sekret/g, "…").replace(/\r\ndate: .*/i, "");
  const variants: RawRequest[] = [
    {},
    { fields: serialized },
    { fields: ["Sec-Fetch-Site: cross-site"] },
    { json: {} },
    { body: "no JSON", fields: ["Content-Type: text/plain"] },
  ];
  it.each(callServices)(
    "can't distinguish a private procedure from an unknown one at the %s",
    async (service) => {
      for (const variant of variants)
        for (const query of ["", "?version=0.0.0", "?version=1", "?other=1", "?version=zz"]) {
          const [hidden, unknown] = await Promise.all(
            ["secret", "sekret"].map((name) =>
              exchange(
                sockets.ports[service],
                bytesOf({ ...variant, target: `/rpc/a/${name}${query}` }),
              ),
            ),
          );
          expect(normalized(hidden!)).toBe(normalized(unknown!));
        }
    },
  );
});

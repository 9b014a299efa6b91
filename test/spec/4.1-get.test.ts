import { describe, expect, it } from "vitest";

import { type Door, knock } from "../_door.ts";
import { Person } from "../_wire-classes.ts";

const answering = (value: unknown): Door => ({ parameters: [], run: () => value });
const serialized = { "x-svc-data-encoding": "serialized" };
const echo: Door = {
  parameters: [
    { kind: "plain", name: "text" },
    { kind: "plain", name: "count", type: "number", optional: true },
    { kind: "plain", name: "days", type: "Date[]", optional: true },
  ],
  run: (...args: unknown[]) => args,
};

describe("§4.1 GET /rpc: values by name in the query", () => {
  it("are text, unless the parameter's type says more (decisions §2)", async () => {
    expect((await knock(echo, { query: "text=a%20b+c&count=2&days=2021-01-01&days=2021-01-02" })).text).toBe(
      '["a b c",2,["2021-01-01T00:00:00.000Z","2021-01-02T00:00:00.000Z"]]',
    );
    expect((await knock(echo, { query: "text=5&days=2021-01-01" })).text).toBe('["5",null,["2021-01-01T00:00:00.000Z"]]');
    expect((await knock(echo, { query: "text=a&text=b" })).text).toBe('[["a","b"],null,null]');
  });
  it("that don't convert: 400 InvalidParameterValue", async () => {
    expect(await knock(echo, { query: "text=a&count=many" })).toMatchObject({ status: 400, text: "parameter 'count' must be a number" });
    expect(await knock(echo, { query: "text=a&count=" })).toMatchObject({ status: 400 });
  });
  it("version is no parameter of the procedure", async () => {
    expect((await knock(echo, { query: "version=1.0.0&text=a" })).status).toBe(200);
    const own: Door = { parameters: [{ kind: "plain", name: "version", type: "number" }], run: () => 1 };
    expect(await knock(own, { query: "version=1.0.0" })).toMatchObject({ status: 400, text: "Missing value for parameter 'version'" });
  });
  it("missing and unknown ones: 400, all of them named", async () => {
    expect(await knock(echo, { query: "x=1" })).toMatchObject({ status: 400, text: "Missing value for parameter 'text'" });
    expect(await knock(echo, { query: "text=a&x=1&__proto__=2" })).toMatchObject({
      status: 400,
      text: "Unknown parameters 'x', '__proto__'",
    });
  });
  it("at most 100 of them", async () => {
    expect(await knock(echo, { query: "text=a&".repeat(101) })).toMatchObject({
      status: 400,
      text: "More than 100 query parameters (limit 'query')",
    });
  });
  it("malformed escapes are text, and end nothing", async () => {
    expect((await knock(echo, { query: "text=%E0%A4%A" })).status).toBe(200);
  });
});

describe.each([{}, serialized])("decisions §2, responses with and without the header: %j", (headers) => {
  it.each<[string, unknown, string, string]>([
    ["string", "täxt", "täxt", "text/plain; charset=utf-8"],
    ["string", "", "", "text/plain; charset=utf-8"],
    ["number", 12.5, "12.5", "text/plain; charset=utf-8"],
    ["number", -0, "-0", "text/plain; charset=utf-8"],
    ["number", Number.NaN, "NaN", "text/plain; charset=utf-8"],
    ["number", -Infinity, "-Infinity", "text/plain; charset=utf-8"],
    ["boolean", false, "false", "text/plain; charset=utf-8"],
    ["bigint", 2n ** 70n, "1180591620717411303424", "text/plain; charset=utf-8"],
    ["null", null, "null", "application/json"],
    ["object", [1, { a: [] }], '[1,{"a":[]}]', "application/json"],
    ["object", {}, "{}", "application/json"],
  ])("%s: %s", async (dataType, value, text, contentType) => {
    expect(await knock(answering(value), { headers })).toMatchObject({
      status: 200,
      text,
      headers: {
        "content-type": contentType,
        "x-svc-data-type": dataType,
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
      },
    });
  });
  it("undefined: 204, no content type", async () => {
    const answer = await knock(answering(undefined), { headers });
    expect(answer).toMatchObject({ status: 204, text: "", headers: { "x-svc-data-type": "undefined", "cache-control": "no-store" } });
    expect(answer.headers).not.toHaveProperty("content-type");
  });
  it.each([
    ["a function", { people: [{ born: () => 1 }] }, "result.people[0].born: a function can't be sent"],
    ["a symbol", Symbol("x"), "result: a symbol can't be sent"],
  ])("%s: 500 ValueNotSerializable with the path", async (_, value, message) => {
    const answer = await knock(answering(value), { headers });
    expect(answer.status).toBe(500);
    expect(answer.text).toContain(message);
  });
  it("a cycle: 500, and the next call works", async () => {
    const cycle: { a: unknown[] } = { a: [] };
    cycle.a.push(cycle);
    const answer = await knock(answering(cycle), { headers });
    expect(answer.status).toBe(500);
    expect(answer.text).toContain("result.a[0]: a cycle can't be sent");
    expect((await knock(answering(1), { headers })).text).toBe("1");
  });
});

describe("decisions §2, §6: plain answers", () => {
  it.each<[string, unknown, Uint8Array]>([
    ["Uint8Array", new Uint8Array([1, 255]), new Uint8Array([1, 255])],
    ["ArrayBuffer", new Uint8Array([1, 2]).buffer, new Uint8Array([1, 2])],
    ["view: only its own bytes", new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 1), new Uint8Array([2])],
    ["Int16Array, little endian", new Int16Array([1]), new Uint8Array([1, 0])],
  ])("%s: raw bytes", async (_, value, body) => {
    const answer = await knock(answering(value), {});
    expect(answer).toMatchObject({ status: 200, headers: { "content-type": "application/octet-stream", "x-svc-data-type": "binary" } });
    expect(answer.body).toEqual(body);
  });
  it("Blob: raw bytes under its own type", async () => {
    const answer = await knock(answering(new Blob(["<svg/>"], { type: "image/svg+xml" })), {});
    expect(answer).toMatchObject({
      text: "<svg/>",
      headers: { "content-type": "image/svg+xml", "x-svc-data-type": "binary", "x-content-type-options": "nosniff" },
    });
    expect((await knock(answering({ file: new Blob(["hi"]) }), {})).text).toBe('{"file":"aGk="}');
  });
  it.each<[string, unknown, string]>([
    ["Date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["Map", new Map([["a", 1]]), '[["a",1]]'],
    ["Set", new Set([1]), "[1]"],
    ["RegExp", /a/g, '"/a/g"'],
    ["URL", new URL("http://a.b/"), '"http://a.b/"'],
    ["Error", new TypeError("x"), '{"name":"TypeError","message":"x"}'],
    ["bigint inside", { n: 1n }, '{"n":"1"}'],
    ["infinities inside", [Infinity, Number.NaN], "[null,null]"],
    ["undefined inside", [undefined, { a: undefined }], "[null,{}]"],
  ])("%s", async (_, value, text) => {
    expect((await knock(answering(value), {})).text).toBe(text);
  });
  it("class instances with private fields are {}, getters ignored; plain objects are the same in both modes (§4.1)", async () => {
    expect((await knock(answering(new Person("Ada")), {})).text).toBe("{}");
    const plain = { a: [1, { b: "c" }] };
    expect((await knock(answering(plain), {})).text).toBe((await knock(answering(plain), { headers: serialized })).text);
  });
  it("own toJSON is honoured, functions of an instance are behaviour, keys are the application's own", async () => {
    class Rich {
      act = (): number => 1;
      toJSON(): object {
        return { at: new Map([[1, 2n]]) };
      }
    }
    class Poor {
      act = (): number => 1;
      n = 2n;
    }
    expect((await knock(answering({ rich: new Rich(), poor: new Poor() }), {})).text).toBe('{"rich":{"at":[[1,"2"]]},"poor":{"n":"2"}}');
    expect((await knock(answering(JSON.parse('{"constructor":1,"__proto__":{"n":null}}')), {})).text).toBe(
      '{"constructor":1,"__proto__":{"n":null}}',
    );
    const proto = JSON.parse('{"__proto__":{"n":1}}') as Record<string, Record<string, unknown>>;
    Object.getOwnPropertyDescriptor(proto, "__proto__")!.value.n = 5n;
    expect((await knock(answering(proto), {})).text).toBe('{"__proto__":{"n":"5"}}');
  });
  it("a promise or a stream inside is a mistake that is told", async () => {
    expect((await knock(answering({ a: Promise.resolve(1) }), {})).text).toContain("result.a: a promise can't be sent");
    expect((await knock(answering({ a: (async function* () {})() }), {})).text).toContain("result.a: a stream can't be sent");
  });
});

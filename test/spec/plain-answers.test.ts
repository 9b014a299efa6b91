// Answers without the encoding header: each kind of value as any client reads it.

import { runInNewContext } from "node:vm";

import { describe, expect, it } from "vitest";

import { type Endpoint, callEndpoint } from "../_endpoint.ts";
import { Person } from "../_wire-classes.ts";

const answering = (value: unknown): Endpoint => ({ parameters: [], run: () => value });
const serialized = { "x-svc-data-encoding": "serialized" };

describe("plain answers", () => {
  it.each<[string, unknown, Uint8Array]>([
    ["Uint8Array", new Uint8Array([1, 255]), new Uint8Array([1, 255])],
    ["ArrayBuffer", new Uint8Array([1, 2]).buffer, new Uint8Array([1, 2])],
    [
      "view: only its own bytes",
      new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 1),
      new Uint8Array([2]),
    ],
    ["Int16Array, little endian", new Int16Array([1]), new Uint8Array([1, 0])],
  ])("%s: raw bytes", async (_, value, body) => {
    const answer = await callEndpoint(answering(value), {});
    expect(answer).toMatchObject({
      status: 200,
      headers: { "content-type": "application/octet-stream", "x-svc-data-type": "binary" },
    });
    expect(answer.body).toEqual(body);
  });
  it("a Blob is sent as raw bytes under its own type", async () => {
    const answer = await callEndpoint(
      answering(new Blob(["<svg/>"], { type: "image/svg+xml" })),
      {},
    );
    expect(answer).toMatchObject({
      text: "<svg/>",
      headers: {
        "content-type": "image/svg+xml",
        "x-svc-data-type": "binary",
        "x-content-type-options": "nosniff",
      },
    });
    expect((await callEndpoint(answering({ file: new Blob(["hi"]) }), {})).text).toBe(
      '{"file":"aGk="}',
    );
  });
  it("detached bytes, and a Blob that can't be read, are an error with the path", async () => {
    const detached = new ArrayBuffer(4);
    structuredClone(detached, { transfer: [detached] });
    const blob = Object.assign(new Blob(["x"]), {
      arrayBuffer: () => Promise.reject(new Error("The file is gone")),
    });
    for (const [value, message] of [
      [detached, /^result: .*detached/],
      [blob, /^result: The file is gone/],
    ] as const) {
      const answer = await callEndpoint(answering(value), {});
      expect(answer.status).toBe(500);
      expect(answer.text).toMatch(message);
    }
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
    expect((await callEndpoint(answering(value), {})).text).toBe(text);
  });
  it("a class instance with private fields is {}, without getters; plain objects are the same in both modes", async () => {
    expect((await callEndpoint(answering(new Person("Ada")), {})).text).toBe("{}");
    const plain = { a: [1, { b: "c" }] };
    expect((await callEndpoint(answering(plain), {})).text).toBe(
      (await callEndpoint(answering(plain), { headers: serialized })).text,
    );
  });
  it("plain-10: an instance is its own public data, a nested one too: its toJSON and its getters are ignored", async () => {
    class Inner {
      n = 2n;
      toJSON = (): string => "shown by a field";
    }
    class Outer {
      readonly inner = [new Inner()];
      act = (): number => 1;
      get secret(): number {
        return 5;
      }
      toJSON(): object {
        return { secret: 5 };
      }
    }
    expect((await callEndpoint(answering(new Outer()), {})).text).toBe('{"inner":[{"n":"2"}]}');
    expect(
      (await callEndpoint(answering({ outer: new Outer(), empty: new (class {})() }), {})).text,
    ).toBe('{"outer":{"inner":[{"n":"2"}]},"empty":{}}');
  });
  it("an instance of a class that extends a type with a JSON form of its own is sent as that", async () => {
    const toJSON = (): string => "shown";
    const odd = <T extends object>(value: T): T =>
      Object.assign(
        Object.setPrototypeOf(
          value,
          Object.create(Object.getPrototypeOf(value) as object, { toJSON: { value: toJSON } }),
        ) as T,
      );
    const values = [
      odd(new Date(0)),
      odd(new URL("http://a.b/")),
      odd([1]),
      odd(new Map([[1, 2]])),
      odd(new Set([1])),
      odd(new RangeError("far")),
      odd(new Uint8Array([104, 105])),
    ];
    expect((await callEndpoint(answering({ values }), {})).text).toBe(
      '{"values":["1970-01-01T00:00:00.000Z","http://a.b/",[1],[[1,2]],[1],{"name":"RangeError","message":"far"},"aGk="]}',
    );
  });
  it("objects of another realm are sent as what their tag says", async () => {
    const foreign = runInNewContext(
      '({ date: new Date(0), map: new Map([["a", 1]]), set: new Set([2]), error: new RangeError("far"), bytes: new Uint8Array([104]).buffer, re: /a/g, number: new Number(5), made: new (class { n = 1; toJSON() { return 2; } })(), own: { toJSON: () => 3 } })',
    ) as object;
    expect(JSON.parse((await callEndpoint(answering(foreign), {})).text)).toEqual({
      date: "1970-01-01T00:00:00.000Z",
      map: [["a", 1]],
      set: [2],
      error: { name: "RangeError", message: "far" },
      bytes: "aA==",
      re: "/a/g",
      number: 5,
      made: { n: 1 },
      own: 3,
    });
  });
  it("objects without data of their own are refused, and not sent as empty objects", async () => {
    for (const [value, message] of [
      [new Response("x"), /^result\.a\[0\]: a procedure can't return a Response/],
      [
        new Headers({ a: "b" }),
        "result.a[0]: a Headers can't be sent: send a list of its entries: [...entries]",
      ],
      [
        new FormData(),
        "result.a[0]: a procedure can't return a FormData: return its entries, as an object or a Map",
      ],
      [
        new URLSearchParams("a=b"),
        "result.a[0]: a URLSearchParams can't be sent: send a list of its entries: [...entries]",
      ],
      [
        AbortSignal.timeout(1000),
        "result.a[0]: an AbortSignal can't be sent: pass the signal on by withOptions(procedure, { signal })",
      ],
      [
        runInNewContext("Promise.resolve()"),
        "result.a[0]: a promise can't be sent: an await is missing",
      ],
      [
        Object(Symbol("x")),
        "result.a[0]: a Symbol can't be sent: send its text, or what it is made from",
      ],
      [
        new Intl.Collator(),
        "result.a[0]: an Intl.Collator can't be sent: send its text, or what it is made from",
      ],
    ] as const) {
      const answer = await callEndpoint(answering({ a: [value] }), {});
      expect(answer.status).toBe(500);
      if (typeof message === "string") expect(answer.text).toBe(message);
      else expect(answer.text).toMatch(message);
    }
  });
  it("a Proxy that throws is an error with the path", async () => {
    const trap = (): never => {
      throw new Error("not now");
    };
    for (const name of ["getPrototypeOf", "ownKeys", "get", "getOwnPropertyDescriptor"]) {
      const answer = await callEndpoint(
        answering({ a: [new Proxy({ b: 1 }, { [name]: trap })] }),
        {},
      );
      expect([answer.status, answer.text.replace(/\.(then|toJSON|b)/, "")], name).toEqual([
        500,
        "result.a[0]: not now",
      ]);
    }
  });
  it("a plain answer may have any keys", async () => {
    expect(
      (await callEndpoint(answering(JSON.parse('{"constructor":1,"__proto__":{"n":null}}')), {}))
        .text,
    ).toBe('{"constructor":1,"__proto__":{"n":null}}');
    const proto = JSON.parse('{"__proto__":{"n":1}}') as Record<string, Record<string, unknown>>;
    Object.getOwnPropertyDescriptor(proto, "__proto__")!.value.n = 5n;
    expect((await callEndpoint(answering(proto), {})).text).toBe('{"__proto__":{"n":"5"}}');
  });
  it("a promise or a stream inside a plain answer is an error", async () => {
    expect((await callEndpoint(answering({ a: Promise.resolve(1) }), {})).text).toContain(
      "result.a: a promise can't be sent",
    );
    expect((await callEndpoint(answering({ a: (async function* () {})() }), {})).text).toContain(
      "result.a: a stream can't be sent",
    );
  });
});

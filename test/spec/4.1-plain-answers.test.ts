// Answers without the encoding header: what any client reads of each kind of value.

import { describe, expect, it } from "vitest";

import { type Door, knock } from "../_door.ts";
import { Person } from "../_wire-classes.ts";

const answering = (value: unknown): Door => ({ parameters: [], run: () => value });
const serialized = { "x-svc-data-encoding": "serialized" };

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
  it("bytes that are gone, and a Blob that can't be read, are told with the path to them", async () => {
    const given = new ArrayBuffer(4);
    structuredClone(given, { transfer: [given] });
    const blob = Object.assign(new Blob(["x"]), { arrayBuffer: () => Promise.reject(new Error("The file is gone")) });
    for (const [value, message] of [
      [given, /^result: .*detached/],
      [blob, /^result: The file is gone/],
    ] as const) {
      const answer = await knock(answering(value), {});
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

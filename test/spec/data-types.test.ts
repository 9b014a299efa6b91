import { describe, expect, it } from "vitest";

import { type Endpoint, json, callEndpoint, serialized } from "../_endpoint.ts";
import { Person } from "../_wire-classes.ts";

const returns = (value: unknown): Endpoint => ({ parameters: [], run: () => value });
const date = new Date("2021-01-01T00:00:00.000Z");

/** Passes a value as an argument and returns it, with the header. */
async function through(form: unknown): Promise<{ arrived: unknown; form: unknown }> {
  let arrived: unknown;
  const endpoint: Endpoint = {
    parameters: [{ kind: "plain", name: "value" }],
    run: (value: unknown) => ({ value: (arrived = value) }),
  };
  const answer = await callEndpoint(endpoint, {
    method: "POST",
    headers: serialized,
    body: JSON.stringify({ value: form }),
  });
  expect(answer.status).toBe(200);
  return { arrived, form: (JSON.parse(answer.text) as { value: unknown }).value };
}
const mark = (name: string, rest: object = {}): object => ({ serialized: true, name, ...rest });

describe("types of data, as argument and as result", () => {
  it.each([
    ["string", "ä\u0000\u2028", "ä\u0000\u2028"],
    ["empty string", "", ""],
    ["number", -1.5e-300, -1.5e-300],
    ["boolean", false, false],
    ["null", null, null],
    ["undefined", mark("Undefined"), undefined],
  ])(
    "types-1: strings, numbers, booleans, null and undefined travel: %s",
    async (_, form, value) => {
      const returned = await through(form);
      expect(returned.arrived).toBe(value);
      expect(returned.form).toBe(value);
    },
  );
  it("types-2: arrays, sets and maps travel", async () => {
    const map = mark("Map", {
      entries: {
        keys: [[1], mark("Set", { values: [2] })],
        values: ["a", mark("Map", { entries: { keys: [], values: [] } })],
      },
    });
    const returned = await through([map, []]);
    expect(returned.arrived).toStrictEqual([
      new Map<unknown, unknown>([
        [[1], "a"],
        [new Set([2]), new Map()],
      ]),
      [],
    ]);
    expect(returned.form).toEqual([map, []]);
  });
  it("types-3: plain objects, class objects and dates travel", async () => {
    const day = mark("Date", { value: "2021-01-01T00:00:00.000Z" });
    const fields = { email: mark("Undefined") };
    const form = {
      a: { "": [day] },
      ada: mark("class", { key: "people/Person", args: { 0: "Ada", 1: day }, fields }),
    };
    const returned = await through(form);
    expect(returned.arrived).toStrictEqual({ a: { "": [date] }, ada: new Person("Ada", date) });
    expect(returned.form).toEqual(form);
  });
  it("types-4: binary data travels", async () => {
    const form = [
      mark("Binary", { type: "Uint8Array", base64: "AP8=" }),
      mark("Binary", { type: "ArrayBuffer", base64: "AQ==" }),
    ];
    const returned = await through(form);
    expect(returned.arrived).toStrictEqual([new Uint8Array([0, 255]), new Uint8Array([1]).buffer]);
    expect(returned.form).toEqual(form);
  });
});

describe("plain answers", () => {
  const plain = async (
    value: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> => {
    const answer = await callEndpoint(returns(value), { headers });
    expect(answer.status).toBe(200);
    return [answer.headers["content-type"], answer.headers["x-svc-data-type"], answer.text].join(
      " ",
    );
  };
  const object = "application/json object";
  it("plain-1: an answer without the header is JSON, quotes included: a Date is its ISO text", async () => {
    expect(await plain(date)).toBe(`${object} "2021-01-01T00:00:00.000Z"`);
    expect(await plain({ at: [date] })).toBe(`${object} {"at":["2021-01-01T00:00:00.000Z"]}`);
    expect(await plain(new Date(NaN))).toBe(`${object} null`);
  });
  it("plain-2: a Map is a list of pairs", async () => {
    expect(
      await plain(
        new Map<unknown, unknown>([
          ["a", date],
          [new Map(), 1n],
        ]),
      ),
    ).toBe(`${object} [["a","2021-01-01T00:00:00.000Z"],[[],"1"]]`);
  });
  it("plain-3: a Set is a list", async () => {
    expect(await plain(new Set([1, new Set([undefined])]))).toBe(`${object} [1,[null]]`);
  });
  it("plain-4: a RegExp is its text", async () => {
    expect(await plain(/a"b/gi)).toBe(`${object} "/a\\"b/gi"`);
  });
  it("plain-5: a URL is its address", async () => {
    expect(await plain([new URL("http://a.b/?c=%20")])).toBe(`${object} ["http://a.b/?c=%20"]`);
  });
  it("plain-6: an Error that is returned is its name and message", async () => {
    const error = Object.assign(new RangeError("far", { cause: new Error("near") }), { code: 5 });
    expect(await plain(error)).toBe(`${object} {"name":"RangeError","message":"far"}`);
    expect(await plain([Object.assign(new Error("open /etc/x"), { syscall: "open" })])).toBe(
      `${object} [{"name":"Error","message":"Internal error"}]`,
    );
  });
  it("plain-7: a bigint in an object is its digits as text; alone it is a number of its own kind", async () => {
    expect(await plain({ n: -(10n ** 20n) })).toBe(`${object} {"n":"-100000000000000000000"}`);
    expect(await plain(10n ** 20n)).toBe("text/plain; charset=utf-8 bigint 100000000000000000000");
  });
  it("plain-8: NaN and the infinities in an object are null", async () => {
    expect(await plain([NaN, { a: Infinity, b: -Infinity, c: -0 }])).toBe(
      `${object} [null,{"a":null,"b":null,"c":0}]`,
    );
  });
  it.each([
    [12.5, "12.5"],
    [1e21, "1e+21"],
    [-0, "-0"],
    [NaN, "NaN"],
    [-Infinity, "-Infinity"],
  ])(
    "plain-9: a number alone keeps its own text, with the header and without: %d",
    async (value, text) => {
      for (const headers of [{}, serialized])
        expect(await plain(value, headers)).toBe(`text/plain; charset=utf-8 number ${text}`);
    },
  );
  it("a plain answer ignores an instance's getters and private state, and has plain objects unchanged", async () => {
    const ada = new Person("Ada");
    expect(await plain(ada)).toBe(`${object} {}`);
    expect(await plain(Object.freeze({ a: [{ b: null }] }))).toBe(
      await plain({ a: [{ b: null }] }, serialized),
    );
    class Odd {
      own = 1;
      act = (): number => 1;
      readonly #hidden = 2;
      get sum(): number {
        return this.own + this.#hidden;
      }
    }
    expect(await plain([new Odd(), Object.assign(Object.create(null), { a: 1 })])).toBe(
      `${object} [{"own":1},{"a":1}]`,
    );
  });
  it("a plain object's toJSON counts in a plain answer, and an instance's doesn't", async () => {
    const toJSON = (): unknown => ({ at: date, big: 1n });
    const json = '{"at":"2021-01-01T00:00:00.000Z","big":"1"}';
    expect(await plain({ hidden: 1, toJSON })).toBe(`${object} ${json}`);
    expect(await plain([Object.assign(Object.create(null) as object, { hidden: 1, toJSON })])).toBe(
      `${object} [${json}]`,
    );
    expect(await plain(Object.setPrototypeOf({ own: 1 }, { toJSON }))).toBe(`${object} {"own":1}`);
    expect(await plain([new String("x"), new Number(5), new Boolean(false)])).toBe(
      `${object} ["x",5,false]`,
    );
  });
  it("bytes or a Blob alone are the body, with a media type; in an object they are base64 text", async () => {
    const bytes = new Uint8Array([104, 105]);
    for (const value of [
      bytes,
      bytes.buffer,
      new DataView(bytes.buffer),
      new Blob([bytes]),
      new Uint16Array(bytes.buffer),
    ])
      expect(await plain(value)).toBe("application/octet-stream binary hi");
    expect(await plain(new Blob([bytes], { type: "image/x-thread" }))).toBe(
      "image/x-thread binary hi",
    );
    expect(await plain({ a: [bytes, new Blob([bytes])] })).toBe(`${object} {"a":["aGk=","aGk="]}`);
  });
  const cases: [string, () => unknown, string][] = [
    [
      "function",
      () => ({ people: [0, 1, 2, { born: () => 1 }] }),
      "result.people[3].born: a function can't be sent",
    ],
    ["symbol", () => [Symbol("x")], "result[0]: a symbol can't be sent"],
    ["promise", () => ({ a: Promise.resolve(1) }), "result.a: "],
    ["stream", () => ({ a: new ReadableStream() }), "result.a: "],
    ["generator", () => ({ a: (function* () {})() }), "result.a: "],
    ["weak map", () => ({ a: new WeakMap() }), "result.a: "],
    ["weak reference", () => [new WeakRef({})], "result[0]: "],
    ["iterator", () => [new Map().keys()], "result[0]: "],
    [
      "cycle",
      () =>
        Array.from(
          { length: 1 },
          (_, index, list: unknown[] = []) => (list.push(index, list), list),
        ),
      "result[0][1]: a cycle can't be sent",
    ],
  ];
  it.each(cases)(
    "a value that can't be sent is a 500 with its path, in both modes: %s",
    async (_, make, message) => {
      for (const headers of [{}, serialized]) {
        const answer = await callEndpoint({ parameters: [], run: make }, { headers });
        expect(answer.status).toBe(500);
        expect(answer.text).toContain(message);
        if (headers === serialized)
          expect(JSON.parse(answer.text)).toMatchObject({ type: "ValueNotSerializable" });
      }
    },
  );
  it("without the header, what looks like a form in an argument is data (forms-1)", async () => {
    const value = mark("Date", { value: null });
    const endpoint: Endpoint = {
      parameters: [{ kind: "plain", name: "value" }],
      run: (argument: unknown) => argument,
    };
    const answer = await callEndpoint(endpoint, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ value }),
    });
    expect(JSON.parse(answer.text)).toEqual(value);
  });
});

// Every wire case over real sockets: straight to a node, and through proxy and gateway.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  arrived,
  callFrom,
  fetchFrom,
  key,
  postTo,
  type Sockets,
  startSockets,
} from "../_sockets.ts";
import { every as ofAll, everyPlain } from "../_call.ts";
import { expectSame } from "../_same.ts";
import { wireCases } from "../_wire-cases.ts";

let sockets: Sockets;
beforeAll(async () => {
  sockets = await startSockets();
});
afterAll(() => sockets.close());

const encoded = { "x-svc-data-encoding": "serialized" };
const trusted = { "x-svc-trust-key": key };
const { vary } = everyPlain;
const every = { ...ofAll, "x-svc-node": "node wire" };
const text = "text/plain; charset=utf-8";
const json = "application/json";
const object = { ...every, "content-type": json, "x-svc-data-type": "object" };

// Cases that aren't objects, so their whole answer isn't JSON.
const wholeAnswers: Readonly<Record<string, { kind: string; type?: string; text: string }>> = {
  text: { kind: "string", type: text, text: "ä \u0000 \ud83e\uddf5 \ufeff" },
  "text that isn't well-formed": { kind: "string", type: json, text: '"\\udd75 ä \\ud83e"' },
  number: { kind: "number", type: text, text: "12.5" },
  boolean: { kind: "boolean", type: text, text: "false" },
  null: { kind: "null", type: json, text: "null" },
  undefined: { kind: "undefined", text: "" },
  NaN: { kind: "number", type: text, text: "NaN" },
};

describe.each([
  ["straight to its node", "node"],
  ["through proxy and gateway", "proxy"],
] as const)("over sockets, %s:", (_, endpoint) => {
  const at = (path: string): string => `${sockets[endpoint]}/rpc/wire/${path}`;

  describe.each(wireCases)("$name", (wireCase) => {
    const expected = "decoded" in wireCase ? wireCase.decoded : wireCase.value;
    const name = encodeURIComponent(wireCase.name);

    it("the value goes out as an argument and comes back as the result, each time with its own type", async () => {
      const back = await callFrom(sockets.host, sockets[endpoint], "wire/echo", {
        value: wireCase.value,
      });
      await expectSame(arrived.value, expected);
      await expectSame(back, expected);
    });

    it("the value's bytes are those of the table", async () => {
      const answer = await postTo(at("wrapped"), JSON.stringify({ value: wireCase.wire }), {
        ...encoded,
        ...trusted,
      });
      await expectSame(arrived.value, expected);
      expect(answer).toMatchObject({ status: 200, headers: object });
      expect(JSON.parse(answer.text)).toEqual(
        expected === undefined ? {} : { value: wireCase.wire },
      );
    });

    it("the value is accepted from outside only if it needs no trust", async () => {
      const answer = await postTo(at("wrapped"), JSON.stringify({ value: wireCase.wire }), encoded);
      expect(answer.status).toBe(wireCase.trusted ? 400 : 200);
      if (wireCase.trusted)
        expect(JSON.parse(answer.text)).toMatchObject({
          name: "Error",
          type: "InvalidSerializedValue",
          trace: [],
        });
    });

    it("the value answers a GET in its form, and a plain GET as JSON that any client reads", async () => {
      const url = `${at("wrappedExample")}?name=${name}`;
      expect(JSON.parse((await fetchFrom(url, { headers: encoded })).text)).toEqual(
        wireCase.value === undefined ? {} : { value: wireCase.wire },
      );
      const plain: unknown =
        "plain" in wireCase
          ? wireCase.plain
          : wireCase.value === undefined
            ? undefined
            : JSON.parse(JSON.stringify(wireCase.value));
      const answer = await fetchFrom(url);
      expect([answer.status, answer.headers]).toEqual([200, { ...object, vary }]);
      expect(JSON.parse(answer.text)).toEqual(plain === undefined ? {} : { value: plain });
    });

    it("the value is the whole answer of a GET", async () => {
      const answer = await fetchFrom(`${at("example")}?name=${name}`, { headers: encoded });
      const scalar = wholeAnswers[wireCase.name];
      if (scalar === undefined) {
        expect([answer.status, answer.headers]).toEqual([200, object]);
        expect(JSON.parse(answer.text)).toEqual(wireCase.wire);
      } else {
        const type = scalar.type === undefined ? {} : { "content-type": scalar.type };
        expect([answer.status, answer.headers]).toEqual([
          scalar.type ? 200 : 204,
          { ...every, ...type, "x-svc-data-type": scalar.kind },
        ]);
        expect(answer.text).toBe(scalar.text);
      }
    });
  });

  it("values of a GET become what the parameters' types say", async () => {
    const answer = await fetchFrom(
      `${at("typed")}?text=5&number=1e3&flag=true&big=-12345678901234567890&days=2021-01-01&days=2021-01-02`,
      {
        headers: encoded,
      },
    );
    const day = (value: string) => ({ serialized: true, name: "Date", value });
    expect(JSON.parse(answer.text)).toEqual([
      "5",
      1000,
      true,
      { serialized: true, name: "BigInt", value: "-12345678901234567890" },
      [day("2021-01-01T00:00:00.000Z"), day("2021-01-02T00:00:00.000Z")],
    ]);
  });

  it.each([
    ["Uint8Array", { "content-type": "application/octet-stream" }],
    ["ArrayBuffer", { "content-type": "application/octet-stream" }],
    ["DataView", { "content-type": "application/octet-stream" }],
    ["Blob", { "content-type": "image/x-thread", "content-disposition": "attachment" }],
    [
      "File",
      {
        "content-type": "image/png",
        "content-disposition": "attachment; filename*=UTF-8''%C3%A4%20%221%22.png",
      },
    ],
  ])("a plain answer that is one %s is its bytes", async (as, type) => {
    const answer = await fetchFrom(`${at("raw")}?as=${as}`);
    expect([answer.status, answer.headers]).toEqual([
      200,
      { ...every, vary, ...type, "x-svc-data-type": "binary" },
    ]);
    expect([...answer.bytes]).toEqual([0, 255, 1]);
  });
});

describe("over sockets, a call that one node makes to another through the gateway:", () => {
  it.each(wireCases.map((wireCase) => [wireCase.name, wireCase] as const))(
    "%s",
    async (_, wireCase) => {
      const expected = "decoded" in wireCase ? wireCase.decoded : wireCase.value;
      const back = await callFrom(sockets.host, sockets.proxy, "wire/relay", {
        value: wireCase.value,
      });
      await expectSame(arrived.value, expected);
      await expectSame(back, expected);
    },
  );
});

import { describe, expect, it } from "vitest";

import { type Door, json, knock, serialized } from "../_door.ts";
import { wireCases } from "../_wire-cases.ts";

let got: unknown;
const echo: Door = {
  parameters: [{ kind: "plain", name: "value" }],
  run: (value: unknown) => {
    got = value;
    return { value };
  },
};

describe.each(wireCases)("§2.3, §2.5 $name", (one) => {
  const body = JSON.stringify({ value: one.wire });
  it("reaches the procedure as its own type, and comes back in the same form", async () => {
    const answer = await knock({ ...echo, trusted: true }, { method: "POST", headers: serialized, body });
    expect(got).toStrictEqual("decoded" in one ? one.decoded : one.value);
    expect(answer).toMatchObject({ status: 200, headers: { "content-type": "application/json", "x-svc-data-type": "object" } });
    expect(JSON.parse(answer.text)).toEqual(one.value === undefined ? {} : { value: one.wire });
  });
  it("comes from outside only when it needs no trust (decisions §3)", async () => {
    const answer = await knock(echo, { method: "POST", headers: serialized, body });
    expect(answer.status).toBe(one.trusted ? 400 : 200);
    if (one.trusted) expect(answer.text).toContain("taken from services only");
  });
  it("answers plain clients with JSON that they understand (decisions §6)", async () => {
    const answer = await knock({ parameters: [], run: () => ({ value: one.value }) }, {});
    const plain: unknown = "plain" in one ? one.plain : one.value === undefined ? undefined : JSON.parse(JSON.stringify(one.value));
    expect(JSON.parse(answer.text)).toEqual(plain === undefined ? {} : { value: plain });
  });
});

describe("§2.3 without the header", () => {
  it("a serialized object is an object like any other", async () => {
    const value = { serialized: true, key: "people/Nobody", name: "class", args: {}, fields: {} };
    const answer = await knock(echo, { method: "POST", headers: json, body: JSON.stringify({ value }) });
    expect(got).toEqual(value);
    expect(JSON.parse(answer.text)).toEqual({ value });
  });
});

describe("§2.3 what is refused", () => {
  it("400 InvalidSerializedValue, with the path", async () => {
    const value = [{ serialized: true, key: "people/Nobody", name: "class", args: {}, fields: {} }];
    const answer = await knock(echo, { method: "POST", headers: serialized, body: JSON.stringify({ value }) });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({
      name: "Error",
      type: "InvalidSerializedValue",
      message: "args.value[0]: there is no class 'people/Nobody'",
    });
  });
  it.each(["superjson", "xml", "serialized, serialized"])("415 UnsupportedEncoding: %s", async (encoding) => {
    const answer = await knock(echo, { method: "POST", headers: { ...json, "x-svc-data-encoding": encoding }, body: '{"value":1}' });
    expect(answer).toMatchObject({ status: 415, headers: { "content-type": "text/plain; charset=utf-8" } });
    expect(answer.text).toContain("known is 'serialized'");
  });
  it.each(["__proto__", "constructor", "prototype"])("the key %s anywhere in data, with or without the header", async (key) => {
    for (const headers of [json, serialized]) {
      const answer = await knock(echo, { method: "POST", headers, body: `{"value":{"a":[{"${key}":{"x":1}}]}}` });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain(`args.value.a[0].${key}: this key is not allowed`);
    }
  });
});

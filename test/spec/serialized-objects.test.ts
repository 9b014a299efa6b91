import { describe, expect, it } from "vitest";

import { type Endpoint, json, callEndpoint, serialized } from "../_endpoint.ts";
import { expectSame } from "../_same.ts";
import { wireCases } from "../_wire-cases.ts";
import { Person } from "../_wire-classes.ts";

let received: unknown;
const echo: Endpoint = {
  parameters: [{ kind: "plain", name: "value" }],
  run: (value: unknown) => {
    received = value;
    return { value };
  },
};

describe.each(wireCases)(
  "forms-1: with the header, values travel as serialized objects, in requests and in answers: $name",
  (wireCase) => {
    const body = JSON.stringify({ value: wireCase.wire });
    it("a value reaches the procedure with its own type, and comes back in the same form", async () => {
      const answer = await callEndpoint(
        { ...echo, trusted: true },
        { method: "POST", headers: serialized, body },
      );
      await expectSame(received, "decoded" in wireCase ? wireCase.decoded : wireCase.value);
      expect(answer).toMatchObject({
        status: 200,
        headers: { "content-type": "application/json", "x-svc-data-type": "object" },
      });
      expect(JSON.parse(answer.text)).toEqual(
        wireCase.value === undefined ? {} : { value: wireCase.wire },
      );
    });
    it("forms-44: RegExp and Error forms are accepted in trusted calls only; from outside they are a 400", async () => {
      const answer = await callEndpoint(echo, { method: "POST", headers: serialized, body });
      expect(answer.status).toBe(wireCase.trusted ? 400 : 200);
      if (wireCase.trusted) expect(answer.text).toContain("accepted from services only");
    });
    it("plain clients get JSON that they understand", async () => {
      const answer = await callEndpoint(
        { parameters: [], run: () => ({ value: wireCase.value }) },
        {},
      );
      const plain: unknown =
        "plain" in wireCase
          ? wireCase.plain
          : wireCase.value === undefined
            ? undefined
            : JSON.parse(JSON.stringify(wireCase.value));
      expect(JSON.parse(answer.text)).toEqual(plain === undefined ? {} : { value: plain });
    });
  },
);

describe("the members of a serialized object", () => {
  const person = {
    serialized: true,
    key: "people/Person",
    name: "class",
    args: { 0: "Ada", 1: null },
    fields: { email: "ada@a.b" },
  };
  const send = (value: unknown) =>
    callEndpoint(echo, { method: "POST", headers: serialized, body: JSON.stringify({ value }) });
  const refusal = async (value: unknown): Promise<string> => {
    const answer = await send(value);
    const { type, message } = JSON.parse(answer.text) as { type: string; message: string };
    return `${answer.status} ${type}: ${message}`;
  };
  it("forms-2: `serialized` is true in a form; with any other value, the object is data", async () => {
    await send(person);
    expect(received).toBeInstanceOf(Person);
    for (const serialized of [1, "true", null, false, {}]) {
      const answer = await send({ ...person, serialized });
      expect(received).toEqual({ ...person, serialized });
      expect(JSON.parse(answer.text)).toEqual({ value: { ...person, serialized } });
    }
  });
  it("forms-3: `key` is the class's name after its directory in the source folder", async () => {
    expect(await refusal({ ...person, key: "Person" })).toBe(
      "400 InvalidSerializedValue: args.value: there is no class 'Person'",
    );
    expect(await refusal({ ...person, key: "people/people/Person" })).toContain(
      "there is no class 'people/people/Person'",
    );
    expect(await refusal({ ...person, key: undefined })).toContain(
      "args.value: 'key' must be a string",
    );
  });
  it("forms-4: `name` is `class` for instances of classes", async () => {
    expect(JSON.parse((await send(person)).text)).toMatchObject({
      value: { serialized: true, name: "class" },
    });
    expect(await refusal({ ...person, name: "Person" })).toBe(
      "400 InvalidSerializedValue: args.value: there is no serialized form of this name",
    );
  });
  it('forms-5: `args` holds the constructor\'s arguments under their positions as text, from "0" on', async () => {
    const answer = await send({ ...person, args: { 1: null, 0: "Bob" }, fields: {} });
    expect((received as Person).name).toBe("Bob");
    expect(answer.text).toContain('"args":{"0":"Bob","1":null}');
    for (const position of ["2", "-1", "01", "1.0", "name", " 0", "1e0"])
      expect(await refusal({ ...person, args: { [position]: 1 } })).toBe(
        `400 InvalidSerializedValue: args.value: class 'people/Person' has no constructor argument '${position}'`,
      );
    expect(await refusal({ ...person, args: ["Ada"] })).toContain("'args' must be an object");
  });
  it("forms-6: `fields` holds the values of public members, which are set once the instance is there", async () => {
    await send(person);
    expect((received as Person).email).toBe("ada@a.b");
    await send({ ...person, args: undefined, fields: undefined });
    expect(received).toStrictEqual(new Person(undefined as never));
    expect(await refusal({ ...person, fields: { email: "nowhere" } })).toBe(
      "400 InvalidSerializedValue: args.value.email: 'nowhere' is no address",
    );
  });
});

describe("without the header", () => {
  it("without the header, a serialized object is an object like any other (forms-1)", async () => {
    const value = { serialized: true, key: "people/Nobody", name: "class", args: {}, fields: {} };
    const answer = await callEndpoint(echo, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ value }),
    });
    expect(received).toEqual(value);
    expect(JSON.parse(answer.text)).toEqual({ value });
  });
});

describe("what is refused", () => {
  it.each<[what: string, form: object, message: string]>([
    [
      "key",
      { name: "class", key: "people/Nobody", args: {}, fields: {} },
      "there is no class 'people/Nobody'",
    ],
    ["name", { name: "Function", value: "x" }, "there is no serialized form of this name"],
    ["shape", { name: "Map", entries: { keys: [1], values: [] } }, "this is not a valid Map form"],
    [
      "member",
      { name: "Date", value: null, more: 1 },
      "a Date form can only have the members name, value",
    ],
  ])(
    "forms-36: an unknown key or name, or a wrong shape, is a 400 InvalidSerializedValue with the path: %s",
    async (_, form, message) => {
      const value = [
        { in: { serialized: true, name: "Set", values: [{ serialized: true, ...form }] } },
      ];
      const answer = await callEndpoint(echo, {
        method: "POST",
        headers: serialized,
        body: JSON.stringify({ value }),
      });
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.text)).toMatchObject({
        name: "Error",
        type: "InvalidSerializedValue",
        message: `args.value[0].in.values[0]: ${message}`,
      });
    },
  );
  it.each(["xml", "json", "serialized;q=1"])(
    "forms-47: an unknown encoding is a 415: %s",
    async (encoding) => {
      const answer = await callEndpoint(echo, {
        method: "POST",
        headers: { ...json, "x-svc-data-encoding": encoding },
        body: '{"value":1}',
      });
      expect(answer).toMatchObject({
        status: 415,
        headers: { "content-type": "text/plain; charset=utf-8" },
      });
      expect(answer.text).toContain(`Unsupported encoding '${encoding}' in x-svc-data-encoding`);
    },
  );
  it.each(["__proto__", "constructor", "prototype"])(
    "limits-12: a key that reaches prototypes is refused everywhere, not dropped, with the header or without: %s",
    async (key) => {
      for (const headers of [json, serialized]) {
        const answer = await callEndpoint(echo, {
          method: "POST",
          headers,
          body: `{"value":{"a":[{"${key}":{"x":1}}]}}`,
        });
        expect(answer.status).toBe(400);
        expect(answer.text).toContain(`args.value.a[0].${key}: this key is not allowed`);
      }
    },
  );
});

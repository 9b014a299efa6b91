import { describe, expect, it } from "vitest";

import { type Door, json, knock, serialized } from "../_door.ts";
import { expectSame } from "../_same.ts";
import { wireCases } from "../_wire-cases.ts";
import { Person } from "../_wire-classes.ts";

let got: unknown;
const echo: Door = {
  parameters: [{ kind: "plain", name: "value" }],
  run: (value: unknown) => {
    got = value;
    return { value };
  },
};

describe.each(wireCases)(
  "§2.3-1 values travel as serialized objects under the header, in requests and in answers: $name",
  (one) => {
    const body = JSON.stringify({ value: one.wire });
    it("reaches the procedure as its own type, and comes back in the same form", async () => {
      const answer = await knock(
        { ...echo, trusted: true },
        { method: "POST", headers: serialized, body },
      );
      await expectSame(got, "decoded" in one ? one.decoded : one.value);
      expect(answer).toMatchObject({
        status: 200,
        headers: { "content-type": "application/json", "x-svc-data-type": "object" },
      });
      expect(JSON.parse(answer.text)).toEqual(one.value === undefined ? {} : { value: one.wire });
    });
    it("D3-38 RegExp and Error forms come in trusted calls only; from outside they are a 400", async () => {
      const answer = await knock(echo, { method: "POST", headers: serialized, body });
      expect(answer.status).toBe(one.trusted ? 400 : 200);
      if (one.trusted) expect(answer.text).toContain("taken from services only");
    });
    it("answers plain clients with JSON that they understand", async () => {
      const answer = await knock({ parameters: [], run: () => ({ value: one.value }) }, {});
      const plain: unknown =
        "plain" in one
          ? one.plain
          : one.value === undefined
            ? undefined
            : JSON.parse(JSON.stringify(one.value));
      expect(JSON.parse(answer.text)).toEqual(plain === undefined ? {} : { value: plain });
    });
  },
);

describe("§2.3 the members of a serialized object", () => {
  const person = {
    serialized: true,
    key: "people/Person",
    name: "class",
    args: { 0: "Ada", 1: null },
    fields: { email: "ada@a.b" },
  };
  const send = (value: unknown) =>
    knock(echo, { method: "POST", headers: serialized, body: JSON.stringify({ value }) });
  const refusal = async (value: unknown): Promise<string> => {
    const answer = await send(value);
    const { type, message } = JSON.parse(answer.text) as { type: string; message: string };
    return `${answer.status} ${type}: ${message}`;
  };
  it("§2.3-2 `serialized` is true: anything else there is data", async () => {
    await send(person);
    expect(got).toBeInstanceOf(Person);
    for (const other of [1, "true", null, false, {}]) {
      const answer = await send({ ...person, serialized: other });
      expect(got).toEqual({ ...person, serialized: other });
      expect(JSON.parse(answer.text)).toEqual({ value: { ...person, serialized: other } });
    }
  });
  it("§2.3-3 `key` is the class's name after its directory in the source folder", async () => {
    expect(await refusal({ ...person, key: "Person" })).toBe(
      "400 InvalidSerializedValue: args.value: there is no class 'Person'",
    );
    expect(await refusal({ ...person, key: "people/people/Person" })).toContain(
      "there is no class 'people/people/Person'",
    );
    expect(await refusal({ ...person, key: undefined })).toContain(
      "args.value: 'key' must be text",
    );
  });
  it("§2.3-4 `name` is `class` for instances of classes", async () => {
    expect(JSON.parse((await send(person)).text)).toMatchObject({
      value: { serialized: true, name: "class" },
    });
    expect(await refusal({ ...person, name: "Person" })).toBe(
      "400 InvalidSerializedValue: args.value: there is no serialized form of this name",
    );
  });
  it('§2.3-5 `args` holds the constructor\'s arguments under their positions as text, from "0" on', async () => {
    const answer = await send({ ...person, args: { 1: null, 0: "Bob" }, fields: {} });
    expect((got as Person).name).toBe("Bob");
    expect(answer.text).toContain('"args":{"0":"Bob","1":null}');
    for (const position of ["2", "-1", "01", "1.0", "name", " 0", "1e0"])
      expect(await refusal({ ...person, args: { [position]: 1 } })).toBe(
        `400 InvalidSerializedValue: args.value: class 'people/Person' has no constructor argument '${position}'`,
      );
    expect(await refusal({ ...person, args: ["Ada"] })).toContain("'args' must be an object");
  });
  it("§2.3-6 `fields` holds the values of public members, which are set once the instance is there", async () => {
    await send(person);
    expect((got as Person).email).toBe("ada@a.b");
    await send({ ...person, args: undefined, fields: undefined });
    expect(got).toStrictEqual(new Person(undefined as never));
    expect(await refusal({ ...person, fields: { email: "nowhere" } })).toBe(
      "400 InvalidSerializedValue: args.value.email: 'nowhere' is no address",
    );
  });
});

describe("§2.3 without the header", () => {
  it("a serialized object is an object like any other (§2.3-1)", async () => {
    const value = { serialized: true, key: "people/Nobody", name: "class", args: {}, fields: {} };
    const answer = await knock(echo, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ value }),
    });
    expect(got).toEqual(value);
    expect(JSON.parse(answer.text)).toEqual({ value });
  });
});

describe("§2.3 what is refused", () => {
  it.each<[what: string, form: object, message: string]>([
    [
      "key",
      { name: "class", key: "people/Nobody", args: {}, fields: {} },
      "there is no class 'people/Nobody'",
    ],
    ["name", { name: "Function", value: "x" }, "there is no serialized form of this name"],
    ["shape", { name: "Map", entries: { keys: [1], values: [] } }, "this is no Map form"],
    [
      "member",
      { name: "Date", value: null, more: 1 },
      "a Date form has no members but name, value",
    ],
  ])(
    "D3-30 an unknown key or name, or a wrong shape, is a 400 InvalidSerializedValue with the path: %s",
    async (_, form, message) => {
      const value = [
        { in: { serialized: true, name: "Set", values: [{ serialized: true, ...form }] } },
      ];
      const answer = await knock(echo, {
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
    "D3-41 an encoding that the service does not know is a 415: %s",
    async (encoding) => {
      const answer = await knock(echo, {
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
    "D6.limits-8 a key that reaches prototypes is refused wherever it stands, not dropped, with the header or without: %s",
    async (key) => {
      for (const headers of [json, serialized]) {
        const answer = await knock(echo, {
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

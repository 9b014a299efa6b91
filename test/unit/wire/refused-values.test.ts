// The error for a value that can't be built: our words and the path to it, and nothing
// that the platform put on its own errors.

import { describe, expect, it } from "vitest";

import { BadGateway, InvalidSerializedValue } from "../../../src/base/errors.ts";
import { Classes } from "../../../src/codec/classes.ts";
import { decodeAnswer } from "../../../src/wire/decode-answer.ts";
import { type Endpoint, callEndpoint } from "../../_endpoint.ts";

class Site {
  url: URL;
  note: string | undefined;

  constructor(address: string) {
    this.url = new URL(address);
  }

  get address(): string {
    return this.url.href;
  }

  set home(value: string) {
    this.url = new URL(value);
  }

  get home(): string {
    return this.url.href;
  }
}

const classes = new Classes();
classes.register(
  {
    key: "web/Site",
    module: "web/site",
    export: "Site",
    args: ["address"],
    fields: ["home", "note"],
  },
  Site,
);

const mark = (name: string, rest: object): object => ({ serialized: true, name, ...rest });
const site = (args: object, fields: object = {}): object =>
  mark("class", { key: "web/Site", args, fields });

/**
 * Values that can't be built, in both encodings: the first as a form, the second as json and its
 * annotation.
 */
const values: readonly (readonly [
  string,
  string,
  { form?: object; json?: unknown; type?: unknown },
])[] = [
  [
    "address",
    "Url form|URL",
    { form: mark("Url", { value: "no address" }), json: "no address", type: ["URL"] },
  ],
  [
    "address of a bad port",
    "Url form|URL",
    { form: mark("Url", { value: "http://a:99999" }), json: "http://a:99999", type: ["URL"] },
  ],
  [
    "expression",
    "RegExp form|regexp",
    { form: mark("RegExp", { source: "(", flags: "" }), json: "/(/", type: ["regexp"] },
  ],
  [
    "flags of an expression",
    "RegExp form|regexp",
    { form: mark("RegExp", { source: "a", flags: "zz" }), json: "/a/zz", type: ["regexp"] },
  ],
  [
    "date",
    "Date form|Date",
    { form: mark("Date", { value: "tomorrow" }), json: "tomorrow", type: ["Date"] },
  ],
  [
    "bigint",
    "BigInt form|bigint",
    { form: mark("BigInt", { value: "1e3" }), json: "1e3", type: ["bigint"] },
  ],
  [
    "half a character of base64",
    "Binary form",
    { form: mark("Binary", { type: "Uint8Array", base64: "A" }) },
  ],
  ["no base64", "Binary form", { form: mark("Binary", { type: "ArrayBuffer", base64: "ä" }) }],
  [
    "half an element",
    "Binary form",
    { form: mark("Binary", { type: "Float64Array", base64: "AQID" }) },
  ],
  [
    "base64 of a Blob",
    "Binary form",
    {
      form: mark("Binary", { type: "Blob", base64: "$" }),
      json: { type: "Blob", base64: "$" },
      type: [["custom", "Binary"]],
    },
  ],
];

const endpoint: Endpoint = {
  parameters: [{ kind: "plain", name: "value" }],
  run: () => "ran",
  classes,
};
const send = (encoding: string, body: string, trusted: boolean) =>
  callEndpoint(
    { ...endpoint, trusted },
    {
      method: "POST",
      headers: { "content-type": "application/json", "x-svc-data-encoding": encoding },
      body,
    },
  );

describe.each(values)("%s that is none", (_, what, { form, json, type }) => {
  const words = new RegExp(`^[\\w.]+\\.at\\[1\\]: this is not a valid (${what})$`);

  it("an invalid value as an argument is a 400 with our message and the path, to outsiders and to services", async () => {
    for (const trusted of [false, true]) {
      const answer = await send(
        "serialized",
        JSON.stringify({ value: { at: [0, form] } }),
        trusted,
      );
      expect(answer.status).toBe(400);
      const error = JSON.parse(answer.text) as { message: string };
      const { stack, ...rest } = error as typeof error & { stack?: string };
      const shown =
        !trusted && what.startsWith("RegExp")
          ? "args.value.at[1]: this form is accepted from services only"
          : expect.stringMatching(words);
      expect(rest).toEqual(
        mark("Error", { type: "InvalidSerializedValue", message: shown, trace: [], fields: {} }),
      );
      expect(stack === undefined).toBe(!trusted);
    }
  });

  if (type !== undefined)
    it("an invalid value in superjson is the same 400", async () => {
      const body = JSON.stringify({
        json: { value: { at: [0, json] } },
        meta: { values: { "value.at.1": type } },
      });
      const answer = await send("superjson", body, true);
      expect(answer.status).toBe(400);
      const { message, fields, cause } = (
        JSON.parse(answer.text) as { json: Record<string, unknown> }
      ).json;
      expect({ message, fields, cause }).toEqual({
        message: expect.stringMatching(words),
        fields: {},
        cause: undefined,
      });
    });

  it("an invalid value in an answer is a BadGateway whose causes are ours", async () => {
    const body = new TextEncoder().encode(JSON.stringify({ at: [0, form] }));
    const headers = { "content-type": "application/json", "x-svc-data-type": "object" };
    const error: unknown = await decodeAnswer({ status: 200, headers, body }, { classes }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(BadGateway);
    const { cause } = error as Error;
    expect(cause).toBeInstanceOf(InvalidSerializedValue);
    expect((cause as Error).message).toMatch(words);
    expect(cause).not.toHaveProperty("cause");
  });
});

describe("a class of the application that throws what the platform threw", () => {
  it.each<[string, object, string]>([
    ["constructor", site({ 0: "no address" }), "args.value: Invalid URL"],
    ["setter", site({ 0: "http://a.b" }, { home: "no address" }), "args.value.home: Invalid URL"],
  ])("in its %s: the message, and none of the platform's members", async (_, form, message) => {
    const answer = await send("serialized", JSON.stringify({ value: form }), false);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toEqual(
      mark("Error", {
        type: "InvalidSerializedValue",
        message,
        trace: [],
        fields: {},
        cause: mark("Error", { type: "TypeError", message: "Invalid URL", trace: [], fields: {} }),
      }),
    );
    expect(answer.text).not.toMatch(/ERR_|no address/);
  });
  it("a class that throws a platform error is refused in superjson too", async () => {
    const body = JSON.stringify({
      json: { value: { args: { 0: "no address" }, fields: {} } },
      meta: { values: { value: [["class", "web/Site"]] } },
    });
    const answer = await send("superjson", body, false);
    expect([answer.status, answer.text.includes("args.value: Invalid URL")]).toEqual([400, true]);
    expect(answer.text).not.toMatch(/ERR_|no address/);
  });
});

describe("an error of the platform that a procedure lets out", () => {
  it.each(["serialized", "superjson"])(
    "a platform error shows outsiders its message, and services all of it: %s",
    async (encoding) => {
      const run = (): never => {
        throw new Error("Bad configuration", { cause: new URL("no address") });
      };
      const [outside, inside] = await Promise.all(
        [false, true].map((trusted) =>
          callEndpoint(
            { parameters: [], run, trusted, classes },
            { headers: { "x-svc-data-encoding": encoding } },
          ),
        ),
      );
      expect(outside?.status).toBe(500);
      expect(outside?.text).toContain("Invalid URL");
      expect(outside?.text).not.toMatch(/ERR_|no address/);
      expect(inside?.text).toMatch(/ERR_INVALID_URL/);
    },
  );
});

describe("a body that is none", () => {
  it.each<[string, string | Uint8Array, string]>([
    ["no JSON", '{"secret":', "The text is not JSON"],
    ["no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "The body is not UTF-8"],
  ])("%s: our words alone", async (_, body, message) => {
    for (const encoding of ["serialized", "superjson"]) {
      const headers = { "content-type": "application/json", "x-svc-data-encoding": encoding };
      const answer = await callEndpoint(endpoint, { method: "POST", headers, body });
      expect(answer.status).toBe(400);
      const { json: error = JSON.parse(answer.text) } = JSON.parse(answer.text) as {
        json?: Record<string, unknown>;
      };
      expect([error["message"], error["cause"], error["fields"]]).toEqual([message, undefined, {}]);
    }
  });
  it("the error for an answer that is not JSON doesn't quote the answer", async () => {
    const headers = { "content-type": "application/json", "x-svc-data-type": "object" };
    const body = new TextEncoder().encode("<html>inside</html>");
    const error: unknown = await decodeAnswer({ status: 200, headers, body }, { classes }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(BadGateway);
    expect(error).not.toHaveProperty("cause");
  });
});

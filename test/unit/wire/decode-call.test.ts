// The body of a call, and the fields that say how to read it.

import { describe, expect, it } from "vitest";

import { BadRequest, UnsupportedEncoding } from "../../../src/base/errors.ts";
import type { HeaderFields, HttpRequest } from "../../../src/base/ports.ts";
import { Classes } from "../../../src/codec/classes.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { readVersion } from "../../../src/base/version.ts";
import { decodeArguments } from "../../_decode-arguments.ts";
import { readEncoding } from "../../../src/wire/encoding.ts";

const json = { "content-type": "application/json" };

async function argumentsOf(
  headers: HeaderFields,
  body: string | Uint8Array = "",
  { method = "POST", query = "", limits = {}, classes = new Classes() } = {},
) {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const asked: number[] = [];
  const request = {
    method,
    headers: { ...(bytes.length > 0 && { "content-length": String(bytes.length) }), ...headers },
    readBody: async (limit: number) => {
      asked.push(limit);
      return bytes;
    },
  } as unknown as HttpRequest;
  const procedure = { parameters: [{ kind: "plain", name: "n", type: "number" }] as const };
  const args = await decodeArguments(request, query, procedure, {
    classes,
    limits: { ...defaultLimits, ...limits },
    encoding: readEncoding(request.headers),
    trusted: false,
  });
  return { args: Object.fromEntries(args), asked };
}

describe("the body of a call", () => {
  it.each([
    "application/json",
    "application/json; charset=utf-8",
    "Application/JSON ;charset=utf-8",
    " application/json ",
  ])("a body of type '%s' is read, up to the limit of a body", async (type) => {
    expect(await argumentsOf({ "content-type": type }, '{"n":1}')).toEqual({
      args: { n: 1 },
      asked: [defaultLimits.bodyBytes],
    });
  });

  it.each([undefined, "text/plain", "application/jsonp", "text/application/json", ""])(
    "a body of type '%s' is refused before it arrives",
    async (type) => {
      await expect(argumentsOf({ "content-type": type }, '{"n":1}')).rejects.toThrow(
        new UnsupportedEncoding(
          "A call's body must have the content type application/json or multipart/form-data",
        ),
      );
    },
  );

  it("a compressed body is refused, and `identity` is accepted", async () => {
    expect(
      (await argumentsOf({ ...json, "content-encoding": "identity" }, '{"n":1}')).args,
    ).toEqual({ n: 1 });
    await expect(argumentsOf({ ...json, "content-encoding": "gzip" }, '{"n":1}')).rejects.toThrow(
      new UnsupportedEncoding("Unsupported content encoding 'gzip'"),
    );
  });

  it.each([{}, { "content-type": "text/plain" }, { "content-length": "0" }])(
    "an empty body has no arguments, whatever its headers: %j",
    async (fields) => {
      expect((await argumentsOf(fields)).args).toEqual({});
    },
  );

  it("a body that turns out empty counts as empty if its type is right", async () => {
    expect((await argumentsOf({ ...json, "content-length": "7" })).args).toEqual({});
    await expect(argumentsOf({ "content-length": "7" })).rejects.toThrow(UnsupportedEncoding);
  });

  it("Bytes that are no UTF-8 are refused", async () => {
    await expect(argumentsOf(json, new Uint8Array([0x22, 0xff, 0x22]))).rejects.toThrow(
      new BadRequest("The body is not UTF-8"),
    );
  });

  it("Forms are data where the caller asked for no encoding, and values where it did", async () => {
    const body = '{"n":{"serialized":true,"name":"BigInt","value":"7"}}';
    expect((await argumentsOf(json, body)).args["n"]).toEqual({
      serialized: true,
      name: "BigInt",
      value: "7",
    });
    for (const encoding of ["serialized", "serialized, superjson"])
      expect((await argumentsOf({ ...json, "x-svc-data-encoding": encoding }, body)).args).toEqual({
        n: 7n,
      });
  });

  it("Names of classes in plain data load none of them", async () => {
    const body = '{"n":{"serialized":true,"name":"class","key":"people/Person"}}';
    const loads: unknown[] = [];
    const classes = new Classes();
    classes.load = async (keys) => void loads.push([...(keys ?? [])]);
    await argumentsOf(json, body, { classes });
    expect(loads).toEqual([]);
    const serialized = { ...json, "x-svc-data-encoding": "serialized" };
    await expect(argumentsOf(serialized, body, { classes })).rejects.toThrow("no class");
    expect(loads).toEqual([["people/Person"]]);
  });

  it("Beside it the query is counted and not read", async () => {
    const options = { query: "n=2&n=3&n=4", limits: { maxQueryParameters: 3 } };
    expect((await argumentsOf(json, '{"n":1}', options)).args).toEqual({ n: 1 });
    await expect(
      argumentsOf(json, '{"n":1}', { ...options, query: "a=1&b=2&c=3&d=4" }),
    ).rejects.toThrow("More than 3 query parameters (limit 'maxQueryParameters')");
  });
});

describe("the query of a GET", () => {
  it("Its texts become values by the types of the parameters, and the version is none of them", async () => {
    expect(await argumentsOf({}, "", { method: "GET", query: "n=7&version=2" })).toEqual({
      args: { n: 7 },
      asked: [],
    });
  });
});

describe("the encoding that a request asks for", () => {
  it.each([
    [undefined, "plain"],
    ["", "plain"],
    ["serialized", "serialized"],
    [" Serialized ", "serialized"],
    ["superjson", "superjson"],
    ["serialized,superjson", "serialized, superjson"],
    ["serialized , superjson", "serialized, superjson"],
  ])("%j is %s", (field, encoding) => {
    expect(readEncoding({ "x-svc-data-encoding": field })).toBe(encoding);
  });

  it.each(["superjson, serialized", "xserialized, superjson", "serialized, superjson2", "json"])(
    "'%s' is refused with the ones that are known",
    (field) => {
      expect(() => readEncoding({ "x-svc-data-encoding": field })).toThrow(
        `Unsupported encoding '${field}' in x-svc-data-encoding: known are 'serialized' and 'superjson'`,
      );
    },
  );

  it("Of a long one the message shows the beginning", () => {
    expect(() => readEncoding({ "x-svc-data-encoding": "y".repeat(100) })).toThrow(
      `'${"y".repeat(64)}' in`,
    );
  });
});

describe("the version that a query asks for", () => {
  it.each([
    ["", "0.0.0"],
    ["sku=1", "0.0.0"],
    ["version=2", "2.0.0"],
    ["sku=1&version=1.2.3", "1.2.3"],
    ["version=", "0.0.0"],
  ])("'%s' is %s", (query, version) => {
    expect(readVersion(query).toString()).toBe(version);
  });

  it("Two of them are refused", () => {
    expect(() => readVersion("version=1&version=1")).toThrow(
      new BadRequest("The query parameter 'version' was given more than once"),
    );
  });
});

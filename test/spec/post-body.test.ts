import { describe, expect, it } from "vitest";

import { PayloadTooLarge } from "../../src/base/errors.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { decodeArguments } from "../_decode-arguments.ts";
import { type Endpoint, json, callEndpoint, serialized } from "../_endpoint.ts";
import { createWireClasses } from "../_wire-classes.ts";
import { chunksOf } from "../../src/http/bodies.ts";

const add: Endpoint = {
  parameters: [
    { kind: "plain", name: "a" },
    { kind: "plain", name: "b" },
  ],
  run: (a: number, b: number) => a + b,
};
const none: Endpoint = { parameters: [], run: () => "ran" };
const post = (
  endpoint: Endpoint,
  body: string | Uint8Array,
  headers: Record<string, string> = json,
): ReturnType<typeof callEndpoint> => callEndpoint(endpoint, { method: "POST", headers, body });

describe("POST /rpc", () => {
  it("POST takes a JSON object whose properties are the parameters", async () => {
    expect(await post(add, '{"b":2,"a":1}')).toMatchObject({ status: 200, text: "3" });
    expect(
      await post(add, '{"b":2,"a":1}', { "content-type": "Application/JSON ; charset=utf-8" }),
    ).toMatchObject({
      status: 200,
      text: "3",
    });
  });
  it("POST takes an empty body as {}", async () => {
    expect(await post(none, "")).toMatchObject({ status: 200, text: "ran" });
    expect(await post(add, "")).toMatchObject({
      status: 400,
      text: "Missing value for parameters 'a', 'b'",
    });
  });
  it("POST with missing parameters answers 400 and names all of them, before any unknown one", async () => {
    const answer = await post(add, '{"c":1}', serialized);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({
      type: "MissingParameterValue",
      message: "Missing value for parameters 'a', 'b'",
    });
  });
  it("POST with unknown parameters answers 400 and names each of them", async () => {
    const answer = await post(add, '{"a":1,"b":2,"c":3,"toString":4}', serialized);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({
      type: "UnknownParameter",
      message: "Unknown parameters 'c', 'toString'",
    });
  });
  it.each(["__proto__", "constructor", "toString"])(
    "POST answers 400 to a parameter %s",
    async (name) => {
      expect(await post(add, `{"a":1,"b":2,"${name}":3}`)).toMatchObject({
        status: 400,
        text: `Unknown parameter '${name}'`,
      });
    },
  );
  it("POST counts an empty body as {}, whatever its type", async () => {
    for (const type of [
      undefined,
      "application/json",
      "text/plain",
      "application/x-www-form-urlencoded",
    ]) {
      const headers = type === undefined ? {} : { "content-type": type };
      expect(await post(none, "", headers)).toMatchObject({ status: 200, text: "ran" });
      expect((await post(none, "{}", headers)).status).toBe(
        type === "application/json" ? 200 : 415,
      );
    }
  });
  it("POST with another content type is refused before its body arrives", async () => {
    const headers = { "content-type": "text/plain", "content-length": "2" };
    const request = {
      method: "POST",
      target: "/rpc/f",
      scheme: "http" as const,
      headers,
      signal: new AbortController().signal,
      body: chunksOf(),
      readBody: () => new Promise<never>(() => {}),
    };
    const options = {
      classes: createWireClasses(),
      limits: defaultLimits,
      trusted: false,
      encoding: "plain" as const,
    };
    await expect(decodeArguments(request, "", none, options)).rejects.toThrow(
      "A call's body must have the content type application/json or multipart/form-data",
    );
  });
  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/mixed; boundary=x",
    "application/jsonp",
    "application/problem+json",
  ])("POST answers 415 to a body of type %s", async (type) => {
    expect((await post(none, "{}", { "content-type": type })).status).toBe(415);
  });
  it("POST with a compressed body answers 415", async () => {
    expect((await post(none, "{}", { ...json, "content-encoding": "gzip" })).status).toBe(415);
    expect((await post(none, "{}", { ...json, "content-encoding": "Identity" })).status).toBe(200);
  });
  it.each(["{", "[]", "null", "1", '"a"', "{} {}", "\u0000"])(
    "POST answers 400 BadRequest as plain text, without a stack, to %j",
    async (body) => {
      const answer = await post(none, body);
      expect(answer).toMatchObject({
        status: 400,
        headers: { "content-type": "text/plain; charset=utf-8" },
      });
      expect(answer.text).toMatch(/^The (text is not JSON|body must be a JSON object)$/);
    },
  );
  it("POST answers 400 to a body that is not UTF-8", async () => {
    expect(await post(none, new Uint8Array([0x7b, 0xff, 0x7d]))).toMatchObject({
      status: 400,
      text: "The body is not UTF-8",
    });
  });
  it("POST answers 400 to 20,000 nested arrays, and the next call works", async () => {
    expect(await post(add, `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)},"b":1}`)).toMatchObject(
      {
        status: 400,
        text: "More than 128 levels of nesting (limit 'maxDepth')",
      },
    );
    expect((await post(add, '{"a":1,"b":1}')).text).toBe("2");
  });
  it("POST reads no more of the body than the limit", async () => {
    const request = {
      method: "POST",
      target: "/rpc/f",
      scheme: "http" as const,
      headers: json,
      signal: new AbortController().signal,
      body: chunksOf(),
      readBody: (limit: number) => Promise.reject(new PayloadTooLarge(`more than ${limit}`)),
    };
    await expect(
      decodeArguments(request, "", none, {
        classes: createWireClasses(),
        limits: defaultLimits,
        trusted: false,
        encoding: "plain",
      }),
    ).rejects.toThrow(new PayloadTooLarge("more than 1048576"));
  });
});

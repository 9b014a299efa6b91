// Calls by POST, their arguments and bodies, through proxy and gateway.

import { describe, expect, it } from "vitest";

import { createFixture } from "../build/_fixture.ts";
import { encoded, useKinds } from "./_kinds.ts";

const { post, get } = useKinds();
const missing = (names: string): string => `Missing value for ${names}`;

describe("a call by POST", () => {
  it("post-1: POST /rpc/<FQN> with the content type of JSON runs the procedure", async () => {
    expect(await post("none", "{}")).toMatchObject({ status: 200, text: "ran" });
  });

  it("post-2: the body of a POST is a JSON object whose properties are the parameters' names", async () => {
    expect((await post("plain", '{"second":{"b":[2]},"first":null}')).text).toBe(
      '[null,{"b":[2]}]',
    );
  });

  it("post-3: a rest parameter in a body has three dots before its name, and an array", async () => {
    expect((await post("mixed", { a: 1, b: 2, d: 4, "...f": [6, 7] })).text).toBe(
      "[1,2,3,4,5,[6,7]]",
    );
  });

  it("post-4: a POST takes deep and large values", async () => {
    const deep = JSON.parse(`${'{"a":['.repeat(50)}1${"]}".repeat(50)}`) as unknown;
    const large = "x".repeat(900_000);
    const { text } = await post("plain", { first: deep, second: large });
    expect(JSON.parse(text)).toEqual([deep, large]);
  });

  it("post-5: with the header, an instance of a class in a body is a serialized object", async () => {
    const born = { serialized: true, name: "Date", value: "1815-12-10T00:00:00.000Z" };
    const who = {
      serialized: true,
      key: "people/Person",
      name: "class",
      args: { 0: "Ada", 1: born },
      fields: {},
    };
    expect((await post("meet", { who }, encoded)).text).toBe("Ada, born 1815");
  });

  it("post-6: a POST gets the same answer as a GET", async () => {
    for (const headers of [{}, encoded])
      for (const of of [
        "text",
        "number",
        "undefined",
        "null",
        "object",
        "private",
        "bytes",
        "symbol",
      ]) {
        const [byGet, byPost] = [
          await get(`result?of=${of}`, headers),
          await post("result", { of }, headers),
        ];
        expect([byPost.status, byPost.headers, byPost.text], of).toEqual([
          byGet.status,
          byGet.headers,
          byGet.text,
        ]);
      }
  });

  it("post-7: a required parameter that is missing is MissingParameterValue", async () => {
    expect(await post("plain", { first: 1 })).toMatchObject({
      status: 400,
      headers: { "x-svc-error": "MissingParameterValue" },
      text: missing("parameter 'second'"),
    });
  });

  it("post-8: an unknown parameter is UnknownParameter", async () => {
    expect(await post("plain", { first: 1, second: 2, third: 3 })).toMatchObject({
      status: 400,
      headers: { "x-svc-error": "UnknownParameter" },
      text: "Unknown parameter 'third'",
    });
  });
});

describe("null and undefined", () => {
  it("calls-14: a parameter whose key is absent is missing", async () => {
    expect((await post("plain", { second: 1 })).text).toBe(missing("parameter 'first'"));
    expect((await get("plain?second=1")).text).toBe(missing("parameter 'first'"));
  });

  it("calls-15: null and the form of undefined are values", async () => {
    const nothing = { serialized: true, name: "Undefined" };
    expect((await post("plain", { first: null, second: null })).text).toBe("[null,null]");
    expect(JSON.parse((await post("plain", { first: nothing, second: 1 }, encoded)).text)).toEqual([
      nothing,
      1,
    ]);
    // As in a local call, undefined becomes the default, and null doesn't.
    expect(JSON.parse((await post("optional", { a: 1, b: null, c: null })).text)).toEqual([
      1,
      null,
      null,
    ]);
    expect(JSON.parse((await post("optional", { a: 1, b: nothing }, encoded)).text)).toEqual([
      1,
      "b by default",
      "no c",
    ]);
  });

  it("calls-16: leaving out an argument, or passing undefined, in a call to another node works as in a local call", async () => {
    expect((await get("half?how=left+out")).text).toBe("1 and undefined");
    expect((await get("half?how=given")).text).toBe("1 and undefined");
    expect((await post("second", { first: 1 })).text).toBe(missing("parameter 'other'"));
  });
});

describe("parameter checks", () => {
  it("calls-17: missing parameters are reported first, in their order, then unknown ones", async () => {
    expect((await post("mixed", { x: 1, d: 4 })).text).toBe(missing("parameters 'a', 'b'"));
    expect((await get("mixed?x=1&d=no")).text).toBe(missing("parameters 'a', 'b'"));
    expect((await get("typed?number=no&x=1")).text).toBe("Unknown parameter 'x'");
    expect((await post("rest", { "...names": 1, x: 1 })).text).toBe(missing("parameter 'by'"));
    expect((await get("rest?...names=1")).text).toBe(missing("parameter 'by'"));
  });

  it("calls-18: the message names all parameters that are missing, or unknown", async () => {
    expect((await post("mixed", {})).text).toBe(missing("parameters 'a', 'b', 'd'"));
    expect((await post("none", { z: 1, a: 2, m: 3 })).text).toBe(
      "Unknown parameters 'z', 'a', 'm'",
    );
  });

  it("calls-19: only own properties of a body are arguments, not inherited ones", async () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      expect((await post("none", `{"${name}":1}`)).text).toBe(`Unknown parameter '${name}'`);
      expect((await get(`none?${name}=1`)).text).toBe(`Unknown parameter '${name}'`);
    }
    expect((await post("inherited", {})).text).toBe(missing("parameter 'toString'"));
    expect((await post("inherited", { toString: 1 })).text).toBe('[1,"no value"]');
  });
});

describe("rest and destructured parameters", () => {
  it("calls-20: a rest parameter's key is its name with the dots, and its values are spread into the call", async () => {
    expect((await post("rest", { by: "+", "...names": ["a", "b", "c"] })).text).toBe("a+b+c");
    expect((await post("rest", { by: "+", "....names": ["a"] })).text).toBe(
      "Unknown parameter '....names'",
    );
  });

  it("calls-21: a rest parameter that is not an array is 400 InvalidParameterValue", async () => {
    for (const wrong of ["ab", 1, null, { length: 1 }, { 0: "a" }])
      expect(await post("rest", { by: "", "...names": wrong })).toMatchObject({
        status: 400,
        headers: { "x-svc-error": "InvalidParameterValue" },
        text: "parameter '...names' must be an array",
      });
  });

  it("calls-22: a rest parameter by GET is 400", async () => {
    for (const query of ["...names=a", "...names=a&...names=b", "...names="])
      expect(await get(`rest?by=-&${query}`)).toMatchObject({
        status: 400,
        headers: { "x-svc-error": "InvalidParameterValue" },
      });
  });

  it("calls-23: object and array patterns take their values by name", async () => {
    expect((await post("object", { width: 2, height: 3 })).text).toBe("6");
    expect((await post("array", { first: 1, third: 2 })).text).toBe("[1,2]");
  });

  it("calls-24: defaults within a pattern apply", async () => {
    expect((await post("object", { width: 2 })).text).toBe("4");
    expect((await post("array", { first: 1 })).text).toBe("[1,3]");
  });

  it("calls-25: a renamed property of a pattern is passed by the property's name", async () => {
    expect((await post("object", { width: 2 })).status).toBe(200);
    expect((await post("object", { across: 2 })).text).toBe(missing("parameter 'width'"));
  });

  it("calls-26: a nested pattern is a build error with file and line", async () => {
    const app = createFixture({
      "src/shop/a.ts":
        "\nexport async function a(\n  { b: { c } }: { b: { c: number } },\n): Promise<number> {\n  return c;\n}\n",
      "a.segment.json": '{ "./shop/a": { "a": { "access": "public" } } }',
    });
    expect(await app.problems()).toMatchObject([{ file: "src/shop/a.ts", line: 3 }]);
  });
});

describe("the body", () => {
  it("calls-27: a body is a JSON object with the content type application/json, with or without parameters", async () => {
    for (const type of [
      "application/json",
      "application/json; charset=utf-8",
      "application/json;charset=UTF-8",
      "Application/JSON ; x=y",
    ])
      expect((await post("none", "{}", { "content-type": type })).text, type).toBe("ran");
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/mixed; boundary=x",
    "application/jsonp",
    "text/json",
    "x",
  ])("calls-28: a body of another type is 415: %s", async (type) => {
    expect(await post("none", "{}", { "content-type": type })).toMatchObject({
      status: 415,
      headers: { "x-svc-error": "UnsupportedEncoding" },
      text: "A call's body must have the content type application/json or multipart/form-data",
    });
  });

  it("calls-29: an empty body counts as {}, whatever its type", async () => {
    for (const type of [
      "application/json",
      "text/plain",
      "application/x-www-form-urlencoded",
      "",
    ]) {
      expect((await post("none", "", { "content-type": type })).text, type).toBe("ran");
      const page = { "content-type": type, origin: "http://elsewhere" };
      expect((await post("none", "", page)).status, type).toBe(
        type === "application/json" ? 200 : 403,
      );
    }
    expect((await post("plain", "")).text).toBe(missing("parameters 'first', 'second'"));
  });

  it.each(["{", "{} {}", "{'a':1}", "\u0000", "NaN", "[]", "null", "1", '"a"'])(
    "calls-30: a body that is not a JSON object is 400 BadRequest as plain text without a stack: %j",
    async (body) => {
      const answer = await post("none", body);
      expect(answer).toMatchObject({
        status: 400,
        headers: { "x-svc-error": "BadRequest", "content-type": "text/plain; charset=utf-8" },
      });
      expect(answer.text).toMatch(/^The (text is not JSON|body must be a JSON object)$/);
    },
  );
});

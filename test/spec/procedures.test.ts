// Procedures as the build reads them from TypeScript, called through proxy and gateway.

import { describe, expect, it } from "vitest";

import { createFixture } from "../build/_fixture.ts";
import { encoded, useKinds } from "./_kinds.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const { post, get } = useKinds();

const problemsOf = async (code: string) =>
  await createFixture({
    "src/shop/a.ts": code,
    "a.segment.json": '{ "./shop/a": { "a": { "access": "public" } } }',
  }).problems();
const manifestOf = async (
  entry: object,
  code = "export async function a(): Promise<number> { return 1; }\n",
) =>
  (
    await createFixture({
      "src/shop/deep/file.ts": code,
      "a.segment.json": JSON.stringify({ "./shop/deep/file": { a: entry } }),
    }).build()
  ).manifest;

describe("a procedure", () => {
  it("procedures-1: a procedure's name in the path is its module's directory in the source folder, and the function's name", async () => {
    expect((await manifestOf({ access: "public" })).procedures[0]?.fqn).toBe("shop/deep/a");
    expect((await get("none")).text).toBe("ran");
  });

  it("procedures-2: a procedure's version is one to three numbers with dots, and 0.0.0 by default", async () => {
    const versionOf = async (version?: string) =>
      (await manifestOf({ access: "public", ...(version === undefined ? {} : { version }) }))
        .procedures[0]?.version;
    expect([
      await versionOf(),
      await versionOf("2"),
      await versionOf("2.1"),
      await versionOf("10.0.7"),
    ]).toEqual(["0.0.0", "2.0.0", "2.1.0", "10.0.7"]);
  });

  it.each(["public", "private"])(
    "procedures-3: a procedure's access is public or private: %s",
    async (access) => {
      expect((await manifestOf({ access })).segments["a"]?.[0]?.access).toBe(access);
    },
  );

  it("procedures-4: a procedure with the third access, protected, has an RPC endpoint that takes a header", async () => {
    const application = applicationOf({
      "src/shop/audit.ts": "export async function audit(): Promise<string> { return 'audited'; }\n",
      "a.segment.json": '{ "./shop/audit": { "audit": { "access": "protected" } } }',
    });
    const { url } = await start(application, {
      mode: "standalone",
      url: anyPort,
      trustKey: "the-trust-key-of-the-audit",
    });
    const call = async (headers: Record<string, string>): Promise<string> => {
      const answer = await fetch(`${url}/rpc/shop/audit`, { headers });
      return `${answer.status} ${await answer.text()}`;
    };
    expect(await call({})).toBe("401 Unauthorized");
    expect(await call({ "x-svc-trust-key": "another" })).toBe("401 Unauthorized");
    expect(await call({ "x-svc-trust-key": "the-trust-key-of-the-audit" })).toBe("200 audited");
  });

  it("procedures-5: parameters are addressed by their exact names", async () => {
    expect((await post("plain", { second: 2, first: 1 })).text).toBe("[1,2]");
    for (const name of ["First", "first ", " first", "fir", "0"])
      expect(await post("plain", { [name]: 1, second: 2 }), name).toMatchObject({
        status: 400,
        text: "Missing value for parameter 'first'",
      });
  });
});

describe("kinds of parameters", () => {
  it("procedures-6: a plain parameter is passed by its name", async () => {
    expect((await post("plain", { first: "a", second: { b: 1 } })).text).toBe('["a",{"b":1}]');
    expect((await get("plain?first=a&second=b")).text).toBe('["a","b"]');
  });

  it("procedures-7: a parameter with a default may be left out", async () => {
    expect((await post("optional", { a: 1 })).text).toBe('[1,"b by default","no c"]');
    expect((await get("optional?a=1")).text).toBe('["1","b by default","no c"]');
  });

  it("procedures-8: a destructured parameter is passed by the names of its properties", async () => {
    expect((await post("object", { width: 3, height: 4 })).text).toBe("12");
    expect(await post("object", { size: { width: 3 } })).toMatchObject({
      status: 400,
      text: "Missing value for parameter 'width'",
    });
  });

  it("procedures-9: the properties of a destructured parameter are passed at the top level, beside other parameters", async () => {
    expect((await post("mixed", { a: 1, b: 2, d: 4, e: 6 })).text).toBe("[1,2,3,4,6,[]]");
    expect((await get("mixed?a=1&b=2&d=4&e=6")).text).toBe("[1,2,3,4,6,[]]");
  });

  it("procedures-10, limits-1: a pattern of parameters inside a pattern is not supported", async () => {
    for (const pattern of [
      "{ b: { c } }: { b: { c: number } }",
      "[[c]]: number[][]",
      "{ b: [c] }: { b: number[] }",
      "[{ c }]: { c: number }[]",
    ]) {
      const problems = await problemsOf(
        `export async function a(${pattern}): Promise<number> {\n  return c;\n}\n`,
      );
      expect(problems, pattern).toMatchObject([{ file: "src/shop/a.ts", line: 1 }]);
    }
  });

  it("procedures-11: a rest parameter is passed under its name with three dots before it, as an array", async () => {
    expect((await post("rest", { by: "-", "...names": ["a", "b"] })).text).toBe("a-b");
    expect(await post("rest", { by: "-", names: ["a"] })).toMatchObject({
      status: 400,
      text: "Unknown parameter 'names'",
    });
  });

  it("procedures-12: a rest parameter needs POST", async () => {
    expect(await get("rest?by=-&...names=a")).toMatchObject({
      status: 400,
      text: "parameter '...names' needs POST",
    });
  });

  it("procedures-13: an instance of a class is passed as a serialized object, with the header for it", async () => {
    const who = {
      serialized: true,
      key: "people/Person",
      name: "class",
      args: { 0: "Ada" },
      fields: {},
    };
    expect((await post("meet", { who }, encoded)).text).toBe("Ada, born some day");
    expect((await post("plain", { first: who, second: 1 })).text).toBe(JSON.stringify([who, 1]));
  });
});

describe("parameters", () => {
  it("procedures-14: a parameter `b?` of TypeScript is optional", async () => {
    expect((await post("optional", { a: 1, b: 2 })).text).toBe('[1,2,"no c"]');
    expect((await post("optional", { a: 1, c: 3 })).text).toBe('[1,"b by default",3]');
  });

  it("procedures-15: a rest parameter left out is empty", async () => {
    expect(await post("rest", { by: "-" })).toMatchObject({ status: 200, text: "" });
    expect(await get("rest?by=-")).toMatchObject({ status: 200, text: "" });
  });

  it("procedures-16: a name in a pattern is optional if it has a default, or the whole pattern has one", async () => {
    expect((await post("object", { width: 3 })).text).toBe("6");
    expect((await post("whole", {})).text).toBe("[7,8]");
    expect((await post("whole", { a: 3 })).text).toBe("[3,2]");
    const application = applicationOf({
      "src/a.ts":
        "export async function a({ b, c }: { b?: number; c?: number } = { b: 7, c: 8 }, [d, e]: [d?: number, e?: number] = [9, 10]) { return [b, c, d, e].join(); }\n",
      "a.segment.json": '{ "./a": { "a": { "access": "public" } } }',
    });
    const { url } = await start(application, { mode: "standalone", url: anyPort });
    const answerTo = async (query: string): Promise<string> =>
      await (await fetch(`${url}/rpc/a${query}`)).text();
    // As in the language: if one of the names is passed, the others have their own defaults.
    expect([await answerTo(""), await answerTo("?c=1"), await answerTo("?b=1&e=2")]).toEqual([
      "7,8,9,10",
      ",1,9,10",
      "1,,,2",
    ]);
  });

  it("procedures-17: a pattern that gathers the rest is a build error", async () => {
    for (const pattern of [
      "{ b, ...others }: Record<string, number>",
      "[b, ...others]: number[]",
    ]) {
      const problems = await problemsOf(
        `export async function a(${pattern}): Promise<unknown> {\n  return [b, others];\n}\n`,
      );
      expect(problems, pattern).toMatchObject([{ file: "src/shop/a.ts", line: 1 }]);
    }
  });

  it("procedures-18: one value in a GET for a list parameter is a list of one", async () => {
    expect((await get("lists?numbers=1&flags=true&bigs=2&texts=a")).text).toBe(
      '[[1],[true],["2"],[],["a"]]',
    );
  });

  it("procedures-19: empty text in a GET for a number is 400", async () => {
    for (const query of [
      "typed?number=",
      "typed?number",
      "lists?numbers=",
      "lists?numbers=1&numbers=",
    ])
      expect((await get(query)).status, query).toBe(400);
  });
});

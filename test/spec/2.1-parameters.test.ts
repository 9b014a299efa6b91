// §2.1 and what is settled of it: procedures as the build reads them from TypeScript, called through proxy and gateway.

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

describe("§2.1 a procedure", () => {
  it("§2.1-1 a procedure's name in the path is its module's directory in the source folder, and the function's name", async () => {
    expect((await manifestOf({ access: "public" })).procedures[0]?.fqn).toBe("shop/deep/a");
    expect((await get("none")).text).toBe("ran");
  });

  it("§2.1-2 a procedure's version is one to three numbers with dots, 0.0.0 where none is given", async () => {
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
    "§2.1-3 a procedure's access is public or private: %s",
    async (access) => {
      expect((await manifestOf({ access })).segments["a"]?.[0]?.access).toBe(access);
    },
  );

  it("§2.1-4 a third access, protected, has an RPC endpoint that takes a header", async () => {
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

  it("§2.1-5 parameters are addressed by their exact names", async () => {
    expect((await post("plain", { second: 2, first: 1 })).text).toBe("[1,2]");
    for (const other of ["First", "first ", " first", "fir", "0"])
      expect(await post("plain", { [other]: 1, second: 2 }), other).toMatchObject({
        status: 400,
        text: "Missing value for parameter 'first'",
      });
  });
});

describe("§2.1 kinds of parameters", () => {
  it("§2.1-6 a plain parameter is given by its name", async () => {
    expect((await post("plain", { first: "a", second: { b: 1 } })).text).toBe('["a",{"b":1}]');
    expect((await get("plain?first=a&second=b")).text).toBe('["a","b"]');
  });

  it("§2.1-7 a parameter with a default may be left out", async () => {
    expect((await post("optional", { a: 1 })).text).toBe('[1,"b by default","no c"]');
    expect((await get("optional?a=1")).text).toBe('["1","b by default","no c"]');
  });

  it("§2.1-8 of a destructured parameter only the properties' names count", async () => {
    expect((await post("object", { width: 3, height: 4 })).text).toBe("12");
    expect(await post("object", { size: { width: 3 } })).toMatchObject({
      status: 400,
      text: "Missing value for parameter 'width'",
    });
  });

  it("§2.1-9 each property of a destructured parameter stands at the top level, beside other parameters", async () => {
    expect((await post("mixed", { a: 1, b: 2, d: 4, e: 6 })).text).toBe("[1,2,3,4,6,[]]");
    expect((await get("mixed?a=1&b=2&d=4&e=6")).text).toBe("[1,2,3,4,6,[]]");
  });

  it("§2.1-10, §8-1 a pattern of parameters inside a pattern is not supported", async () => {
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

  it("§2.1-11 a rest parameter is given under its name with three dots before it, as an array", async () => {
    expect((await post("rest", { by: "-", "...names": ["a", "b"] })).text).toBe("a-b");
    expect(await post("rest", { by: "-", names: ["a"] })).toMatchObject({
      status: 400,
      text: "Unknown parameter 'names'",
    });
  });

  it("§2.1-12 a rest parameter needs POST", async () => {
    expect(await get("rest?by=-&...names=a")).toMatchObject({
      status: 400,
      text: "parameter '...names' needs POST",
    });
  });

  it("§2.1-13 an instance of a class is given as a serialized object, with the header for it", async () => {
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

describe("decisions §6, parameters", () => {
  it("D6.parameters-1 a parameter `b?` of TypeScript is optional", async () => {
    expect((await post("optional", { a: 1, b: 2 })).text).toBe('[1,2,"no c"]');
    expect((await post("optional", { a: 1, c: 3 })).text).toBe('[1,"b by default",3]');
  });

  it("D6.parameters-2 a rest parameter left out is empty", async () => {
    expect(await post("rest", { by: "-" })).toMatchObject({ status: 200, text: "" });
    expect(await get("rest?by=-")).toMatchObject({ status: 200, text: "" });
  });

  it("D6.parameters-3 a name in a pattern is optional if it has a default, or the whole pattern has one", async () => {
    expect((await post("object", { width: 3 })).text).toBe("6");
    expect((await post("whole", {})).text).toBe("[7,8]");
    expect((await post("whole", { a: 3 })).text).toBe("[3,2]");
    const application = applicationOf({
      "src/a.ts":
        "export async function a({ b, c }: { b?: number; c?: number } = { b: 7, c: 8 }, [d, e] = [9, 10]) { return [b, c, d, e].join(); }\n",
      "a.segment.json": '{ "./a": { "a": { "access": "public" } } }',
    });
    const { url } = await start(application, { mode: "standalone", url: anyPort });
    const asked = async (query: string): Promise<string> =>
      await (await fetch(`${url}/rpc/a${query}`)).text();
    // As in the language: with one of its names given, the others have what they have by themselves.
    expect([await asked(""), await asked("?c=1"), await asked("?b=1&e=2")]).toEqual([
      "7,8,9,10",
      ",1,9,10",
      "1,,,2",
    ]);
  });

  it("D6.parameters-4 a pattern that gathers the rest is a build error", async () => {
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

  it("D6.parameters-5 one value of a GET for a parameter that is a list is a list of one", async () => {
    expect((await get("lists?numbers=1&flags=true&bigs=2&texts=a")).text).toBe(
      '[[1],[true],["2"],[],["a"]]',
    );
  });

  it("D6.parameters-6 empty text of a GET for a number is 400", async () => {
    for (const query of [
      "typed?number=",
      "typed?number",
      "lists?numbers=",
      "lists?numbers=1&numbers=",
    ])
      expect((await get(query)).status, query).toBe(400);
  });
});

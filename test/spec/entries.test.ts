// Private procedures, and what entries of segment files may name.

import { describe, expect, it } from "vitest";

import { ProcedureNotFound } from "../../src/base/errors.ts";
import type { Files } from "../build/_fixture.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const open = { access: "public" };
const hidden = { access: "private" };
const segment = (module: string, exports: Record<string, unknown>): string =>
  JSON.stringify({ [module]: exports });

async function standalone(files: Files) {
  const application = applicationOf(files);
  await application.build();
  return await start(application, { mode: "standalone", url: anyPort });
}
const ask = async (url: string, headers: Record<string, string> = {}): Promise<string> => {
  const answer = await fetch(url, { headers });
  return `${answer.status} ${await answer.text()}`;
};

describe("private procedures", () => {
  const files = {
    "src/s/secret.ts": "export async function secret() { return 42; }\n",
    "src/s/ask.ts":
      'import { runProcedure } from "seamline";\nimport { secret } from "./secret.ts";\nexport async function ask() { return [await secret(), await runProcedure("s/secret", "", {})].join(); }\n',
    "x.segment.json": JSON.stringify({
      "./s/secret": { secret: hidden },
      "./s/ask": { ask: open },
    }),
  };

  it("access-9: private procedures are called on their own node by import and runProcedure, not by RPC", async () => {
    const server = await standalone(files);
    expect(await ask(`${server.url}/rpc/s/ask`)).toBe("200 42,42");
    expect(await server.runProcedure("s/secret")).toBe(42);
    expect(await ask(`${server.url}/rpc/s/secret`)).toMatch(/^404 /);
  });

  const apart = {
    ...files,
    "x.segment.json": segment("./s/ask", { ask: open }),
    "y.segment.json": segment("./s/secret", { secret: hidden }),
  };

  it("access-10: the build warns if code of another segment imports a private procedure, with the chain of imports", async () => {
    const { warnings } = await applicationOf(apart).build();
    expect(warnings).toMatchObject([
      {
        file: "src/s/ask.ts",
        message:
          '"s/secret" is private to "y", but code of segment "x" imports it: src/s/ask.ts → src/s/secret.ts',
      },
    ]);
    expect((await applicationOf(files).build()).warnings).toEqual([]);
  });

  it("access-11: calling a private procedure of another node fails with ProcedureNotFound", async () => {
    const application = applicationOf(apart);
    await application.build();
    const server = await start(application, { mode: "standalone", url: anyPort, segments: ["x"] });
    expect(await ask(`${server.url}/rpc/s/ask`)).toMatch(/^500 .*s\/secret/);
    await expect(server.runProcedure("s/secret")).rejects.toBeInstanceOf(ProcedureNotFound);
  });

  it("access-12: no message lists private or protected versions to outsiders", async () => {
    const { url } = await standalone({
      "src/s/a.ts":
        "export async function one() {}\nexport async function two() {}\nexport async function three() {}\n",
      "x.segment.json": segment("./s/a", {
        one: { ...open, as: "a", version: "1" },
        two: { ...hidden, as: "a", version: "2" },
        three: { access: "protected", as: "a", version: "3" },
      }),
    });
    const answer = await ask(`${url}/rpc/s/a?version=9`);
    expect(answer).toMatch(/^404 .*1\.0\.0/);
    expect(answer).not.toMatch(/2\.0\.0|3\.0\.0/);
    const body = async (version: string) =>
      (await ask(`${url}/rpc/s/a?version=${version}`)).replaceAll(`${version}.0.0`, "V");
    expect(await body("2")).toBe(await body("9"));
  });
});

describe("entries of segment files", () => {
  it("segments-17: access is required: an entry without it fails the build", async () => {
    const application = applicationOf({
      "src/a.ts": "export async function a() {}\n",
      "x.segment.json": segment("./a", { a: {} }),
    });
    expect(await application.problems()).toMatchObject([
      {
        file: "x.segment.json",
        line: 1,
        path: '$["./a"].a.access',
        message: 'access is missing: expected "public", "protected", "private"',
      },
    ]);
  });

  it.each([
    ["export function a() {}", /async/],
    ["export const a = () => 1;", /async/],
    ["export function* a() {}", /generator that is not async/],
    ["export const a = 1;", /function/],
    ["export class a {}", /is a class/],
  ])(
    "segments-18: an entry for a function that isn't async, or for another value, fails the build: %s",
    async (source, message) => {
      const application = applicationOf({
        "src/a.ts": `\n${source}\n`,
        "x.segment.json": segment("./a", { a: open }),
      });
      expect(await application.problems()).toMatchObject([
        {
          file: "src/a.ts",
          line: 2,
          message: expect.stringMatching(message),
          hint: expect.any(String),
        },
      ]);
    },
  );

  it("segments-30: an async generator is a procedure, and both manifests say that it is a stream", async () => {
    const application = applicationOf({
      "src/s/rows.ts": "export async function* rows() {\n  yield 1;\n}\n",
      "src/s/one.ts": "export async function one() {\n  return 1;\n}\n",
      "x.segment.json": JSON.stringify({ "./s/rows": { rows: open }, "./s/one": { one: open } }),
    });
    await application.build({ browserSegments: ["x"] });
    for (const { procedures } of [application.manifest(), application.browserManifest()])
      expect(procedures.map(({ fqn, stream }) => [fqn, stream])).toEqual([
        ["s/one", undefined],
        ["s/rows", true],
      ]);
  });

  it("segments-31: `resume` makes a stream idempotent, and fails the build for any other function", async () => {
    const of = (source: string) =>
      applicationOf({
        "src/s/rows.ts": source,
        "x.segment.json": segment("./s/rows", { rows: { ...open, resume: true } }),
      });
    const stream = of("export async function* rows() {\n  yield this.lastEventId;\n}\n");
    await stream.build();
    expect(stream.manifest().segments["x"]).toEqual([
      { procedure: 0, access: "public", idempotent: true, resume: true },
    ]);
    expect(await of("export async function rows() {}\n").problems()).toMatchObject([
      {
        file: "x.segment.json",
        line: 1,
        path: '$["./s/rows"].rows',
        message: expect.stringMatching(/"resume" belongs to a stream/),
      },
    ]);
  });

  it("segments-19: `const f = async () => …; export default f` is named f", async () => {
    const { url } = await standalone({
      "src/s/file.ts": "const f = async () => 1;\nexport default f;\n",
      "x.segment.json": segment("./s/file", { default: open }),
    });
    expect(await ask(`${url}/rpc/s/f`)).toBe("200 1");
  });

  const people = {
    "src/s/person.ts": `export class Person {
  private nick = "none";
  #born: number;
  #lost = "never given";
  constructor(born: number) { this.#born = born; }
  get born(): number { return this.#born; }
  rename(nick: string): this { this.nick = nick; this.#lost = nick; return this; }
  all(): string { return [this.nick, this.#born, this.#lost].join(); }
}
`,
    "src/s/a.ts":
      'import { Person } from "./person.ts";\nexport async function make() { return new Person(1815).rename("Ada"); }\nexport async function read(person: Person) { return person.all(); }\n',
    "x.segment.json": segment("./s/a", { make: open, read: open }),
  };
  const serialized = { "x-svc-data-encoding": "serialized" };

  it("segments-20: a member with TypeScript's private is an ordinary one at run time, and travels", async () => {
    const { url } = await standalone(people);
    expect(JSON.parse((await ask(`${url}/rpc/s/make`, serialized)).slice(4))).toMatchObject({
      fields: { nick: "Ada" },
    });
  });

  it("segments-21: #private members travel by constructor arguments and accessors only", async () => {
    const { url } = await standalone(people);
    const person = JSON.parse((await ask(`${url}/rpc/s/make`, serialized)).slice(4)) as object;
    expect(person).toMatchObject({ args: { 0: 1815 }, fields: { nick: "Ada" } });
    const answer = await fetch(`${url}/rpc/s/read`, {
      method: "POST",
      headers: { "content-type": "application/json", ...serialized },
      body: JSON.stringify({ person }),
    });
    expect(await answer.text()).toBe("Ada,1815,never given");
  });
});

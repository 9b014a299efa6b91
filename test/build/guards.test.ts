// Guards in segment files: mistakes that a build refuses, its warnings, and where their modules go.

import { describe, expect, it } from "vitest";

import type { Application } from "../../server/compile/cut/application.ts";
import { namedIn, routesIn } from "../../server/compile/write/manifest-writer.ts";
import type { ReadOptions } from "../../server/compile/read-application.ts";
import { checkApplication } from "../../server/report/check.ts";
import { TestLog } from "../../server/testing/test-log.ts";
import { createFixture, type Files } from "./_fixture.ts";
import { readAt } from "./_reading.ts";

const order = "export async function order(): Promise<string> {\n  return 'ordered';\n}\n";
const hook = "export async function hook(): Promise<Response> {\n  return new Response();\n}\n";
const auth = [
  'const secret = "PLANTED-IN-A-GUARD";',
  "export async function signedIn(): Promise<void> {",
  "  if (secret === '') throw new Error(secret);",
  "}",
  "",
].join("\n");

const segment = (value: unknown): string => JSON.stringify(value);
const orderWith = (entry: object, more: object = {}): Files => ({
  "segments/shop.segment.json": segment({
    ...more,
    "./shop/order": { order: { access: "public", ...entry } },
  }),
});

async function read(files: Files, options: Partial<ReadOptions> = {}): Promise<Application> {
  const all = { "src/shop/order.ts": order, "src/hook.ts": hook, "src/auth.ts": auth, ...files };
  return await readAt(createFixture(all).root, options);
}

const guard = "./auth.ts#signedIn";

describe("a guard in a segment file", () => {
  it("is in the manifest of nodes by its module and export, and browsers don't learn of it", async () => {
    const application = await read(orderWith({ guard }));
    expect(application.problems).toEqual([]);
    expect(application.warnings).toEqual([]);
    const entries = (side: "server" | "browser") =>
      namedIn(application, ["shop"], side).segments["shop"];
    expect(entries("server")).toEqual([{ procedure: 0, access: "public", guard: "auth#signedIn" }]);
    expect(entries("browser")).toEqual([{ procedure: 0, access: "public" }]);
    expect(application.serverEntries.map(({ id }) => id)).toContain("auth");
  });

  it("without a # is the default export of its module", async () => {
    const application = await read({
      ...orderWith({ guard: "./auth" }),
      "src/auth.ts": "export default async (): Promise<void> => {};\n",
    });
    expect(application.problems).toEqual([]);
    expect([...application.guards.keys()]).toEqual(["auth#default"]);
  });

  it("may be behind re-exports, and is where it is declared", async () => {
    const application = await read({
      ...orderWith({ guard: "./guards#mayOrder" }),
      "src/guards/index.ts": 'export { signedIn as mayOrder } from "../auth.ts";\n',
    });
    expect(application.problems).toEqual([]);
    expect([...application.guards.keys()]).toEqual(["auth#signedIn"]);
  });

  it("may have a written type, if another function made it", async () => {
    const made = (type: string) =>
      `const only = (check: () => Promise<void>) => async (): Promise<void> => await check();\nexport const signedIn${type} = only(async () => {});\n`;
    const typed = await read({
      ...orderWith({ guard }),
      "src/auth.ts": made(": () => Promise<void>"),
    });
    expect(typed.problems).toEqual([]);
    const untyped = await read({ ...orderWith({ guard }), "src/auth.ts": made("") });
    expect(untyped.problems).toMatchObject([
      { message: expect.stringContaining("its type doesn't say that it takes no parameters") },
    ]);
  });

  it("at the top of a file is that of all its public and protected entries, and false takes it off", async () => {
    const application = await read({
      "src/shop/all.ts": ["open", "inner", "free", "own", "closed"]
        .map((name) => `export async function ${name}(): Promise<void> {}\n`)
        .join(""),
      "src/other.ts": "export async function other(): Promise<void> {}\n",
      "segments/shop.segment.json": segment({
        $guard: guard,
        "./shop/all": {
          open: { access: "public" },
          inner: { access: "protected" },
          free: { access: "public", guard: false },
          own: { access: "public", guard: "./other#other" },
          closed: { access: "private" },
        },
        "./hook": { hook: { access: "public", route: "POST /hook" } },
      }),
    });
    expect([application.problems, application.warnings]).toEqual([[], []]);
    const { procedures, segments } = namedIn(application, ["shop"], "server");
    const guards = segments["shop"]!.map(({ procedure, guard: named }) => [
      procedures[procedure]!.export,
      named,
    ]);
    expect(Object.fromEntries(guards)).toEqual({
      open: "auth#signedIn",
      inner: "auth#signedIn",
      free: undefined,
      own: "other#other",
      closed: undefined,
    });
    expect(routesIn(application).routes?.["shop"]?.[0]?.guard).toBe("auth#signedIn");
  });
});

describe("a guard that can't be one is a problem", () => {
  it.each([
    ["no text", true, "", /^expected a guard, or false, found true$/, /"\.\/auth\.ts#signedIn"/],
    ["a path outside", "../auth#a", "", /which does not start with "\.\/"/, /"\.\/auth#a"/],
    ["an export with a blank", "./auth#a b", "", /^expected a guard, or false, found/, /Write/],
    [
      "a module that isn't there",
      "./auht#signedIn",
      auth,
      /"\.\/auht" isn't one/,
      /Did you mean "\.\/auth#signedIn"/,
    ],
    [
      "a missing export",
      "./auth#signedin",
      auth,
      /has no export "signedin"; it exports signedIn/,
      /Did you mean "signedIn"/,
    ],
    ["no default export", "./auth", auth, /has no export "default"/, /Export an async function/],
    [
      "a function that isn't async",
      guard,
      "export function signedIn(): void {}\n",
      /isn't async/,
      /without parameters/,
    ],
    ["a class", guard, "export class signedIn {}\n", /is a class/, /without parameters/],
    [
      "a value",
      guard,
      "export const signedIn = 1;\n",
      /isn't an async function/,
      /without parameters/,
    ],
    [
      "a generator",
      guard,
      "export async function* signedIn(): AsyncGenerator<number> {}\n",
      /is a generator/,
      /without parameters/,
    ],
    [
      "a function with parameters",
      guard,
      "export async function signedIn(user?: string): Promise<void> {}\n",
      /has parameters/,
      /getContext\(\)/,
    ],
    [
      "a function with a rest parameter",
      guard,
      "export async function signedIn(...all: string[]): Promise<void> {}\n",
      /has parameters/,
      /getContext\(\)/,
    ],
    [
      "a function of a package",
      guard,
      'export { signedIn } from "some-auth";\n',
      /comes from "some-auth"/,
      /of your own/,
    ],
  ])("%s", async (_what, named, text, message, hint) => {
    const { problems } = await read({
      ...orderWith({ guard: named }),
      ...(text !== "" && { "src/auth.ts": text }),
    });
    expect(problems).toMatchObject([
      {
        file: "segments/shop.segment.json",
        line: 1,
        path: '$["./shop/order"].order.guard',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      },
    ]);
  });

  it("at the top of a file, where it is named once for all entries, and without any", async () => {
    const named = await read(orderWith({}, { $guard: "./nowhere#signedIn" }));
    expect(named.problems).toMatchObject(
      [{ path: "$.$guard", message: /nowhere/ }].map((one) => ({
        ...one,
        message: expect.stringMatching(one.message),
      })),
    );
    const alone = await read({ "segments/shop.segment.json": segment({ $guard: "./nowhere#a" }) });
    expect(alone.problems).toMatchObject([{ path: "$.$guard" }]);
    const off = await read(orderWith({}, { $guard: false }));
    expect(off.problems).toMatchObject([
      { path: "$.$guard", message: "expected a guard, found false" },
    ]);
    const misspelt = await read(orderWith({}, { $gaurd: guard }));
    expect(misspelt.problems[0]).toMatchObject({
      path: "$.$gaurd",
      hint: 'Did you mean "$guard"?',
    });
  });

  it("in a segment itself", async () => {
    const { problems } = await read({
      ...orderWith({ guard }),
      "segments/auth.segment.json": segment({ "./auth": { signedIn: { access: "private" } } }),
    });
    expect(problems).toMatchObject([
      {
        file: "segments/shop.segment.json",
        message:
          'the guard "signedIn" of src/auth.ts is named as a function of segment "auth" too (segments/auth.segment.json at $["./auth"].signedIn)',
        hint: expect.stringContaining("it can't be in a segment"),
      },
    ]);
  });

  it("in a module that doesn't parse", async () => {
    const { problems } = await read({
      ...orderWith({ guard }),
      "src/auth.ts": "export async function {",
    });
    expect(problems).toMatchObject([{ file: "src/auth.ts" }]);
  });
});

const page: Files = {
  "src/view.ts": "export async function view(): Promise<void> {}\n",
  "segments/ui.segment.json": segment({ "./view": { view: { access: "private" } } }),
  "index.html": '<!doctype html><script type="module" src="./src/main.ts"></script>\n',
  "src/main.ts":
    'import { startClient } from "seamline/client";\nimport { order } from "./shop/order.ts";\nawait startClient("ui");\nawait order();\n',
};

describe("the source of a guard", () => {
  it("is in the build of nodes, and in no file for browsers", async () => {
    const app = createFixture({
      ...page,
      "src/shop/order.ts": order,
      "src/auth.ts": auth,
      ...orderWith({ guard }),
    });
    const { manifest, warnings } = await app.build();
    expect(warnings).toEqual([]);
    const { file } = manifest.modules["auth"]!;
    expect(app.read(`dist/server/modules/${file}`)).toContain("PLANTED-IN-A-GUARD");
    const published = app.list("dist/browser").map((name) => app.read(`dist/browser/${name}`));
    for (const text of [...published, JSON.stringify(app.browserManifest())]) {
      expect(text).not.toContain("PLANTED-IN-A-GUARD");
      expect(text).not.toContain("signedIn");
    }
  });

  it.each([
    [
      "an import of a page",
      {
        "src/main.ts": `${page["src/main.ts"]}import { signedIn } from "./auth.ts";\nawait signedIn();\n`,
      },
    ],
    [
      "a procedure beside it that a page calls",
      {
        "src/auth.ts": `${auth}export async function signIn(): Promise<void> {}\n`,
        "src/main.ts": `${page["src/main.ts"]}import { signIn } from "./auth.ts";\nawait signIn();\n`,
        "segments/auth.segment.json": segment({ "./auth": { signIn: { access: "public" } } }),
      },
    ],
    [
      "a segment that browsers load",
      {
        "src/ui.ts":
          'import { signedIn } from "./auth.ts";\nexport async function show(): Promise<void> {\n  await signedIn();\n}\n',
        "segments/ui.segment.json": segment({ "./ui": { show: { access: "private" } } }),
      },
    ],
  ])("would reach browsers by %s, which is a problem", async (_how, files) => {
    const { problems } = await read({ ...page, ...orderWith({ guard }), ...files });
    expect(problems).toMatchObject([
      {
        file: "segments/shop.segment.json",
        path: '$["./shop/order"].order.guard',
        message: 'browsers load src/auth.ts, and with it the source of the guard "signedIn"',
        hint: expect.stringContaining("a module that no page and no segment for browsers imports"),
      },
    ]);
  });
});

describe("warnings about guards", () => {
  it("a guard of a private function never runs", async () => {
    const { warnings } = await read(orderWith({ access: "private", guard }));
    expect(warnings).toMatchObject([{ message: expect.stringContaining("never runs") }]);
  });

  it("a guard in a segment that browsers load doesn't run there", async () => {
    const { problems, warnings } = await read({
      ...page,
      "segments/ui.segment.json": segment({ "./hook": { hook: { access: "public", guard } } }),
      ...orderWith({}),
    });
    expect(problems).toEqual([]);
    expect(warnings).toMatchObject([
      {
        file: "segments/ui.segment.json",
        message: `the guard of "hook" doesn't run in browsers, which load segment "ui"`,
        hint: expect.stringContaining("guard what it calls"),
      },
    ]);
  });

  it("versions of a procedure with other guards name both", async () => {
    const { problems, warnings } = await read({
      "src/shop/old.ts": order,
      "segments/shop.segment.json": segment({
        "./shop/order": { order: { access: "public", version: "2", guard } },
        "./shop/old": { order: { access: "public", version: "1" } },
      }),
    });
    expect(problems).toEqual([]);
    expect(warnings).toMatchObject([
      {
        message:
          'version 2.0.0 of "shop/order" has the guard "auth#signedIn", and version 1.0.0 has no guard',
        hint: expect.stringContaining("Callers choose the version"),
      },
    ]);
  });
});

describe('"guards": "required"', () => {
  const files: Files = {
    "src/shop/order.ts": order,
    "src/shop/more.ts": "export async function more(): Promise<void> {}\n",
    "src/auth.ts": auth,
    "segments/a.segment.json": segment({
      "./shop/order": { order: { access: "public" } },
      "./shop/more": { more: { access: "protected" } },
    }),
  };
  const problem = {
    file: "segments/a.segment.json",
    path: '$["./shop/order"].order',
    message: expect.stringContaining('"shop/order" is public and has no guard'),
    hint: expect.stringContaining('"guard": false'),
  };

  it("fails a build whose public entry names no guard", async () => {
    expect(await createFixture(files).problems({ guards: "required" })).toMatchObject([problem]);
    expect((await createFixture(files).build()).warnings).toEqual([]);
  });

  it("is content with a guard, with the guard of the file, and with false", async () => {
    for (const [entry, more] of [
      [{ guard }, {}],
      [{ guard: false }, {}],
      [{}, { $guard: guard }],
    ] as const)
      expect((await read(orderWith(entry, more), { guards: "required" })).problems).toEqual([]);
  });

  it("in a configuration fails check", async () => {
    const config = { mode: "standalone", url: "http://127.0.0.1:0", guards: "required" };
    const app = createFixture({ ...files, "seamline.json": JSON.stringify(config) });
    const found = await checkApplication({ root: app.root, env: {}, log: new TestLog() });
    expect(found.problems).toMatchObject([problem]);
  });
});

// Routes in segment files: mistakes that a build refuses, and its warnings.

import { describe, expect, it } from "vitest";

import type { Application } from "../../server/compile/cut/application.ts";
import { routesIn } from "../../server/compile/write/manifest-writer.ts";
import type { Files } from "./_fixture.ts";
import { createFixture } from "./_fixture.ts";
import { readAt } from "./_reading.ts";
import type { ReadOptions } from "../../server/compile/read-application.ts";

const hook =
  "export async function hook(request: Request): Promise<Response> {\n  return new Response(request.method);\n}\n";

async function read(files: Files, options: Partial<ReadOptions> = {}): Promise<Application> {
  return await readAt(createFixture({ "src/hooks.ts": hook, ...files }).root, options);
}

const entries = (value: unknown): string => JSON.stringify(value);
const hooks = (entry: object): Files => ({
  "segments/shop.segment.json": entries({ "./hooks": { hook: { access: "public", ...entry } } }),
});

describe("a route in a segment file", () => {
  it("is in the manifest of nodes, and is no procedure", async () => {
    const application = await read(
      hooks({ route: "POST /webhooks/:provider", crossSite: true, bodyBytes: 1024 }),
    );
    expect(application.problems).toEqual([]);
    expect(application.warnings).toEqual([]);
    expect(application.procedures).toEqual([]);
    expect(routesIn(application).routes).toEqual({
      shop: [
        {
          name: "hook",
          method: "POST",
          path: "/webhooks/:provider",
          module: "hooks",
          export: "hook",
          access: "public",
          crossSite: true,
          bodyBytes: 1024,
        },
      ],
    });
  });

  it.each([
    ["a version", { route: "GET /a", version: "1" }, /a route has no "version"/],
    ["another name", { route: "GET /a", as: "x" }, /a route has no "as"/],
    ["safe", { route: "GET /a", safe: true }, /a route has no "safe"/],
    ["resume", { route: "GET /a", resume: true }, /a route has no "resume"/],
    ["a bad pattern", { route: "GET /a{" }, /the part "a\{"/],
    ["a reserved first part", { route: "GET /rpc/x" }, /begins with "rpc"/],
    ["a route that is no text", { route: 1 }, /expected a method and a path as text/],
    ["a limit without a route", { bodyBytes: 5 }, /"bodyBytes" belongs to a route/],
    ["crossSite without a route", { crossSite: true }, /"crossSite" belongs to a route/],
    ["a limit of nothing", { route: "GET /a", bodyBytes: 0 }, /a whole number of bytes above 0/],
    ["crossSite as text", { route: "GET /a", crossSite: "yes" }, /expected true or false/],
    ["the assets folder", { route: "GET /assets/x" }, /begins with "assets"/],
  ])("with %s is a problem", async (_name, entry, message) => {
    const { problems } = await read(hooks(entry), { assetsDir: "assets" });
    expect(problems.map((problem) => problem.message)).toEqual([
      expect.stringMatching(message) as string,
    ]);
  });

  it("that is an async generator is a problem, and a procedure that is one isn't", async () => {
    const files = { "src/hooks.ts": hook.replace("function", "function*") };
    const { problems } = await read({ ...hooks({ route: "GET /a" }), ...files });
    expect(problems).toMatchObject([
      {
        file: "segments/shop.segment.json",
        path: '$["./hooks"].hook',
        message:
          'the function of the route "hook" is an async generator, but a route returns one Response',
        hint: expect.stringContaining("ReadableStream"),
      },
    ]);
    const procedure = await read({ ...hooks({}), ...files });
    expect(procedure.problems).toEqual([]);
    expect(procedure.warnings).toEqual([]);
    expect(procedure.procedures).toMatchObject([{ fqn: "hook", stream: true }]);
  });

  it("and another one that answers the same requests are a problem that names both", async () => {
    const { problems } = await read({
      "src/hooks.ts": `${hook}${hook.replace("hook(", "other(")}`,
      "segments/shop.segment.json": entries({
        "./hooks": {
          hook: { access: "public", route: "POST /a/:x" },
          other: { access: "public", route: "* /a/:y" },
        },
      }),
    });
    expect(problems).toMatchObject([
      {
        message:
          'the route "* /a/:y" of other and the route "POST /a/:x" of hook (segments/shop.segment.json) answer the same requests',
      },
    ]);
  });

  it("that is a procedure in another segment is a problem", async () => {
    const { problems } = await read({
      ...hooks({ route: "POST /a" }),
      "segments/other.segment.json": entries({ "./hooks": { hook: { access: "public" } } }),
    });
    expect(problems[0]?.message).toMatch(
      /the function "hook" of src\/hooks.ts is the route "POST \/a" here, and a procedure in segments\/other/,
    );
  });

  it("with the name of another function is a problem", async () => {
    const { problems } = await read({
      "src/b.ts": hook,
      "segments/shop.segment.json": entries({
        "./hooks": { hook: { access: "public", route: "POST /a" } },
        "./b": { hook: { access: "public" } },
      }),
    });
    expect(problems.map(({ message }) => message)).toEqual([
      '"hook" stands for two functions: "hook" of src/b.ts (segments/shop.segment.json), and "hook" of src/hooks.ts (segments/shop.segment.json)',
    ]);
  });

  it("that takes more than the request is a problem", async () => {
    const { problems } = await read({
      ...hooks({ route: "POST /a" }),
      "src/hooks.ts": hook.replace("Request)", "Request, provider: string)"),
    });
    expect(problems[0]?.message).toMatch(/takes 2 parameters, but gets only the request/);
  });

  it("may be made by another function without a type, as its only parameter is the request", async () => {
    const files = (entry: object): Files => ({
      ...hooks(entry),
      "src/json.ts":
        "export const json = (make: (request: Request) => Promise<object>) => async (request: Request) => Response.json(await make(request));\n",
      "src/hooks.ts":
        'import { json } from "./json.ts";\nexport const hook = json(async (request) => ({ method: request.method }));\n',
    });
    const { problems, warnings } = await read(files({ route: "POST /a" }));
    expect([problems, warnings]).toEqual([[], []]);
    const { problems: ofProcedure } = await read(files({}));
    expect(ofProcedure.map(({ message }) => message)).toEqual([
      "'hook' comes from json(…): the source doesn't say which parameters callers give",
    ]);
  });

  it("that isn't async is a problem", async () => {
    const { problems } = await read({
      ...hooks({ route: "POST /a" }),
      "src/hooks.ts": hook.replace("async ", ""),
    });
    expect(problems[0]?.message).toMatch(/it is not async/);
  });

  it.each([
    [
      "a module",
      {
        "src/quote.ts":
          'import { hook } from "./hooks.ts";\nexport async function quote() { return (await hook(new Request("x:"))).status; }\n',
      },
    ],
    [
      "a namespace",
      {
        "src/quote.ts":
          'import * as all from "./hooks.ts";\nexport async function quote() { return await all.hook(new Request("x:")); }\n',
      },
    ],
    [
      "a barrel",
      {
        "src/index.ts": 'export * from "./hooks.ts";\n',
        "src/quote.ts":
          'import { hook } from "./index.ts";\nexport async function quote() { return await hook(new Request("x:")); }\n',
      },
    ],
  ])("that %s imports is a problem", async (_name, files: Files) => {
    const { problems } = await read({
      "segments/shop.segment.json": entries({
        "./hooks": { hook: { access: "public", route: "POST /a" } },
        "./quote": { quote: { access: "public" } },
      }),
      ...files,
    });
    expect(problems).toMatchObject([
      {
        file: "src/quote.ts",
        message: '"hook" of src/hooks.ts is the route "POST /a", which other modules can\'t import',
      },
    ]);
  });

  it("may be imported by a test, and by its type", async () => {
    const { problems } = await read({
      ...hooks({ route: "POST /a" }),
      "src/hooks.test.ts": 'import { hook } from "./hooks.ts";\nawait hook(new Request("x:"));\n',
      "src/quote.ts": 'import type { hook } from "./hooks.ts";\nexport type Hook = typeof hook;\n',
    });
    expect(problems).toEqual([]);
  });

  it.each([
    ["by name", "import { hook } from './src/hooks.ts';\nvoid hook;"],
    ["from a namespace", "import * as all from './src/hooks.ts';\nvoid all.hook;"],
  ])("that a script in a page imports %s is a problem", async (_name, script) => {
    const { problems } = await read({
      ...hooks({ route: "POST /a" }),
      "index.html": `<script type="module">\n${script}\n</script>\n`,
    });
    expect(problems).toMatchObject([{ file: "index.html" }]);
  });

  it("that a page imports is a problem", async () => {
    const { problems } = await read({
      ...hooks({ route: "POST /a" }),
      "index.html": '<script type="module" src="/src/main.ts"></script>',
      "src/main.ts": 'import { hook } from "./hooks.ts";\nvoid hook;\n',
    });
    expect(problems.map(({ file, message }) => `${file}: ${message}`)).toContainEqual(
      expect.stringMatching(/^src\/main.ts: "hook" of src\/hooks.ts is the route/),
    );
  });

  it("that is private is a warning", async () => {
    const { problems, warnings } = await read(hooks({ access: "private", route: "POST /a" }));
    expect(problems).toEqual([]);
    expect(warnings[0]?.message).toMatch(/is private, so it can't be reached/);
  });

  it.each([
    ["page.html", "GET /page"],
    ["public/feed/all.xml", "GET /feed/:name"],
    ["public/a/index.html", "POST /a"],
  ])("that hides the file %s is a warning", async (file, route) => {
    const root = createFixture({ "src/hooks.ts": hook, ...hooks({ route }), [file]: "x" }).root;
    const { warnings } = await readAt(root, {
      publicDir: `${root}/public`,
      pages: file.startsWith("public") ? [] : [`${root}/${file}`],
    });
    expect(warnings.map(({ message }) => message)).toContainEqual(
      expect.stringContaining(`hides the file ${file.replace("public/", "")}`),
    );
  });

  it("only in a segment for browsers is a warning", async () => {
    const { warnings } = await read(hooks({ route: "POST /a" }), { browserSegments: ["shop"] });
    expect(warnings[0]?.message).toMatch(/only in segments for browsers/);
  });

  it("has no code and no name in the browser's parts of its module, even in a segment for browsers", async () => {
    const { cut } = await read(
      {
        ...hooks({ route: "POST /secret-path" }),
        "src/hooks.ts": `const secret = "PLANTED";\nexport const shared = 1;\n${hook.replace("request.method", "secret")}`,
        "index.html": '<script type="module" src="/src/main.ts"></script>',
        "src/main.ts": 'import { shared } from "./hooks.ts";\nconsole.log(shared);\n',
      },
      { browserSegments: ["shop"] },
    );
    const [{ parts }] = [...cut.values()] as [
      typeof cut extends ReadonlyMap<string, infer C> ? C : never,
    ];
    const text = [parts.browser.face, parts.browser.shared, parts.browser.body]
      .map((part) => part?.code ?? "")
      .join("\n");
    expect(text).toContain("shared");
    expect(text).not.toMatch(/PLANTED|secret|hook(?!s\.ts)/);
    expect(parts.server.body?.code).toContain("PLANTED");
  });
});

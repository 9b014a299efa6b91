// The server's build bundles packages in TypeScript, which Node can't run, and packages of a
// workspace, which other machines don't have.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { isStale } from "../../server/files/sources.ts";
import { anyPort, applicationOf, start } from "../spec/_started.ts";
import { type Files, createFixture } from "./_fixture.ts";
import { applicationFolder, db, first, installed, link, linked } from "./_workspace.ts";

const open = { access: "public" };
const standalone = { mode: "standalone", url: anyPort };

const shop: Files = {
  ...db,
  ...linked("plain", { exports: "./index.js" }, { "index.js": 'export const plain = "plain";\n' }),
  ...linked(
    "@scope/old",
    { type: "commonjs", main: "main.js" },
    { "main.js": 'exports.scoped = "scoped";\n' },
  ),
  ...installed(
    "usual",
    { exports: "./index.js" },
    { "index.js": 'export const usual = "usual";\n' },
  ),
  "src/shop/one.ts": `import { next, refuse, rows } from "db";
import { table } from "db/schema";
import data from "db/data.json" with { type: "json" };
import both from "both";
import { plain } from "plain";
import { scoped } from "@scope/old";
import { usual } from "usual";
export async function one(): Promise<unknown> {
  return { ...next(), own: { both, data, plain, scoped, table, usual } };
}
export async function refused(): Promise<void> {
  refuse();
}
export async function size(): Promise<number> {
  return rows.size;
}
`,
  "src/shop/two.ts":
    'import { next, rows } from "db";\nexport async function two(): Promise<number> {\n  next();\n  return rows.size;\n}\n',
  "one.segment.json": JSON.stringify({ "./shop/one": { one: open, refused: open, size: open } }),
  "two.segment.json": JSON.stringify({ "./shop/two": { two: open } }),
};
const names = ["db", "plain", "@scope/old"];
const own = {
  both: "the one of all",
  data: { from: "json" },
  plain: "plain",
  scoped: "scoped",
  table: "rolls",
  usual: "usual",
};

function workspace(files: Files, ...links: readonly string[]) {
  const application = applicationOf(files, undefined, applicationFolder);
  link(application, ...links);
  return application;
}

describe("packages of a workspace", () => {
  it("packages of a workspace run in a service in any language, each once per node", async () => {
    const application = workspace(shop, ...names);
    const { warnings } = await application.build();
    expect(warnings).toEqual([]);
    const { url } = await start(application, standalone);
    expect(await (await fetch(`${url}/rpc/shop/one`)).json()).toEqual({ ...first, own });
    expect(await (await fetch(`${url}/rpc/shop/two`)).json()).toBe(2);
    expect(await (await fetch(`${url}/rpc/shop/size`)).json()).toBe(2);
  });

  it("packages of a workspace share the runtime with the application, so errors keep their status", async () => {
    const application = workspace(shop, ...names);
    await application.build();
    const { url } = await start(application, standalone);
    const answer = await fetch(`${url}/rpc/shop/refused`);
    expect([answer.status, await answer.text()]).toEqual([
      403,
      "the package refuses\n[shop/refused | v0.0.0]",
    ]);
  });

  it("nodes on machines with only installed packages get the workspace's packages, each its own copy", async () => {
    const application = workspace(shop, ...names);
    await application.build();
    const repository = await start(application, {
      mode: "repository",
      url: anyPort,
      trustKey: "shared-shared-shared",
    });
    const gateway = await start(application, {
      mode: "gateway",
      url: anyPort,
      trustKey: "shared-shared-shared",
    });
    const installedThere = ["both", "usual"].flatMap((name) =>
      Object.entries(shop)
        .filter(([file]) => file.startsWith(`../../node_modules/${name}/`))
        .map(([file, text]) => [file.replace("../../", ""), text]),
    );
    for (const segments of [["one"], ["two"]])
      await start(applicationOf(Object.fromEntries(installedThere)), {
        mode: "node",
        url: anyPort,
        segments,
        gateway: gateway.url,
        repository: repository.url,
        trustKey: "shared-shared-shared",
      });
    expect(await (await fetch(`${gateway.url}/rpc/shop/one`)).json()).toEqual({ ...first, own });
    expect(await (await fetch(`${gateway.url}/rpc/shop/two`)).json()).toBe(1);
  });

  it("packages of a workspace get the same file names in any folder, none of which Node treats as a package", async () => {
    const [here, there] = [workspace(shop, ...names), workspace(shop, ...names)];
    const { manifest } = await here.build();
    expect(manifest).toEqual((await there.build()).manifest);
    expect(
      Object.keys(manifest.files).filter((file) => /node_modules|\/\.|^\./.test(file)),
    ).toEqual([]);
    expect(Object.keys(manifest.files).filter((file) => file.endsWith("schema.js"))).toHaveLength(
      1,
    );
  });

  it("a build is stale if a package of the workspace changes, but not if the packages are missing", async () => {
    const application = workspace(shop, ...names);
    const { manifest } = await application.build();
    const stale = async () => await isStale(application.root, "./src", "./dist", manifest);
    expect(await stale()).toBe(false);
    const schema = shop["../../packages/db/src/schema.ts"] ?? "";
    application.write({ "../../packages/db/src/schema.ts": schema.replace("rolls", "bolts") });
    expect(await stale()).toBe(true);
    application.write({ "../../packages/db/src/schema.ts": schema });
    expect(await stale()).toBe(false);
    application.write({
      "../../packages/db/package.json":
        '{ "name": "db", "type": "module", "exports": "./other.ts" }',
    });
    expect(await stale()).toBe(true);
    application.remove("../../packages");
    expect(await stale()).toBe(false);
  });

  it("packages in the application folder and installed packages in TypeScript are bundled too", async () => {
    const application = workspace({
      "packages/inner/package.json":
        '{ "name": "inner", "type": "module", "exports": "./index.ts" }',
      "packages/inner/index.ts": 'export const inner: string = "inner";\n',
      ...installed(
        "typed",
        { exports: "./index.ts" },
        {
          "index.ts": 'export { typed } from "./deep.ts";\n',
          "deep.ts": 'export const typed: string = "typed";\n',
        },
      ),
      "src/run.ts":
        'import { inner } from "inner";\nimport { typed } from "typed";\nexport async function run() {\n  return [inner, typed];\n}\n',
      "run.segment.json": JSON.stringify({ "./run": { run: open } }),
    });
    mkdirSync(application.path("node_modules"), { recursive: true });
    link({ root: join(application.root, "x/y") }, "inner");
    await application.build();
    const { url } = await start(application, standalone);
    expect(await (await fetch(`${url}/rpc/run`)).json()).toEqual(["inner", "typed"]);
  });
});

describe("what configurations of Vite say of packages", () => {
  const files: Files = {
    ...linked("kept", { exports: "./index.js" }, { "index.js": 'export const kept = "kept";\n' }),
    ...installed(
      "taken",
      { exports: "./index.js" },
      { "index.js": 'export const taken = "taken";\n' },
    ),
    ...installed(
      "@all/one",
      { exports: "./index.js" },
      { "index.js": 'export const one = "one";\n' },
    ),
    ...installed(
      "meant",
      { exports: "./index.js" },
      { "index.js": 'export const called = "meant";\n' },
    ),
    ...installed(
      "deep",
      { main: "index.js" },
      { "index.js": "", "sub/file.js": 'export const sub = "sub";\n' },
    ),
    "src/stand-in.ts": 'export const stands = "in";\n',
    "src/run.ts": `import { kept } from "kept";
import { taken } from "taken";
import { one } from "@all/one";
import { called } from "called";
import { stands } from "stands";
import { sub } from "deep/sub/file";
export async function run() {
  return [kept, taken, one, called, stands, sub];
}
`,
    "run.segment.json": JSON.stringify({ "./run": { run: open } }),
  };
  const alias = `resolve: { alias: { called: "meant", stands: new URL("./src/stand-in.ts", import.meta.url).pathname }`;

  it.each<[string, string, readonly string[]]>([
    ["nothing", `{ ${alias} } }`, ["@all/one", "deep/sub/file.js", "meant", "taken"]],
    [
      "resolve.noExternal",
      `{ ${alias}, noExternal: ["taken", /^@all\\//] } }`,
      ["deep/sub/file.js", "meant"],
    ],
    [
      "ssr.noExternal",
      `{ ssr: { noExternal: [/^(?:taken|@all\\/one)$/] }, ${alias} } }`,
      ["deep/sub/file.js", "meant"],
    ],
    ["ssr.noExternal: true", `{ ssr: { noExternal: true }, ${alias} } }`, []],
    [
      "the environment's",
      `{ environments: { server: { resolve: { noExternal: ["taken", "meant"] } } }, ${alias} } }`,
      ["@all/one", "deep/sub/file.js"],
    ],
    [
      "ssr.external",
      `{ ssr: { external: ["kept"] }, ${alias} } }`,
      ["@all/one", "deep/sub/file.js", "kept", "meant", "taken"],
    ],
    [
      "both",
      `{ ssr: { external: ["kept"], noExternal: ["taken"] }, ${alias} } }`,
      ["@all/one", "deep/sub/file.js", "kept", "meant"],
    ],
  ])("the server's build follows Vite's options for packages: %s", async (_, config, external) => {
    const application = workspace(
      { ...files, "vite.config.js": `export default ${config};\n` },
      "kept",
    );
    await application.build();
    const { url } = await start(application, standalone);
    expect(await (await fetch(`${url}/rpc/run`)).json()).toEqual([
      "kept",
      "taken",
      "one",
      "meant",
      "in",
      "sub",
    ]);
    const written = application.list("dist/server/modules").filter((file) => file.endsWith(".js"));
    const imported = written.flatMap((file) => [
      ...application.read(`dist/server/modules/${file}`).matchAll(/\bfrom "([^."][^"]*)"/g),
    ]);
    const packages = new Set(
      imported
        .map(([, name = ""]) => name)
        .filter((name) => !/^(?:seamline(?:\/internal)?|node:.*)$/.test(name)),
    );
    expect(packages).toEqual(new Set(external));
  });
});

describe("packages of a workspace and browsers", () => {
  it("browsers get no source of packages that only the bodies of servers import", async () => {
    const secret = "planted-in-a-package";
    const application = createFixture(
      {
        ...linked(
          "vault",
          { exports: { ".": "./index.ts", "./shown": "./shown.ts" } },
          {
            "index.ts": `export const secret: string = "${secret}";\nexport { shown } from "./shown.ts";\n`,
            "shown.ts": 'export const shown: string = "shown-to-all";\n',
          },
        ),
        "index.html": '<!doctype html><script type="module" src="/src/main.ts"></script>',
        "src/main.ts":
          'import { shown } from "vault/shown";\nimport { size } from "./size.ts";\nconsole.log(shown, await size());\n',
        "src/size.ts":
          'import { secret } from "vault";\nexport async function size() {\n  return secret.length;\n}\n',
        "size.segment.json": JSON.stringify({ "./size": { size: open } }),
        "vite.config.js": "export default { build: { sourcemap: true } };\n",
      },
      undefined,
      applicationFolder,
    );
    link(application, "vault");
    await application.build();
    const texts = application
      .list("dist/browser")
      .map((file) => application.read(`dist/browser/${file}`));
    expect(texts.some((text) => text.includes("shown-to-all"))).toBe(true);
    expect(texts.some((text) => text.includes(secret))).toBe(false);
    const manifest = application.read("dist/server/manifest.browser.json");
    expect(manifest).not.toMatch(/vault|packages/);
  });
});

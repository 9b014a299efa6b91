import { describe, expect, it } from "vitest";

import { type Files, createFixture } from "./_fixture.ts";

const open = { access: "public" };
const lib = (name: string, more: Files = {}, json: object = {}): Files => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({
    name,
    type: "module",
    exports: { ".": "./index.js", "./style.css": "./style.css" },
    ...json,
  }),
  [`node_modules/${name}/index.js`]: "export const lib = 1;\n",
  ...Object.fromEntries(
    Object.entries(more).map(([file, text]) => [`node_modules/${name}/${file}`, text]),
  ),
});

describe("packages that a node resolves from the application folder", () => {
  it("imports of installed packages stay as they are written", async () => {
    const app = createFixture({
      ...lib("plain"),
      ...lib("@scope/deep", { "style.css": "b { color: red }" }),
      "package.json":
        '{ "name": "app", "type": "module", "imports": { "#util": "./src/util.ts" } }',
      "src/util.ts": "export const util = 3;\n",
      "src/run.ts": `import "node:fs";
import "@scope/deep/style.css";
import { lib } from "plain";
import * as deep from "@scope/deep";
import { util } from "#util";
import { absent } from "not-installed";
export async function run(): Promise<unknown> {
  return [lib, deep, util, absent];
}
`,
      "run.segment.json": JSON.stringify({ "./run": { run: open } }),
    });
    const { manifest, warnings } = await app.build();
    const body = app.read("dist/server/modules/run~body.js");
    for (const name of ["plain", "@scope/deep", "not-installed"])
      expect(body).toMatch(new RegExp(`from "${name}"`));
    expect(warnings).toContainEqual(
      expect.objectContaining({
        file: "src/run.ts",
        line: 6,
        message: expect.stringContaining('"not-installed" is not installed'),
      }),
    );
    expect(body).toMatch(/from "\.\/util\.js"/);
    // Node can't import a style sheet, so the build leaves this one out.
    expect(body).not.toMatch(/"@scope\/deep\/style\.css"/);
    expect(Object.keys(manifest.modules)).toEqual(["run", "util"]);
  });
});

describe("packages for Node in pages", () => {
  const page = '<!doctype html><script type="module" src="/src/main.ts"></script>';
  const main = 'import { lib } from "lib";\nconsole.log(lib);\n';

  it("a page may import a package that says which Node modules browsers don't need", async () => {
    const files = { "index.html": page, "src/main.ts": main, "a.segment.json": "{}" };
    const app = createFixture({
      ...files,
      ...lib(
        "lib",
        { "index.js": 'import * as fs from "fs";\nexport const lib = fs;\n' },
        { browser: { fs: false } },
      ),
    });
    await app.build();
    expect(app.list("dist/browser")).toContain("index.html");
  });

  it("a page can't import a CommonJS package that requires a module of Node", async () => {
    const app = createFixture({
      "index.html": page,
      "src/main.ts": main,
      ...lib(
        "lib",
        { "index.cjs": 'const net = require("net");\nexports.lib = net.connect;\n' },
        { type: "commonjs", exports: "./index.cjs" },
      ),
    });
    expect(await app.problems()).toMatchObject([
      {
        file: "src/main.ts",
        message: expect.stringContaining("index.html → src/main.ts → package lib → net"),
      },
    ]);
  });

  it("an import of a package is one problem, however many modules of Node it needs", async () => {
    const app = createFixture({
      "index.html": page,
      "src/main.ts": main,
      ...lib("lib", {
        "index.js": 'import "node:fs";\nimport "node:net";\nexport { lib } from "./deep.js";\n',
        "deep.js": 'import "node:os";\nimport "node:fs";\nexport const lib = 1;\n',
      }),
    });
    expect(await app.problems()).toMatchObject([
      {
        file: "src/main.ts",
        line: 1,
        message:
          '"node:fs" and 2 more exist on Node only, but a browser would get them: index.html → src/main.ts → package lib → node:fs',
      },
    ]);
  });

  it("a page that imports seamline/server gets a hint at the entries for pages", async () => {
    const app = createFixture({
      "index.html": page,
      "src/main.ts": 'import { startServer } from "seamline/server";\nconsole.log(startServer);\n',
    });
    app.write({
      ...lib(
        "seamline",
        { "server.js": 'import "node:fs";\nexport const startServer = 1;\n' },
        { exports: { "./server": "./server.js" } },
      ),
    });
    expect(await app.problems()).toMatchObject([
      { line: 1, hint: expect.stringContaining("'seamline/client'") },
    ]);
  });
});

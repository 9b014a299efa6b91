import { describe, expect, it } from "vitest";

import { type CheckOptions, checkApplication } from "../../server/report/check.ts";
import { formatProblem } from "../../src/base/problem.ts";
import { type Files, type Fixture, createFixture, shop } from "./_fixture.ts";

const log = { info: () => {}, warn: () => {}, error: () => {} };

async function check(app: Fixture, options: Partial<CheckOptions> = {}) {
  return await checkApplication({ root: app.root, env: {}, log, ...options });
}

const segment = (module: string, ...names: string[]): string =>
  JSON.stringify({
    [module]: Object.fromEntries(names.map((name) => [name, { access: "public" }])),
  });
const proc = (name: string, body: string): string =>
  `export async function ${name}(): Promise<number> {\n  ${body}\n}\n`;

describe("a check without a build", () => {
  it("a check finds no problems in an application that builds", async () => {
    const found = await check(createFixture(shop));
    expect(found).toEqual({
      problems: [],
      warnings: [],
      modules: 5,
      procedures: 3,
      routes: 0,
      unchecked: 0,
      segments: ["shop.segment.json", "src/ui/ui.segment.json"],
      configurations: [],
    });
  });

  const broken: Readonly<Record<string, Files>> = {
    "segment files": {
      "shop.segment.json": '{ "./shop/qoute": { "quote": { "access": "publik" } } }',
      "x.segment.json": "{",
    },
    sources: {
      "src/shop/quote.ts": "export async function quote( {}\n",
      "src/shop/stock.ts": "export function stock(): void {}\n",
    },
    "a module of Node behind an import": {
      "src/main.ts":
        'import { readFileSync } from "node:fs";\nimport "./deep.ts";\ndocument.title = String(readFileSync);\n',
      "src/deep.ts": 'import { join } from "path";\nexport const deep = join;\n',
    },
    "a module of Node behind a package": {
      "src/main.ts": 'import { read } from "nodeish";\ndocument.title = String(read);\n',
      "node_modules/nodeish/package.json": '{ "name": "nodeish", "main": "./index.js" }',
      "node_modules/nodeish/index.js":
        "const inner = require('./inner');\nexports.read = inner.read;\n",
      "node_modules/nodeish/inner.js":
        "const fs = require('fs');\nexports.read = () => fs.readFileSync('x');\n",
    },
    "a module of Node in a body that browsers load": {
      "src/ui/filter.ts":
        'import { readFileSync } from "node:fs";\nexport async function filter(): Promise<number> {\n  return readFileSync("x").length;\n}\n',
    },
    "the server's entry in a page": {
      "src/main.ts": 'import { startServer } from "seamline/server";\nvoid startServer;\n',
    },
    "imports that lead nowhere": {
      "src/main.ts":
        'import { a } from "./gone.ts";\nimport { b } from "not-installed";\ndocument.title = a + b;\n',
      "src/shop/stock.ts": `import { c } from "./away.ts";\n${proc("stock", "return c;")}`,
    },
    "the source of procedures as text": {
      "src/main.ts": 'import text from "./shop/stock.ts?raw";\ndocument.title = text;\n',
    },
    "the source of procedures as a file": {
      "src/main.ts": 'document.title = new URL("./shop/stock.ts", import.meta.url).href;\n',
    },
  };
  it.each(Object.entries(broken))(
    "a check reports the same problems as a build: %s",
    async (_, files) => {
      const app = createFixture({
        ...shop,
        "node_modules/seamline/package.json":
          '{ "name": "seamline", "type": "module", "exports": { ".": "./index.js", "./server": "./server.js" } }',
        "node_modules/seamline/server.js":
          'import { readFileSync } from "node:fs";\nexport const startServer = readFileSync;\n',
        ...files,
      });
      const built = (await app.problems()).map(formatProblem);
      expect(built.length).toBeGreaterThan(0);
      expect((await check(app)).problems.map(formatProblem)).toEqual(expect.arrayContaining(built));
    },
  );

  it("a check accepts imports that TypeScript removes and Node modules that a package replaces for browsers", async () => {
    const app = createFixture({
      ...shop,
      "src/main.ts":
        'import { Stats } from "node:fs";\nimport { types } from "only-types";\nimport type { T } from "./gone.ts";\nimport { read } from "careful";\nexport let a: Stats | types | T | undefined;\ndocument.title = read();\n',
      "node_modules/careful/package.json":
        '{ "name": "careful", "main": "./index.js", "browser": { "fs": false } }',
      "node_modules/careful/index.js":
        "const fs = require('fs');\nexports.read = () => String(fs);\n",
    });
    expect((await check(app)).problems).toEqual([]);
    await app.build();
  });

  it("a check warns of a package that isn't installed here but that a node may have", async () => {
    const app = createFixture({
      ...shop,
      "src/shop/stock.ts": `import { c } from "elsewhere";\n${proc("stock", "return c;")}`,
    });
    expect((await check(app)).warnings).toEqual([
      expect.objectContaining({
        file: "src/shop/stock.ts",
        line: 1,
        message: 'the package "elsewhere" is not installed here',
      }),
    ]);
  });

  it("a check with a build finds problems that only a bundler sees, and leaves no output", async () => {
    const pack = {
      "package.json": '{ "name": "pack", "type": "module", "exports": "./index.js" }',
      "index.js": "export {};\n",
    };
    const app = createFixture({
      ...shop,
      ...Object.fromEntries(
        Object.entries(pack).map(([file, text]) => [`node_modules/pack/${file}`, text]),
      ),
      "src/main.ts": 'import { missing } from "pack";\ndocument.title = missing;\n',
    });
    expect((await check(app)).problems).toEqual([]);
    expect((await check(app, { build: true })).problems).toEqual([
      expect.objectContaining({
        file: "src/main.ts",
        line: 1,
        message: expect.stringContaining("missing"),
      }),
    ]);
    expect(
      app.list(".").filter((file) => file.startsWith("dist/") || file.includes(".cache")),
    ).toEqual([]);
  });
});

describe("configurations in a check", () => {
  const node = {
    mode: "node",
    url: "http://127.0.0.1:1",
    repository: "http://127.0.0.1:2",
    segments: ["shop"],
  };

  it("a check reads the named configuration, ./seamline.json, and JSON with one of our modes in the folder or one below", async () => {
    const app = createFixture({
      ...shop,
      "seamline.json": "{",
      "configs/node.json": JSON.stringify(node),
      "configs/deep/er.json": JSON.stringify({ ...node, segments: ["none"] }),
      "almost.json": JSON.stringify({ ...node, mode: "nod" }),
      "webpack.json": '{ "mode": "production" }',
      "tsconfig.json": "{ // comments\n }",
      "deploy/a/named.json": JSON.stringify({ ...node, url: "ftp://x" }),
    });
    const found = await check(app, { config: "deploy/a/named.json" });
    expect([...found.configurations].sort()).toEqual([
      "almost.json",
      "configs/node.json",
      "deploy/a/named.json",
      "seamline.json",
    ]);
    expect(found.problems.map((one) => one.file).sort()).toEqual([
      "almost.json",
      "deploy/a/named.json",
      "seamline.json",
    ]);
    expect(found.problems.find((one) => one.file === "almost.json")).toMatchObject({
      path: "mode",
      hint: "Did you mean 'node'?",
    });
  });

  it("a configuration that names a missing segment or module is a problem with a hint", async () => {
    const text = JSON.stringify(
      {
        ...node,
        segments: ["shop", "shp"],
        middleware: ["./src/lgo.ts", "a-package"],
        healthChecks: { db: "./src/gone.ts" },
      },
      null,
      1,
    );
    const app = createFixture({ ...shop, "node.json": text, "src/log.ts": "export default {};\n" });
    const lineOf = (part: string): number => text.slice(0, text.indexOf(part)).split("\n").length;
    expect((await check(app)).problems).toMatchObject([
      {
        file: "node.json",
        path: "segments.1",
        line: lineOf('"shp"'),
        message: 'there is no segment "shp"; there are shop, ui',
        hint: 'Did you mean "shop"?',
      },
      {
        file: "node.json",
        path: "middleware.0",
        message: "there is no module ./src/lgo.ts",
        hint: 'Did you mean "./src/log.ts"?',
      },
      { file: "node.json", path: "healthChecks.db", message: "there is no module ./src/gone.ts" },
    ]);
  });

  it("a missing environment variable is a warning, and the rest of the configuration is checked", async () => {
    const app = createFixture({
      ...shop,
      "node.json": JSON.stringify({
        ...node,
        url: "${URL}",
        trustKey: "${KEY}",
        segments: ["shp"],
      }),
    });
    const found = await check(app);
    expect(found.warnings.map((one) => one.path)).toEqual(["url", "trustKey"]);
    expect(found.problems).toMatchObject([{ path: "segments.0" }]);
  });

  it("a configuration decides what is checked: source folder and browser segments", async () => {
    const { "src/main.ts": main = "", ...others } = shop;
    const app = createFixture({
      ...others,
      "src/main.ts": main.replace('startClient("ui")', "startClient(...names)"),
      "standalone.json": JSON.stringify({ mode: "standalone", url: "http://127.0.0.1:1" }),
    });
    expect((await check(app)).problems).toMatchObject([
      { file: "src/main.ts", message: expect.stringContaining("startClient") },
    ]);
    app.write({
      "standalone.json": JSON.stringify({
        mode: "standalone",
        url: "http://127.0.0.1:1",
        browserSegments: ["ui"],
      }),
    });
    expect((await check(app)).problems).toEqual([]);
  });
});

describe("state that segments would split", () => {
  const two: Files = {
    ...shop,
    "src/cart.ts": `import { carts } from "./barrel.ts";\n${proc("add", 'carts.set("a", 1);\n  return 1;')}`,
    "src/orders.ts": `import * as store from "./store.ts";\n${proc("order", "return store.carts.size;")}`,
    "src/barrel.ts": 'export { carts } from "./store.ts";\n',
    "src/store.ts":
      "export const carts = new Map<string, number>();\nexport const help = (): number => 1;\n",
    "cart.segment.json": segment("./cart", "add"),
    "orders.segment.json": segment("./orders", "order"),
  };
  const split = async (files: Files): Promise<readonly (string | undefined)[]> =>
    (await check(createFixture(files))).warnings
      .filter((one) => one.message.includes("is state of"))
      .map(formatProblem);

  it("a check warns where shared state is declared, and names the segments that use and change it", async () => {
    expect(await split(two)).toEqual([
      [
        'src/store.ts:1:14: "carts" is state of this module, and procedures of "cart" and "orders" use it, and "cart" changes it: each node has its own',
        "  → Keep it in one segment, whose procedures the others call; or outside, in a database.",
      ].join("\n"),
    ]);
  });

  it("a check warns of state in one module whose procedures are in several segments", async () => {
    const source = `let counter = 0;\n${proc("one", "return ++counter;")}${proc("other", "return ++counter;")}`;
    const files = {
      ...shop,
      "src/m.ts": source,
      "a.segment.json": segment("./m", "one"),
      "b.segment.json": segment("./m", "other"),
    };
    expect(await split(files)).toEqual([
      expect.stringContaining(
        '"counter" is state of this module, and procedures of "a" and "b" use and change it',
      ),
    ]);
  });

  it.each<[string, Files]>([
    [
      "only one segment uses it",
      { "src/orders.ts": `import { help } from "./store.ts";\n${proc("order", "return help();")}` },
    ],
    [
      "it is called by its procedure, across the seam",
      {
        "src/orders.ts": `import { add } from "./cart.ts";\n${proc("order", "return await add();")}`,
      },
    ],
    [
      "nothing changes it",
      {
        "src/cart.ts": `import { carts } from "./store.ts";\n${proc("add", "return carts.size;")}`,
      },
    ],
  ])("a check doesn't warn of module state if %s", async (_, files) => {
    expect(await split({ ...two, ...files })).toEqual([]);
  });
});

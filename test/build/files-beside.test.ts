// Files that server modules read or start by an address beside themselves.

import { rmSync, writeFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { isStale } from "../../server/files/sources.ts";
import { checkApplication } from "../../server/report/check.ts";
import { uniqueProblems } from "../../server/compile/read/unique-problems.ts";
import { formatProblem, type Problem } from "../../src/base/problem.ts";
import { anyPort, applicationOf, start } from "../spec/_started.ts";
import { createFixture, type Files, type Fixture } from "./_fixture.ts";
import { applicationFolder, link, linked } from "./_workspace.ts";

const segment = (module: string, ...names: readonly string[]): string =>
  JSON.stringify({
    [module]: Object.fromEntries(names.map((name) => [name, { access: "public" }])),
  });

const mail: Files = {
  "src/mail/send.ts": `import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

const here = import.meta.url;
const require = createRequire(import.meta.url);

const started = async (worker: Worker): Promise<unknown> =>
  await new Promise((done, failed) => worker.once("message", done).once("error", failed));

// An export that no segment names, so that the module has a shared part, which reads a file too.
export const shared = async (): Promise<string> =>
  await readFile(new URL("./hello.txt", import.meta.url), "utf8");

export async function read(): Promise<unknown> {
  return [
    await readFile(new URL("./hello.txt", import.meta.url), "utf8"),
    await readFile(fileURLToPath(new URL("caf%C3%A9 1.txt?v=1", here)), "utf8"),
    await readFile(new URL("../../data/rows.csv", import.meta.url), "utf8"),
    JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")).name,
    await shared(),
  ];
}

export async function sum(numbers: number[]): Promise<unknown> {
  return [
    await started(new Worker(new URL("./sum.js", import.meta.url), { workerData: numbers })),
    await started(new Worker(new URL("./typed.ts", import.meta.url), { workerData: numbers })),
  ];
}

export async function required(): Promise<unknown> {
  return [require("./x.cjs"), require("./x.json"), createRequire(here)("./y"), require.resolve("./x.cjs").endsWith("x.cjs")];
}
`,
  "src/mail/hello.txt": "Hello",
  "src/mail/café 1.txt": "Café",
  "data/rows.csv": "a,b",
  "src/mail/sum.js": `import { parentPort, workerData } from "node:worker_threads";
import { add } from "./add.ts";
parentPort.postMessage(add(workerData));
`,
  "src/mail/typed.ts": `import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { add } from "./add.ts";
const text: string = readFileSync(new URL("./hello.txt", import.meta.url), "utf8");
parentPort!.postMessage(text + add(workerData as number[]));
`,
  "src/mail/add.ts":
    "export const add = (all: number[]): number => all.reduce((a, b) => a + b, 0);\n",
  "src/mail/x.cjs": 'module.exports = ["x", require("./deep/z.cjs"), require("./x.json").json];\n',
  "src/mail/deep/z.cjs":
    'module.exports = require("fs").readFileSync(require("path").join(__dirname, "../hello.txt"), "utf8");\n',
  "src/mail/x.json": '{ "json": true }',
  "src/mail/y/index.js": "module.exports = 'y';\n",
  "src/mail/y/package.json": '{ "type": "commonjs" }',
  "mail.segment.json": segment("./mail/send", "read", "sum", "required"),
};

const ask = async (url: string, path: string, body?: object): Promise<unknown> => {
  const answer = await fetch(`${url}/rpc/${path}`, {
    ...(body && {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  });
  return answer.ok ? await answer.json() : await answer.text();
};

const answers = {
  read: ["Hello", "Café", "a,b", "fixture", "Hello"],
  sum: [6, "Hello6"],
  required: [["x", "Hello", true], { json: true }, "y", true],
};

describe("files beside a server module", () => {
  it("a built procedure reads files, starts workers and requires CommonJS by addresses of its own", async () => {
    const application = applicationOf(mail);
    const { warnings } = await application.build();
    expect(warnings).toEqual([]);
    const { url } = await start(application, { mode: "standalone", url: anyPort });
    expect(await ask(url, "mail/read")).toEqual(answers.read);
    expect(await ask(url, "mail/sum", { numbers: [1, 2, 3] })).toEqual(answers.sum);
    expect(await ask(url, "mail/required")).toEqual(answers.required);
  });

  it("a node gets the files of its modules from a repository, and nobody else gets them", async () => {
    const trustKey = "shared-shared-shared";
    const application = applicationOf({
      ...mail,
      "src/other/other.ts":
        'import { readFile } from "node:fs/promises";\nexport const other = async (): Promise<string> => await readFile(new URL("./other.txt", import.meta.url), "utf8");\n',
      "src/other/other.txt": "other",
      "other.segment.json": segment("./other/other", "other"),
    });
    await application.build();
    const repository = await start(application, { mode: "repository", url: anyPort, trustKey });
    const gateway = await start(application, { mode: "gateway", url: anyPort, trustKey });
    const node = applicationOf({});
    await start(node, {
      mode: "node",
      url: anyPort,
      segments: ["mail"],
      gateway: gateway.url,
      repository: repository.url,
      trustKey,
    });
    expect(await ask(gateway.url, "mail/sum", { numbers: [1, 2, 3] })).toEqual(answers.sum);
    expect(await ask(gateway.url, "mail/required")).toEqual(answers.required);
    expect(await ask(gateway.url, "mail/read")).toEqual(answers.read);
    const placed = node.list("node_modules/.cache/seamline/run");
    expect(placed.some((file) => file.endsWith("mail/hello.txt"))).toBe(true);
    expect(placed.some((file) => file.endsWith("other.txt"))).toBe(false);
    const asked = await Promise.all(
      [repository.url, gateway.url].flatMap((url) =>
        ["/mail/hello.txt", "/hello.txt", "/svc/modules/mail/hello.txt"].map(
          async (path) => (await fetch(url + path)).status,
        ),
      ),
    );
    expect(asked.filter((status) => status === 200)).toEqual([]);
    expect(
      application.list("dist/browser").filter((file) => /hello|x\.cjs|rows/.test(file)),
    ).toEqual([]);
  });

  it("modules of a linked package find the files of that package", async () => {
    const application = applicationOf(
      {
        ...linked(
          "db",
          { exports: "./src/index.ts" },
          {
            "src/index.ts":
              'import { readFileSync } from "node:fs";\nexport const schema: string = readFileSync(new URL("../sql/schema.sql", import.meta.url), "utf8");\n',
            "sql/schema.sql": "create table rolls",
          },
        ),
        "src/shop/rows.ts":
          'import { schema } from "db";\nexport const rows = async (): Promise<string> => schema;\n',
        "rows.segment.json": segment("./shop/rows", "rows"),
      },
      undefined,
      applicationFolder,
    );
    link(application, "db");
    expect((await application.build()).warnings).toEqual([]);
    const { url } = await start(application, { mode: "standalone", url: anyPort });
    expect(await (await fetch(`${url}/rpc/shop/rows`)).text()).toBe("create table rolls");
  });

  it("a changed file beside a module makes a build stale, and changes its revision", async () => {
    const application = createFixture(mail);
    const { manifest } = await application.build();
    expect(await isStale(application.root, "src", "dist", manifest)).toBe(false);
    application.write({ "data/rows.csv": "c,d" });
    expect(await isStale(application.root, "src", "dist", manifest)).toBe(true);
    const again = (await application.build()).manifest;
    expect(again.revision).not.toBe(manifest.revision);
  });

  it("a built file that was changed afterwards isn't loaded", async () => {
    const application = applicationOf(mail);
    await application.build();
    const file = application.path("dist/server/modules/mail/hello.txt");
    rmSync(file);
    writeFileSync(file, "forged");
    await expect(start(application, { mode: "standalone", url: anyPort })).rejects.toThrow(
      /is missing, or was changed after the build/,
    );
  });
});

/** The warnings of a build, which are those of a check. */
async function warningsOf(application: Fixture): Promise<readonly Problem[]> {
  const { warnings } = await application.build();
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const checked = await checkApplication({ root: application.root, env: {}, log });
  expect(checked.problems).toEqual([]);
  expect(checked.warnings.map(formatProblem).toSorted()).toEqual(
    uniqueProblems(warnings).map(formatProblem).toSorted(),
  );
  return warnings;
}

describe("what can't be part of a build", () => {
  const warn = async (code: string, more: Files = {}): Promise<readonly string[]> => {
    const application = createFixture({
      "src/mail/send.ts": `import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
const require = createRequire(import.meta.url);
const name: string = "hello";
console.assert(readFileSync, dirname, join, fileURLToPath, Worker, require, name);
export async function send(): Promise<unknown> {
  return ${code};
}
`,
      "src/mail/data/hello.txt": "Hello",
      "mail.segment.json": segment("./mail/send", "send"),
      ...more,
    });
    const warnings = await warningsOf(application);
    for (const { file, hint } of warnings) {
      expect(file).toBe("src/mail/send.ts");
      expect(hint).toBeTruthy();
    }
    return warnings.map(({ line, column, message }) => `${line}:${column} ${message}`);
  };

  it.each<[code: string, start: string]>([
    ['new URL("./data/", import.meta.url)', '10:18 "./data/" is a folder'],
    ['new URL("./data", import.meta.url)', '10:18 "./data" is a folder'],
    ['new URL(".", import.meta.url)', '10:18 "." is a folder'],
    ["new URL(`./${name}.txt`, import.meta.url)", "10:18 this address is computed"],
    ['new URL("./" + name, import.meta.url)', "10:18 this address is computed"],
    ["new URL(name, import.meta.url)", "10:18 this address is computed"],
    ["require(`./${name}.cjs`)", "10:18 this address is computed"],
    ['join(import.meta.dirname, "hello.txt")', "10:15 this is the module's folder"],
    ["dirname(fileURLToPath(import.meta.url))", "10:10 this is the module's folder"],
    ["dirname(new URL(import.meta.url).pathname)", "10:10 this is the module's folder"],
    ["dirname(import.meta.filename)", "10:10 this is the module's folder"],
    ["import.meta.resolve(`./${name}.txt`)", "10:30 this address is computed"],
    ['require("./addon.node")', '10:18 "./addon.node" is a native addon'],
    ['new URL("./none.txt", import.meta.url)', `10:18 "./none.txt" isn't a file here`],
    ['require("./none.cjs")', `10:18 "./none.cjs" isn't a file here`],
    ['new URL("../../../outside.txt", import.meta.url)', `10:18 "../../../outside.txt" isn't`],
    ['new URL("file:///etc/hostname", import.meta.url)', ""],
    ['new URL("../../.env", import.meta.url)', '10:18 "../../.env" configures a service'],
    ['new URL("../../seamline.json", import.meta.url)', '10:18 "../../seamline.json" configures'],
    ['new Worker(new URL("./worker.ts", import.meta.url))', "10:29 this starts src/mail/worker.ts"],
    ["process.argv[1] === fileURLToPath(import.meta.url)", ""],
    ["[name, import.meta.filename]", ""],
    ["require(name)", ""],
    ['new URL("https://seamline.dev/a", import.meta.url)', ""],
    ['import.meta.resolve("./data/hello.txt")', ""],
  ])("a build, and a check, warns of %s with its place and a way out", async (code, start) => {
    const warnings = await warn(code, {
      "src/mail/addon.node": "\u007fELF",
      "src/mail/worker.ts": 'import { price } from "./price.ts";\nconsole.log(await price());\n',
      "src/mail/price.ts": "export const price = async (): Promise<number> => 1;\n",
      "price.segment.json": segment("./mail/price", "price"),
      ".env": "KEY=1",
      "seamline.json": '{ "mode": "standalone", "url": "http://127.0.0.1:3000" }',
    });
    expect(warnings.map((warning) => warning.slice(0, start.length))).toEqual(
      start === "" ? [] : [start],
    );
  });

  it("a page's own addresses are nothing of a server's", async () => {
    const application = createFixture({
      "index.html": '<!doctype html><script type="module" src="/src/main.ts"></script>',
      "src/main.ts":
        'import { Mark } from "./mark.ts";\nimport { send } from "./send.ts";\nawait send(new Mark());\n',
      "src/mark.ts":
        "const name = document.title;\nexport class Mark {\n  image = new URL(`./${name}.png`, import.meta.url).href;\n}\n",
      "src/send.ts": "export const send = async (mark: unknown): Promise<unknown> => mark;\n",
      "send.segment.json": segment("./send", "send"),
    });
    expect(await warningsOf(application)).toEqual([]);
  });

  it("is also in what a module starts, requires or imports from a linked package, but not in installed ones", async () => {
    const code = (path: string): string =>
      `export const at = new URL("${path}", import.meta.url);\n`;
    const application = createFixture({
      "src/send.ts": `import { Worker } from "node:worker_threads";
import { createRequire } from "node:module";
import { at } from "installed";
const require = createRequire(import.meta.url);
export async function send(): Promise<unknown> {
  return [at, new Worker(new URL("./started.ts", import.meta.url)), require("./required.cjs")];
}
`,
      "src/started.ts":
        `import { at } from "./deep/imported.ts";\n${code("./a.txt")}console.log(at);\n`.replace(
          "export const at",
          "export const own",
        ),
      "src/deep/imported.ts": code("./b.txt"),
      "src/required.cjs": 'exports.at = require("./none.cjs");\n',
      "send.segment.json": segment("./send", "send"),
      "node_modules/installed/package.json":
        '{ "name": "installed", "type": "module", "exports": "./index.js" }',
      "node_modules/installed/index.js": code("./c.txt"),
    });
    expect((await warningsOf(application)).map(({ file }) => file).toSorted()).toEqual([
      "src/deep/imported.ts",
      "src/required.cjs",
      "src/started.ts",
    ]);
  });
});

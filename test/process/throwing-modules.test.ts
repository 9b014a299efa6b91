// Modules that throw while a service starts. The error has the location in the application's sources
// and the procedures that needed the module.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { beforeAll, describe, expect, it, type TestContext, vi } from "vitest";

import { type Application, buildPackage, createApplication, launch } from "./_application.ts";

beforeAll(() => buildPackage());
vi.setConfig({ maxConcurrency: 3 });

const anywhere = "http://127.0.0.1:0";
const key = "the-trust-key-of-these-tests";
const open = { access: "public" };
const files: Readonly<Record<string, string | object>> = {
  "src/shop/stock.ts": `import { connect } from "../lib/connect.ts";
import { Money } from "./money.ts";

export const shared = new Map<string, Money>();
const rows: number = 12;

export async function stock(): Promise<number> {
  connect();
  return rows + shared.size;
}

export async function worth(): Promise<Money> {
  return new Money(rows);
}
`,
  "src/shop/money.ts": "export class Money {\n  constructor(public cents: number) {}\n}\n",
  "src/lib/connect.ts":
    "import type { Money } from '../shop/money.ts';\n\nexport function connect(money?: Money): void {\n  void money;\n}\n",
  "src/log.ts":
    "export default {\n  async handle(fqn: string, version: unknown, args: unknown, headers: unknown, next: () => Promise<unknown>): Promise<unknown> {\n    return await next();\n  },\n};\n",
  "src/ready.ts":
    "export default class Ready {\n  async isHealthy(): Promise<boolean> {\n    return true;\n  }\n}\n",
  "warehouse.segment.json": { "./shop/stock": { stock: open, worth: open } },
  "seamline.json": {
    mode: "standalone",
    url: anywhere,
    trustKey: key,
    middleware: ["./src/log.ts"],
    healthChecks: { ready: "./src/ready.ts" },
  },
};

/** Each replaces `from` with `to` in a file, and has the expected message. */
const failures: readonly [what: string, file: string, from: string, to: string, says: RegExp][] = [
  [
    "the body of procedures",
    "src/shop/stock.ts",
    "const rows: number = 12;",
    "const rows: number = JSON.parse('{');",
    /^error: src\/shop\/stock\.ts:5:27: SyntaxError: .* while loading shop\/stock, shop\/worth \(segment warehouse\)$/m,
  ],
  [
    "the shared part of a module",
    "src/shop/stock.ts",
    "new Map<string, Money>();",
    'new Map<string, Money>(); { throw new RangeError("no room"); }',
    /^error: src\/shop\/stock\.ts:4:57: RangeError: no room, while loading shop\/stock, shop\/worth \(segment warehouse\)$/m,
  ],
  [
    "a dependency",
    "src/lib/connect.ts",
    "\n\nexport",
    '\n  throw new Error("no database");\nexport',
    /^error: src\/lib\/connect\.ts:2:9: Error: no database, while loading shop\/stock, shop\/worth \(segment warehouse\)$/m,
  ],
  [
    "a dependency that throws a string",
    "src/lib/connect.ts",
    "\n\nexport",
    '\n  throw "no database";\nexport',
    /^error: src\/shop\/stock\.ts: 'no database' was thrown, while loading shop\/stock, shop\/worth \(segment warehouse\)$/m,
  ],
  [
    "a dependency that throws after an await",
    "src/lib/connect.ts",
    "\n\nexport",
    '\nawait new Promise((resolve) => setTimeout(resolve, 5)); throw new Error("no database");\nexport',
    /^error: src\/lib\/connect\.ts:2:63: Error: no database, while loading shop\/stock, shop\/worth \(segment warehouse\)$/m,
  ],
  [
    "an import of a package that this machine doesn't have",
    "src/lib/connect.ts",
    "\n\nexport",
    '\nimport { absent } from "absent"; absent;\nexport',
    /^error: src\/lib\/connect\.ts:2:\d+: Cannot find package 'absent', while loading shop\/stock, shop\/worth \(segment warehouse\)$/m,
  ],
  [
    "an import of a missing export",
    "src/lib/connect.ts",
    "\n\nexport",
    '\nimport { absent } from "node:path"; absent;\nexport',
    /^error: src\/lib\/connect\.ts:2:\d+: SyntaxError: The requested module 'node:path' does not provide an export named 'absent', while loading shop\/stock, shop\/worth \(segment warehouse\)$/m,
  ],
  [
    "configured middleware",
    "src/log.ts",
    "export default {",
    'throw new Error("no disk");\nexport default {',
    /^error: configuration at middleware\[0\]: '\.\/src\/log\.ts' can't be loaded: src\/log\.ts:1:7: Error: no disk$/m,
  ],
  [
    "the constructor of a configured health check",
    "src/ready.ts",
    "class Ready {",
    'class Ready {\n  constructor() {\n    throw new Error("no heart");\n  }',
    /^error: configuration at healthChecks\.ready: '\.\/src\/ready\.ts' can't be constructed: src\/ready\.ts:3:11: Error: no heart$/m,
  ],
];

async function applicationWith(
  { onTestFinished }: TestContext,
  file: string,
  from: string,
  to: string,
): Promise<Application> {
  const application = await createApplication();
  onTestFinished(() => application.remove());
  for (const [name, text] of Object.entries(files)) await application.put(name, text);
  const text = files[file];
  if (typeof text !== "string" || !text.includes(from)) throw new Error(`${file} has no ${from}`);
  await application.put(file, text.replace(from, to));
  const built = application.seamline(["build"]);
  expect(await built.ended(), built.output()).toBe(0);
  return application;
}

describe.concurrent("the error of a module that throws during the start has file, line, procedures and segment:", () => {
  it.for(failures)("%s, in a standalone", async ([, file, from, to, says], context) => {
    const application = await applicationWith(context, file, from, to);
    const started = application.seamline(["start", "--no-build"]);
    expect(await started.ended()).toBe(1);
    expect(started.output()).toMatch(says);
    // No path of the run tree.
    expect(started.output()).not.toMatch(/node_modules|~body|file:/);
  });

  it.for(failures.slice(0, 3))(
    "%s, in a service with its own main file, where Node doesn't use source maps",
    async ([, file, from, to, says], context) => {
      const application = await applicationWith(context, file, from, to);
      await application.put(
        "main.mjs",
        'import { startServer } from "seamline/server";\nawait startServer((specifier) => import(specifier), { build: false }).catch((error) => {\n  console.log(`error: ${error.message}`);\n  process.exitCode = 1;\n});\n',
      );
      const started = launch([process.execPath, "main.mjs"], application.root);
      expect(await started.ended()).toBe(1);
      expect(started.output()).toMatch(says);
    },
  );

  it("a body, in a node that gets its modules from a repository and has no sources", async (context) => {
    const [, file, from, to, says] = failures[0] as (typeof failures)[number];
    const application = await applicationWith(context, file, from, to);
    await application.put("repository.json", { mode: "repository", url: anywhere, trustKey: key });
    const [, repository = ""] = await application
      .seamline(["start", "--no-build", "--config", "repository.json"])
      .says(/repository at (http:\S+)/);
    const elsewhere = await createApplication();
    context.onTestFinished(() => elsewhere.remove());
    await elsewhere.put("node.json", {
      mode: "node",
      url: anywhere,
      repository,
      segments: ["warehouse"],
      trustKey: key,
    });
    const started = elsewhere.seamline(["start", "--config", "node.json"]);
    expect(await started.ended()).toBe(1);
    expect(started.output()).toMatch(says);
    // The source line is in the module's source map.
    expect(started.output()).toContain("> 5 | const rows: number = JSON.parse('{');");
  });

  it("a class, which doesn't prevent the start", async (context) => {
    const application = await applicationWith(
      context,
      "src/lib/connect.ts",
      "void money;",
      "void money;",
    );
    await application.put(
      "src/shop/money.ts",
      'throw new Error("no mint");\nexport class Money {}\n',
    );
    await application.put(
      "src/shop/stock.ts",
      'import type { Money } from "./money.ts";\nexport async function stock(money?: Money): Promise<boolean> {\n  return money === undefined;\n}\nexport async function worth(): Promise<number> {\n  return 1;\n}\n',
    );
    const built = application.seamline(["build"]);
    expect(await built.ended(), built.output()).toBe(0);
    const started = application.seamline(["start", "--no-build"]);
    await started.says(/standalone at http/);
    expect(started.output()).toMatch(
      /^error: class 'shop\/Money' can't be loaded, so its instances are refused\n.*src\/shop\/money\.ts:1:7: Error: no mint/m,
    );
  });

  it("a dependency, with the stack if DEBUG=seamline", async (context) => {
    const [, file, from, to] = failures[2] as (typeof failures)[number];
    const application = await applicationWith(context, file, from, to);
    const started = application.seamline(["start", "--no-build"], { DEBUG: "seamline" });
    expect(await started.ended()).toBe(1);
    expect(started.output()).toMatch(/Error: no database\n\s+at .*src\/lib\/connect\.ts:2:9/);
    expect(await readFile(join(application.root, "src/lib/connect.ts"), "utf8")).toContain(
      "no database",
    );
  });

  it.for(failures.slice(0, 5))(
    "%s, in a node in development",
    async ([, file, from, to, says], context) => {
      const application = await applicationWith(context, file, from, to);
      const started = application.seamline(["dev", "--json", "--port", "0"]);
      const [, why = ""] = await started.says(/"state":"failed","why":("(?:[^"\\]|\\.)*")/);
      expect(`error: ${String(JSON.parse(why))}`).toMatch(says);
    },
  );
});

// Calls on servers of procedures that only pages have: nothing can answer them.

import { describe, expect, it } from "vitest";

import { checkApplication } from "../../server/report/check.ts";
import { formatProblem } from "../../src/base/problem.ts";
import { gathered } from "../_gathered.ts";
import { anyPort, applicationOf, start } from "../spec/_started.ts";
import { createFixture, type Files, shop } from "./_fixture.ts";

const log = { info: () => {}, warn: () => {}, error: () => {} };

async function checked(files: Files, config?: string) {
  const app = createFixture({ ...shop, ...files });
  const { problems, warnings } = await checkApplication({ root: app.root, env: {}, log, config });
  return { problems: problems.map(formatProblem), warnings: warnings.map(formatProblem) };
}

const stock = (body: string, head = ""): Files => ({
  "src/shop/stock.ts": `${head}export async function stock(sku: string): Promise<number> {\n  ${body}\n}\n`,
});
const filter = 'import { filter } from "../ui/filter.ts";\n';
const calling = stock("return (await filter([sku])).length;", filter);

const told = (
  place: string,
  way: string,
  by = '"shop/stock" in "shop" (shop.segment.json)',
): string =>
  `${place}: ${by} calls "ui/filter", which is only in "ui" (src/ui/ui.segment.json), for browsers: ${way}`;
const hint =
  '  → Servers can\'t call pages: the call fails with ProcedureNotFound. Return what the page needs, or name "ui/filter" in a segment that servers load.';
const heads = (texts: readonly string[]): string[] =>
  texts.map((text) => text.split("\n")[0] ?? "");

describe("a server's call of a procedure that only pages have", () => {
  it("a check refuses a server's call of a page's procedure, with its place, both segment files and the chain", async () => {
    const { problems, warnings } = await checked(calling);
    expect(warnings).toEqual([]);
    expect(problems).toEqual([
      [
        told("src/shop/stock.ts:3:17", "src/shop/stock.ts → src/ui/filter.ts"),
        '  1 | import { filter } from "../ui/filter.ts";',
        "  2 | export async function stock(sku: string): Promise<number> {",
        "> 3 |   return (await filter([sku])).length;",
        "    |                 ^",
        "  4 | }",
        hint,
      ].join("\n"),
    ]);
  });

  it("a build warns of a server's call of a page's procedure, and goes on", async () => {
    const app = createFixture({ ...shop, ...calling });
    const { warnings } = await app.build();
    expect(heads(warnings.map(formatProblem))).toEqual([
      told("src/shop/stock.ts:3:17", "src/shop/stock.ts → src/ui/filter.ts"),
    ]);
    expect(app.warned.join()).toContain('which is only in "ui"');
  });

  it.each<[string, Files, string]>([
    [
      "through modules that no segment names",
      {
        ...stock("return await tell(sku);", 'import { tell } from "../lib/index.ts";\n'),
        "src/lib/index.ts": 'export * from "./tell.ts";\n',
        "src/lib/tell.ts": `${filter}export const tell = async (sku: string): Promise<number> => {\n  const all = await filter.call(undefined, [sku]);\n  return all.length;\n};\n`,
      },
      told("src/lib/tell.ts:3:21", "src/shop/stock.ts → src/lib/tell.ts → src/ui/filter.ts"),
    ],
    [
      "as a member of a namespace",
      stock("return (await ui.filter([sku])).length;", 'import * as ui from "../ui/filter.ts";\n'),
      told("src/shop/stock.ts:3:17", "src/shop/stock.ts → src/ui/filter.ts"),
    ],
    [
      "passed to another function",
      stock("return (await Promise.all([[sku]].map(filter))).length;", filter),
      told("src/shop/stock.ts:3:41", "src/shop/stock.ts → src/ui/filter.ts"),
    ],
    [
      "in the same module",
      {
        "src/ui/filter.ts": `${shop["src/ui/filter.ts"]}export async function count(words: string[]): Promise<number> {\n  return (await filter(words)).length;\n}\n`,
        "count.segment.json": '{ "./ui/filter": { "count": { "access": "private" } } }',
      },
      told(
        "src/ui/filter.ts:5:17",
        "src/ui/filter.ts",
        '"ui/count" in "count" (count.segment.json)',
      ),
    ],
    [
      "in a middleware",
      {
        "src/log.ts":
          'import { filter } from "./ui/filter.ts";\nexport default { handle: async (_fqn: string, ...rest: (() => unknown)[]) => filter([String(rest.at(-1)?.())]) };\n',
        "seamline.json":
          '{ "mode": "standalone", "url": "http://127.0.0.1:1", "middleware": ["./src/log.ts"] }',
      },
      told(
        "src/log.ts:2:78",
        "src/log.ts → src/ui/filter.ts",
        "a middleware or health check of a configuration",
      ),
    ],
  ])("a check finds a server's call of a page's procedure %s", async (_, files, expected) => {
    expect(heads((await checked(files)).problems)).toEqual([expected]);
  });

  it("a server's call of a page's procedure is reported once, for the first procedure that reaches it", async () => {
    const both = {
      ...stock("return await tell(sku);", 'import { tell } from "../lib/tell.ts";\n'),
      "src/shop/more.ts":
        'import { tell } from "../lib/tell.ts";\nexport async function more(): Promise<number> {\n  return await tell("a");\n}\n',
      "src/lib/tell.ts": `${filter}export async function tell(sku: string): Promise<number> {\n  return (await filter([sku])).length;\n}\n`,
      "more.segment.json": '{ "./shop/more": { "more": { "access": "public" } } }',
    };
    expect((await checked(both)).problems).toHaveLength(1);
  });

  it("a check only warns of a call in code that pages run too, which may check where it runs", async () => {
    const files = {
      ...stock("return await tell(sku);", 'import { tell } from "../lib/tell.ts";\n'),
      "src/lib/tell.ts": `${filter}export async function tell(sku: string): Promise<number> {\n  return typeof document === "undefined" ? 0 : (await filter([sku])).length;\n}\n`,
      "src/main.ts": `import { tell } from "./lib/tell.ts";\n${shop["src/main.ts"]}void tell;\n`,
    };
    const { problems, warnings } = await checked(files);
    expect(problems).toEqual([]);
    expect(heads(warnings)).toEqual([
      told("src/lib/tell.ts:3:55", "src/shop/stock.ts → src/lib/tell.ts → src/ui/filter.ts"),
    ]);
  });
});

describe("a call that a check accepts", () => {
  const importing = {
    "src/lib/words.ts": `${filter}export const both = async (): Promise<unknown> => filter([]);\nexport const one = (): number => 1;\n`,
  };
  it.each<[string, Files]>([
    [
      "that is in a segment for servers too",
      {
        ...calling,
        "more.segment.json": '{ "./ui/filter": { "filter": { "access": "private" } } }',
      },
    ],
    [
      "whose segment a configured server loads",
      {
        ...calling,
        "seamline.json":
          '{ "mode": "standalone", "url": "http://127.0.0.1:1", "segments": ["shop", "ui"] }',
      },
    ],
    [
      "whose segment a layout of nodes has",
      {
        ...calling,
        "seamline.json":
          '{ "mode": "standalone", "url": "http://127.0.0.1:1", "nodes": { "all": ["shop", "ui"] } }',
      },
    ],
    [
      "that is imported as a type only",
      stock(
        "const all: Awaited<ReturnType<typeof filter>> = [sku];\n  return all.length;",
        'import type { filter } from "../ui/filter.ts";\n',
      ),
    ],
    ["that is imported and not used", stock("return sku.length;", filter)],
    [
      "that another function of the imported module calls",
      { ...importing, ...stock("return one();", 'import { one } from "../lib/words.ts";\n') },
    ],
    [
      "in a namespace that is used for something else",
      {
        ...importing,
        ...stock("return words.one();", 'import * as words from "../lib/words.ts";\n'),
      },
    ],
    [
      "that a page's procedure calls",
      {
        "src/ui/filter.ts": `${shop["src/ui/filter.ts"]}export async function count(words: string[]): Promise<number> {\n  return (await filter(words)).length;\n}\n`,
        "src/ui/ui.segment.json":
          '{ "./ui/filter": { "filter": { "access": "public" }, "count": { "access": "public" } } }',
      },
    ],
    [
      "that shared code only passes on",
      {
        ...stock("return Object.keys(all).length;", 'import { all } from "../lib/all.ts";\n'),
        "src/lib/all.ts": `${filter}export const all = { filter };\n`,
        "src/main.ts": `import { all } from "./lib/all.ts";\n${shop["src/main.ts"]}void all;\n`,
      },
    ],
  ])("a check accepts a page's procedure %s", async (_, files) => {
    const { problems, warnings } = await checked(files);
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
  });

  it("a check accepts a call if the configuration named to it has a server load the segment", async () => {
    const config = {
      "deploy/a/b/all.json":
        '{ "mode": "standalone", "url": "http://127.0.0.1:1", "segments": ["shop", "ui"] }',
    };
    expect((await checked({ ...calling, ...config }, "deploy/a/b/all.json")).problems).toEqual([]);
  });
});

describe("at run time", () => {
  const files = {
    ...shop,
    "src/shop/stock.ts": `${filter}import { runProcedure } from "seamline";\nexport async function stock(): Promise<string[]> {\n  return await filter(["a"]);\n}\nexport async function named(): Promise<unknown> {\n  return await runProcedure("ui/filter", "", { words: [] });\n}\n`,
    "shop.segment.json":
      '{ "./shop/stock": { "stock": { "access": "public" }, "named": { "access": "public" } } }',
    "src/main.ts": 'import { startClient } from "seamline/client";\nawait startClient("ui");\n',
  };
  const expected =
    "Procedure 'ui/filter' v0.0.0 not found: it is only in segment 'ui', which browsers load";

  it("the error of a call to a page's procedure names the segment, in one process and over several", async () => {
    const application = applicationOf(files);
    await application.build();
    const trustKey = "a-key-of-this-test-and-no-other";
    const standalone = await start(application, { mode: "standalone", url: anyPort });
    const repository = await start(application, { mode: "repository", url: anyPort, trustKey });
    const gateway = await start(application, { mode: "gateway", url: anyPort, trustKey });
    await start(application, {
      mode: "node",
      url: anyPort,
      trustKey,
      gateway: gateway.url,
      repository: repository.url,
      segments: ["shop"],
    });
    await gathered(gateway.url);
    for (const { url } of [standalone, gateway])
      for (const name of ["stock", "named"])
        expect(await (await fetch(`${url}/rpc/shop/${name}`)).text()).toBe(
          `${expected}\n[shop/${name} | v0.0.0]`,
        );
    // Callers from outside don't learn this.
    expect(await (await fetch(`${gateway.url}/rpc/ui/filter?words=a`)).text()).toBe(
      "Procedure 'ui/filter' v0.0.0 not found",
    );
  });
});

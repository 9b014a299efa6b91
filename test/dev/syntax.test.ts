import { expect, it } from "vitest";

import { develop, type Files, shop } from "./_session.ts";

const message =
  "Neither Node nor browsers can run decorators and `accessor` fields, and nothing in this build compiles them";

it("uncompiled syntax that reaches a node is a problem with file and line until it is fixed", async () => {
  const running = await develop(shop);
  const before = running.events.length;
  running.edit(
    "src/shop/suppliers.ts",
    "export async",
    "class Book {\n  accessor pages = 3;\n}\nvoid Book;\nexport async",
  );
  const event = await running.nextEvent("problems", before);
  expect(event.problems).toMatchObject([
    { file: "src/shop/suppliers.ts", line: 2, column: 3, message },
  ]);
  running.edit("src/shop/suppliers.ts", "accessor pages", "pages");
  await running.nextEvent("mended", before);
  expect((await running.get("/rpc/shop/quote?sku=ab")).status).toBe(200);
});

it("a page that requests a module with uncompiled syntax shows the same problem", async () => {
  const running = await develop({
    ...shop,
    "src/page/open.ts": "export class Open {\n  accessor now = true;\n}\n",
    "src/main.ts": `import "./page/open.ts";\n${shop["src/main.ts"]}`,
  });
  const answer = await fetch(`${running.session.url}/src/page/open.ts`, {
    headers: { accept: "*/*" },
  });
  expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining(message)]);
});

/** Each replaces the text of a module, and the compiler can't lower it. */
const tooNew: readonly [what: string, text: string, problem: object][] = [
  [
    "modifiers in a regular expression",
    "const count = 1;\n\nexport const pattern: RegExp = /(?i:a)b/;\nexport async function costOf(sku: string): Promise<number> {\n  return sku.length * count;\n}\n",
    { file: "src/shop/suppliers.ts", line: 3, column: 32 },
  ],
  [
    "a group's name twice in a regular expression",
    "type Sku = string;\nexport async function costOf(sku: Sku): Promise<number> {\n  const found = /(?<a>x)|(?<a>y)/.exec(sku);\n  return found?.length ?? 0;\n}\n",
    { file: "src/shop/suppliers.ts", line: 3, column: 17 },
  ],
];

it.each(tooNew)(
  "%s, if this Node can't parse it, is a problem with file and line",
  async (_, text, place) => {
    const running = await develop(shop);
    const before = running.events.length;
    running.write({ "src/shop/suppliers.ts": text });
    const isKnown = (): boolean => {
      try {
        void new RegExp("(?i:a)|(?<a>x)|(?<a>y)");
        return true;
      } catch {
        return false;
      }
    };
    if (isKnown()) {
      await running.nextEvent("replaced", before);
      return;
    }
    const event = await running.nextEvent("problems", before);
    expect(event.problems).toMatchObject([
      { ...place, message: expect.stringContaining("SyntaxError: Invalid regular expression") },
    ]);
  },
);

it("a page gets `using` lowered for the browsers of build.target, unless oxc.target says otherwise", async () => {
  const page: Files = {
    ...shop,
    "src/page/open.js":
      "export function open() {\n  using own = { [Symbol.dispose]() {} };\n  return typeof own;\n}\n",
    "src/main.ts": `import "./page/open.js";\n${shop["src/main.ts"]}`,
  };
  const lowered = await (await develop(page)).text("/src/page/open.js");
  expect(lowered).toContain("usingCtx");
  expect(lowered).not.toContain("using own");
  const kept = await develop({
    ...page,
    "vite.config.ts": 'export default { oxc: { target: "esnext" } };\n',
  });
  expect(await kept.text("/src/page/open.js")).toContain("using own");
});

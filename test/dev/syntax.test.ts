import { expect, it } from "vitest";

import { develop, shop } from "./_session.ts";

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

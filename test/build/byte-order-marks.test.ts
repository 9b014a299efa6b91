// Editors on Windows may write a byte order mark in front of JSON.

import { writeFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { develop, shop as developed } from "../dev/_session.ts";
import { packageOf } from "../../server/compile/read/package-of.ts";
import { createFixture, shop } from "./_fixture.ts";

const mark = "\uFEFF";

describe("a package.json", () => {
  it("may begin with a byte order mark: of the application, and of a package that a node imports", async () => {
    const fixture = createFixture({
      ...shop,
      "package.json": `${mark}{ "name": "marked", "type": "module" }`,
      "node_modules/tool/package.json": `${mark}{ "name": "tool", "type": "module", "exports": "./index.js" }`,
      "node_modules/tool/index.js": "export const tool = 1;\n",
      "src/shop/stock.ts":
        'import { tool } from "tool";\nexport async function stock(): Promise<number> {\n  return tool;\n}\n',
    });
    await fixture.build();
    expect(packageOf(fixture.path("src/main.ts"))?.json).toEqual({
      name: "marked",
      type: "module",
    });
  });

  it("that isn't JSON is a problem with its file, line and column", () => {
    const fixture = createFixture({ "package.json": '{\n  "name": "broken",\n  type: 1\n}\n' });
    expect(() => packageOf(fixture.path("src/main.ts"))).toThrow(
      new RegExp(`${fixture.path("package.json")}:3:3: this is not JSON`),
    );
  });
});

it("a segment file with a byte order mark can lose a procedure to another one in development", async () => {
  const running = await develop(developed);
  writeFileSync(
    `${running.root}/segments/store.segment.json`,
    `${mark}${developed["segments/store.segment.json"]}`,
  );
  await running.session.move("shop/stock", "office");
  expect((await running.get("/rpc/shop/stock?sku=ab")).value).toBe(2);
});

import { expect, it } from "vitest";

import type { Manifest } from "../../src/base/manifest.ts";
import { develop, shop } from "./_session.ts";

it("the manifest for pages lists the classes that pages import, also through a face, but no others", async () => {
  const { get, text, session } = await develop({
    ...shop,
    "src/shop/quote.ts": `export { Cloth } from "./cloth.ts";\n${shop["src/shop/quote.ts"] ?? ""}`,
    "src/shop/cloth.ts":
      "export class Cloth {\n  readonly name: string;\n  constructor(name: string) {\n    this.name = name;\n  }\n}\n",
  });
  const { value } = await get("/svc/manifest.json");
  const manifest = value as Manifest;
  expect(Object.keys(manifest.modules)).toEqual([
    "main",
    "shop/cloth",
    "shop/money",
    "shop/quote",
    "ui/filter",
  ]);
  expect(manifest.modules["ui/filter"]).toEqual({
    file: "src/ui/filter.ts",
    body: "src/ui/filter.ts?seamline=body",
  });
  expect(manifest.modules["shop/quote"]).toEqual({ file: "src/shop/quote.ts" });
  expect(manifest.classes.map(({ key }) => key)).toEqual(["shop/Cloth", "shop/Money"]);
  expect(Object.keys(manifest.segments)).toEqual(["ui"]);
  // The page names its revision, so that it doesn't use another session's manifest.
  expect(await text("/")).toContain(
    `<meta name="seamline-revision" content="${manifest.revision}">`,
  );
  expect(session.url).toMatch(/^http:/);
});

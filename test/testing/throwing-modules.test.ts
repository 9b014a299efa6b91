import { describe, expect, it } from "vitest";

import { createTestCluster } from "../../server/testing/index.ts";
import { createFixture, type Files } from "../build/_fixture.ts";
import { shop } from "./_shop.ts";

describe("a module that throws while a test cluster loads it", () => {
  it.each<[string, Files, RegExp]>([
    [
      "the body of procedures",
      {
        "src/warehouse/stock.ts": `const rows: number = JSON.parse("{");\n${shop["src/warehouse/stock.ts"]?.replace("return ", "return rows + ")}`,
      },
      /^src\/warehouse\/stock\.ts:1:27: SyntaxError: .*, while loading warehouse\/stock \(segment warehouse\)/,
    ],
    [
      "a module below",
      { "src/shop/money.ts": `\n  throw new RangeError("no mint");\n${shop["src/shop/money.ts"]}` },
      /^src\/shop\/money\.ts:2:9: RangeError: no mint, while loading shop\/quote, shop\/total, shop\/whoAsks \(segment shop\)/,
    ],
  ])("createTestCluster rejects with place and purpose if %s throws", async (_, files, message) => {
    const { root } = createFixture({ ...shop, ...files });
    await expect(createTestCluster({ root })).rejects.toThrow(message);
  });
});

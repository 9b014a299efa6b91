import { describe, expect, it, onTestFinished } from "vitest";

import { createTestCluster } from "../../server/testing/index.ts";
import { createFixture, type Files } from "../build/_fixture.ts";
import { applicationFolder, db, first, link, linked } from "../build/_workspace.ts";
import { shop } from "./_shop.ts";

const open = { access: "public" };
const files: Files = {
  ...Object.fromEntries(Object.entries(shop).filter(([file]) => file.startsWith("node_modules/"))),
  ...db,
  ...linked(
    "old",
    { type: "commonjs", main: "main.js" },
    { "main.js": 'exports.old = require("./deep");\n', "deep.js": 'module.exports = "deep";\n' },
  ),
  "src/shop/one.ts":
    'import { next, refuse } from "db";\nimport { table } from "db/schema";\nimport { old } from "old";\nexport async function one() {\n  return { ...next(), old, table };\n}\nexport async function refused() {\n  refuse();\n}\n',
  "src/shop/two.ts":
    'import { next, rows } from "db";\nexport async function two() {\n  next();\n  return rows.size;\n}\n',
  "one.segment.json": JSON.stringify({ "./shop/one": { one: open, refused: open } }),
  "two.segment.json": JSON.stringify({ "./shop/two": { two: open } }),
};

describe("packages of a workspace in a test cluster", () => {
  it("packages of a workspace run from their sources, once on each node", async () => {
    const app = createFixture(files, undefined, applicationFolder);
    link(app, "db", "old");
    const cluster = await createTestCluster({
      root: app.root,
      nodes: { one: "one", both: ["one", "two"] },
    });
    onTestFinished(async () => await cluster.stop());
    const called = async (name: string): Promise<unknown> => await cluster.runProcedure(name);
    const counted = new Map<string, unknown[]>();
    for (let call = 0; call < 4; call++) {
      const value = (await called("shop/one")) as { calls: number };
      const { where = "" } = cluster.calls("shop/one").at(-1) ?? {};
      counted.set(where, [...(counted.get(where) ?? []), value]);
    }
    const expected = [1, 2].map((calls) => ({ ...first, calls, old: "deep" }));
    expect(Object.fromEntries(counted)).toEqual({ one: expected, both: expected });
    expect(await called("shop/two")).toBe(3);
    await expect(called("shop/refused")).rejects.toThrow("the package refuses");
  });
});

// Workspace packages in development: they run as in a build, and edits are live as in the
// application.

import { describe, expect, it } from "vitest";

import { applicationFolder, db, first, installed, link, linked } from "../build/_workspace.ts";
import { develop, eventually, type Files } from "./_session.ts";

const open = { access: "public" };
const shop: Files = {
  ...db,
  ...linked("plain", { exports: "./index.js" }, { "index.js": 'export const plain = "plain";\n' }),
  "src/shop/one.ts":
    'import { next, refuse } from "db";\nimport { plain } from "plain";\nexport async function one() {\n  return { ...next(), plain };\n}\nexport async function refused() {\n  refuse();\n}\n',
  "src/shop/two.ts":
    'import { next, rows } from "db";\nexport async function two() {\n  next();\n  return rows.size;\n}\n',
  "shop.segment.json": JSON.stringify({
    "./shop/one": { one: open, refused: open },
    "./shop/two": { two: open },
  }),
};

const session = async (files: Files = shop) =>
  await develop(files, {
    name: applicationFolder,
    at: (root) => {
      link({ root }, "db", "plain");
      return root;
    },
  });

describe("packages of a workspace in a session", () => {
  it("packages of a workspace run on nodes, once each, with the application's runtime", async () => {
    const { get } = await session();
    expect((await get("/rpc/shop/one")).value).toEqual({ ...first, plain: "plain" });
    expect((await get("/rpc/shop/two")).value).toBe(2);
    expect((await get("/rpc/shop/refused")).status).toBe(403);
  });

  it("edits of a workspace's packages are live: in TypeScript, in JavaScript, and in what they import", async () => {
    const { get, edit } = await session();
    const answer = async () =>
      (await get("/rpc/shop/one")).value as {
        table: string;
        plain: string;
        data: { from: string };
      };
    expect(await answer()).toMatchObject({ table: "rolls", plain: "plain" });
    edit("../../packages/db/src/schema.ts", "rolls", "bolts");
    expect(await eventually(answer, ({ table }) => table === "bolts")).toMatchObject({
      table: "bolts",
      plain: "plain",
    });
    edit("../../packages/plain/index.js", '"plain"', '"changed"');
    expect(await eventually(answer, ({ plain }) => plain === "changed")).toMatchObject({
      table: "bolts",
      plain: "changed",
    });
    edit("../../packages/db/src/data.json", "json", "edited");
    expect(await eventually(answer, ({ data }) => data.from === "edited")).toMatchObject({
      data: { from: "edited" },
    });
  });

  it("a workspace's packages may be CommonJS, in pages and on nodes", async () => {
    const { get } = await session({
      ...shop,
      ...linked(
        "plain",
        { type: "commonjs", main: "main.js" },
        {
          "main.js": 'const { sep } = require("path");\nexports.plain = require("./deep") + sep;\n',
          "deep.js": 'module.exports = "deep";\n',
        },
      ),
    });
    expect((await get("/rpc/shop/one")).value).toEqual({ ...first, plain: "deep/" });
  });

  it.each<[string, object, readonly number[]]>([
    ["by default, the session shares one installed package", {}, [1, 2]],
    ["with ssr.noExternal, each node has its own", { ssr: { noExternal: ["counted"] } }, [1, 1]],
    ["ssr.noExternal: true", { ssr: { noExternal: true } }, [1, 1]],
    ["resolve.noExternal", { resolve: { noExternal: ["counted"] } }, [1, 1]],
    ["ssr.external", { ssr: { external: ["linked-count"] } }, [1, 2]],
  ])("packages on nodes follow Vite's configuration: %s", async (what, config, expected) => {
    const counter = { "index.js": "let calls = 0;\nexport const count = () => ++calls;\n" };
    const name = what === "ssr.external" ? "linked-count" : "counted";
    const { get } = await develop(
      {
        ...installed("counted", { exports: "./index.js" }, counter),
        ...linked("linked-count", { exports: "./index.js" }, counter),
        ...Object.fromEntries(
          ["one", "two"].flatMap((node) => [
            [
              `src/${node}.ts`,
              `import { count } from "${name}";\nexport async function ${node}() {\n  return count();\n}\n`,
            ],
            [`${node}.segment.json`, JSON.stringify({ [`./${node}`]: { [node]: open } })],
          ]),
        ),
        "vite.config.js": `export default ${JSON.stringify(config)};\n`,
      },
      {
        name: applicationFolder,
        at: (root) => {
          link({ root }, "linked-count");
          return root;
        },
      },
    );
    expect([(await get("/rpc/one")).value, (await get("/rpc/two")).value]).toEqual(expected);
  });

  it("a workspace package with syntax that needs compiling is refused with file and line", async () => {
    const { edit, events, nextEvent } = await session();
    const before = events.length;
    edit(
      "../../packages/db/src/schema.ts",
      "export const",
      "class Bolt {\n  accessor metres = 3;\n}\nvoid Bolt;\nexport const",
    );
    const { problems } = await nextEvent("problems", before);
    expect(problems).toMatchObject([
      {
        file: "../../packages/db/src/schema.ts",
        line: 2,
        column: 3,
        message: expect.stringMatching(/accessor/) as string,
      },
    ]);
  });
});

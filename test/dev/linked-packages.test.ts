// Packages of a workspace while one works on them: they run as in a build, and an edit of theirs is live as an edit of the application is.

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
  it("run on nodes, each once, with the application's runtime", async () => {
    const { get } = await session();
    expect((await get("/rpc/shop/one")).value).toEqual({ ...first, plain: "plain" });
    expect((await get("/rpc/shop/two")).value).toBe(2);
    expect((await get("/rpc/shop/refused")).status).toBe(403);
  });

  it("are followed when they are edited: in TypeScript, in JavaScript, and what they import", async () => {
    const { get, edit } = await session();
    const said = async () =>
      (await get("/rpc/shop/one")).value as {
        table: string;
        plain: string;
        data: { from: string };
      };
    expect(await said()).toMatchObject({ table: "rolls", plain: "plain" });
    edit("../../packages/db/src/schema.ts", "rolls", "bolts");
    expect(await eventually(said, ({ table }) => table === "bolts")).toMatchObject({
      table: "bolts",
      plain: "plain",
    });
    edit("../../packages/plain/index.js", '"plain"', '"changed"');
    expect(await eventually(said, ({ plain }) => plain === "changed")).toMatchObject({
      table: "bolts",
      plain: "changed",
    });
    edit("../../packages/db/src/data.json", "json", "edited");
    expect(await eventually(said, ({ data }) => data.from === "edited")).toMatchObject({
      data: { from: "edited" },
    });
  });

  it("run in CommonJS as well, and what is called there is the page's and the node's own", async () => {
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
    ["nothing: what is installed is one for the whole session", {}, [1, 2]],
    ["ssr.noExternal: each node has its own", { ssr: { noExternal: ["counted"] } }, [1, 1]],
    ["ssr.noExternal: true", { ssr: { noExternal: true } }, [1, 1]],
    ["resolve.noExternal", { resolve: { noExternal: ["counted"] } }, [1, 1]],
    ["ssr.external", { ssr: { external: ["linked-count"] } }, [1, 2]],
  ])("go by what the configuration says of packages: %s", async (what, config, expected) => {
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

  it("with syntax that neither Node nor browsers run are refused with file and line", async () => {
    const { edit, events, told } = await session();
    const before = events.length;
    edit(
      "../../packages/db/src/schema.ts",
      "export const",
      "class Bolt {\n  accessor metres = 3;\n}\nvoid Bolt;\nexport const",
    );
    const { problems } = await told("problems", before);
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

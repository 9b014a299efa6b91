// Changes between the reading of the application and the start of its nodes, such as those that a
// plugin's code generator makes.

import { expect, it } from "vitest";

import { openPage } from "./_page.ts";
import { develop, eventually, type Files, shop } from "./_session.ts";

const loads = "loadsOfQuote";

/** Its plugin writes a module when the application has been read, long before the server listens. */
const generated: Files = {
  ...shop,
  "src/shop/quote.ts": `Reflect.set(globalThis, "${loads}", (Reflect.get(globalThis, "${loads}") ?? 0) + 1);\n${shop["src/shop/quote.ts"]}`,
  "vite.config.js": [
    'import { existsSync, readFileSync, writeFileSync } from "node:fs";',
    "const path = (name) => new URL(name, import.meta.url);",
    "const pause = async (ms) => await new Promise((done) => setTimeout(done, ms));",
    "const generate = async () => {",
    '  while (!existsSync(path(".seamline/modules.d.ts"))) await pause(5);',
    '  const file = path("src/shop/suppliers.ts");',
    '  writeFileSync(file, readFileSync(file, "utf8").replace("* 10", "* 20"));',
    "  await pause(1000);",
    "};",
    "export default {",
    "  plugins: [{",
    '    name: "generator",',
    "    configureServer(server) {",
    "      const { listen } = server;",
    "      server.listen = async (...args) => {",
    "        await generate();",
    "        return await listen.apply(server, args);",
    "      };",
    "    },",
    "  }],",
    "};",
    "",
  ].join("\n"),
};

/** What Vite tells a page that opens. A reload that waited for it comes with the first message. */
async function firstMessages(url: string): Promise<readonly object[]> {
  const { messages, close } = await openPage(url);
  await eventually(
    () => messages,
    (all) => all.length > 0,
  );
  close();
  return messages;
}

it("a change before the server listens neither starts nodes twice nor reloads the first page", async () => {
  Reflect.set(globalThis, loads, 0);
  const { session, get } = await develop(generated);
  expect((await get("/rpc/shop/quote?sku=abc")).value).toEqual({ amount: 120 });
  expect(Reflect.get(globalThis, loads)).toBe(1);
  expect(await firstMessages(session.url)).toEqual([{ type: "connected" }]);
});

it("a mistake mended while no page is open doesn't reload the next page", async () => {
  const { session, edit, nextEvent, get } = await develop({
    ...shop,
    "segments/store.segment.json": (shop["segments/store.segment.json"] ?? "").replace(
      "public",
      "pubic",
    ),
  });
  edit("segments/store.segment.json", "pubic", "public");
  await nextEvent("mended");
  await eventually(
    async () => await get("/rpc/shop/stock?sku=abc"),
    ({ status }) => status === 200,
  );
  expect(await firstMessages(session.url)).toEqual([{ type: "connected" }]);
});

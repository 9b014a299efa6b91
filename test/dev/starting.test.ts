// The start of a session: changes between the reading of the application and the start of its nodes,
// such as those that a plugin's code generator makes, and calls before all modules are loaded.

import { expect, it, onTestFinished } from "vitest";

import { openPage } from "./_page.ts";
import { partsApplication } from "./_parts.ts";
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

/** Vite's messages to a page that opens. A reload that waited for it comes with the first message. */
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

/** A large application is shown before it is loaded. Its part 10 waits for a function to be called. */
async function starting(name: string): Promise<{
  readonly running: Awaited<ReturnType<typeof develop>>;
  readonly goOn: (error?: Error) => void;
}> {
  const parts = partsApplication(210);
  let goOn = (_error?: Error): void => {};
  const opened = new Promise<void>((resolve, reject) => {
    goOn = (error) => (error === undefined ? resolve() : reject(error));
  });
  opened.catch(() => {});
  Reflect.set(globalThis, name, opened);
  onTestFinished(() => void Reflect.deleteProperty(globalThis, name));
  const waits = `await Reflect.get(globalThis, "${name}");\n`;
  const running = await develop(
    {
      ...parts,
      "src/parts/part10.ts": `${waits}${parts["src/parts/part10.ts"]}`,
      // A caller in the application waits as one from outside does.
      "src/parts/part200.ts": [
        'import { sum10 } from "./part10.ts";',
        "export async function sum200(given: number): Promise<number> {",
        "  return await sum10(given) * 2;",
        "}",
        "",
      ].join("\n"),
    },
    { awaitsNodes: false },
  );
  return { running, goOn };
}

it("a call waits for its own module only", async () => {
  const { running, goOn } = await starting("opensPart10");
  const { get, session } = running;
  expect(await get("/rpc/parts/sum100?given=1")).toEqual({ status: 200, value: 9 });
  expect(session.nodes()).toEqual([expect.objectContaining({ state: "starting", procedures: 21 })]);
  const waiting = Promise.all(["sum10", "sum200"].map((name) => get(`/rpc/parts/${name}?given=1`)));
  const pause = new Promise((resolve) => setTimeout(resolve, 300, "still waiting"));
  expect(await Promise.race([waiting, pause])).toBe("still waiting");
  goOn();
  expect(await waiting).toEqual([
    { status: 200, value: 9 },
    { status: 200, value: 18 },
  ]);
  await session.ready;
  expect(session.nodes()).toEqual([expect.objectContaining({ state: "ready", procedures: 21 })]);
});

it("a module that can't be loaded ends its node, which starts again when it is mended", async () => {
  const { running, goOn } = await starting("breaksPart10");
  const { get, session, edit, events } = running;
  expect((await get("/rpc/parts/sum100?given=1")).value).toBe(9);
  const called = get("/rpc/parts/sum10?given=1");
  goOn(new Error("no part"));
  expect((await called).status).toBe(503);
  await session.ready;
  const failed = events.filter((event) => event.kind === "node" && event.state === "failed");
  expect(failed).toEqual([
    expect.objectContaining({ why: expect.stringContaining("no part") as string }),
  ]);
  edit("src/parts/part10.ts", 'await Reflect.get(globalThis, "breaksPart10");', "");
  await eventually(
    async () => (await get("/rpc/parts/sum10?given=1")).value,
    (value) => value === 9,
  );
  expect(running.logged).toEqual([]);
});

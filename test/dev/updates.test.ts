// One save sends one update per module to pages, and one event to the terminal.

import { WebSocket } from "undici";
import { expect, it } from "vitest";

import { develop, eventually, type Running, shop } from "./_session.ts";

interface Update {
  readonly path: string;
  readonly acceptedPath: string;
}

/** Loads what a page would, and collects the updates that Vite's client gets. */
async function openPage({
  session: { url },
  text,
}: Running): Promise<{ readonly updates: Update[]; readonly close: () => void }> {
  const manifest = JSON.parse(await text("/svc/manifest.json")) as {
    modules: Record<string, { body?: string }>;
  };
  const loaded = new Set([
    "/src/main.ts",
    ...Object.values(manifest.modules).flatMap(({ body }) =>
      body === undefined ? [] : [`/${body}`],
    ),
  ]);
  for (const path of loaded)
    for (const [, next = ""] of (await text(path)).matchAll(
      /(?:from|import\(?)\s*"(\/src\/[^"]+)"/g,
    ))
      loaded.add(next);
  const token = /wsToken = "([^"]+)"/.exec(await text("/@vite/client"))?.[1] ?? "";
  const socket = new WebSocket(`${url.replace("http", "ws")}/?token=${token}`, "vite-hmr");
  const updates: Update[] = [];
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as { type: string; updates?: Update[] };
    if (message.type === "update") updates.push(...(message.updates ?? []));
  });
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  return { updates, close: () => socket.close() };
}

it("a save that changes several parts of a module updates each importer once", async () => {
  const running = await develop({
    ...shop,
    "src/main.ts": `${shop["src/main.ts"] ?? ""}import "./view.ts";\n`,
    "src/view.ts":
      'import { filter, mark } from "./ui/filter.ts";\nconsole.log(filter, mark);\nimport.meta.hot?.accept();\n',
    "src/ui/filter.ts":
      'export const mark = "a";\nexport async function filter(words: string[]): Promise<string[]> {\n  return words.filter((word) => word !== mark);\n}\n',
  });
  const page = await openPage(running);
  const file = "src/ui/filter.ts";
  running.write({
    [file]:
      'export const mark = "b";\nexport async function filter(words: string[], more = ""): Promise<string[]> {\n  return words.filter((word) => word !== mark + more);\n}\n',
  });
  const paths = () => page.updates.map(({ path }) => path.replace(/[?&]t=\d+/, ""));
  await eventually(paths, (all) => all.length >= 2);
  // Sessions apply changes one after another, so all events of the first save have come.
  running.edit("src/shop/suppliers.ts", "* 10", "* 20");
  await running.nextEvent("reloaded");
  expect(paths().toSorted()).toEqual(["/src/ui/filter.ts?seamline=body", "/src/view.ts"]);
  // Each importer gets the new module.
  expect(
    await running.text(page.updates.find(({ path }) => path.includes("body"))?.acceptedPath ?? ""),
  ).toContain("mark + more");
  page.close();
});

it("files that are saved right after each other are each reported", async () => {
  const { get, edit, events } = await develop(shop);
  // Its node has both bodies.
  await get("/rpc/shop/worth?sku=abc");
  const files = ["src/shop/quote.ts", "src/shop/stock.ts"];
  const reported = (): readonly string[] =>
    events.flatMap((event) => (event.kind === "replaced" ? event.file : [])).toSorted();
  for (let round = 1; round <= 5; round++) {
    edit("src/shop/quote.ts", "* margin", "* 1 * margin");
    edit("src/shop/stock.ts", "sku.length", "1 * sku.length");
    await eventually(reported, ({ length }) => length >= 2 * round, 5_000);
  }
  expect(reported()).toEqual(files.flatMap((file) => Array.from({ length: 5 }, () => file)));
});

it("an edit of a module that a node is just loading is live", async () => {
  let isEdited = (): void => {};
  const edited = new Promise<void>((done) => (isEdited = done));
  const began = new Promise<void>((done) =>
    Reflect.set(globalThis, "rateIsTransformed", async () => {
      done();
      await edited;
    }),
  );
  const { get, edit, nextEvent } = await develop({
    ...shop,
    "src/shop/stock.ts": (shop["src/shop/stock.ts"] ?? "").replace(
      "return sku.length;",
      'return (await import("./rates.ts")).rates[0];',
    ),
    "src/shop/rates.ts": 'import { rate } from "./rate.ts";\nexport const rates = [rate];\n',
    "src/shop/rate.ts": "export const rate = 1;\n",
    "vite.config.js": `export default {
      plugins: [{
        name: "slow",
        async transform(_, id) {
          if (id.endsWith("/rate.ts")) await globalThis.rateIsTransformed();
        },
      }],
    };
    `,
  });
  await get("/rpc/shop/quote?sku=abc");
  const first = get("/rpc/shop/stock?sku=abc");
  await began;
  edit("src/shop/rate.ts", "1", "2");
  // Changes become live in their order, and no node has the one before yet.
  edit("src/shop/quote.ts", "* margin * metres", "* margin");
  await nextEvent("replaced");
  isEdited();
  await first;
  expect((await get("/rpc/shop/stock?sku=abc")).value).toBe(2);
});

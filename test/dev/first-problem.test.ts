// A session that begins with a problem: the page is told of it, though there is no application yet.

import { expect, it } from "vitest";

import { openPage } from "./_page.ts";
import { develop, eventually, type Files, shop } from "./_session.ts";

const store = "segments/store.segment.json";
const wrong: Files = { ...shop, [store]: (shop[store] ?? "").replace("public", "pubic") };

it("a page that opens while there never was a whole application gets Vite's client, the problem, and no source", async () => {
  const { session, edit, text } = await develop(wrong);
  const page = await fetch(`${session.url}/`, { headers: { accept: "text/html" } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("/@vite/client")]);
  const client = await fetch(`${session.url}/@vite/client`);
  expect([client.status, await client.text()]).toEqual([
    200,
    expect.stringContaining("createHotContext"),
  ]);
  expect(
    (await fetch(`${session.url}${/"(\S+\/env\.mjs)"/.exec(await text("/@vite/client"))?.[1]}`))
      .status,
  ).toBe(200);
  const { told, close } = await openPage(session.url);
  const overlay = await eventually(
    () => told.find((one) => one.type === "error"),
    (one) => one !== undefined,
  );
  expect(overlay?.err?.message).toContain('Did you mean "public"?');
  const module = await fetch(`${session.url}/src/shop/stock.ts`, { headers: { accept: "*/*" } });
  expect([module.status, await module.text()]).toEqual([
    500,
    expect.not.stringContaining("sku.length"),
  ]);
  edit(store, "pubic", "public");
  const reload = await eventually(
    () => told.find((one) => one.type === "full-reload"),
    (one) => one !== undefined,
  );
  expect(reload).toBeDefined();
  expect((await fetch(`${session.url}/src/main.ts`)).status).toBe(200);
  close();
});

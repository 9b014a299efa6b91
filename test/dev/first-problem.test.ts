// A session that starts with a problem shows it in the page, although there is no application yet.

import { expect, it } from "vitest";

import { openPage } from "./_page.ts";
import { develop, eventually, type Files, shop } from "./_session.ts";

const store = "segments/store.segment.json";
const wrong: Files = { ...shop, [store]: (shop[store] ?? "").replace("public", "pubic") };

it("a page opened before the application is valid gets Vite's client and the problem, but no source", async () => {
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
  const { messages, close } = await openPage(session.url);
  const overlay = await eventually(
    () => messages.find((message) => message.type === "error"),
    (message) => message !== undefined,
  );
  expect(overlay?.err?.message).toContain('Did you mean "public"?');
  const module = await fetch(`${session.url}/src/shop/stock.ts`, { headers: { accept: "*/*" } });
  expect([module.status, await module.text()]).toEqual([
    500,
    expect.not.stringContaining("sku.length"),
  ]);
  edit(store, "pubic", "public");
  const reload = await eventually(
    () => messages.find((message) => message.type === "full-reload"),
    (message) => message !== undefined,
  );
  expect(reload).toBeDefined();
  expect((await fetch(`${session.url}/src/main.ts`)).status).toBe(200);
  close();
});

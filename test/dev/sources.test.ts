// What the development server gives of files as they lie on the disk: nothing of what only servers have.

import { expect, it } from "vitest";

import { type Asked, ask } from "./_ask.ts";
import { develop, shop } from "./_session.ts";

const secret = "costOf(sku)";
const path = "/src/shop/quote.ts";

it("keeps the source of a split module, whichever way Vite would hand out the file itself", async () => {
  const { session, root } = await develop({
    ...shop,
    "src/ui/Quote.ts": 'export const mark = "a class of its own";\n',
  });
  const asked: readonly Asked[] = [
    { path, method: "POST" },
    { path, method: "PUT" },
    { path, headers: { "sec-fetch-dest": "document" } },
    { path, headers: { "sec-fetch-dest": "iframe" } },
    { path: `${path}/` },
    { path: `/@fs${root}${path}/` },
    { path: `/@fs${root}${path}/?raw` },
    { path: `/@fs${root}/src\\shop\\quote.ts` },
    { path: `${path}?%ff` },
    { path: "/src/shop/quot%65.ts", method: "POST" },
    { path: "/src/shop/QUOTE.ts" },
  ];
  for (const one of asked) {
    const { status, text } = await ask(session.url, one);
    expect(text, JSON.stringify(one)).not.toContain(secret);
    expect(status, JSON.stringify(one)).toBe(403);
  }
  // Its part for pages, and files of others, are as they always were.
  expect(await ask(session.url, { path })).toMatchObject({
    status: 200,
    text: expect.stringContaining("/svc/client.js"),
  });
  expect(await ask(session.url, { path: "/src/ui/Quote.ts" })).toMatchObject({
    status: 200,
    text: expect.stringContaining("a class of its own"),
  });
  const main = { path: "/src/main.ts", headers: { "sec-fetch-dest": "document" } };
  expect(await ask(session.url, main)).toMatchObject({
    status: 200,
    text: expect.stringContaining("startClient"),
  });
});

it("keeps modules while no application has been whole yet: nobody knows which are split", async () => {
  const { session, told } = await develop({ ...shop, "segments/ui.segment.json": "{" });
  await told("problems");
  for (const one of [
    { path, method: "POST" },
    { path, headers: { "sec-fetch-dest": "document" } },
    { path },
  ])
    expect((await ask(session.url, one)).text).not.toContain(secret);
});

it("keeps configurations, which may say the trust key", async () => {
  const config = '{ "mode": "standalone", "url": "http://127.0.0.1:3000" }';
  const { session } = await develop(
    { ...shop, "seamline.json": config, "live.json": config },
    { config: "live.json" },
  );
  for (const file of ["/seamline.json", "/live.json", "/.seamline/key"])
    for (const query of ["", "?raw", "?import", "?url"])
      expect((await ask(session.url, { path: file + query })).status, file + query).toBe(403);
});

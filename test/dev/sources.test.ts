// The development server serves no source that only servers may have.

import { expect, it } from "vitest";

import { type TestRequest, ask } from "./_ask.ts";
import { develop, shop } from "./_session.ts";

const secret = "costOf(sku)";
const path = "/src/shop/quote.ts";

it("the source of a split module isn't served, however it is requested", async () => {
  const { session, root } = await develop({
    ...shop,
    "src/ui/Quote.ts": 'export const mark = "a class of its own";\n',
  });
  const requests: readonly TestRequest[] = [
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
  for (const request of requests) {
    const { status, text } = await ask(session.url, request);
    expect(text, JSON.stringify(request)).not.toContain(secret);
    expect(status, JSON.stringify(request)).toBe(403);
  }
  // Its part for pages and other files are served as always.
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

it("no module's source is served before the application is valid", async () => {
  const { session, nextEvent } = await develop({ ...shop, "segments/ui.segment.json": "{" });
  await nextEvent("problems");
  for (const one of [
    { path, method: "POST" },
    { path, headers: { "sec-fetch-dest": "document" } },
    { path },
  ])
    expect((await ask(session.url, one)).text).not.toContain(secret);
});

it("configurations, which may hold the trust key, aren't served", async () => {
  const config = '{ "mode": "standalone", "url": "http://127.0.0.1:3000" }';
  const { session } = await develop(
    { ...shop, "seamline.json": config, "live.json": config },
    { config: "live.json" },
  );
  for (const file of ["/seamline.json", "/live.json", "/.seamline/key"])
    for (const query of ["", "?raw", "?import", "?url"])
      expect((await ask(session.url, { path: file + query })).status, file + query).toBe(403);
});

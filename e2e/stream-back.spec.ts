// A page with an open stream that is left, and gone back to: from the browser's cache of pages, if it takes it, or anew.

import { expect, test } from "@playwright/test";
import config from "../playwright.config.ts";
import { buildPackage } from "../test/process/_application.ts";
import { type Served, served } from "./_page.ts";

test.use({
  launchOptions: {
    ...config.use?.launchOptions,
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
  },
});

const feed = `import { getContext, withId } from "seamline";
export async function* feed(): AsyncGenerator<number> {
  const { lastEventId, signal } = getContext();
  for (let at = Number(lastEventId ?? 0) + 1; !signal.aborted; at++) {
    yield withId(String(at), at);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
`;
const main = `// @ts-nocheck
import { startClient } from "seamline/client";
import { feed } from "./feed.ts";
await startClient("page");
window.seen = [];
window.addEventListener("pageshow", ({ persisted }) => (document.body.dataset.kept = persisted));
document.querySelector("output").textContent = "ready";
for await (const item of feed()) window.seen.push(item);
`;

let service: Served;
test.beforeAll(async () => {
  buildPackage();
  service = await served("start", {
    "segments/shop.segment.json": { "./feed": { feed: { access: "public", resume: true } } },
    "segments/page.segment.json": {},
    "src/feed.ts": feed,
    "src/main.ts": main,
  });
});
test.afterAll(() => service.remove());

test("a stream with resume goes on in a page that is gone back to, and no item is lost", async ({
  page,
}) => {
  await page.goto(service.url);
  const seen = async (): Promise<number[]> => await page.evaluate("window.seen ?? []");
  await expect.poll(async () => (await seen()).length).toBeGreaterThan(10);
  await page.goto(`${service.url}/rpc/nothing/there`);
  await page.waitForTimeout(1_000);
  // A page from the cache has no `load`.
  await page.goBack({ waitUntil: "commit" });
  await expect(page.locator("output")).toHaveText("ready");
  const before = (await seen()).length;
  await expect.poll(async () => (await seen()).length).toBeGreaterThan(before + 10);
  const items = [...new Set(await seen())];
  expect(items).toEqual(Array.from({ length: items.length }, (_, at) => at + 1));
});

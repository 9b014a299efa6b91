// A page with an open stream that is left, and gone back to: from the browser's cache of pages, if it takes it, or anew.

import { expect, test } from "@playwright/test";
import config from "../playwright.config.ts";
import { buildPackage } from "../test/process/_application.ts";
import { feedFiles, goesOn } from "./_feed.ts";
import { type Served, served } from "./_page.ts";

test.use({
  launchOptions: {
    ...config.use?.launchOptions,
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
  },
});

let service: Served;
test.beforeAll(async () => {
  buildPackage();
  service = await served("start", feedFiles);
});
test.afterAll(() => service.remove());

test("a stream with resume goes on in a page that is gone back to, and no item is lost", async ({
  page,
}) => {
  await page.goto(service.url);
  await goesOn(page);
  await page.goto(`${service.url}/rpc/nothing/there`);
  await page.waitForTimeout(1_000);
  // A page from the cache has no `load`.
  await page.goBack({ waitUntil: "commit" });
  const { lost, error } = await goesOn(page);
  expect([lost, error]).toEqual([0, ""]);
});

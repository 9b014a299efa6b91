// A feed with "resume", and a page that reads it and counts what a cut has cost.

import { expect, type Page } from "@playwright/test";

const feed = `import { getContext, withId } from "seamline";
let open = 0;
/** 1, 2, 3 …, two hundred a second, from wherever its reader was. */
export async function* feed(): AsyncGenerator<number> {
  const { lastEventId, signal } = getContext();
  open++;
  try {
    for (let at = Number(lastEventId ?? 0) + 1; !signal.aborted; at++) {
      yield withId(String(at), at);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  } finally {
    open--;
  }
}
export async function readers(): Promise<number> { return open; }
`;
const main = `// @ts-nocheck
import { startClient } from "seamline/client";
import { feed } from "./shop/feed.ts";
await startClient("page");
const seen = (window.seen = { last: 0, lost: 0, doubled: 0, error: "" });
document.querySelector("output").textContent = "ready";
try {
  for await (const item of feed()) {
    if (item <= seen.last) seen.doubled++;
    else seen.lost += item - seen.last - 1;
    seen.last = Math.max(seen.last, item);
  }
} catch (error) {
  seen.error = String(error);
}
`;

export const feedFiles: Readonly<Record<string, string | object>> = {
  "index.html":
    '<!doctype html><title>Feed</title><output></output><script type="module" src="/src/main.ts"></script>',
  "segments/shop.segment.json": {
    "./shop/feed": { feed: { access: "public", resume: true }, readers: { access: "public" } },
  },
  "segments/page.segment.json": {},
  "src/shop/feed.ts": feed,
  "src/main.ts": main,
};

/** The items of the feed that a page has seen. */
export interface Seen {
  /** The highest item. */
  readonly last: number;
  readonly lost: number;
  readonly doubled: number;
  /** Why its loop has ended. */
  readonly error: string;
}

export async function seenBy(page: Page): Promise<Seen> {
  return await page.evaluate<Seen>("window.seen");
}

/** Waits until the page has seen fifty more items. Returns what it has seen then. */
export async function goesOn(page: Page): Promise<Seen> {
  await expect(page.locator("output")).toHaveText("ready");
  const { last } = await seenBy(page);
  await expect
    .poll(async () => (await seenBy(page)).last, { timeout: 30_000 })
    .toBeGreaterThan(last + 50);
  return await seenBy(page);
}

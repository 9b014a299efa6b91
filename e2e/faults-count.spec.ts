// A page reads a feed while gateways and nodes are killed under it: with "resume" no item is lost.

import { expect, test } from "@playwright/test";
import { freePort } from "../test/_free-port.ts";
import {
  anyPort,
  type Application,
  buildPackage,
  createApplication,
  type Service,
} from "../test/process/_application.ts";

const trustKey = "the-trust-key-of-the-feed";
const feed = `import { getContext, withId } from "seamline";
/** 1, 2, 3 …, two hundred a second, from wherever its reader was. */
export async function* feed(): AsyncGenerator<number> {
  const { lastEventId, signal } = getContext();
  for (let at = Number(lastEventId ?? 0) + 1; !signal.aborted; at++) {
    yield withId(String(at), at);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
`;
const main = `// @ts-nocheck
import { startClient } from "seamline/client";
import { feed } from "./shop/feed.ts";
await startClient("page");
const seen = (window.seen = { items: 0, last: 0, lost: 0, doubled: 0, error: "" });
document.body.dataset.started = "true";
try {
  for await (const item of feed()) {
    seen.items++;
    if (item <= seen.last) seen.doubled++;
    else seen.lost += item - seen.last - 1;
    seen.last = Math.max(seen.last, item);
  }
} catch (error) {
  seen.error = String(error);
}
`;

let application: Application;
test.beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  const files = {
    "index.html":
      '<!doctype html><title>Feed</title><script type="module" src="/src/main.ts"></script>',
    "segments/shop.segment.json": { "./shop/feed": { feed: { access: "public", resume: true } } },
    "segments/page.segment.json": {},
    "src/shop/feed.ts": feed,
    "src/main.ts": main,
  };
  for (const [path, content] of Object.entries(files)) await application.put(path, content);
  const command = application.seamline(["build"]);
  expect(await command.ended(), command.output()).toBe(0);
});
test.afterAll(() => application.remove());

interface Seen {
  readonly items: number;
  readonly last: number;
  readonly lost: number;
  readonly doubled: number;
  readonly error: string;
}

test("no item of a feed with resume is lost while gateways and nodes are killed ten times", async ({
  page,
}) => {
  // It only bounds a failure.
  test.setTimeout(240_000);
  const service = async (name: string, config: object): Promise<Service> =>
    await application.service(name, { url: anyPort, trustKey, ...config });
  const repository = await service("repository", { mode: "repository" });
  const ports = [await freePort(), await freePort()];
  const gateway = ports.map((port) => `http://127.0.0.1:${port}`);
  const behind = { gateway, repository: repository.url };
  const start = [
    ...gateway.map(
      (url, at) => async () => await service(`gateway-${at}`, { mode: "gateway", url }),
    ),
    ...[0, 1].map(
      (at) => async () =>
        await service(`node-${at}`, {
          mode: "node",
          segments: ["shop"],
          cache: `./cache-${at}`,
          ...behind,
        }),
    ),
  ];
  const running: Service[] = [];
  for (const begin of start) running.push(await begin());
  const proxy = await service("proxy", { mode: "proxy", ...behind });
  await page.goto(proxy.url);
  await expect(page.locator("body")).toHaveAttribute("data-started", "true");
  const seen = async (): Promise<Seen> => await page.evaluate<Seen>("window.seen");
  const goesOn = async (): Promise<void> => {
    const { last } = await seen();
    await expect
      .poll(async () => (await seen()).last, { timeout: 30_000 })
      .toBeGreaterThan(last + 50);
  };
  await goesOn();
  // Each of the four in turn: two are always there.
  for (let round = 0; round < 10; round++) {
    const at = round % start.length;
    await running[at]!.command.ended("SIGKILL");
    await goesOn();
    running[at] = await start[at]!();
    await goesOn();
  }
  const { lost, doubled, error } = await seen();
  console.log("SEEN", JSON.stringify(await seen()));
  expect([lost, error]).toEqual([0, ""]);
  // Around a cut an item may come twice.
  expect(doubled).toBeLessThan(10 * 50);
});

// `seamline dev` in a real browser: procedures that move while their page is open, or opening.

import { expect, type Page, test } from "@playwright/test";
import { develop, type DevRun } from "./dev-application.ts";
import { application, moved, movedBack, open, within, write } from "./dev-shop.ts";

let run: DevRun;
test.beforeEach(async () => {
  run = await develop(application);
});
test.afterEach(async () => await run.stop());

/** Holds the first request for an address. */
async function held(
  page: Page,
  address: string,
): Promise<{ readonly reached: Promise<void>; readonly release: () => void }> {
  let [reach, release] = [(): void => {}, (): void => {}];
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(
    address,
    async (route) => {
      reach();
      await released;
      await route.continue();
    },
    { times: 1 },
  );
  return { reached, release };
}

/** Opens the page, and moves `shop/quote` from it to its node before the page has the body. */
async function openAsItLeaves(page: Page): Promise<void> {
  const hold = await held(page, "**/src/shop/quote.ts?seamline=body*");
  await page.goto(run.url);
  await hold.reached;
  write(run, movedBack);
  await expect.poll(async () => await run.status("/rpc/shop/quote?sku=abc")).toBe(200);
  hold.release();
  await expect.poll(async () => await within(page, "globalThis.page ?? null")).not.toBeNull();
}

/** Calls a procedure in a loop that ends with `over`, and collects what it answers in `seen`. */
async function callAlways(page: Page): Promise<void> {
  await page.evaluate(`
    globalThis.seen = [];
    globalThis.calling = (async () => {
      while (!globalThis.over) {
        const { value, where } = await at(() => quote("abc"));
        seen.push([value instanceof Money, value.amount, where].join());
        // Local calls alone would never yield to the event loop.
        await new Promise((resolve) => setTimeout(resolve));
      }
    })();
    globalThis.calling.catch((error) => seen.push(String(error)));
    undefined;
  `);
}

test("moving a procedure into the page and back needs no reload, and no call fails meanwhile", async ({
  page,
}) => {
  const loaded = await open(page, run);
  expect(await within(page, 'at(() => quote("abc"))')).toMatchObject({ where: "remote" });
  await callAlways(page);
  for (let round = 0; round < 3; round++) {
    write(run, moved);
    await expect.poll(async () => await within(page, "seen.at(-1)")).toBe("true,30,local");
    write(run, movedBack);
    await expect.poll(async () => await within(page, "seen.at(-1)")).toBe("true,30,remote");
  }
  await within(page, "globalThis.over = true, calling");
  expect(new Set((await within(page, "seen")) as string[])).toEqual(
    new Set(["true,30,remote", "true,30,local"]),
  );
  expect(await within(page, "page")).toBe(loaded);
});

test("a call that is slow to leave finds its procedure, although the page runs it meanwhile", async ({
  page,
}) => {
  const loaded = await open(page, run);
  expect(await within(page, 'at(() => quote("abc"))')).toMatchObject({ where: "remote" });
  const hold = await held(page, "**/rpc/**");
  await within(
    page,
    'globalThis.slow = quote("abc").then(({ amount }) => amount, String), undefined',
  );
  write(run, moved);
  await expect
    .poll(async () => await within(page, 'at(() => quote("abc"))'))
    .toMatchObject({ where: "local" });
  // Longer than a node takes to drop what has left it.
  await page.waitForTimeout(500);
  hold.release();
  expect(await within(page, "slow")).toBe(30);
  expect(await within(page, "page")).toBe(loaded);
});

test("while a page opens, a procedure moves to it: its first call finds the procedure", async ({
  page,
}) => {
  // The page has read the manifest, and no server knows of it yet.
  const hold = await held(page, "**/svc/remote.js");
  await page.goto(run.url);
  await hold.reached;
  await expect.poll(async () => await within(page, "globalThis.page ?? null")).not.toBeNull();
  write(run, moved);
  await expect.poll(async () => await run.status("/rpc/shop/quote?sku=abc")).toBe(404);
  await within(
    page,
    'globalThis.first = at(() => quote("abc")).then(({ value }) => value.amount, String), undefined',
  );
  await within(
    page,
    'globalThis.named = runProcedure("shop/quote", "", { sku: "abcd" }).then(({ amount }) => amount, String), undefined',
  );
  hold.release();
  expect(await within(page, "first")).toBe(30);
  expect(await within(page, "named")).toBe(40);
});

test("while a page opens, a procedure leaves it: the page starts with the next manifest", async ({
  page,
}) => {
  write(run, moved);
  await expect.poll(async () => await run.status("/rpc/shop/quote?sku=abc")).toBe(404);
  await openAsItLeaves(page);
  expect(await within(page, 'quote("abc").then(({ amount }) => amount)')).toBe(30);
});

test("a page that isn't told yet that a procedure has left asks, and the call goes to the node", async ({
  page,
}) => {
  write(run, moved);
  await expect.poll(async () => await run.status("/rpc/shop/quote?sku=abc")).toBe(404);
  let tell = (): void => {};
  const told = new Promise<void>((resolve) => (tell = resolve));
  let mayTell = false;
  await page.routeWebSocket(/.*/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      // The page asks when it starts, and may do so again.
      if (mayTell && String(message).includes("seamline:here")) tell();
      server.send(message);
    });
    server.onMessage(async (message) => {
      if (String(message).includes("seamline:move")) await told;
      socket.send(message);
    });
  });
  await openAsItLeaves(page);
  mayTell = true;
  expect(await within(page, 'at(() => quote("abc"))')).toMatchObject({ value: { amount: 30 } });
});

test("a procedure that moves to a node together with an edit stays in the page until the node has loaded it", async ({
  page,
}) => {
  write(run, moved);
  await expect.poll(async () => await run.status("/rpc/shop/quote?sku=abc")).toBe(404);
  const loaded = await open(page, run);
  await callAlways(page);
  write(run, movedBack);
  // The page takes the new body before the slow node does.
  run.edit(
    "src/shop/quote.ts",
    "let calls = 0;",
    'if (typeof document === "undefined") await new Promise((done) => setTimeout(done, 700));\nlet calls = 0;',
  );
  await expect.poll(async () => await within(page, "seen.at(-1)")).toBe("true,30,remote");
  await within(page, "globalThis.over = true, calling");
  expect(new Set((await within(page, "seen")) as string[])).toEqual(
    new Set(["true,30,remote", "true,30,local"]),
  );
  expect(await within(page, "page")).toBe(loaded);
});

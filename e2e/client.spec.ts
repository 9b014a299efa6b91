// startClient in a real browser: plain pages without a bundler, on an origin that the test
// controls.

import { expect, type Page, test } from "@playwright/test";
import { createOrigin, integrityOf, type Origin } from "./_origin.ts";
import { type DeployOptions, deployTo, quotePage, servePageAt, visitAt } from "./_plain.ts";

let origin: Origin;
test.beforeEach(async () => {
  origin = await createOrigin();
});
test.afterEach(async () => await origin.close());

const deploy = (revision: string, options?: DeployOptions): void =>
  deployTo(origin, revision, options);
const servePage = (body: string, head?: string): void => servePageAt(origin, body, head);
const visit = (page: Page): Promise<void> => visitAt(origin, page);
const stock = (pieces: string) =>
  origin.files.set("/rpc/shop/stock", () => ({
    text: pieces,
    fields: { "x-svc-data-type": "number" },
  }));
const output = (page: Page) => page.locator("output");

/** The revision that IndexedDB has cached for the next visit. */
async function kept(page: Page): Promise<string | undefined> {
  return await page.evaluate(
    async () =>
      await new Promise<string | undefined>((resolve) => {
        const opening = indexedDB.open("seamline");
        opening.onsuccess = () => {
          const reading = opening.result
            .transaction("client")
            .objectStore("client")
            .get(location.origin);
          reading.onsuccess = () => {
            opening.result.close();
            resolve((reading.result as { revision: string } | undefined)?.revision);
          };
        };
      }),
  );
}

test("hooks-9: startClient makes the page a node that runs its segment; its origin answers its calls and serves its files, under script-src 'self'", async ({
  page,
}) => {
  deploy("r1");
  stock("12");
  servePage(quotePage);
  const refused: string[] = [];
  page.on("console", (message) => message.type() === "error" && refused.push(message.text()));
  await visit(page);
  await expect(output(page)).toHaveText("1200 r1 true");
  expect(refused).toEqual([]);
});

test("a body's imports are requested while the body itself is still loading", async ({ page }) => {
  deploy("r1");
  stock("12");
  servePage(quotePage);
  const release = origin.hold("/quote-body-r1.js");
  await visit(page);
  await expect
    .poll(() => origin.requested)
    .toEqual(expect.arrayContaining(["/stock-r1.js", "/money-r1.js", "/cents-r1.js"]));
  release();
  await expect(output(page)).toHaveText("1200 r1 true");
  // Preloading and then importing a file makes one request.
  expect(origin.requested.filter((path) => path === "/money-r1.js")).toHaveLength(1);
});

test("a module's style sheet is applied once, before the module runs, and preload links are removed", async ({
  page,
}) => {
  deploy("r1");
  stock("12");
  servePage(quotePage);
  await visit(page);
  await expect(output(page)).toHaveText("1200 r1 true");
  await expect(output(page)).toHaveCSS("color", "rgb(1, 2, 3)");
  expect(
    await page
      .locator("link")
      .evaluateAll((links) => links.map((link) => link.getAttribute("rel"))),
  ).toEqual(["stylesheet"]);

  deploy("r2");
  servePage(
    quotePage,
    `<meta name="seamline-revision" content="r2"><link rel="stylesheet" href="/money-r2.css">`,
  );
  await visit(page);
  await expect(output(page)).toHaveText("1200 r2 true");
  await expect(page.locator("link")).toHaveCount(1);
});

test("client.js and hooks.js are one runtime (endpoints-4)", async ({ page }) => {
  deploy("r1");
  servePage(`const hooks = await import("/svc/hooks.js");
    return Object.keys(hooks).sort().join() + " " + (hooks.startClient === startClient && hooks.runProcedure === runProcedure);`);
  await visit(page);
  await expect(output(page)).toHaveText("onStop,runProcedure,startClient,withOptions true");
});

test("runProcedure calls by name, locally and remotely (hooks-16, hooks-17)", async ({ page }) => {
  deploy("r1");
  stock("3");
  servePage(`await startClient("ui");
    const price = await runProcedure("shop/quote", "1.0.0", { sku: "A1" });
    return price.cents + " " + await runProcedure("shop/stock", "1.0.0", { sku: "A1" });`);
  await visit(page);
  await expect(output(page)).toHaveText("300 3");
});

test("startClient rejects for a segment that browsers may not load (hooks-10)", async ({
  page,
}) => {
  deploy("r1");
  servePage(`await startClient("server");`);
  await visit(page);
  await expect(output(page)).toHaveText(
    "SegmentNotFound: segment 'server' is not one that browsers may load (ui); see browserSegments",
  );
});

test("a framework error thrown on another node is instanceof its class in the page", async ({
  page,
}) => {
  deploy("r1");
  origin.files.set("/rpc/shop/stock", () => ({
    status: 403,
    text: JSON.stringify({
      serialized: true,
      name: "Error",
      type: "Forbidden",
      message: "not for you",
      trace: ["[shop/stock | v1.0.0]"],
      fields: {},
    }),
    fields: { "content-type": "application/json", "x-svc-data-type": "object" },
  }));
  servePage(`await startClient("ui");
    const error = await runProcedure("shop/stock", "1.0.0", { sku: "A1" }).catch((error) => error);
    return (error instanceof client.Forbidden) + " " + error.message;`);
  await visit(page);
  await expect(output(page)).toHaveText("true not for you");
});

test("a second visit starts without waiting for the manifest's request", async ({ page }) => {
  deploy("r1");
  stock("12");
  servePage(quotePage, `<meta name="seamline-revision" content="r1">`);
  await visit(page);
  await expect(output(page)).toHaveText("1200 r1 true");
  await expect.poll(() => kept(page)).toBe("r1");
  const release = origin.hold("/svc/manifest.json");
  await visit(page);
  await expect(output(page)).toHaveText("1200 r1 true");
  expect(origin.requested).toContain("/svc/manifest.json");
  release();
});

test("after a deploy a built page runs its own build, and a plain page the cached one and then the new one", async ({
  page,
}) => {
  deploy("r1");
  stock("12");
  servePage(quotePage);
  await visit(page);
  await expect.poll(() => kept(page)).toBe("r1");
  deploy("r2");
  await visit(page);
  await expect(output(page)).toHaveText("1200 r1 true");
  expect(await page.evaluate("ran")).toEqual(["r1"]);
  await expect.poll(() => kept(page)).toBe("r2");
  await visit(page);
  await expect(output(page)).toHaveText("1200 r2 true");

  deploy("r3");
  servePage(quotePage, `<meta name="seamline-revision" content="r3">`);
  await visit(page);
  await expect(output(page)).toHaveText("1200 r3 true");
  expect(await page.evaluate("ran")).toEqual(["r3"]);
});

for (const [what, spoil] of [
  ["gone", () => origin.files.delete("/cents-r1.js")],
  ["different", () => origin.files.set("/cents-r1.js", "globalThis.ran = 'something else';")],
] as const)
  test(`a cached revision with a file that is ${what} is dropped, and the page starts again with the fresh one`, async ({
    page,
  }) => {
    deploy("r1");
    stock("12");
    servePage(quotePage);
    await visit(page);
    await expect(output(page)).toHaveText("1200 r1 true");
    await expect.poll(() => kept(page)).toBe("r1");
    deploy("r2");
    spoil();
    await visit(page);
    await expect(output(page)).toHaveText("1200 r2 true");
    expect(await page.evaluate("ran")).toEqual(["r2"]);
    await expect.poll(() => kept(page)).toBe("r2");
  });

test("a file that doesn't match the manifest's digest never runs", async ({ page }) => {
  deploy("r1", { integrity: integrityOf("something else") });
  servePage(quotePage);
  await visit(page);
  await expect(output(page)).toHaveText(/^FileNotFound: .*\/cents-r1\.js is gone or changed/);
  expect(await page.evaluate("globalThis.ran")).toBeUndefined();
});

test("a remote call rejects if /svc/remote.js can't be loaded, and the next call fetches it again", async ({
  page,
}) => {
  deploy("r1");
  stock("12");
  servePage(`const client = await startClient("ui");
    const { stock } = await client.import("./shop/stock.js");
    globalThis.again = async () => show(String(await stock("A1")));
    await again();`);
  const remote = origin.files.get("/svc/remote.js") ?? "";
  origin.files.delete("/svc/remote.js");
  await visit(page);
  await expect(output(page)).toHaveText("NodeNotAvailable: Can't load /svc/remote.js");
  origin.files.set("/svc/remote.js", remote);
  await page.evaluate("again()");
  await expect(output(page)).toHaveText("12");
});

test("client.import of an unavailable module rejects with both remedies and the most similar module", async ({
  page,
}) => {
  deploy("r1");
  servePage(`await (await startClient("ui")).import("./shop/qoute.js");`);
  await visit(page);
  await expect(output(page)).toHaveText(
    /^FileNotFound: .*client\.import\('\.\/shop\/qoute\.js'\).*browserModules.*'\.\/shop\/quote'\?/,
  );
});

test("before its first call a plain page has requested client.js, remote.js, plain.js and the manifest, and nothing else of Seamline's", async ({
  page,
}) => {
  deploy("r1");
  servePage(`await startClient("ui"); return "started";`);
  await visit(page);
  await expect(output(page)).toHaveText("started");
  expect(origin.requested.filter((path) => path.startsWith("/svc/")).toSorted()).toEqual([
    "/svc/client.js",
    "/svc/manifest.json",
    "/svc/plain.js",
    "/svc/remote.js",
  ]);
});

test("startClient works in a page without storage", async ({ page }) => {
  deploy("r1");
  stock("12");
  servePage(quotePage);
  await page.addInitScript("Object.defineProperty(globalThis, 'indexedDB', { value: undefined })");
  await visit(page);
  await expect(output(page)).toHaveText("1200 r1 true");
});

test("startClient works in a worker", async ({ page }) => {
  deploy("r1");
  stock("12");
  servePage(`const worker = new Worker("/worker.js", { type: "module" });
    return await new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data); });`);
  origin.files.set(
    "/worker.js",
    `import { startClient } from "/svc/client.js";
     const { quote } = await (await startClient("ui")).import("./shop/quote.js");
     const price = await quote("A1");
     postMessage(price.cents + " " + price.revision);`,
  );
  await visit(page);
  await expect(output(page)).toHaveText("1200 r1");
});

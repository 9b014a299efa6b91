// Options of calls in a real browser: plain pages on an origin that the test controls.

import { expect, type Page, test } from "@playwright/test";
import { createOrigin, type Origin } from "./_origin.ts";
import { deployTo, servePageAt, visitAt } from "./_plain.ts";

let origin: Origin;
test.beforeEach(async () => {
  origin = await createOrigin();
  deployTo(origin, "r1");
  origin.files.set("/rpc/shop/stock", () => ({
    text: "12",
    fields: { "x-svc-data-type": "number" },
  }));
});
test.afterEach(async () => await origin.close());

const output = (page: Page) => page.locator("output");
const times = (path: string): number => origin.requested.filter((each) => each === path).length;

/** Opens a page that shows what `body` returns; `failure` makes a text of a call's end. */
async function open(page: Page, body: string, headers = ""): Promise<void> {
  servePageAt(
    origin,
    `const { withOptions } = client;
     const own = await startClient({ segments: ["ui"] ${headers && `, headers: ${headers}`} });
     const { stock } = await own.import("./shop/stock.js");
     const failure = (call) => call.then((value) => "came " + value, (error) => error?.name ? error.name + ": " + error.message : String(error));
     ${body}`,
  );
  await visitAt(origin, page);
}

test("a call rejects with its signal before it is sent, while it waits, and not after the answer", async ({
  page,
}) => {
  const release = origin.hold("/rpc/shop/stock");
  await open(
    page,
    `const before = await failure(withOptions(stock, { signal: AbortSignal.abort("early") })("A1"));
     const waits = new AbortController();
     const call = failure(withOptions(stock, { signal: waits.signal })("A1"));
     globalThis.abort = () => waits.abort("enough");
     const during = await call;
     show("aborted");
     await new Promise((go) => { globalThis.go = go; });
     const late = new AbortController();
     const after = await failure(withOptions(stock, { signal: late.signal })("A1"));
     late.abort("late");
     return [before, during, after].join();`,
  );
  await expect.poll(() => times("/rpc/shop/stock")).toBe(1);
  await page.evaluate("abort()");
  await expect(output(page)).toHaveText("aborted");
  release();
  await page.evaluate("go()");
  await expect(output(page)).toHaveText("early,enough,came 12");
  expect(times("/svc/rare.js")).toBe(1);
});

test("timeoutMs ends a call with DeadlineExceeded, by withOptions and by runProcedure", async ({
  page,
}) => {
  origin.hold("/rpc/shop/stock");
  await open(
    page,
    `return [await failure(withOptions(stock, { timeoutMs: 50 })("A1")),
       await failure(runProcedure("shop/stock", "1.0.0", { sku: "A1" }, { timeoutMs: 50 }))].join(" | ");`,
  );
  await expect(output(page)).toHaveText(
    // Whether the runtime's files had come by then, or not yet.
    /^DeadlineExceeded: .* \| DeadlineExceeded: .*$/,
  );
});

test("headers of a call are over those of startClient, undefined removes them, and other names are refused", async ({
  page,
}) => {
  const sent: Record<string, string>[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/rpc/")) sent.push(request.headers());
  });
  await open(
    page,
    `await stock("A1");
     await withOptions(stock, { headers: { "X-B": "own", "x-c": undefined } })("A1");
     const refused = [];
     for (const name of ["Cookie", "host", "sec-x", "x-svc-hops", "content-type"])
       refused.push(await failure(withOptions(stock, { headers: { [name]: "1" } })("A1")));
     return refused.map((text) => text.replace(/^TypeError: withOptions can't set the header /, "").replace(/:.*/, "")).join();`,
    `async () => ({ "x-a": "page", "x-b": "page", "x-c": "page" })`,
  );
  await expect(output(page)).toHaveText("'cookie','host','sec-x','x-svc-hops','content-type'");
  expect(sent.map((fields) => [fields["x-a"], fields["x-b"], fields["x-c"]])).toEqual([
    ["page", "page", "page"],
    ["page", "own", undefined],
  ]);
  expect(times("/svc/rare.js")).toBe(1);
});

test("a call rejects with what the headers function of startClient rejects with, and sends nothing", async ({
  page,
}) => {
  await open(
    page,
    `return await failure(stock("A1"));`,
    `async () => { throw new Error("signed out"); }`,
  );
  await expect(output(page)).toHaveText("Error: signed out");
  expect(times("/rpc/shop/stock")).toBe(0);
});

test("while /svc/rare.js is loading, a signal and timeoutMs end a call in time, and nothing is sent", async ({
  page,
}) => {
  const release = origin.hold("/svc/rare.js");
  await open(
    page,
    `const controller = new AbortController();
     const calls = [
       withOptions(stock, { timeoutMs: 50 })("A1"),
       withOptions(stock, { signal: controller.signal, timeoutMs: Infinity })("A1"),
       runProcedure("shop/stock", "1.0.0", { sku: "A1" }, { timeoutMs: 50 }),
       withOptions(stock, { signal: AbortSignal.abort("early") })("A1"),
     ].map(failure);
     setTimeout(() => controller.abort("enough"), 60);
     show((await Promise.all(calls)).join());
     await new Promise((go) => { globalThis.go = go; });
     return await failure(withOptions(stock, { timeoutMs: 5000 })("A1"));`,
  );
  await expect(output(page)).toHaveText(
    "DeadlineExceeded: Deadline exceeded,enough,DeadlineExceeded: Deadline exceeded,early",
  );
  expect(times("/svc/rare.js")).toBe(1);
  release();
  await page.evaluate("go()");
  await expect(output(page)).toHaveText("came 12");
  expect(times("/rpc/shop/stock")).toBe(1);
});

test("while /svc/remote.js is loading, a signal and timeoutMs end calls of procedures and by name", async ({
  page,
}) => {
  const release = origin.hold("/svc/remote.js");
  await open(
    page,
    `const controller = new AbortController();
     const calls = [
       runProcedure("shop/stock", "1.0.0", { sku: "A1" }, { timeoutMs: 50 }),
       runProcedure("shop/stock", "1.0.0", { sku: "A1" }, { signal: controller.signal }),
       withOptions(stock, { signal: controller.signal })("A1"),
     ].map(failure);
     setTimeout(() => controller.abort("enough"), 60);
     show((await Promise.all(calls)).join().replace(/: .*?,/, ","));
     await new Promise((go) => { globalThis.go = go; });
     return await failure(runProcedure("shop/stock", "1.0.0", { sku: "A1" }));`,
  );
  await expect(output(page)).toHaveText("DeadlineExceeded,enough,enough");
  release();
  await page.evaluate("go()");
  await expect(output(page)).toHaveText("came 12");
  expect(times("/rpc/shop/stock")).toBe(1);
});

test("if /svc/rare.js can't be loaded, a call with options says so, and the next one fetches it again", async ({
  page,
}) => {
  const rare = origin.files.get("/svc/rare.js") ?? "";
  origin.files.delete("/svc/rare.js");
  await open(
    page,
    `globalThis.again = async () => show(await failure(withOptions(stock, { timeoutMs: 5000 })("A1")));
     return (await failure(withOptions(stock, {})("A1"))) + " " + (await stock("A1"));`,
  );
  await expect(output(page)).toHaveText("NodeNotAvailable: Can't load /svc/rare.js 12");
  origin.files.set("/svc/rare.js", rare);
  await page.evaluate("again()");
  await expect(output(page)).toHaveText("came 12");
});

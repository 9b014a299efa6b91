// The hooks in plain pages: startClient, client.import and runProcedure, with every way to misuse
// them.

import { expect, type Page, test } from "@playwright/test";
import { createOrigin, type Origin } from "./_origin.ts";
import { deployTo, servePageAt, visitAt } from "./_plain.ts";

let origin: Origin;
test.beforeEach(async () => {
  origin = await createOrigin();
  deployTo(origin, "r1", { tax: true });
  origin.files.set("/rpc/shop/stock", () => ({
    text: "12",
    fields: { "x-svc-data-type": "number" },
  }));
  origin.files.set("/rpc/shop/tax", () => ({
    text: "tax from elsewhere",
    fields: { "x-svc-data-type": "string" },
  }));
});
test.afterEach(async () => await origin.close());

const output = (page: Page) => page.locator("output");

/** The page's text after it has run `body`. */
async function shown(page: Page, body: string, head?: string): Promise<string> {
  servePageAt(origin, body, head);
  await visitAt(origin, page);
  await expect(output(page)).not.toBeEmpty();
  return (await output(page).textContent()) ?? "";
}

test("hooks-7: startClient takes names of segments and returns the promise of a client", async ({
  page,
}) => {
  const text = await shown(
    page,
    `const started = startClient("ui"); return (started instanceof Promise) + " " + typeof (await started).import;`,
  );
  expect(text).toBe("true function");
});

test("hooks-8: client.import(modulePath) returns the module, with or without ./ and extension", async ({
  page,
}) => {
  const text = await shown(
    page,
    `const client = await startClient("ui");
     const paths = ["./shop/quote.js", "./shop/quote", "./shop/quote.ts", "shop/quote.mjs", "/shop/quote"];
     const modules = await Promise.all(paths.map((path) => client.import(path)));
     return new Set(modules).size + " " + Object.keys(modules[0]).sort().join();`,
  );
  expect(text).toBe("1 Money,quote");
});

for (const [what, path] of [
  ["that doesn't exist", "./shop/none.js"],
  ["that only servers have", "./shop/ledger.js"],
  ["above the sources", "../shop/quote.js"],
  ["of the build, by its file", "./quote-r1.js"],
  ["named like an inherited property", "__proto__"],
] as const)
  test(`client.import of a module ${what} rejects with FileNotFound (hooks-8)`, async ({
    page,
  }) => {
    const text = await shown(
      page,
      `const loaded = await startClient("ui");
       const error = await loaded.import(${JSON.stringify(path)}).catch((error) => error);
       return (error instanceof client.FileNotFound) + " " + error.message;`,
    );
    expect(text).toContain(`true '${path}' is not a module that browsers can get`);
  });

test("hooks-10: startClient takes one segment or several, and the page then runs their components", async ({
  page,
}) => {
  const both = await shown(
    page,
    `await startClient("ui", "tax"); return await runProcedure("shop/tax", "1.0.0", { sku: "A1" });`,
  );
  expect([both, origin.requested.includes("/rpc/shop/tax")]).toEqual(["tax of A1", false]);
  const uiOnly = await shown(
    page,
    `await startClient("ui"); return await runProcedure("shop/tax", "1.0.0", { sku: "A1" });`,
  );
  expect([uiOnly, origin.requested.includes("/rpc/shop/tax")]).toEqual([
    "tax from elsewhere",
    true,
  ]);
  // Without a segment, all calls are remote.
  expect(
    await shown(
      page,
      `await startClient(); return await runProcedure("shop/tax", "1.0.0", { sku: "A1" });`,
    ),
  ).toBe("tax from elsewhere");
});

test("startClient with an unknown name starts nothing, even among valid names, and can be called again (hooks-10)", async ({
  page,
}) => {
  for (const names of [
    '"server"',
    '"ui", "server"',
    '"ui.segment.json"',
    '"__proto__"',
    '""',
    "5",
  ]) {
    const text = await shown(
      page,
      `const error = await startClient(${names}).catch((error) => error);
       await startClient("ui");
       const { quote } = await (await startClient("ui")).import("./shop/quote.js");
       return error.name + " " + error.message + " / " + (await quote("A1")).cents;`,
    );
    expect(text, names).toMatch(
      /^SegmentNotFound segment '.*' is not one that browsers may load \(ui, tax\); see browserSegments \/ 1200$/,
    );
  }
});

test("a second startClient adds its segment to the same node (hooks-10)", async ({ page }) => {
  const text = await shown(
    page,
    `const [first, second] = await Promise.all([startClient("ui"), startClient("tax")]);
     await startClient("ui");
     return (first === second) + " " + (await runProcedure("shop/quote", "1.0.0", { sku: "A1" })).cents + " " + await runProcedure("shop/tax", "1.0.0", { sku: "A1" });`,
  );
  expect(text).toBe("true 1200 tax of A1");
  expect(origin.requested.filter((path) => path === "/svc/manifest.json")).toHaveLength(1);
});

test("hooks-11: what client.import returns runs where the segments say, locally or remotely", async ({
  page,
}) => {
  const text = await shown(
    page,
    `const client = await startClient("ui");
     const where = [];
     client.observe((call) => where.push(call.fqn + " " + call.where));
     const { quote } = await client.import("./shop/quote.js");
     const { tax } = await client.import("./shop/tax.js");
     return [(await quote("A1")).cents, await tax("A1"), ...where].join();`,
  );
  expect(text).toBe("1200,tax from elsewhere,shop/stock remote,shop/quote local,shop/tax remote");
});

test("startClient may be called before the document has a body (hooks-9)", async ({ page }) => {
  origin.files.set(
    "/early.js",
    `window.early = import("/svc/client.js").then(async ({ startClient, runProcedure }) => {
       const body = String(document.body);
       await startClient("ui");
       return body + " " + (await runProcedure("shop/quote", "1.0.0", { sku: "A1" })).cents;
     });`,
  );
  const release = origin.hold("/slow.js");
  origin.files.set("/slow.js", "");
  servePageAt(
    origin,
    "return await window.early;",
    '<script src="/early.js"></script><script src="/slow.js"></script>',
  );
  const visited = visitAt(origin, page);
  // The parser is still in the head while the client starts.
  await expect.poll(() => origin.requested).toContain("/quote-body-r1.js");
  await expect.poll(() => page.evaluate("early")).toBe("null 1200");
  release();
  await visited;
  await expect(output(page)).toHaveText("null 1200");
});

test("a call before startClient rejects and says what to do (hooks-9)", async ({ page }) => {
  expect(
    await shown(page, `return await runProcedure("shop/quote", "1.0.0", { sku: "A1" });`),
  ).toBe(
    "Error: Seamline isn't started: first call startClient(…) in a page, startServer(…) on Node",
  );
});

test("the last argument of runProcedure carries headers, as an object, a map or Headers (hooks-15)", async ({
  page,
}) => {
  const seen: (string | undefined)[] = [];
  await page.route("**/rpc/shop/stock*", async (route) => {
    seen.push(route.request().headers()["authorization"]);
    await route.fulfill({
      body: "1",
      headers: { "content-type": "text/plain", "x-svc-data-type": "number" },
    });
  });
  await shown(
    page,
    `await startClient("ui");
     const call = (name, context) => runProcedure(name, "1.0.0", { sku: "A1" }, context);
     const headers = { Authorization: "Bearer 1", cookie: undefined };
     await call("shop/stock", { headers });
     await call("shop/stock", { headers: new Map(Object.entries(headers)) });
     await call("shop/stock", { headers: new Headers({ authorization: "Bearer 1" }) });
     await call("shop/stock");
     return "done";`,
  );
  expect(seen).toEqual(["Bearer 1", "Bearer 1", "Bearer 1", undefined]);
});

test("a page's procedure must pass its context on by hand: otherwise its calls have none (context-6, hooks-15)", async ({
  page,
}) => {
  const seen: (string | undefined)[] = [];
  await page.route("**/rpc/shop/stock*", async (route) => {
    seen.push(route.request().headers()["authorization"]);
    await route.fulfill({
      body: "1",
      headers: { "content-type": "text/plain", "x-svc-data-type": "number" },
    });
  });
  const call = `await startClient("ui");
    await runProcedure("shop/quote", "1.0.0", { sku: "A1" }, { headers: { authorization: "Bearer 1" } });
    return "done";`;
  await shown(page, call, '<meta name="seamline-revision" content="r1">');
  deployTo(origin, "r2", { byHand: true });
  await shown(page, call, '<meta name="seamline-revision" content="r2">');
  expect(seen).toEqual([undefined, "Bearer 1"]);
});

test("runProcedure in a page treats versions, unknown names and arguments as on a node (hooks-13, hooks-14, hooks-18)", async ({
  page,
}) => {
  origin.files.set("/rpc/shop/none", () => ({
    status: 404,
    text: JSON.stringify({
      serialized: true,
      name: "Error",
      type: "ProcedureNotFound",
      message: "not found",
      trace: [],
      fields: {},
    }),
    fields: { "content-type": "application/json", "x-svc-data-type": "object" },
  }));
  const text = await shown(
    page,
    `await startClient("ui");
     const calls = [["shop/quote", "1.2.3.4", {}], ["shop/quote", "1", {}], ["shop/quote", "1", { sku: 1, other: 2 }], ["shop/none"], ["../nodes", "1", { url: "x" }]];
     const errors = await Promise.all(calls.map((call) => runProcedure(...call).catch((error) => error)));
     return errors.map((error) => error.name + (error instanceof client.ServiceError ? "" : "!")).join();`,
  );
  expect(text).toBe(
    "InvalidVersionNumber,MissingParameterValue,UnknownParameter,ProcedureNotFound,ProcedureNotFound",
  );
  expect(origin.requested.filter((path) => path.includes("nodes"))).toEqual([]);
});

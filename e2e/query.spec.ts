// A QUERY from a page of another origin, as Chromium sends it: with a preflight.

import { expect, type Page, test } from "@playwright/test";

import { nodeHost } from "../server/http/host.ts";
import { type HttpServer, listen } from "../server/http/http.ts";
import { CorsMiddleware } from "../src/http/cors.ts";
import { createStandalone } from "../src/roles/standalone.ts";
import { defaultLimits } from "../src/base/limits.ts";
import { TestLog, testModules, type TestProcedure } from "../test/_cluster.ts";
import { body, names } from "../test/spec/_shop.ts";
import { createOrigin, type Origin } from "./_origin.ts";

let other: Origin;
let shop: HttpServer;
/** Methods of the requests that came, with the method that a preflight asks for. */
let came: string[];
let ran: unknown[];

/** A shop that lets pages of `origin` read its answers, and a page of another origin. */
async function serve(origin: (other: string) => string | undefined): Promise<void> {
  other = await createOrigin();
  other.files.set("/page.html", () => ({
    text: "<!doctype html><title>Other</title>",
    fields: { "content-security-policy": "default-src *" },
  }));
  came = [];
  ran = [];
  const note = (name: string): TestProcedure["body"] =>
    body(name, (_, _graph, sku) => {
      ran.push(sku);
      return `12 m of ${String(sku)}`;
    });
  const procedures: TestProcedure[] = [
    {
      fqn: "shop/left",
      parameters: names("sku"),
      in: { shop: { access: "public", safe: true } },
      body: note("shop/left"),
    },
    {
      fqn: "shop/order",
      parameters: names("sku"),
      in: { shop: "public" },
      body: note("shop/order"),
    },
  ];
  const role = createStandalone(nodeHost({ log: new TestLog() }), {
    trustKey: "the-trust-key-of-the-shop",
    limits: defaultLimits,
    files: {
      publicFile: async () => undefined,
      component: async () => undefined,
      serverFile: async () => undefined,
    },
    modules: testModules(procedures),
    segments: ["shop"],
    name: undefined,
  });
  const allowed = origin(other.url);
  if (allowed !== undefined) role.addMiddleware(new CorsMiddleware(allowed));
  shop = await listen(
    async (request) => {
      const asked = request.headers["access-control-request-method"];
      came.push(asked === undefined ? request.method : `${request.method} for ${String(asked)}`);
      return await role.handle(request);
    },
    { host: "127.0.0.1", port: 0 },
  );
  await role.start(shop.url);
}

test.afterEach(async () => {
  await shop.close(0);
  await other.close();
});

/** The answer as a page of the other origin reads it, or the error of its `fetch`. */
async function query(page: Page, name: string, type = "application/json"): Promise<string> {
  await page.goto(`${other.url}/page.html`);
  return await page.evaluate(
    async ([url, contentType]) => {
      try {
        const answer = await fetch(url!, {
          method: "QUERY",
          headers: { "content-type": contentType! },
          body: '{"sku":"tweed"}',
        });
        return `${answer.status} ${await answer.text()}`;
      } catch (error) {
        return String(error);
      }
    },
    [`${shop.url}/rpc/shop/${name}`, type],
  );
}

test("a QUERY from a page of another origin that CORS allows is preflighted, and its answer is read", async ({
  page,
}) => {
  await serve((origin) => origin);
  expect(await query(page, "left")).toBe("200 12 m of tweed");
  expect(came).toEqual(["OPTIONS for QUERY", "QUERY"]);
  expect(await query(page, "order")).toMatch(/^405 'shop\/order' answers QUERY only with "safe"/);
  expect(ran).toEqual(["tweed"]);
});

test("a QUERY with a type that a form could send is preflighted, too", async ({ page }) => {
  await serve((origin) => origin);
  expect(await query(page, "left", "text/plain")).toMatch(/^415 /);
  expect(came).toEqual(["OPTIONS for QUERY", "QUERY"]);
  expect(ran).toEqual([]);
});

for (const [title, origin] of [
  ["without CORS", undefined],
  ["with CORS for another origin", "https://partner.example"],
] as const)
  test(`a QUERY from a page of another origin isn't sent ${title}`, async ({ page }) => {
    await serve(() => origin);
    for (const name of ["left", "order"])
      expect(await query(page, name)).toBe("TypeError: Failed to fetch");
    expect(came).toEqual(["OPTIONS for QUERY", "OPTIONS for QUERY"]);
    expect(ran).toEqual([]);
  });

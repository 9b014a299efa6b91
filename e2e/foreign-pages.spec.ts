// Pages of other origins and a signed-in user's cookies, as a real browser sends them.

import { type BrowserContext, expect, type Page, test } from "@playwright/test";

import { nodeHost } from "../server/http/host.ts";
import { type HttpServer, listen } from "../server/http/http.ts";
import { CorsMiddleware } from "../src/http/cors.ts";
import type { Middleware } from "../src/http/middleware.ts";
import { createStandalone } from "../src/roles/standalone.ts";
import { defaultLimits } from "../src/base/limits.ts";
import { TestLog, testModules, type TestProcedure } from "../test/_cluster.ts";
import { body } from "../test/spec/_shop.ts";
import { createOrigin, type Origin } from "./_origin.ts";
import { launchWithThirdPartyCookies } from "./_third-party-cookies.ts";

let context: BrowserContext;
let closeBrowser: () => Promise<void>;
let page: Page;
let evil: Origin;
let shop: HttpServer;
/** The cookies of each call that closed the account. */
let closed: string[];
let layers: Middleware[];
/** The status of each call, and the cookies that came with it. */
let answered: [status: number, cookies: string][];

// For hosts that aren't loopback, browsers don't send Sec-Fetch-Site over plain HTTP, only `Origin`
// and `Referer`.
test.beforeAll(async () => {
  const browser = await launchWithThirdPartyCookies(["--host-resolver-rules=MAP *.test 127.0.0.1"]);
  ({ context, close: closeBrowser } = browser);
});
test.afterAll(() => closeBrowser());

test.beforeEach(async () => {
  await context.clearCookies();
  page = await context.newPage();
  evil = await createOrigin();
  closed = [];
  layers = [];
  answered = [];
  const close: TestProcedure["body"] = body("account/close", ({ headers }) => {
    closed.push(headers.get("cookie") ?? "none");
    return "closed";
  });
  const procedures: TestProcedure[] = [
    { fqn: "account/close", in: { shop: "public" }, body: close },
  ];
  const signIn = {
    status: 200,
    headers: { "content-type": "text/html", "set-cookie": signedIn },
    body: "<!doctype html><title>Shop</title>",
  };
  const host = nodeHost({ log: new TestLog() });
  const role = createStandalone(host, {
    trustKey: "the-trust-key-of-the-shop",
    limits: defaultLimits,
    web: { hosts: ["shop.test"] },
    files: {
      publicFile: async () => signIn,
      component: async () => undefined,
      serverFile: async () => undefined,
    },
    modules: testModules(procedures),
    segments: ["shop"],
    name: undefined,
  });
  shop = await listen(
    async (request) => {
      for (const layer of layers.splice(0)) role.addMiddleware(layer);
      const answer = await role.handle(request);
      if (request.target.startsWith("/rpc/"))
        answered.push([answer.status, String(request.headers["cookie"] ?? "none")]);
      return answer;
    },
    { host: "127.0.0.1", port: 0 },
  );
  await role.start(shop.url);
});
test.afterEach(async () => {
  await page.close();
  await shop.close(0);
  await evil.close();
});

/** The first is sent to all sites; browsers take it from loopback and over TLS only. */
const signedIn = ["session=ada; Path=/; SameSite=None; Secure", "lax=ada; Path=/"];

const port = (url: string): string => new URL(url).port;

/** Serves a page at the other origin, under a policy that allows everything. */
const serve = (title: string, html: string): void =>
  void evil.files.set("/page.html", () => ({
    text: `<!doctype html><title>${title}</title>${html}`,
    fields: { "content-security-policy": "default-src * 'unsafe-inline'" },
  }));

/** Hosts of shop and page; the cookies of a page that is left, and of other requests. */
const places = [
  ["on this machine", "127.0.0.1", "localhost", "session=ada; lax=ada", "session=ada"],
  ["of the same site", "127.0.0.1", "127.0.0.1", "session=ada; lax=ada", "session=ada; lax=ada"],
  ["of another site without TLS", "shop.test", "evil.test", "lax=ada", "none"],
] as const;

/**
 * They leave the page. For two minutes Chromium sends a cookie without `SameSite` even with a form
 * that posts.
 */
const leaving = /^a (?:link|form)/;

/** Requests that a page can make without a preflight. */
const attempts: Readonly<Record<string, (target: string) => string>> = {
  "a link": (target) => `<a id="go" href="${target}">go</a>`,
  "a form": (target) => `<form method="get" action="${target}"><button id="go">go</button></form>`,
  "a form that posts": (target) =>
    `<form method="post" action="${target}"><button id="go">go</button></form>`,
  "a form that posts text": (target) =>
    `<form method="post" enctype="text/plain" action="${target}"><input name="{}"><button id="go">go</button></form>`,
  "a form that posts parts": (target) =>
    `<form method="post" enctype="multipart/form-data" action="${target}"><button id="go">go</button></form>`,
  "an image": (target) => `<img src="${target}"><button id="go">go</button>`,
  "a frame": (target) => `<iframe src="${target}"></iframe><button id="go">go</button>`,
  "a script": (target) => `<script src="${target}"></script><button id="go">go</button>`,
  "fetch without CORS": (target) =>
    `<button id="go" onclick="fetch('${target}', { mode: 'no-cors', credentials: 'include' })">go</button>`,
  "a POST without CORS": (target) =>
    `<button id="go" onclick="fetch('${target}', { method: 'POST', mode: 'no-cors', credentials: 'include' })">go</button>`,
  "fetch with CORS": (target) =>
    `<button id="go" onclick="fetch('${target}', { credentials: 'include' }).catch(() => {})">go</button>`,
  "a beacon": (target) => `<button id="go" onclick="navigator.sendBeacon('${target}')">go</button>`,
};

for (const [place, shopHost, evilHost, ofLeaving, ofOthers] of places)
  for (const [cors, layer] of [
    ["no CORS", undefined],
    ["CORS for every origin", () => new CorsMiddleware()],
    ["CORS for another origin", () => new CorsMiddleware("https://partner.example")],
  ] as const)
    test(`a page ${place} can't run a procedure as the signed-in user, with ${cors}`, async () => {
      if (layer) layers.push(layer());
      const address = `http://${shopHost}:${port(shop.url)}`;
      await page.goto(address);
      for (const [what, html] of Object.entries(attempts)) {
        serve("Evil", html(`${address}/rpc/account/close`));
        await page.goto(`http://${evilHost}:${port(evil.url)}/page.html`, { waitUntil: "commit" });
        await page.locator("#go").click();
        const cookies = leaving.test(what) ? ofLeaving : ofOthers;
        await expect.poll(() => answered, what).toEqual([[403, cookies]]);
        expect(closed, what).toEqual([]);
        answered.length = 0;
        // Otherwise the next page would be opened while this one is.
        if (leaving.test(what)) await page.waitForURL(`${address}/**`);
      }
      // The shop's own page can.
      await page.goto(address);
      expect(
        await page.evaluate(async () => await (await fetch("/rpc/account/close")).text()),
      ).toBe("closed");
      expect(closed).toEqual([ofLeaving]);
    });

test("a page whose origin is allowed with credentials acts as the signed-in user and reads the answer", async () => {
  layers.push(
    new CorsMiddleware([`http://localhost:${port(evil.url)}`], "*", { credentials: true }),
  );
  await page.goto(shop.url);
  serve("Partner", "");
  await page.goto(`http://localhost:${port(evil.url)}/page.html`);
  const call = async (target: string): Promise<string[]> => {
    const get = await fetch(target, { credentials: "include" });
    const headers = { "content-type": "application/json", authorization: "Bearer 1" };
    const post = await fetch(target, {
      method: "POST",
      credentials: "include",
      headers,
      body: "{}",
    });
    return [await get.text(), await post.text()];
  };
  expect(await page.evaluate(call, `${shop.url}/rpc/account/close`)).toEqual(["closed", "closed"]);
  expect(closed).toEqual(["session=ada", "session=ada"]);
});

test("a page whose host name was rebound to the service gets no answer from it", async () => {
  const answer = await page.goto(`http://evil.test:${port(shop.url)}/rpc/account/close`);
  expect([answer?.status(), await answer?.text()]).toEqual([
    421,
    `This service doesn't answer for the host "evil.test"`,
  ]);
  expect(closed).toEqual([]);
});

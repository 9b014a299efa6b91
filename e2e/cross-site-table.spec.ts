// Measures, in Chromium, which requests of other pages are refused and which cookies they carry,
// and compares the result with the table in docs/security.md. `DOCS_UPDATE=1` writes the table.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { type BrowserContext, expect, type Page, test } from "@playwright/test";

import { nodeHost } from "../server/http/host.ts";
import { type HttpServer, listen } from "../server/http/http.ts";
import type { HttpResponse } from "../src/base/ports.ts";
import { defaultLimits } from "../src/base/limits.ts";
import { CorsMiddleware } from "../src/http/cors.ts";
import type { Middleware } from "../src/http/middleware.ts";
import { createStandalone } from "../src/roles/standalone.ts";
import { TestLog } from "../test/_cluster.ts";
import { routeModules, type TestRoute } from "../test/_routes.ts";
import { body } from "../test/spec/_shop.ts";
import { createOrigin, type Origin } from "./_origin.ts";
import { launchWithThirdPartyCookies } from "./_third-party-cookies.ts";

const securityPage = join(import.meta.dirname, "../docs/security.md");
const [begin, end] = ["<!-- measured -->", "<!-- /measured -->"];

const sameSites = ["None", "Lax", "Strict"] as const;
const cookies = [
  "none=1; Path=/; SameSite=None; Secure",
  "lax=1; Path=/; SameSite=Lax",
  "strict=1; Path=/; SameSite=Strict",
];

type Cors = (typeof corsKinds)[number];
const corsKinds = ["none", "`*`", "names it"] as const;

/** A request that a page makes: by `fetch`, or by leaving for the address. */
interface Attempt {
  readonly title: string;
  readonly path: string;
  readonly by: "fetch" | "link" | "form";
  readonly method?: string;
  readonly type?: string;
}

const form = "application/x-www-form-urlencoded";
const json = "application/json";
const parts = "multipart/form-data";
/** The request of `client.js` if arguments hold files. */
const serialized = "multipart/form-data, serialized";
const attempts: readonly Attempt[] = [
  { title: "`GET`, `safe`", path: "/rpc/shop/read", by: "fetch" },
  { title: "`GET`", path: "/rpc/shop/change", by: "fetch" },
  { title: "`POST`, form type", path: "/rpc/shop/change", by: "fetch", method: "POST", type: form },
  { title: "`POST`, JSON", path: "/rpc/shop/change", by: "fetch", method: "POST", type: json },
  {
    title: "`POST`, files of a form",
    path: "/rpc/shop/change",
    by: "fetch",
    method: "POST",
    type: parts,
  },
  {
    title: "`POST`, files of a script",
    path: "/rpc/shop/change",
    by: "fetch",
    method: "POST",
    type: serialized,
  },
  { title: "link, `safe`", path: "/rpc/shop/read", by: "link" },
  { title: "link", path: "/rpc/shop/change", by: "link" },
  { title: "form that posts", path: "/rpc/shop/change", by: "form" },
  { title: "route, `GET`", path: "/feed", by: "fetch" },
  { title: "route, `POST`, form type", path: "/buy", by: "fetch", method: "POST", type: form },
  { title: "route, `POST`, JSON", path: "/buy", by: "fetch", method: "POST", type: json },
  {
    title: "route, `crossSite`, form type",
    path: "/hook",
    by: "fetch",
    method: "POST",
    type: form,
  },
  { title: "route, link", path: "/feed", by: "link" },
  { title: "route, form that posts", path: "/buy", by: "form" },
];

const run = async (): Promise<Response> => new Response("ran");
const routes: readonly TestRoute[] = [
  { route: "GET /feed", segment: "shop", run },
  { route: "POST /buy", segment: "shop", run },
  { route: "POST /hook", segment: "shop", crossSite: true, run },
];

interface Received {
  readonly method: string;
  readonly cookie: string;
  readonly status: number;
}

interface Shop {
  readonly server: HttpServer;
  /** Requests for procedures and routes since it was last emptied. */
  readonly received: Received[];
}

/** A service whose pages set one cookie of each kind. */
async function openShop(middleware: Middleware | undefined): Promise<Shop> {
  const received: Received[] = [];
  const page: HttpResponse = {
    status: 200,
    headers: { "content-type": "text/html", "set-cookie": cookies },
    body: "<!doctype html><title>Shop</title>",
  };
  const modules = routeModules(routes, [
    {
      fqn: "shop/read",
      in: { shop: { access: "public", safe: true } },
      body: body("shop/read", () => "read"),
    },
    {
      fqn: "shop/change",
      in: { shop: "public" },
      parameters: [{ kind: "plain", name: "file", optional: true }],
      body: body("shop/change", () => "changed"),
    },
  ]);
  const role = createStandalone(nodeHost({ log: new TestLog() }), {
    trustKey: "the-trust-key-of-the-shop",
    limits: defaultLimits,
    files: {
      publicFile: async () => page,
      component: async () => undefined,
      serverFile: async () => undefined,
    },
    modules,
    segments: ["shop"],
    name: undefined,
  });
  if (middleware !== undefined) role.addMiddleware(middleware);
  const server = await listen(
    async (request) => {
      const answer = await role.handle(request);
      const { method, target, headers } = request;
      if (attempts.some(({ path }) => target.startsWith(path)) && method !== "OPTIONS")
        received.push({ method, cookie: String(headers["cookie"] ?? ""), status: answer.status });
      return answer;
    },
    { host: "127.0.0.1", port: 0 },
  );
  await role.start(server.url);
  return { server, received };
}

/** The result of an attempt, in the words of the table. */
function outcomeOf(received: readonly Received[], isRead: boolean | undefined): string {
  const [request] = received;
  if (request === undefined) return "not sent";
  const carried = sameSites.filter((name) => request.cookie.includes(`${name.toLowerCase()}=`));
  const which =
    carried.length === sameSites.length
      ? "all cookies"
      : carried.length === 0
        ? "no cookie"
        : carried.join(", ");
  // A refusal proves something only if the request came with cookies.
  if (request.status !== 200) return `${request.status}: ${which}`;
  return `runs: ${which}${isRead === false ? "; unread" : ""}`;
}

async function attemptFrom(
  page: Page,
  address: string,
  { server, received }: Shop,
  { by, path, method = "GET", type }: Attempt,
): Promise<string> {
  received.length = 0;
  if (by === "fetch") {
    const isRead = await page.evaluate(
      async ([url, method, type]) => {
        const request: RequestInit = { method, credentials: "include" };
        if (type.startsWith("multipart/")) {
          const data = new FormData();
          if (type.endsWith("serialized")) {
            data.append("args", "{}");
            request.headers = { "x-svc-data-encoding": "serialized" };
          } else data.append("file", new Blob(["felt"]));
          request.body = data;
        } else if (type !== "") {
          request.headers = { "content-type": type };
          request.body = type.endsWith("json") ? "{}" : "";
        }
        return await fetch(url, request).then(
          (answer) => answer.ok,
          () => false,
        );
      },
      [server.url + path, method, type ?? ""] as const,
    );
    return outcomeOf(received, isRead);
  }
  const html =
    by === "link"
      ? `<a id="go" href="${server.url + path}">go</a>`
      : `<form method="post" action="${server.url + path}"><button id="go">go</button></form>`;
  await page.evaluate((text) => (document.body.innerHTML = text), html);
  await page.locator("#go").click();
  await expect.poll(() => received.length).toBe(1);
  const outcome = outcomeOf(received, undefined);
  await page.goto(address);
  return outcome;
}

let evil: Origin;
let context: BrowserContext;
let closeBrowser: () => Promise<void>;
const shops = new Map<Cors, Shop>();

test.beforeAll(async () => {
  ({ context, close: closeBrowser } = await launchWithThirdPartyCookies());
  evil = await createOrigin();
  evil.files.set("/page.html", "<!doctype html><title>Elsewhere</title>");
  const port = new URL(evil.url).port;
  const named = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  shops.set("none", await openShop(undefined));
  shops.set("`*`", await openShop(new CorsMiddleware()));
  shops.set("names it", await openShop(new CorsMiddleware(named, "*", { credentials: true })));
});
test.afterAll(async () => {
  await closeBrowser();
  for (const { server } of shops.values()) await server.close(0);
  await evil.close();
});

test("requests of other pages are refused, and carry cookies, as the table in docs/security.md says", async () => {
  const open = async (address: string): Promise<{ page: Page; address: string }> => {
    const page = await context.newPage();
    await page.goto(address);
    return { page, address };
  };
  const elsewhere = [
    await open(`${evil.url}/page.html`),
    await open(`${evil.url.replace("127.0.0.1", "localhost")}/page.html`),
  ];
  const rows: { readonly title: string; cors: string; readonly cells: string }[] = [];
  const own = new Map<Cors, { page: Page; address: string }>();
  for (const [cors, { server }] of shops) own.set(cors, await open(server.url));
  for (const attempt of attempts)
    for (const [cors, shop] of shops) {
      const outcomes: string[] = [];
      for (const { page, address } of [own.get(cors)!, ...elsewhere])
        outcomes.push(await attemptFrom(page, address, shop, attempt));
      const cells = outcomes.join(" | ");
      const last = rows.at(-1);
      if (last?.title === attempt.title && last.cells === cells) last.cors += `, ${cors}`;
      else rows.push({ title: attempt.title, cors, cells });
    }
  const table = [
    "| request | CORS | a page of the same origin | of the same site | of another site |",
    "|---|---|---|---|---|",
    ...rows.map(({ title, cors, cells }) => `| ${title} | ${cors} | ${cells} |`),
  ].join("\n");
  const text = readFileSync(securityPage, "utf8");
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  if (process.env["DOCS_UPDATE"] !== undefined)
    writeFileSync(securityPage, `${text.slice(0, from)}\n${table}\n${text.slice(to)}`);
  else expect(text.slice(from, to).trim()).toBe(table);
});

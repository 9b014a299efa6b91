// Deep links in Vite's servers: `appType` decides, unless the configuration has `fallback`.

import { createBuilder, createServer, type InlineConfig, preview } from "vite";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { seamline } from "../../server/vite/vite-plugin.ts";
import { freePort } from "../_free-port.ts";
import { applicationOf } from "../spec/_started.ts";
import { ask } from "./_ask.ts";
import { develop, type Files } from "./_session.ts";

const files: Files = {
  "index.html": "<!doctype html><title>Shop</title>",
  "app.html": "<!doctype html><title>App</title>",
  "src/shop.ts": "export async function price() { return 12; }",
  "segments/shop.segment.json": '{ "./shop": { "price": { "access": "public" } } }',
};
const inputs = { build: { rolldownOptions: { input: ["app.html"] } } };

const configured = (fallback: boolean | string | object): Files => ({
  ...files,
  "vite.config.js": `export default ${JSON.stringify(inputs)};`,
  "seamline.json": JSON.stringify({ mode: "standalone", url: "http://127.0.0.1:0", fallback }),
});

const page = { accept: "text/html,*/*;q=0.8", "sec-fetch-dest": "document" };
const data = { accept: "*/*", "sec-fetch-dest": "empty" };

/** The answer to a browser: the page's title, or the status. */
async function titleAt(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = page,
): Promise<string> {
  const { status, text } = await ask(url, { path, headers });
  return status === 200 ? (/<title>(.*)<\/title>/.exec(text)?.[1] ?? text) : String(status);
}

/** Deep links lead to `target`, and nothing else changes. */
async function expectFallback(url: string, target: string): Promise<void> {
  expect(await titleAt(url, "/orders/7?tab=lines")).toBe(target);
  expect(await titleAt(url, "/orders/")).toBe(target);
  expect(await titleAt(url, "/orders.html")).toBe(target);
  expect(await titleAt(url, "/orders/7", data)).toBe("404");
  expect(await titleAt(url, "/assets/none.js")).toBe("404");
  expect(await titleAt(url, "/rpc/none")).toBe("404");
  expect(await titleAt(url, "/health/none")).toBe("404");
  expect(await titleAt(url, "/rpc/price")).toBe("12");
  expect(await titleAt(url, "/")).toBe("Shop");
  expect(await titleAt(url, "/index.html")).toBe("Shop");
  expect(await titleAt(url, "/app")).toBe("App");
  expect(await titleAt(url, "/app.html")).toBe("App");
}

function viteOptions(root: string, more: InlineConfig = {}): InlineConfig {
  vi.stubEnv("VITEST", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { root, configFile: false, logLevel: "silent", plugins: [seamline()], ...inputs, ...more };
}

async function vite(files: Files, more: InlineConfig = {}): Promise<string> {
  const server = await createServer({
    ...viteOptions(applicationOf(files).root, more),
    server: { port: await freePort(), host: "127.0.0.1", ws: false, watch: null },
  });
  onTestFinished(async () => await server.close());
  await server.listen();
  return server.resolvedUrls?.local[0] ?? "";
}

async function vitePreview(files: Files, more: InlineConfig = {}): Promise<string> {
  const options = viteOptions(applicationOf(files).root, more);
  await (await createBuilder(options, null)).buildApp();
  const server = await preview({
    ...options,
    preview: { port: await freePort(), host: "127.0.0.1" },
  });
  onTestFinished(async () => await server.close());
  return server.resolvedUrls?.local[0] ?? "";
}

describe("deep links", () => {
  it("lead to the index in `seamline dev`, `vite` and `vite preview`, as appType is spa (fallback-1)", async () => {
    const { session } = await develop(files);
    for (const url of [session.url, await vite(files), await vitePreview(files)]) {
      expect(await titleAt(url, "/orders/7")).toBe("Shop");
      expect(await titleAt(url, "/rpc/none")).toBe("404");
      expect(await titleAt(url, "/rpc/price")).toBe("12");
    }
  });

  it("lead to the page that `fallback` names, in each of them (fallback-4)", async () => {
    const { session } = await develop(configured("app.html"));
    await expectFallback(session.url, "App");
    await expectFallback(await vite(configured("./app.html")), "App");
    await expectFallback(await vitePreview(configured("app.html")), "App");
  });

  it("get the page with the status that `fallback` names, in each of them (fallback-4)", async () => {
    const missing = configured({ page: "app.html", status: 404 });
    const { session } = await develop(missing);
    for (const url of [session.url, await vite(missing), await vitePreview(missing)]) {
      const { status, text } = await ask(url, { path: "/orders/7", headers: page });
      expect([status, text.includes("<title>App</title>")]).toEqual([404, true]);
      expect(await titleAt(url, "/app.html")).toBe("App");
      expect(await titleAt(url, "/")).toBe("Shop");
    }
  });

  it("are 404 in each of them with `fallback: false`, whatever appType says (fallback-4)", async () => {
    const { session } = await develop(configured(false));
    await expectFallback(session.url, "404");
    await expectFallback(await vite(configured(false)), "404");
    await expectFallback(await vitePreview(configured(false)), "404");
  });

  it("lead to the index with `fallback: true`, where appType is mpa (fallback-4)", async () => {
    const mpa = { appType: "mpa" } as const;
    await expectFallback(await vite(configured(true), mpa), "Shop");
    await expectFallback(await vitePreview(configured(true), mpa), "Shop");
  });

  it("are below Vite's base, if it has one (fallback-4)", async () => {
    const base = { base: "/shop/" };
    for (const start of [vite, vitePreview]) {
      const url = new URL("/", await start(configured("app.html"), base)).href;
      expect(await titleAt(url, "/shop/orders/7")).toBe("App");
      expect(await titleAt(url, "/shop/")).toBe("Shop");
      expect(await titleAt(url, "/shop/orders/7", data)).toBe("404");
    }
  });

  it("are left to a server of the application's own, where appType is custom", async () => {
    const url = await vite(configured(true), { appType: "custom" });
    expect(await titleAt(url, "/orders/7")).toBe("404");
  });

  it("that `fallback` leads to no page are 404 in development, with a warning", async () => {
    const { session, logged } = await develop(configured("nowhere.html"));
    expect(await titleAt(session.url, "/orders/7")).toBe("404");
    expect(logged.join("\n")).toContain(`'fallback': there is no page "nowhere.html"`);
  });
});

// Calls from other origins to Vite's servers follow the application's CORS rule. Vite's own rule
// lets every page of this machine read.

import { createBuilder, createServer, type InlineConfig, preview, type ServerOptions } from "vite";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { seamline } from "../../server/vite/vite-plugin.ts";
import { freePort } from "../_free-port.ts";
import { createFixture } from "../build/_fixture.ts";
import { applicationOf } from "../spec/_started.ts";
import { type Answer, ask } from "./_ask.ts";
import { develop, type Files, shop } from "./_session.ts";

const foreignOrigin = "http://localhost:9999";
const friend = "https://friend.example";
const own = [
  { path: "/rpc/shop/stock?sku=a" },
  { path: "/rpc/shop/stock", method: "POST", headers: { "content-type": "application/json" } },
  { path: "/rpc/none" },
  { path: "/svc/client.js" },
  { path: "/svc/manifest.json" },
  { path: "/health" },
  { path: "/health/status" },
];
const preflight = {
  "access-control-request-method": "POST",
  "access-control-request-headers": "content-type",
};
const paths = ["/rpc/shop/stock", "/svc/client.js", "/health"];

const corsOf = ({ headers }: Answer): readonly string[] =>
  Object.keys(headers).filter((name) => name.startsWith("access-control-"));

/** No answer allows another origin. */
async function refusesForeignOrigins(url: string): Promise<void> {
  for (const request of own) {
    const answer = await ask(url, {
      ...request,
      headers: { ...request.headers, origin: foreignOrigin },
    });
    expect(corsOf(answer), `${request.method ?? "GET"} ${request.path}`).toEqual([]);
    expect(answer.headers["vary"] ?? "", request.path).not.toMatch(/origin/i);
  }
  for (const path of paths) {
    const answer = await ask(url, {
      path,
      method: "OPTIONS",
      headers: { origin: foreignOrigin, ...preflight },
    });
    expect([answer.status < 500, ...corsOf(answer)], `OPTIONS ${path}`).toEqual([true]);
  }
}

const friendly: Files = {
  "seamline.json": JSON.stringify({
    mode: "standalone",
    url: "http://127.0.0.1:0",
    middleware: ["./src/cors.ts"],
  }),
  "src/cors.ts": `import { CorsMiddleware } from "seamline";\nexport default new CorsMiddleware("${friend}");\n`,
};

async function letsInFriends(url: string): Promise<void> {
  for (const headers of [{}, preflight]) {
    const method = "access-control-request-method" in headers ? "OPTIONS" : "GET";
    const answer = await ask(url, {
      path: "/rpc/shop/stock?sku=a",
      method,
      headers: { origin: friend, ...headers },
    });
    expect([method, answer.headers["access-control-allow-origin"]]).toEqual([method, friend]);
    const refused = await ask(url, {
      path: "/rpc/shop/stock?sku=a",
      method,
      headers: { origin: foreignOrigin, ...headers },
    });
    expect(refused.headers["access-control-allow-origin"]).not.toBe(foreignOrigin);
    expect(refused.headers["access-control-allow-origin"]).not.toBe("*");
  }
}

async function served(files: Files, server: ServerOptions): Promise<string> {
  vi.stubEnv("VITEST", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const app = createFixture({ ...shop, ...files });
  const vite = await createServer({
    root: app.root,
    configFile: false,
    logLevel: "silent",
    plugins: [seamline()],
    server: { port: await freePort(), host: "127.0.0.1", ws: false, watch: null, ...server },
  });
  onTestFinished(async () => await vite.close());
  await vite.listen();
  return vite.resolvedUrls?.local[0] ?? "";
}

describe("calls from other origins", () => {
  it.each<[string, ServerOptions]>([
    ["Vite's default", {}],
    ["cors: true", { cors: true }],
    ["a list of origins", { cors: { origin: [foreignOrigin], credentials: true } }],
    ["headers for all", { cors: false }],
  ])("`vite` refuses calls from other origins with %s", async (_, options) => {
    const url = await served({}, options);
    await refusesForeignOrigins(url);
    // Vite's own rule still applies to its own files.
    const file = await ask(url, { path: "/src/main.ts", headers: { origin: foreignOrigin } });
    expect(file.headers["access-control-allow-origin"] !== undefined).toBe(options.cors !== false);
  });

  it("`seamline dev` refuses calls from other origins", async () => {
    const { session, get } = await develop(shop);
    expect((await get("/rpc/shop/stock?sku=ab")).value).toBe(2);
    await refusesForeignOrigins(session.url);
  });

  it("`seamline dev` and `vite` allow calls from other origins only if the application's middleware does", async () => {
    await letsInFriends((await develop({ ...shop, ...friendly })).session.url);
    await letsInFriends(await served(friendly, { cors: true }));
  });

  it("calls to hosts that Vite doesn't allow are refused", async () => {
    const url = await served({}, {});
    const answer = await ask(url, {
      path: "/rpc/shop/stock?sku=a",
      headers: { host: "foreign.example" },
    });
    expect(answer.status).toBe(403);
  });

  it("`vite preview` refuses calls from other origins unless the application's middleware allows them", async () => {
    vi.stubEnv("VITEST", undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const files of [{}, friendly]) {
      const app = applicationOf({ ...shop, ...files });
      const options: InlineConfig = {
        root: app.root,
        configFile: false,
        logLevel: "silent",
        plugins: [seamline()],
      };
      await (await createBuilder(options, null)).buildApp();
      const server = await preview({
        ...options,
        preview: { port: await freePort(), host: "127.0.0.1" },
      });
      onTestFinished(async () => await server.close());
      const url = server.resolvedUrls?.local[0] ?? "";
      if ("seamline.json" in files) await letsInFriends(url);
      else await refusesForeignOrigins(url);
    }
  });
});

// What other origins may ask of Vite's servers: calls go by the application's own rule, and never by Vite's, which lets every page of this machine read.

import { createBuilder, createServer, type InlineConfig, preview, type ServerOptions } from "vite";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { seamline } from "../../server/build/vite-plugin.ts";
import { createFixture } from "../build/_fixture.ts";
import { applicationOf } from "../spec/_started.ts";
import { type Answer, ask } from "./_ask.ts";
import { develop, type Files, shop } from "./_session.ts";

const stranger = "http://localhost:9999";
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

/** Nothing of another origin's is let in. */
async function refusesStrangers(url: string): Promise<void> {
  for (const one of own) {
    const answer = await ask(url, { ...one, headers: { ...one.headers, origin: stranger } });
    expect(corsOf(answer), `${one.method ?? "GET"} ${one.path}`).toEqual([]);
    expect(answer.headers["vary"] ?? "", one.path).not.toMatch(/origin/i);
  }
  for (const path of paths) {
    const answer = await ask(url, {
      path,
      method: "OPTIONS",
      headers: { origin: stranger, ...preflight },
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
    const other = await ask(url, {
      path: "/rpc/shop/stock?sku=a",
      method,
      headers: { origin: stranger, ...headers },
    });
    expect(other.headers["access-control-allow-origin"]).not.toBe(stranger);
    expect(other.headers["access-control-allow-origin"]).not.toBe("*");
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
    server: { port: 0, host: "127.0.0.1", ws: false, watch: null, ...server },
  });
  onTestFinished(async () => await vite.close());
  await vite.listen();
  return vite.resolvedUrls?.local[0] ?? "";
}

describe("calls from other origins", () => {
  it.each<[string, ServerOptions]>([
    ["Vite's default", {}],
    ["cors: true", { cors: true }],
    ["a list of origins", { cors: { origin: [stranger], credentials: true } }],
    ["headers for all", { cors: false }],
  ])("are not let in by `vite`: %s", async (_, options) => {
    const url = await served({}, options);
    await refusesStrangers(url);
    // Vite's own files are Vite's to give.
    const file = await ask(url, { path: "/src/main.ts", headers: { origin: stranger } });
    expect(file.headers["access-control-allow-origin"] !== undefined).toBe(options.cors !== false);
  });

  it("are not let in by `seamline dev`", async () => {
    const { session, get } = await develop(shop);
    expect((await get("/rpc/shop/stock?sku=ab")).value).toBe(2);
    await refusesStrangers(session.url);
  });

  it("are let in by the application's middleware alone, in `seamline dev` and `vite`", async () => {
    await letsInFriends((await develop({ ...shop, ...friendly })).session.url);
    await letsInFriends(await served(friendly, { cors: true }));
  });

  it("of hosts that Vite doesn't know are refused as before", async () => {
    const url = await served({}, {});
    const answer = await ask(url, {
      path: "/rpc/shop/stock?sku=a",
      headers: { host: "foreign.example" },
    });
    expect(answer.status).toBe(403);
  });

  it("are not let in by `vite preview`, but by the application's middleware", async () => {
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
      const server = await preview({ ...options, preview: { port: 0, host: "127.0.0.1" } });
      onTestFinished(async () => await server.close());
      const url = server.resolvedUrls?.local[0] ?? "";
      if ("seamline.json" in files) await letsInFriends(url);
      else await refusesStrangers(url);
    }
  });
});

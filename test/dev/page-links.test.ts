// Links of pages in development and in previews, beside Vite's own WebSocket.

import { createBuilder, type InlineConfig, preview } from "vite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";

import { seamline } from "../../server/vite/index.ts";
import { freePort } from "../_free-port.ts";
import { createFixture } from "../build/_fixture.ts";
import { openOf, openPage, refusalOf } from "../_page-links.ts";
import { develop } from "./_session.ts";

const files = {
  "index.html": '<!doctype html><script type="module" src="./src/main.ts"></script>',
  "src/main.ts": 'import { startClient } from "seamline/client";\nawait startClient("ui");\n',
  "src/shop/count.ts": `export async function* count(to: number): AsyncGenerator<number> {
  for (let item = 1; item <= to; item++) yield item;
}
`,
  "segments/ui.segment.json": "{}",
  "segments/shop.segment.json": '{ "./shop/count": { "count": { "access": "public" } } }',
};
const portOf = (url: string): number => Number(new URL(url).port);

async function streams(port: number, path?: string, base = ""): Promise<void> {
  const page = await openPage(port, path === undefined ? {} : { path });
  page.send(openOf(1, "shop/count", { to: 3 }, { target: `${base}/rpc/shop/count` }));
  const [head, text] = await page.stream(1);
  expect(head.status).toBe(200);
  expect(text.match(/^data: \d+$/gm)).toEqual(["data: 1", "data: 2", "data: 3"]);
}

/** Vite's own WebSocket, for hot updates. */
async function hotUpdates(url: string): Promise<unknown> {
  const client = await (await fetch(`${url}/@vite/client`)).text();
  const token = /const wsToken = "([^"]+)"/.exec(client)?.[1];
  const socket = new WebSocket(`${url.replace("http", "ws")}/?token=${token}`, "vite-hmr");
  onTestFinished(() => socket.terminate());
  return await new Promise((resolve, reject) => {
    socket.once("message", (data: Buffer) => resolve(JSON.parse(data.toString())));
    socket.once("error", reject);
  });
}

describe("`seamline dev`", () => {
  it("pages open links, and Vite's hot updates work beside them", async () => {
    const { session } = await develop(files);
    const port = portOf(session.url);
    await streams(port);
    expect(await hotUpdates(session.url)).toEqual({ type: "connected" });
    await streams(port);
  });

  it("links pass Vite's check of host names, and are for pages of its origin", async () => {
    const { session } = await develop(files);
    const port = portOf(session.url);
    expect(await refusalOf(port, { host: `foreign.example:${port}` })).toBe(403);
    expect(await refusalOf(port, { origin: "https://foreign.example" })).toBe(403);
    expect(await refusalOf(port)).toBe(101);
  });

  it("below a base, links and calls are below it, too", async () => {
    const { session } = await develop({
      ...files,
      "vite.config.ts": 'export default { base: "/shop/" };\n',
    });
    await streams(portOf(session.url), "/shop/svc/page", "/shop");
  });

  it("takes the limits and headers of links from the application's configuration", async () => {
    const { session } = await develop({
      ...files,
      "seamline.json":
        '{ "mode": "standalone", "url": "http://127.0.0.1:3000", "streamHeaders": ["x-tenant"], "limits": { "streamsPerLink": 3 } }',
    });
    const page = await openPage(portOf(session.url));
    await expect.poll(() => page.came).toEqual(['open 0 {"headers":["x-tenant"]}']);
  });
});

it("`vite preview`: pages open links", async () => {
  vi.stubEnv("VITEST", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { root } = createFixture(files);
  const common: InlineConfig = {
    root,
    configFile: false,
    logLevel: "silent",
    plugins: [seamline()],
  };
  await (await createBuilder({ ...common, builder: {} })).buildApp();
  const server = await preview({
    ...common,
    preview: { port: await freePort(), host: "127.0.0.1" },
  });
  onTestFinished(async () => await server.close());
  const port = portOf(server.resolvedUrls?.local[0] ?? "");
  await streams(port);
  expect(await refusalOf(port, { host: `foreign.example:${port}` })).toBe(403);
});

// Vite's `base` as a path, over real services: the cases that only one mode has.

import { createServer, request as httpRequest } from "node:http";

import express from "express";
import { describe, expect, it, onTestFinished } from "vitest";

import { createHandler } from "../../server/start/create-handler.ts";
import { TestLog } from "../_cluster.ts";
import { freePort } from "../_free-port.ts";
import { startServer } from "../../server/start/start-server.ts";
import { asBrowser, asking } from "./_asking.ts";
import { anyPort, applicationOf, builtOnce, start } from "./_started.ts";

const trustKey = "the-trust-key-below-a-base";
const application = builtOnce({
  ...asking,
  "vite.config.js": 'export default { base: "/shop/" };\n',
});

/** The status for a target that `fetch` would normalize. */
async function statusOf(url: string, path: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    httpRequest(url, { path }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });
}

describe("below Vite's base", () => {
  it("nothing that a URL parser would bring to another path is taken for one below the base", async () => {
    const { url } = await start(application, { mode: "standalone", url: anyPort, fallback: false });
    expect(await statusOf(url, "/shop/rpc/ask")).toBe(200);
    for (const path of [
      "/shop/../rpc/ask",
      "/./shop/rpc/ask",
      "//shop/rpc/ask",
      "/shop/./rpc/ask",
      "/shop%2Frpc/ask",
      "/shop\\rpc/ask",
      "/shop/shop/",
    ])
      expect([path, await statusOf(url, path)]).toEqual([path, 404]);
  });

  it("a mounted service answers below a prefix that is its base, and refuses another one", async () => {
    const handler = await createHandler(application.importer, {
      root: application.root,
      config: { mode: "standalone", url: anyPort },
      build: false,
      log: new TestLog(),
    });
    onTestFinished(async () => await handler.close());
    const server = createServer(express().use("/shop", handler.node).use("/other", handler.node));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const answer = async (path: string) => await fetch(`http://127.0.0.1:${port}${path}`);
    expect(await (await answer("/shop/rpc/ask")).text()).toBe("asked");
    expect(await (await answer("/shop/")).text()).toContain("<title>Shop</title>");
    const other = await answer("/other/rpc/ask");
    expect([other.status, await other.text()]).toEqual([
      500,
      expect.stringContaining('set base: "/other/" in the Vite configuration'),
    ]);
  });

  it("a proxy that started before its repository takes the base off once it has learned it", async () => {
    const repository = `http://127.0.0.1:${await freePort()}`;
    const gateway = (await start(application, { mode: "gateway", url: anyPort, trustKey })).url;
    const proxy = await start(application, {
      mode: "proxy",
      url: anyPort,
      gateway,
      repository,
      trustKey,
    });
    expect((await fetch(`${proxy.url}/shop/`, { headers: asBrowser })).status).toBe(503);
    const started = await startServer(application.importer, {
      root: application.root,
      config: { mode: "repository", url: repository, trustKey } as never,
      build: false,
      signals: false,
      log: new TestLog(),
    });
    onTestFinished(async () => await started.stop());
    const page = await fetch(`${proxy.url}/shop/`, { headers: asBrowser });
    expect([page.status, await page.text()]).toEqual([
      200,
      expect.stringContaining("<title>Shop</title>"),
    ]);
    expect((await fetch(`${proxy.url}/shop/shop/`)).status).toBe(404);
    expect((await fetch(`${proxy.url}/shop/svc/client.js`)).status).toBe(200);
    expect((await fetch(`${proxy.url}/svc/client.js`)).status).toBe(200);
  });
});

it("a base that begins as paths of Seamline do is refused", async () => {
  const wrong = applicationOf({ "vite.config.js": 'export default { base: "/svc/shop/" };\n' });
  await expect(wrong.build()).rejects.toThrow(
    `'base' in the Vite configuration is "/svc/shop/", whose beginning is Seamline's or the development server's`,
  );
});

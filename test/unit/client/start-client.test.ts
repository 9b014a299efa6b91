import { IDBFactory } from "fake-indexeddb";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createManifestStore } from "../../../client/manifest-store.ts";
import { createStartClient } from "../../../client/start-client.ts";
import type { StartClient } from "../../../src/types/client.ts";
import {
  BadGateway,
  FileNotFound,
  NodeNotAvailable,
  SegmentNotFound,
} from "../../../src/base/errors.ts";
import type { ObservedCall } from "../../../src/types/outgoing-call.ts";
import type { Manifest } from "../../../src/base/manifest.ts";
import type { ModuleNamespace } from "../../../src/base/ports.ts";
import { createGraph, type Graph } from "../../../src/runtime/seam.ts";
import { createBrowser, fileOf, manifestOf, origin, type TestBrowser } from "./_page.ts";

const service = setupServer();
beforeAll(() => service.listen({ onUnhandledRequest: "error" }));
beforeEach(() => vi.stubGlobal("indexedDB", new IDBFactory()));
afterEach(() => {
  vi.unstubAllGlobals();
  service.resetHandlers();
});
afterAll(() => service.close());

/** `ui` holds `shop/quote` and `shop/price`, `extra` holds `shop/more`; `shop/stock` is remote. */
function shop(revision: string): Manifest {
  const procedure = (name: string) => ({
    fqn: `shop/${name}`,
    version: "1.0.0",
    module: `shop/${name}`,
    export: name,
    parameters: [{ kind: "plain", name: "sku" }] as const,
  });
  return manifestOf({
    revision,
    procedures: [procedure("quote"), procedure("price"), procedure("more")],
    segments: {
      ui: [
        { procedure: 0, access: "private" },
        { procedure: 1, access: "private" },
      ],
      extra: [{ procedure: 2, access: "private" }],
    },
    modules: {
      "shop/quote": { file: `quote-${revision}.js`, body: `quote-body-${revision}.js` },
      "shop/price": { file: `price-${revision}.js`, body: `price-body-${revision}.js` },
      "shop/more": { file: `more-${revision}.js`, body: `more-body-${revision}.js` },
      "shop/money": { file: `money-${revision}.js` },
    },
    classes: [
      { key: "shop/Money", module: "shop/money", export: "Money", args: ["cents"], fields: [] },
    ],
    files: {
      [`quote-${revision}.js`]: fileOf(),
      [`price-${revision}.js`]: fileOf(),
      [`more-${revision}.js`]: fileOf(),
      [`quote-body-${revision}.js`]: fileOf(`shared-${revision}.js`),
      [`price-body-${revision}.js`]: fileOf(`shared-${revision}.js`),
      [`more-body-${revision}.js`]: fileOf(),
      [`shared-${revision}.js`]: fileOf(),
      [`money-${revision}.js`]: fileOf(`shared-${revision}.js`),
    },
  });
}

class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
}

function filesOf(revision: string): Record<string, ModuleNamespace | Promise<ModuleNamespace>> {
  return {
    [`quote-${revision}.js`]: { face: "quote" },
    [`price-${revision}.js`]: { face: "price" },
    [`more-${revision}.js`]: { face: "more" },
    [`quote-body-${revision}.js`]: {
      quote: async (sku: string) => `quote of ${sku} by ${revision}`,
    },
    [`price-body-${revision}.js`]: {
      price: async (sku: string) => `price of ${sku} by ${revision}`,
    },
    [`more-body-${revision}.js`]: { more: async (sku: string) => `more of ${sku} by ${revision}` },
    [`shared-${revision}.js`]: {},
    [`money-${revision}.js`]: { Money },
  };
}

interface Page {
  readonly graph: Graph;
  readonly browser: TestBrowser;
  readonly start: StartClient;
  /** Calls a procedure as a face does. */
  readonly call: (name: string, sku?: unknown) => Promise<unknown>;
}

function openPage(
  files: Record<string, ModuleNamespace | Promise<ModuleNamespace>>,
  revision?: string,
): Page {
  const graph = createGraph();
  const browser = createBrowser(files, revision);
  const call = async (name: string, sku: unknown = "A1"): Promise<unknown> => {
    const seam = graph.seam({
      fqn: `shop/${name}`,
      version: "1.0.0",
      parameters: [{ kind: "plain", name: "sku" }],
    });
    return await (seam.run as (...args: unknown[]) => Promise<unknown>)(sku);
  };
  return { graph, browser, start: createStartClient(graph, browser), call };
}

const serveManifest = (manifest: Manifest) =>
  service.use(http.get(`${origin}/svc/manifest.json`, () => HttpResponse.json(manifest)));
const holdManifest = () =>
  service.use(http.get(`${origin}/svc/manifest.json`, () => new Promise<never>(() => {})));
const text = (body: string, fields: Record<string, string> = {}) =>
  new HttpResponse(body, {
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "x-svc-data-type": "string",
      ...fields,
    },
  });
const keep = async (manifest: Manifest) =>
  await createManifestStore(createBrowser({}).clock, origin).write(manifest);
const kept = async () =>
  (await createManifestStore(createBrowser({}).clock, origin).read())?.revision;

function later<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: ((value: T) => void) | undefined;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve: (value) => resolve?.(value) };
}

describe("startClient", () => {
  it("runs its segments' procedures in the page, and sends other calls to the page's origin", async () => {
    serveManifest(shop("r1"));
    let sent: { url: string; body: unknown; encoding: string | null } | undefined;
    service.use(
      http.post(`${origin}/rpc/shop/stock`, async ({ request }) => {
        sent = {
          url: request.url,
          body: await request.json(),
          encoding: request.headers.get("x-svc-data-encoding"),
        };
        return text("12 in stock", { "x-svc-node": "b" });
      }),
    );
    const page = openPage(filesOf("r1"));
    await page.start("ui");
    expect(await page.call("quote")).toBe("quote of A1 by r1");
    expect(await page.call("stock")).toBe("12 in stock");
    expect(sent).toEqual({
      url: `${origin}/rpc/shop/stock?version=1.0.0`,
      body: { sku: "A1" },
      encoding: "serialized, superjson",
    });
  });

  it("preloads exactly the files that its segments need", async () => {
    serveManifest(shop("r1"));
    const page = openPage(filesOf("r1"));
    await page.start("ui");
    expect(new Set(page.browser.preloaded)).toEqual(
      new Set(["quote-body-r1.js", "price-body-r1.js", "shared-r1.js"]),
    );
    expect(new Set(page.browser.imported)).toEqual(
      new Set(["quote-body-r1.js", "price-body-r1.js"]),
    );
  });

  it("calls reject before startClient, and wait while it loads", async () => {
    const page = openPage(filesOf("r1"));
    await expect(page.call("quote")).rejects.toThrow(/startClient/);
    serveManifest(shop("r1"));
    const started = page.start("ui");
    expect(await page.call("quote")).toBe("quote of A1 by r1");
    await started;
  });

  it("a local call waits for its own body only, and a remote call for none", async () => {
    serveManifest(shop("r1"));
    service.use(http.post(`${origin}/rpc/shop/stock`, () => text("12")));
    const { promise: slow, resolve: arrive } = later<ModuleNamespace>();
    const page = openPage({ ...filesOf("r1"), "price-body-r1.js": slow });
    const started = page.start("ui");
    const price = page.call("price");
    expect(await page.call("stock")).toBe("12");
    expect(await page.call("quote")).toBe("quote of A1 by r1");
    arrive({ price: async () => "at last" });
    expect(await price).toBe("at last");
    await started;
  });

  it("a second startClient adds segments to the same node", async () => {
    serveManifest(shop("r1"));
    service.use(http.post(`${origin}/rpc/shop/more`, () => text("from afar")));
    const page = openPage(filesOf("r1"));
    const first = await page.start("ui");
    expect(await page.call("more")).toBe("from afar");
    expect(await page.start("extra")).toBe(first);
    expect(await page.call("more")).toBe("more of A1 by r1");
    expect(await page.call("quote")).toBe("quote of A1 by r1");
  });

  it("of two concurrent starts, the first to finish doesn't end the other's loading", async () => {
    serveManifest(shop("r1"));
    const { promise: slow, resolve: arrive } = later<ModuleNamespace>();
    const page = openPage({ ...filesOf("r1"), "more-body-r1.js": slow });
    const [first, second] = [page.start("ui"), page.start("extra")];
    await first;
    const more = page.call("more");
    arrive({ more: async () => "more in this page" });
    expect(await more).toBe("more in this page");
    await second;
  });

  it("calls wait while another segment is loading, even those that were remote before", async () => {
    await keep(shop("r1"));
    holdManifest();
    service.use(http.post(`${origin}/rpc/shop/more`, () => text("from afar")));
    const page = openPage(filesOf("r1"), "r1");
    await page.start("ui");
    expect(await page.call("more")).toBe("from afar");
    const second = page.start("extra");
    expect(await page.call("more")).toBe("more of A1 by r1");
    await second;
  });

  it("a started page keeps working if another segment is refused", async () => {
    serveManifest(shop("r1"));
    service.use(http.post(`${origin}/rpc/shop/stock`, () => text("12")));
    const page = openPage(filesOf("r1"));
    await page.start("ui");
    await expect(page.start("server")).rejects.toThrow(SegmentNotFound);
    expect([await page.call("quote"), await page.call("stock")]).toEqual([
      "quote of A1 by r1",
      "12",
    ]);
  });

  it("two concurrent starts load the procedures of both segments", async () => {
    serveManifest(shop("r1"));
    const page = openPage(filesOf("r1"));
    const both = Promise.all([page.start("ui"), page.start("extra")]);
    expect(await Promise.all(["quote", "price", "more"].map((name) => page.call(name)))).toEqual([
      "quote of A1 by r1",
      "price of A1 by r1",
      "more of A1 by r1",
    ]);
    await both;
  });

  it("a forbidden segment and a missing one get the same message, which lists the available ones", async () => {
    serveManifest(shop("r1"));
    const page = openPage(filesOf("r1"));
    for (const name of ["server", "no-such", "__proto__", "toString"]) {
      const failure = await page.start("ui", name).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(SegmentNotFound);
      expect((failure as Error).message).toBe(
        `segment '${name}' is not one that browsers may load (ui, extra); see browserSegments`,
      );
    }
    expect(page.browser.imported).toEqual([]);
  });

  it("startClient can be called again after the service couldn't be reached", async () => {
    service.use(http.get(`${origin}/svc/manifest.json`, () => HttpResponse.error()));
    const page = openPage(filesOf("r1"));
    await expect(page.start("ui")).rejects.toThrow(BadGateway);
    serveManifest(shop("r1"));
    await page.start("ui");
    expect(await page.call("quote")).toBe("quote of A1 by r1");
  });
});

describe("client.import", () => {
  it("returns the face of a module", async () => {
    serveManifest(shop("r1"));
    const page = openPage(filesOf("r1"));
    const client = await page.start("ui");
    expect(await client.import("./shop/quote.js")).toEqual({ face: "quote" });
    expect(await client.import<{ face: string }>("./shop/more")).toHaveProperty("face", "more");
  });

  it("rejects with FileNotFound for a module that browsers can't get", async () => {
    serveManifest(shop("r1"));
    const client = await openPage(filesOf("r1")).start("ui");
    await expect(client.import("./shop/stock.js")).rejects.toThrow(FileNotFound);
  });
});

describe("a page's classes", () => {
  it("a class is fetched once, when an instance is first sent or received", async () => {
    serveManifest(shop("r1"));
    service.use(
      http.post(`${origin}/rpc/shop/stock`, async ({ request }) =>
        HttpResponse.text(JSON.stringify(((await request.json()) as { sku: unknown }).sku), {
          headers: { "content-type": "application/json", "x-svc-data-type": "object" },
        }),
      ),
    );
    const page = openPage(filesOf("r1"));
    await page.start("ui");
    expect(await page.call("stock", { plain: [1, "2", null] })).toEqual({ plain: [1, "2", null] });
    expect(page.browser.imported).not.toContain("money-r1.js");
    const back = await page.call("stock", new Money(250));
    expect(back).toBeInstanceOf(Money);
    expect(back).toEqual(new Money(250));
    await page.call("stock", new Money(300));
    expect(page.browser.imported.filter((file) => file === "money-r1.js")).toHaveLength(1);
  });
});

describe("client.observe", () => {
  it("reports where each call ran, until it is stopped", async () => {
    serveManifest(shop("r1"));
    service.use(http.post(`${origin}/rpc/shop/stock`, () => text("12", { "x-svc-node": "b" })));
    const page = openPage(filesOf("r1"));
    const client = await page.start("ui");
    const seen: ObservedCall[] = [];
    const stop = client.observe((call) => seen.push(call));
    await page.call("quote");
    await page.call("stock");
    stop();
    await page.call("quote");
    expect(seen.map(({ ms, ...call }) => ({ ...call, timed: typeof ms }))).toEqual([
      { fqn: "shop/quote", version: "1.0.0", where: "local", timed: "number" },
      { fqn: "shop/stock", version: "1.0.0", where: "remote", node: "b", timed: "number" },
    ]);
  });
});

describe("client.observe with a listener that throws", () => {
  it("doesn't affect the call, and its error goes to reportError", async () => {
    serveManifest(shop("r1"));
    const reported: unknown[] = [];
    vi.stubGlobal("reportError", (error: unknown) => reported.push(error));
    const page = openPage(filesOf("r1"));
    const failure = new Error("the listener's");
    (await page.start("ui")).observe(() => {
      throw failure;
    });
    expect(await page.call("quote")).toBe("quote of A1 by r1");
    expect(reported).toEqual([failure]);
  });
});

describe("a second visit", () => {
  it("starts without waiting for the manifest's request", async () => {
    await keep(shop("r1"));
    holdManifest();
    const page = openPage(filesOf("r1"), "r1");
    const client = await page.start("ui");
    expect(await page.call("quote")).toBe("quote of A1 by r1");
    expect(await client.import("./shop/more.js")).toEqual({ face: "more" });
  });

  it("after a deploy, a built page loads only files of the new build", async () => {
    await keep(shop("r1"));
    serveManifest(shop("r2"));
    const page = openPage({ ...filesOf("r1"), ...filesOf("r2") }, "r2");
    await page.start("ui");
    expect(await page.call("quote")).toBe("quote of A1 by r2");
    expect(page.browser.preloaded.filter((file) => file.endsWith("-r1.js"))).toEqual([]);
  });

  it("after a deploy, a plain page runs only the cached revision, and the new one on the visit after", async () => {
    await keep(shop("r1"));
    serveManifest(shop("r2"));
    const files = { ...filesOf("r1"), ...filesOf("r2") };
    const second = openPage(files);
    const client = await second.start("ui");
    await expect.poll(async () => await kept()).toBe("r2");
    await client.import("./shop/more.js");
    expect(await second.call("price")).toBe("price of A1 by r1");
    expect(second.browser.preloaded.filter((file) => file.endsWith("-r2.js"))).toEqual([]);
    const third = openPage(files);
    await third.start("ui");
    expect(await third.call("price")).toBe("price of A1 by r2");
  });

  it("starts again with the fresh revision if a cached file is gone, and runs nothing of the old one", async () => {
    await keep(shop("r1"));
    serveManifest(shop("r2"));
    const { "shared-r1.js": _, ...rest } = filesOf("r1");
    const page = openPage({ ...rest, ...filesOf("r2") });
    const started = page.start("ui");
    expect(await page.call("quote")).toBe("quote of A1 by r2");
    await started;
    expect(page.browser.imported.filter((file) => file.endsWith("-r1.js"))).toEqual([]);
    await expect.poll(async () => await kept()).toBe("r2");
  });

  it("starts again with the fresh revision if the cached one lacks the segment or module", async () => {
    await keep({ ...shop("r1"), segments: {}, modules: {} });
    serveManifest(shop("r2"));
    const page = openPage(filesOf("r2"));
    const client = await page.start("ui");
    expect(await page.call("quote")).toBe("quote of A1 by r2");
    expect(await client.import("./shop/more.js")).toEqual({ face: "more" });
  });

  it("fails and names the file if the fresh revision lacks it as well", async () => {
    await keep(shop("r1"));
    serveManifest(shop("r2"));
    await expect(openPage({}).start("ui")).rejects.toThrow(/-r2\.js is gone or changed/);
  });
});

describe("a page whose classes failed to load", () => {
  it("a value that needs a class fails with NodeNotAvailable, and the next one loads it", async () => {
    serveManifest(shop("r1"));
    service.use(http.post(`${origin}/rpc/shop/stock`, () => text("in stock")));
    const { "money-r1.js": money, ...files } = filesOf("r1");
    const page = openPage(files);
    await page.start("ui");
    await expect(page.call("stock", new Money(250))).rejects.toThrow(
      new NodeNotAvailable("Can't load classes"),
    );
    files["money-r1.js"] = money as ModuleNamespace;
    expect(await page.call("stock", new Money(250))).toBe("in stock");
  });
});

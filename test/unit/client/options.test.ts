// Options of calls in a page: of procedures that run in it, and of those that it sends to its
// origin.

import { IDBFactory } from "fake-indexeddb";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { createStartClient } from "../../../client/start-client.ts";
import type { Context } from "../../../src/base/context.ts";
import type { ProcedureFunction } from "../../../src/runtime/procedure-function.ts";
import { createGraph } from "../../../src/runtime/seam.ts";
import type { CallOptions } from "../../../src/types/call-options.ts";
import type { ClientOptions } from "../../../src/types/client.ts";
import { settle } from "../../_cluster.ts";
import { createBrowser, fileOf, manifestOf, origin } from "./_page.ts";

const service = setupServer();
beforeAll(() => service.listen({ onUnhandledRequest: "error" }));
beforeEach(() => vi.stubGlobal("indexedDB", new IDBFactory()));
afterEach(() => {
  vi.unstubAllGlobals();
  service.resetHandlers();
});
afterAll(() => service.close());

const procedures = ["quote", "never"].map((name) => ({
  fqn: `shop/${name}`,
  version: "0.0.0",
  module: name,
  export: name,
  parameters: [],
}));
const manifest = manifestOf({
  procedures,
  segments: { ui: procedures.map((_, procedure) => ({ procedure, access: "private" as const })) },
  modules: Object.fromEntries(
    procedures.map(({ module }) => [module, { file: `${module}.js`, body: `${module}-body.js` }]),
  ),
  files: Object.fromEntries(procedures.map(({ module }) => [`${module}-body.js`, fileOf()])),
});

/**
 * A page with `shop/quote`, which calls `shop/stock` of its origin with its context, and
 * `shop/never`. `shop/slow` of its origin doesn't answer.
 */
function openPage() {
  const graph = createGraph();
  const requests: Headers[] = [];
  const seen: Context[] = [];
  const slow: AbortSignal[] = [];
  service.use(
    http.get(`${origin}/svc/manifest.json`, () => HttpResponse.json(manifest)),
    http.post(`${origin}/rpc/shop/stock`, ({ request }) => {
      requests.push(request.headers);
      return new HttpResponse("5", {
        headers: { "content-type": "text/plain", "x-svc-data-type": "number" },
      });
    }),
    http.post(`${origin}/rpc/shop/slow`, async ({ request }) => {
      slow.push(request.signal);
      return await new Promise<never>(() => {});
    }),
  );
  const face = (name: string): ProcedureFunction =>
    function (this: unknown) {
      return graph.seam({ fqn: `shop/${name}`, version: "0.0.0", parameters: [] }).run.call(this);
    };
  const browser = createBrowser({
    "quote-body.js": {
      async quote(this: unknown) {
        const context = graph.context(this, "[shop/quote | v0.0.0]");
        seen.push(context);
        await Promise.resolve();
        return await face("stock").call(context);
      },
    },
    "never-body.js": {
      async never(this: unknown) {
        seen.push(graph.context(this, "[shop/never | v0.0.0]"));
        return await new Promise(() => {});
      },
    },
  });
  const start = createStartClient(graph, browser);
  return {
    requests,
    seen,
    slow,
    browser,
    graph,
    start: async (headers?: ClientOptions["headers"]) =>
      await start({ segments: ["ui"], ...(headers && { headers }) }),
    startWith: start,
    call: async (name: string, options?: CallOptions): Promise<unknown> =>
      await (options === undefined
        ? face(name).call(undefined)
        : graph.withOptions(face(name), options).call(undefined)),
  };
}

/** Until a condition holds: a request in these tests takes real time. */
const until = async (holds: () => boolean): Promise<void> =>
  await expect.poll(() => holds()).toBe(true);

describe("withOptions in a page", () => {
  it("before the start, a function with options is made, and its calls say what to do", async () => {
    const { graph, call, start } = openPage();
    await expect(call("quote", {})).rejects.toThrow("Seamline isn't started");
    expect(typeof graph.withOptions(async () => 1, {})).toBe("function");
    const starting = start();
    expect(await call("quote", {})).toBe(5);
    await starting;
  });

  it.each([
    ["here", "never"],
    ["at its origin", "slow"],
  ])("a procedure %s ends with its signal, and with its time", async (_, name) => {
    const page = openPage();
    await page.start();
    const signalOf = (at: number): AbortSignal | undefined =>
      name === "never" ? page.seen[at]?.signal : page.slow[at];
    const controller = new AbortController();
    const aborted = page.call(name, { signal: controller.signal });
    await until(() => signalOf(0) !== undefined);
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    await until(() => signalOf(0)?.aborted === true);

    const late = expect(page.call(name, { timeoutMs: 50 })).rejects.toMatchObject({
      name: "DeadlineExceeded",
    });
    await until(() => signalOf(1) !== undefined);
    page.browser.advance(50);
    await late;
    await until(() => signalOf(1)?.aborted === true);
    expect(await page.call("quote", { timeoutMs: 50 })).toBe(5);
  });

  it("a signal that has aborted already sends nothing", async () => {
    const page = openPage();
    await page.start();
    await expect(page.call("stock", { signal: AbortSignal.abort("no") })).rejects.toBe("no");
    expect(page.requests).toEqual([]);
  });

  it("headers of a call reach its procedure, and by its context what that calls", async () => {
    const page = openPage();
    await page.start();
    await page.call("quote", { headers: { "X-Shop": "1", gone: undefined } });
    expect(page.seen[0]?.headers.get("x-shop")).toBe("1");
    expect(page.requests[0]?.get("x-shop")).toBe("1");
    await page.call("stock", { headers: new Headers({ "X-Shop": "2", accept: "text/x" }) });
    expect(page.requests[1]?.get("x-shop")).toBe("2");
    expect(page.requests[1]?.get("accept")).toBe("text/x");
  });

  it("headers that the browser sets are refused, with the reason", async () => {
    const page = openPage();
    await page.start();
    await expect(page.call("quote", { headers: { Cookie: "a=1" } })).rejects.toThrow(
      "withOptions can't set the header 'cookie': the browser sends its cookies by itself",
    );
    await expect(page.call("quote", { headers: { referer: "/" } })).rejects.toThrow(
      "withOptions can't set the header 'referer': the browser and Seamline set it",
    );
    await expect(
      page.graph.runProcedure("shop/stock", "", {}, { headers: { cookie: "a=1" } }),
    ).rejects.toThrow("runProcedure can't set the header 'cookie'");
  });

  it("runProcedure's last argument limits a call too, and its headers are sent", async () => {
    const page = openPage();
    await page.start();
    await page.graph.runProcedure("shop/stock", "", {}, { headers: { "x-shop": "1" } });
    expect(page.requests[0]?.get("x-shop")).toBe("1");
    const controller = new AbortController();
    const { signal } = controller;
    const call = page.graph.runProcedure("shop/never", "", {}, { signal, timeoutMs: 50 });
    await until(() => page.seen.length === 1);
    controller.abort("enough");
    await expect(call).rejects.toBe("enough");
    expect(page.seen[0]?.signal.aborted).toBe(true);
  });
});

describe("headers of startClient", () => {
  it("are asked for each call that leaves the page, and not for others", async () => {
    const page = openPage();
    let asked = 0;
    await page.start(() => ({ Authorization: `Bearer ${++asked}`, "x-none": undefined }));
    const never = page.call("never", { timeoutMs: 1 });
    await until(() => page.seen.length === 1);
    page.browser.advance(1);
    await expect(never).rejects.toMatchObject({ name: "DeadlineExceeded" });
    expect(asked).toBe(0);
    await page.call("stock");
    await page.call("quote");
    await page.graph.runProcedure("shop/stock");
    expect(page.requests.map((headers) => headers.get("authorization"))).toEqual([
      "Bearer 1",
      "Bearer 2",
      "Bearer 3",
    ]);
    expect(page.requests[0]?.has("x-none")).toBe(false);
  });

  it("are over inherited headers and under those of withOptions", async () => {
    const page = openPage();
    await page.start(async () => ({ a: "page", b: "page", c: undefined }));
    await page.call("stock", { headers: { B: "own", c: "own" } });
    await page.call("stock", { headers: { a: undefined } });
    // Here they are inherited: `quote` gets them, and passes them on.
    await page.call("quote", { headers: { a: "inherited", c: "inherited", d: "inherited" } });
    const sent = (at: number): unknown[] =>
      ["a", "b", "c", "d"].map((name) => page.requests[at]?.get(name) ?? undefined);
    expect([0, 1, 2].map(sent)).toEqual([
      ["page", "own", "own", undefined],
      [undefined, "page", undefined, undefined],
      ["page", "page", undefined, "inherited"],
    ]);
  });

  it("reject the call if they reject, throw, are refused or don't come in time", async () => {
    const page = openPage();
    const reason = new Error("signed out");
    await page.start(async () => await Promise.reject(reason));
    await expect(page.call("stock")).rejects.toBe(reason);
    await page.start(() => {
      throw reason;
    });
    await expect(page.call("stock")).rejects.toBe(reason);
    await page.start(() => ({ cookie: "a=1" }));
    await expect(page.call("stock")).rejects.toThrow("startClient can't set the header 'cookie'");
    await page.start("text" as never);
    await expect(page.call("stock")).rejects.toThrow(
      "startClient: 'headers' must be a function, not a string",
    );
    await page.start(async () => await new Promise(() => {}));
    const late = expect(page.call("stock")).rejects.toMatchObject({ name: "DeadlineExceeded" });
    const controller = new AbortController();
    const ended = expect(page.call("stock", { signal: controller.signal })).rejects.toBe("enough");
    await settle();
    await new Promise((done) => setTimeout(done, 20));
    controller.abort("enough");
    await ended;
    page.browser.advance(30_000);
    await late;
    expect(page.requests).toEqual([]);
    // Another start replaces them, and one without headers keeps them.
    await page.start(() => ({ a: "1" }));
    await page.start();
    await page.call("stock");
    expect(page.requests[0]?.get("a")).toBe("1");
  });

  it("don't need segments beside them", async () => {
    const page = openPage();
    await page.startWith({ headers: () => ({ a: "page" }) });
    await page.call("stock");
    expect(page.requests[0]?.get("a")).toBe("page");
    await expect(page.startWith({ segments: undefined })).resolves.toBeDefined();
  });

  it("startClient refuses anything but names and options", async () => {
    const { startWith } = openPage();
    for (const wrong of [null, [], { segments: [{}] }])
      await expect(startWith(wrong as never)).rejects.toThrow(
        /^startClient takes names of segments/,
      );
    await expect(startWith(5 as never)).rejects.toThrow("segment '5' is not one");
  });
});

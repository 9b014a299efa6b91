// `quote.call(context, …)` in a page: browsers can't carry a context across an await, so procedures
// pass it on by hand.

import { IDBFactory } from "fake-indexeddb";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { createStartClient } from "../../../client/start-client.ts";
import { Context } from "../../../src/base/context.ts";
import { createGraph } from "../../../src/runtime/seam.ts";
import { createBrowser, fileOf, manifestOf, origin } from "./_page.ts";

const service = setupServer();
beforeAll(() => service.listen({ onUnhandledRequest: "error" }));
beforeEach(() => vi.stubGlobal("indexedDB", new IDBFactory()));
afterEach(() => {
  vi.unstubAllGlobals();
  service.resetHandlers();
});
afterAll(() => service.close());

/**
 * A page with `shop/quote`, which records its context and calls `shop/stock` with it, and
 * `shop/silent`, which ignores its context.
 */
function openPage() {
  const graph = createGraph();
  const requests: { authorization: string | null; deadline: number }[] = [];
  const seen: Context[] = [];
  service.use(
    http.get(`${origin}/svc/manifest.json`, () => HttpResponse.json(manifest)),
    http.post(`${origin}/rpc/shop/stock`, ({ request }) => {
      requests.push({
        authorization: request.headers.get("authorization"),
        deadline: Number(request.headers.get("x-svc-deadline")),
      });
      return new HttpResponse("5", {
        headers: { "content-type": "text/plain", "x-svc-data-type": "number" },
      });
    }),
  );
  const seam = (name: string) =>
    graph.seam({ fqn: `shop/${name}`, version: "0.0.0", parameters: [] });
  const call = async (name: string, context?: Context): Promise<unknown> =>
    await seam(name).run.call(context);
  const browser = createBrowser({
    "quote-body.js": {
      async quote(this: unknown) {
        const context = graph.context(this, "[shop/quote | v0.0.0]");
        seen.push(context);
        await Promise.resolve();
        return await call("stock", context);
      },
    },
    "silent-body.js": { silent: async () => await call("stock") },
  });
  return { requests, seen, call, browser, start: createStartClient(graph, browser) };
}

const procedures = ["quote", "silent"].map((name) => ({
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
  files: Object.fromEntries(
    procedures.flatMap(({ module }) =>
      [`${module}.js`, `${module}-body.js`].map((file) => [file, fileOf()]),
    ),
  ),
});

const contextOf = (
  authorization: string,
  more: { deadline?: number; signal?: AbortSignal } = {},
): Context =>
  new Context({
    headers: new Map([["authorization", authorization]]),
    endsAt: more.deadline,
    trace: [],
    hops: 0,
    signal: () => more.signal ?? new AbortController().signal,
  });

describe("a call with a context in a page", () => {
  it("a remote call carries the context's headers and deadline", async () => {
    const page = openPage();
    await page.start("ui");
    page.browser.advance(1_000);
    await page.call("stock", contextOf("one", { deadline: 1_500 }));
    await page.call("stock", contextOf("two"));
    await page.call("stock");
    expect(page.requests).toEqual([
      { authorization: "one", deadline: 500 },
      { authorization: "two", deadline: 30_000 },
      { authorization: null, deadline: 30_000 },
    ]);
  });

  it("a remote call rejects when the context's signal aborts", async () => {
    const page = openPage();
    await page.start("ui");
    const left = new AbortController();
    const call = page.call("stock", contextOf("one", { signal: left.signal }));
    left.abort(new Error("the user left"));
    await expect(call).rejects.toThrow("the user left");
  });

  it("a remote call isn't sent if the context's signal has aborted", async () => {
    const page = openPage();
    await page.start("ui");
    const signal = AbortSignal.abort(new Error("the user left"));
    await expect(page.call("stock", contextOf("one", { signal }))).rejects.toThrow("the user left");
    expect(page.requests).toEqual([]);
  });

  it("a local procedure gets the context and can pass it on", async () => {
    const page = openPage();
    await page.start("ui");
    const context = contextOf("one", { deadline: 500 });
    await page.call("quote", context);
    expect(page.seen).toEqual([context]);
    expect(page.requests).toEqual([{ authorization: "one", deadline: 500 }]);
  });

  it("a local procedure gets the context while its body is loading, and while calls are observed", async () => {
    const page = openPage();
    const starting = page.start("ui");
    const called = page.call("quote", contextOf("early"));
    const client = await starting;
    await called;
    client.observe(() => {});
    await page.call("quote", contextOf("observed"));
    expect(page.seen.map(({ headers }) => headers.get("authorization"))).toEqual([
      "early",
      "observed",
    ]);
  });

  it("calls of a procedure that ignores `this` have no context", async () => {
    const page = openPage();
    await page.start("ui");
    await page.call("silent", contextOf("one"));
    expect(page.requests).toEqual([{ authorization: null, deadline: 30_000 }]);
  });
});

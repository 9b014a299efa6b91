import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setupServer } from "msw/node";
import { http, HttpResponse } from "msw";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { fetchTransport } from "../../client/fetch-transport.ts";
import { createPageLink } from "../../client/page-link.ts";
import { mswHandlers, type MswOptions } from "../../client/testing/msw.ts";
import { readManifest } from "../../server/testing/index.ts";
import { TestClock } from "../../server/testing/test-clock.ts";
import { emptyContext } from "../../src/base/context.ts";
import { pageLinkProtocol } from "../../src/base/page-link.ts";
import { NotFound, traceOf } from "../../src/index.ts";
import { Classes } from "../../src/codec/classes.ts";
import { createRemote } from "../../src/wire/outgoing/remote-call.ts";
import { createFixture } from "../build/_fixture.ts";
import { type Money, shop } from "./_shop.ts";

const service = "http://shop.example";
const server = setupServer();
beforeEach(() => server.listen({ onUnhandledRequest: "error" }));
afterEach(() => {
  server.close();
  server.resetHandlers();
});

/** A stream beside the shop's procedures. */
const streaming = {
  "src/shop/prices.ts": `import { Money } from "./money.ts";
export async function* prices(count: number): AsyncGenerator<Money, string> {
  for (let cents = 1; cents <= count; cents++) yield new Money(cents);
  return "all";
}
`,
  "segments/prices.segment.json": JSON.stringify({
    "./shop/prices": { prices: { access: "public" } },
  }),
};

async function answered(
  fakes: Record<string, (...args: never[]) => unknown>,
  options: Partial<MswOptions> = {},
) {
  const { root } = createFixture({ ...shop, ...streaming });
  const manifest = await readManifest({ root });
  const classes = new Classes();
  const load = async (key: string) => {
    const record = manifest.classes.find((entry) => entry.key === key)!;
    const constructor = (
      (await import(/* @vite-ignore */ join(root, `src/${record.module}.ts`))) as Record<
        string,
        new (...args: unknown[]) => object
      >
    )[record.export]!;
    classes.register(record, constructor);
    return constructor;
  };
  const [money, outOfStock] = [await load("shop/Money"), await load("shop/OutOfStock")];
  server.use(
    ...mswHandlers({ manifest, classes: [money, outOfStock], ...options }, fakes as never),
  );
  const remote = createRemote({
    transport: fetchTransport,
    base: service,
    classes,
    limits: { callTimeoutMs: 5000, streamIdleMs: 60_000 },
    clock: { now: () => performance.now(), after: () => () => {} },
  });
  /** Calls as the runtime of a page does. */
  const call = async (
    fqn: string,
    args: Record<string, unknown>,
    version = "0.0.0",
  ): Promise<unknown> =>
    (
      await remote.call({
        fqn,
        version,
        args: new Map(Object.entries(args)),
        context: emptyContext(),
      })
    ).value;
  const stream = (fqn: string, args: Record<string, unknown>) =>
    remote.stream(emptyContext(), () => ({
      fqn,
      version: "0.0.0",
      args: new Map(Object.entries(args)),
      context: emptyContext(),
    }));
  return {
    manifest,
    call,
    stream,
    Money: money as new (cents: number) => Money,
    OutOfStock: outOfStock as new (sku: string) => Error,
  };
}

describe("mswHandlers", () => {
  it("mswHandlers give fakes the files of a call, and return files (uploads-2)", async () => {
    const { call } = await answered({ "shop/quote": (file: File) => file });
    const file = new File(["t\u00e4xt"], "a.txt", { type: "text/x", lastModified: 5 });
    const returned = (await call("shop/quote", { sku: file })) as File;
    const { name, type, lastModified } = returned;
    expect([name, type, lastModified, await returned.text()]).toEqual([
      "a.txt",
      "text/x",
      5,
      "t\u00e4xt",
    ]);
    const form = new FormData();
    form.append("sku", file);
    const plain = await fetch(`${service}/rpc/shop/quote`, { method: "POST", body: form });
    expect([plain.headers.get("content-type"), await plain.text()]).toEqual([
      "text/x",
      "t\u00e4xt",
    ]);
  });

  it("mswHandlers answer with what fakes return, in plain text and in the encodings of the runtime", async () => {
    const received: unknown[] = [];
    const { call, Money } = await answered({
      "shop/quote": (sku: string, quantity = 1) => new Money(sku.length * quantity),
      "shop/total": async (prices: Money[]) => (received.push(...prices), prices[0]),
    });
    expect(await (await fetch(`${service}/rpc/shop/quote?sku=felt&quantity=2`)).json()).toEqual({
      cents: 8,
    });
    const versioned = await fetch(`${service}/rpc/shop/quote@0?sku=felt`);
    expect(await versioned.json()).toEqual({ cents: 4 });
    const none = await fetch(`${service}/rpc/shop/nowhere`, {
      headers: { accept: "application/json" },
    });
    expect([none.headers.get("content-type"), await none.json()]).toEqual([
      "application/problem+json",
      expect.objectContaining({ status: 501, title: "NotImplemented" }),
    ]);
    expect(await call("shop/quote", { sku: "felt" })).toEqual(new Money(4));
    expect(await call("shop/total", { prices: [new Money(7)] })).toBeInstanceOf(Money);
    expect(received[0]).toBeInstanceOf(Money);
  });

  it("mswHandlers stream what a generator yields, returns and throws, and end it when its reader leaves", async () => {
    let ended = 0;
    const { stream, Money, OutOfStock } = await answered({
      async *"shop/prices"(count: number) {
        try {
          for (let cents = 1; cents <= count; cents++) yield new Money(cents);
          if (count > 2) throw new OutOfStock("felt");
          return "fake";
        } finally {
          ended++;
        }
      },
    });
    const two = stream("shop/prices", { count: 2 });
    expect([await two.next(), await two.next(), await two.next()]).toEqual([
      { done: false, value: new Money(1) },
      { done: false, value: new Money(2) },
      { done: true, value: "fake" },
    ]);
    const seen: unknown[] = [];
    const all = async (): Promise<void> => {
      for await (const item of stream("shop/prices", { count: 3 })) seen.push(item);
    };
    await expect(all()).rejects.toBeInstanceOf(OutOfStock);
    expect(seen).toHaveLength(3);
    for await (const _ of stream("shop/prices", { count: 1_000_000 })) break;
    await vi.waitFor(() => expect(ended).toBe(3), 20_000);
    const plain = await fetch(`${service}/rpc/shop/prices`, {
      method: "POST",
      body: '{"count":1}',
      headers: { "content-type": "application/json" },
    });
    expect([plain.headers.get("content-type"), await plain.text()]).toEqual([
      "text/event-stream; charset=utf-8",
      expect.stringContaining('id: 1\ndata: {"cents":1}\n\nevent: end\nid: end\ndata: "fake"'),
    ]);
  });

  it("mswHandlers refuse the link of a page at once, so that its streams are calls that fakes answer", async () => {
    // It would let WebSockets pass.
    server.close();
    const manifest = await readManifest({ root: createFixture(shop).root });
    // Node 20 has none of its own.
    vi.stubGlobal("WebSocket", WebSocket);
    onTestFinished(() => void vi.unstubAllGlobals());
    // As a server that takes no upgrade: it leaves the socket open, and says nothing.
    let connections = 0;
    const silent = createServer(() => connections++).listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    const base = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    for (const url of [undefined, base, `${base}/`]) {
      const own = setupServer(...mswHandlers({ manifest, ...(url && { url }) }, {}));
      own.listen();
      onTestFinished(() => own.close());
      const fetched: string[] = [];
      const link = createPageLink({
        base,
        // The three seconds for which a page waits never pass.
        clock: new TestClock(),
        open: (address) => new globalThis.WebSocket(address, pageLinkProtocol),
        fetch: async (_, why) => {
          fetched.push(why);
          return { status: 200, headers: {}, body: new Uint8Array() };
        },
      });
      await link.send({ url: `${base}/rpc/shop/prices`, method: "POST", headers: {}, body: "{}" });
      expect(fetched).toEqual([expect.stringContaining("/svc/page can't be opened")]);
      own.close();
    }
    expect(connections).toBe(0);
  });

  it("mswHandlers answer with what fakes throw, with its class, status and trace", async () => {
    const { call, OutOfStock } = await answered({
      "shop/quote": async (sku: string) => await Promise.reject(new OutOfStock(sku)),
    });
    const error = await call("shop/quote", { sku: "felt" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OutOfStock);
    expect(error).toBeInstanceOf(NotFound);
    expect(traceOf(error)).toEqual(["[shop/quote | v0.0.0]"]);
    const answer = await fetch(`${service}/rpc/shop/quote?sku=felt`);
    expect([answer.status, await answer.text()]).toEqual([
      404,
      "out of stock: felt\n[shop/quote | v0.0.0]",
    ]);
  });

  it("mswHandlers check calls as a service does: parameters, versions, access", async () => {
    const { call } = await answered({
      "warehouse/stock": () => 3,
      "shop/whoAsks": () => "me",
      "warehouse/hidden": () => 1,
    });
    expect(await call("warehouse/stock", { sku: "felt" }, "2.0.0")).toBe(3);
    await expect(call("warehouse/stock", { sku: "felt" }, "3.0.0")).rejects.toThrow(
      "'warehouse/stock' v3.0.0 not found; there is v0.0.0, v2.0.0",
    );
    await expect(call("warehouse/stock", {})).rejects.toThrow("Missing value for parameter 'sku'");
    await expect(call("shop/whoAsks", {})).rejects.toMatchObject({ name: "Unauthorized" });
    await expect(call("warehouse/hidden", { count: 1 })).rejects.toMatchObject({
      name: "ProcedureNotFound",
    });
  });

  it("mswHandlers fail loudly for procedures without a fake, or leave them to the next handler", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const { call, manifest } = await answered({ "warehouse/stock": () => 3 });
    await expect(call("shop/quote", { sku: "felt" })).rejects.toThrow(
      "mswHandlers(…) has no fake for 'shop/quote'",
    );
    expect(logged).toHaveBeenCalledOnce();
    logged.mockRestore();
    const next = http.get("*/rpc/shop/quote", () => HttpResponse.text("the next one"));
    server.resetHandlers(
      ...mswHandlers({ manifest, unknown: "pass", url: service }, { "warehouse/stock": () => 4 }),
      next,
    );
    expect(await (await fetch(`${service}/rpc/shop/quote?sku=felt`)).text()).toBe("the next one");
    expect(await call("warehouse/stock", { sku: "felt" })).toBe(4);
    await expect(fetch("http://other.example/rpc/warehouse/stock?sku=felt")).rejects.toThrow();
  });

  it("mswHandlers take a promise of a manifest", async () => {
    const { root } = createFixture(shop);
    server.use(
      ...mswHandlers(
        { manifest: readManifest({ root }) },
        { "warehouse/stock": (sku: string) => sku.length },
      ),
    );
    expect(await (await fetch(`${service}/rpc/warehouse/stock?sku=felt`)).json()).toBe(4);
  });

  it("mswHandlers refuse unknown names and classes, and invalid manifests", async () => {
    const { root } = createFixture(shop);
    const manifest = await readManifest({ root });
    expect(() => mswHandlers({ manifest }, { "warehouse/stok": () => 1 })).toThrow(
      "did you mean 'warehouse/stock'?",
    );
    expect(() => mswHandlers({ manifest, classes: [class Coin {}] }, {})).toThrow(
      "The application doesn't export a class 'Coin'; it exports shop/Money, shop/OutOfStock",
    );
    expect(() => mswHandlers({ manifest: { index: "index.html" } }, {})).toThrow(
      "'manifest' is not a Seamline manifest",
    );
  });
});

// Calls with options against the fakes of the test kit: of a cluster, and of msw.

import { setupServer } from "msw/node";
import { expect, it, onTestFinished, vi } from "vitest";

import { mswHandlers } from "../../client/testing/msw.ts";
import { withOptions } from "../../server/main.ts";
import { createTestCluster, readManifest } from "../../server/testing/index.ts";
import type { Context } from "../../src/base/context.ts";
import { createFixture } from "../build/_fixture.ts";
import { shop, type Stock } from "./_shop.ts";

/** A cluster whose warehouse is faked: it notes its context, and never answers. */
async function stuck() {
  const cluster = await createTestCluster({ root: createFixture(shop).root });
  onTestFinished(async () => await cluster.stop());
  const seen: Context[] = [];
  cluster.fake("warehouse/stock", async function () {
    seen.push(this);
    return await new Promise<number>(() => {});
  });
  const sees = async (count: number) => await expect.poll(() => seen.length).toBe(count);
  return { cluster, seen, sees };
}

it.each([
  ["a service", 500],
  // The deadline that a page sends isn't believed: its node ends the call when the page leaves.
  ["a page", 30_000],
])(
  "a fake sees headers, time and signal of a call with options of %s, which an abort rejects at once",
  async (caller, left) => {
    const { cluster, seen, sees } = await stuck();
    const place = caller === "a page" ? cluster.page : cluster;
    const { stock } = await place.import<Stock>("./warehouse/stock");
    const controller = new AbortController();
    const headers = { "X-Request": "7" };
    const ways = [
      withOptions(stock, { signal: controller.signal, headers, timeoutMs: 500 })("felt"),
      place.runProcedure(
        "warehouse/stock",
        "",
        { sku: "felt" },
        { signal: controller.signal, headers, timeoutMs: 500 },
      ),
    ].map(async (call) => await expect(call).rejects.toThrow("enough"));
    await sees(2);
    for (const context of seen) {
      expect([context.headers.get("x-request"), context.timeLeft()]).toEqual(["7", left]);
      expect(context.signal.aborted).toBe(false);
    }
    controller.abort(new Error("enough"));
    await Promise.all(ways);
    await expect.poll(() => seen.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  },
);

it("the time of a call with options is that of its own cluster, whatever else runs in the process", async () => {
  const other = await createTestCluster({ root: createFixture(shop).root });
  onTestFinished(async () => await other.stop());
  await other.clock.pass(3_600_000);
  const { cluster, seen, sees } = await stuck();
  const { stock } = await cluster.import<Stock>("./warehouse/stock");
  const controller = new AbortController();
  const call = withOptions(stock, { signal: controller.signal, timeoutMs: 500 })("felt");
  const ended = expect(call).rejects.toThrow("enough");
  await sees(1);
  const left = seen[0]?.timeLeft() ?? 0;
  controller.abort(new Error("enough"));
  await ended;
  // It counts in real time, as no cluster is the only one here.
  expect([left > 400, left <= 500]).toEqual([true, true]);
});

it("timeoutMs in a test passes on the cluster's clock", async () => {
  const { cluster, seen, sees } = await stuck();
  const { stock } = await cluster.import<Stock>("./warehouse/stock");
  const call = withOptions(stock, { timeoutMs: 500 })("felt");
  const rejected = expect(call).rejects.toMatchObject({ name: "DeadlineExceeded" });
  await sees(1);
  await cluster.clock.pass(500);
  await rejected;
  await expect.poll(() => seen[0]?.signal.aborted).toBe(true);
});

it("a fake of msw sees the headers of a call and the end of its signal", async () => {
  const printed = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => printed.mockRestore());
  const seen: Context[] = [];
  const fakes = {
    "warehouse/stock": async function (this: Context) {
      seen.push(this);
      return await new Promise(() => {});
    },
  };
  const manifest = readManifest({ root: createFixture(shop).root });
  const server = setupServer(...mswHandlers({ manifest }, fakes as never));
  server.listen({ onUnhandledRequest: "error" });
  onTestFinished(() => server.close());
  const controller = new AbortController();
  const call = fetch("http://shop.example/rpc/warehouse/stock?sku=felt", {
    headers: { "x-request": "7", "x-svc-deadline": "500" },
    signal: controller.signal,
  });
  const rejected = expect(call).rejects.toThrow("enough");
  await expect.poll(() => seen.length).toBe(1);
  expect(seen[0]?.headers.get("x-request")).toBe("7");
  controller.abort(new Error("enough"));
  await rejected;
  await expect.poll(() => seen[0]?.signal.aborted).toBe(true);
  // By then msw has the answer of its handler.
  await new Promise((resolve) => setImmediate(resolve));
  expect(printed).not.toHaveBeenCalled();
});

import { MessageChannel } from "node:worker_threads";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";

import { createEventLoop } from "../../../server/host/event-loop.ts";

const loop = createEventLoop();
afterEach(() => loop.unwatch());

/** Computes for so long. */
function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe("an event loop", () => {
  /** Computes without a pause; each turn has so many calls, which take so long. */
  async function work(calls: number, ms: number): Promise<void> {
    for (const end = performance.now() + 700; performance.now() < end; await nextTurn())
      for (let call = 0; call < calls; call++) {
        loop.isBusy();
        compute(ms);
      }
  }

  it.each([
    ["calls take long, though its turns are short", 1, 5],
    ["its turns are long, though calls are short", 600, 0.5],
  ])("is busy while %s", async (_, calls, ms) => {
    loop.watch();
    expect(loop.isBusy()).toBe(false);
    await expect
      .poll(async () => (await work(calls, ms), loop.isBusy()), { interval: 0 })
      .toBe(true);
    await expect.poll(() => loop.isBusy()).toBe(false);
  });

  it("isn't busy while many short calls keep it from pausing", async () => {
    loop.watch();
    await work(20, 0.2);
    expect(loop.isBusy()).toBe(false);
  });

  it("is busy after it was blocked, and prompt without anybody who watches", async () => {
    loop.watch();
    compute(300);
    await expect.poll(() => loop.isBusy(), { interval: 10 }).toBe(true);
    loop.unwatch();
    expect(loop.isBusy()).toBe(false);
    compute(300);
    await nextTurn();
    expect(loop.isBusy()).toBe(false);
  });

  it("calls what waits for a turn after what has come was read", async () => {
    const order: string[] = [];
    const { port1, port2 } = new MessageChannel();
    const read = new Promise<void>((resolve) =>
      port1.once("message", () => {
        order.push("read");
        resolve();
      }),
    );
    port2.postMessage("");
    await new Promise<void>((resolve) => loop.turn(resolve));
    await new Promise<void>((resolve) => loop.turn(resolve));
    order.push("turned");
    await read;
    port1.close();
    expect(order).toEqual(["read", "turned"]);
  });
});

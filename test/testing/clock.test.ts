import { setImmediate } from "node:timers";

import { expect, it, onTestFinished, vi } from "vitest";

import { settle, TestClock } from "../../server/testing/test-clock.ts";

/** A clock beside a machine on which each turn of the event loop takes 20 ms. */
function slowMachine(): { clock: TestClock; now: () => number } {
  let now = 0;
  let isOver = false;
  const turn = (): void => {
    now += 20;
    if (!isOver) setImmediate(turn);
  };
  turn();
  const real = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => {
    isOver = true;
    real.mockRestore();
  });
  return { clock: new TestClock(), now: () => now };
}

it("A test clock waits for modules that take seconds to load, before its time passes", async () => {
  const { clock, now } = slowMachine();
  const load = async (): Promise<void> => {
    while (now() < 5_000) await settle();
  };
  let rang = false;
  void clock.track(load()).then(() => clock.after(1_000, () => (rang = true)));
  await clock.pass(30_000);
  expect(rang).toBe(true);
});

it("A test clock waits once for a module that never loads, as it may wait for the clock itself", async () => {
  const { clock, now } = slowMachine();
  void clock.track(new Promise(() => {}));
  for (let at = 0; at < 100; at++) clock.after(at, () => {});
  await clock.pass(100);
  // The turns of 100 timers are 40 s.
  expect(now()).toBeLessThan(100_000);
});

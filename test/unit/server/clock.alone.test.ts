// What is due runs in its order, at its time, and whatever is cancelled or fails.

import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { nodeClock } from "../../../server/host/clock.ts";

describe("the clock", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("runs what is due in order, and nothing that was cancelled, whatever the times", () => {
    const entry = fc.record({
      ms: fc.integer({ min: 1, max: 50 }),
      after: fc.nat(20),
      cancelledAfter: fc.nat(80),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), (entries) => {
        const begun = performance.now();
        const ran: (readonly [entry: number, at: number])[] = [];
        const steps = entries.flatMap(({ ms, after, cancelledAfter }, index) => {
          let cancel = (): void => {};
          const add = (): void => {
            cancel = nodeClock.after(ms, () => ran.push([index, performance.now() - begun]));
          };
          return [
            { at: after, act: add },
            { at: after + cancelledAfter, act: () => cancel() },
          ];
        });
        for (let at = 0; at <= 120; at++) {
          for (const step of steps) if (step.at === at) step.act();
          vi.advanceTimersByTime(1);
        }
        const due = entries
          .map(({ ms, after, cancelledAfter }, index) => ({ index, ms, after, cancelledAfter }))
          .filter(({ ms, cancelledAfter }) => ms <= cancelledAfter)
          .map(({ index, ms, after }) => [index, after + ms] as const);
        expect(ran.toSorted(([left], [right]) => left - right)).toEqual(due);
        const times = ran.map(([, at]) => at);
        expect(times).toEqual(times.toSorted((left, right) => left - right));
      }),
      { numRuns: 200 },
    );
  });

  it("goes on after something that is due has thrown, and runs what that has added", () => {
    const ran: string[] = [];
    nodeClock.after(5, () => {
      nodeClock.after(5, () => ran.push("added"));
      throw new Error("due");
    });
    nodeClock.after(5, () => ran.push("beside it"));
    expect(() => vi.advanceTimersByTime(5)).toThrow("due");
    vi.advanceTimersByTime(10);
    expect(ran).toEqual(["beside it", "added"]);
  });
});

describe("the clock in real time", () => {
  it("never rings early, not by a part of a millisecond", async () => {
    const late = Array.from({ length: 500 }, async (_, index) => {
      const ms = 1 + index / 10.3;
      const begun = performance.now();
      await new Promise<void>((resolve) => void nodeClock.after(ms, resolve));
      return performance.now() - begun - ms;
    });
    expect(Math.min(...(await Promise.all(late)))).toBeGreaterThanOrEqual(0);
  });

  it("goes on after a test has faked timers", async () => {
    vi.useFakeTimers();
    nodeClock.after(5, () => {});
    vi.useRealTimers();
    await new Promise<void>((resolve) => void nodeClock.after(5, resolve));
  });
});

// Timers run in their order, at their time, even if others are cancelled or fail.

import { AsyncLocalStorage } from "node:async_hooks";

import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { nodeClock } from "../../../server/host/clock.ts";
import { longMs, tickMs } from "../../../server/host/times.ts";

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

describe("long times, which share timers", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("end in order, never early and a tick late at most, without those that were cancelled", async () => {
    const entry = fc.record({
      ms: fc.integer({ min: longMs, max: longMs + 300 }),
      after: fc.nat(200),
      isCancelled: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 40 }), async (entries) => {
        const ran: { readonly due: number; readonly at: number }[] = [];
        for (let at = 0; at <= longMs + 600; at += 5) {
          for (const { ms, isCancelled } of entries.filter(
            ({ after }) => after >= at && after < at + 5,
          )) {
            const due = performance.now() + ms;
            const cancel = nodeClock.after(ms, () => ran.push({ due, at: performance.now() }));
            if (isCancelled) cancel();
          }
          await vi.advanceTimersByTimeAsync(5);
        }
        expect(ran).toHaveLength(entries.filter(({ isCancelled }) => !isCancelled).length);
        expect(ran.map(({ due }) => due)).toEqual(
          ran.map(({ due }) => due).toSorted((left, right) => left - right),
        );
        for (const { due, at } of ran) {
          expect(at).toBeGreaterThanOrEqual(due);
          expect(at).toBeLessThanOrEqual(due + tickMs);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("that one of them cancels as it ends don't end, and one that throws keeps none from it", async () => {
    const ran: string[] = [];
    const thrown = new Promise((resolve) => process.once("uncaughtException", resolve));
    nodeClock.after(longMs, () => {
      cancel();
      throw new Error("due");
    });
    const cancel = nodeClock.after(longMs, () => ran.push("cancelled"));
    nodeClock.after(longMs, () => ran.push("beside it"));
    await vi.advanceTimersByTimeAsync(longMs + tickMs);
    expect(await thrown).toMatchObject({ message: "due" });
    expect(ran).toEqual(["beside it"]);
  });

  it("end outside of the context of the call that was the first of their tick", async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    storage.run("a call", () => nodeClock.after(longMs, () => seen.push(storage.getStore())));
    nodeClock.after(longMs, () => seen.push(storage.getStore()));
    await vi.advanceTimersByTimeAsync(longMs + tickMs);
    expect(seen).toEqual([undefined, undefined]);
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

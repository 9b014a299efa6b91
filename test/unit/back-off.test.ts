import { afterEach, expect, it, vi } from "vitest";

import { BackOff } from "../../src/base/back-off.ts";

afterEach(() => void vi.restoreAllMocks());

it("waits double from the first to the largest one, and begin anew after a success", () => {
  vi.spyOn(Math, "random").mockReturnValue(0.999_999);
  const backOff = new BackOff({ first: 100, longest: 1_000 });
  const next = (): number => Math.round(backOff.next());
  expect(Array.from({ length: 6 }, next)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  backOff.reset();
  expect([next(), next()]).toEqual([100, 200]);
});

it("each wait is any part of that, so that many who lost the same service don't come back together", () => {
  const waits = Array.from({ length: 10_000 }, () =>
    new BackOff({ first: 100, longest: 1_000 }).next(),
  );
  const tenths = Array.from({ length: 10 }, () => 0);
  for (const ms of waits) tenths[Math.floor(ms / 10)]! += 1;
  for (const count of tenths) expect(count).toBeGreaterThan(800);
});

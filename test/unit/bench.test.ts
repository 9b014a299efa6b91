// The bench's own arithmetic, on which its figures depend.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { filesIn, root } from "../_sources.ts";
import { run, type Subject } from "../../lab/bench/lib/rounds.mjs";
import { interval, median } from "../../lab/bench/lib/statistics.mjs";

const options = { rounds: 4, seconds: 1, warmup: 1 };
const order: string[] = [];
const quiet = (): void => {};

/** A subject whose calls cost these, one after another; the first two are its warm-up. */
const subject = (name: string, costs: readonly number[]): Subject => ({
  name,
  async start() {
    let at = 0;
    return {
      async measure() {
        order.push(name);
        const cost = costs[Math.min(at++, costs.length - 1)];
        if (cost === undefined || cost < 0)
          throw new Error(`Error: ${name} broke in /some/folder/x.mjs`);
        return cost;
      },
      async stop() {
        order.push(`${name} stops`);
      },
    };
  },
});

describe("statistics", () => {
  it("the median is the middle one, or between the two in the middle", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
  });

  it("the interval holds the median, and is the same in each run", () => {
    const values = [1, 1.1, 0.9, 1.2, 0.8, 1, 1.05, 0.95, 1, 3];
    const [low, high] = interval(values);
    expect(low).toBeGreaterThanOrEqual(0.9);
    expect(high).toBeLessThanOrEqual(1.2);
    expect(interval(values)).toEqual([low, high]);
  });
});

describe("rounds", () => {
  it("every second round takes the subjects in the opposite order, after a warm-up of each", async () => {
    order.length = 0;
    const subjects = [subject("a", [1]), subject("b", [1])];
    await run({ name: "case", unit: "µs", subjects }, options, quiet);
    const warm = ["a", "a", "b", "b"];
    const rounds = ["a", "b", "b", "a", "a", "b", "b", "a"];
    expect(order).toEqual([...warm, ...rounds, "a stops", "b stops"]);
  });

  it("a ratio is to the limit of the same round", async () => {
    // The machine is half as quick in every second round.
    const subjects = [subject("limit", [1, 1, 1, 2, 1, 2]), subject("a", [3, 3, 3, 6, 3, 6])];
    const [, result] = await run({ name: "case", unit: "µs", subjects }, options, quiet);
    expect(result).toMatchObject({ value: 4.5, ratio: 3, low: 3, high: 3 });
    const shares = [subject("limit", [1]), subject("a", [4])];
    const [, share] = await run(
      { name: "case", unit: "µs", share: true, subjects: shares },
      options,
      quiet,
    );
    expect(share).toMatchObject({ ratio: 0.25 });
  });

  it("a warm-up goes on while calls get cheaper", async () => {
    const subjects = [subject("limit", [1]), subject("a", [9, 6, 3, 3, 2])];
    const [, result] = await run({ name: "case", unit: "µs", subjects }, options, quiet);
    expect(result).toMatchObject({ value: 2 });
  });

  it("a subject that breaks says why, without folders, and the others go on", async () => {
    order.length = 0;
    const subjects = [subject("limit", [1]), subject("a", [1, 1, -1]), subject("b", [2])];
    const [, broken, whole] = await run({ name: "case", unit: "µs", subjects }, options, quiet);
    expect(broken).toEqual({ subject: "a", problem: "Error: a broke in x.mjs" });
    expect(whole).toMatchObject({ ratio: 2 });
    expect(order).toContain("a stops");
  });
});

describe("sources that the bench bundles", () => {
  const read = (file: string): string => readFileSync(join(root, file), "utf8");

  // They are in texts, so neither the compiler nor the linter looks at them.
  it("are there, and export what it names", () => {
    const named = filesIn("lab/bench")
      .filter((file) => file.endsWith(".mjs"))
      .flatMap((file) => [
        ...read(file).matchAll(/^(?:.*`)?export \{([^}]+)\} from "~\/([^"]+)"/gm),
      ])
      .flatMap(([, names = "", file = ""]) =>
        names.split(",").map((name) => ({ file, name: name.trim() })),
      );
    const missing = named.filter(
      ({ file, name }) =>
        !existsSync(join(root, file)) ||
        !new RegExp(
          `^export (?:async )?(?:abstract )?(?:const|function|class) ${name}\\b`,
          "m",
        ).test(read(file)),
    );
    expect(missing).toEqual([]);
    expect(named.length).toBeGreaterThan(5);
  });
});

import { describe, expect, it } from "vitest";

import type { HealthCheck } from "../../src/http/health.ts";
import { ask } from "../_cluster.ts";
import { services } from "./_services.ts";

const saying = (healthy: unknown): HealthCheck => ({ isHealthy: async () => healthy as boolean });

/** A node with checks, and its health. */
async function withChecks(...checks: readonly (readonly [string, HealthCheck])[]) {
  const all = await services();
  for (const [name, check] of checks) all.node.addHealthCheck(name, check);
  const get = async (path: string): Promise<unknown> =>
    JSON.parse((await ask(all.node, "GET", path)).text);
  return { ...all, get };
}

describe("a health check", () => {
  it("health-1: a health check is an object with one async function isHealthy()", async () => {
    class Database implements HealthCheck {
      readonly #up = true;
      async isHealthy(): Promise<boolean> {
        return this.#up;
      }
    }
    const { get } = await withChecks(
      ["class", new Database()],
      ["object", { isHealthy: async () => true }],
    );
    expect(await get("/health")).toEqual({ class: true, object: true });
  });

  it.each([
    ["nothing", undefined, "not undefined"],
    ["null", null, "not null"],
    ["an object without the function", { healthy: async () => true }, "not an object without it"],
    ["a function", async () => true, "not a function"],
    ["a class", class Database {}, "not the class Database; pass an instance: new Database()"],
    ["true", true, "not boolean"],
  ])("is refused with its name if it is %s (health-1)", async (_, check, message) => {
    const { node } = await services();
    expect(() => node.addHealthCheck("database", check as never)).toThrow(
      new TypeError(
        `addHealthCheck('database', …) takes an object with an async function isHealthy(), ${message}`,
      ),
    );
    expect(JSON.parse((await ask(node, "GET", "/health")).text)).toEqual({});
  });

  it("health-2: a health check returns a boolean; anything else counts as unhealthy and is logged", async () => {
    for (const [result, kind] of [
      [1, "number"],
      ["true", "string"],
      [undefined, "undefined"],
      [null, "null"],
      [{ healthy: true }, "object"],
      [[true], "a list"],
    ] as const) {
      const { get, log } = await withChecks(["odd", saying(result)]);
      expect(await get("/health/status")).toBe(false);
      expect(log.lines).toContain(
        `warning: health check 'odd' returned ${kind} instead of a boolean: it counts as unhealthy`,
      );
    }
    const { get, log } = await withChecks(["good", saying(true)], ["bad", saying(false)]);
    expect(await get("/health")).toEqual({ good: true, bad: false });
    expect(log.lines.filter((line) => line.includes("health check"))).toEqual([]);
  });

  it("health-3: a health check is registered under a name of its own", async () => {
    const { get } = await withChecks(
      ["database", saying(true)],
      ["disk", saying(false)],
      ["__proto__", saying(true)],
      ["constructor", saying(false)],
    );
    const text = JSON.stringify(await get("/health"));
    expect(text).toBe('{"database":true,"disk":false,"__proto__":true,"constructor":false}');
    expect({}).not.toHaveProperty("disk");
  });

  it.each([
    ["none", undefined, "undefined"],
    ["an empty string", "", "an empty string"],
    ["the check itself", saying(true), "an object without it"],
  ])("is refused if its name is %s (health-3)", async (_, name, message) => {
    const { node } = await services();
    expect(() => node.addHealthCheck(name as string, saying(true))).toThrow(
      `addHealthCheck(name, check) takes a name first, not ${message}`,
    );
  });

  it("health-4: a health check replaces an earlier one of the same name", async () => {
    const { get, node } = await withChecks(["database", saying(false)], ["disk", saying(true)]);
    expect(await get("/health/status")).toBe(false);
    node.addHealthCheck("database", saying(true));
    expect(await get("/health")).toEqual({ database: true, disk: true });
    expect(await get("/health/status")).toBe(true);
  });

  it("a health check that is requested again while it runs isn't started twice (health-1)", async () => {
    let runs = 0;
    let end = (_healthy: boolean): void => {};
    const { get } = await withChecks([
      "slow",
      { isHealthy: () => (runs++, new Promise((resolve) => (end = resolve))) },
    ]);
    const all = [get("/health/status"), get("/health"), get("/health/status")];
    await new Promise((resolve) => setImmediate(resolve));
    end(true);
    expect(await Promise.all(all)).toEqual([true, { slow: true }, true]);
    expect(runs).toBe(1);
    const again = get("/health/status");
    await new Promise((resolve) => setImmediate(resolve));
    end(false);
    expect([await again, runs]).toEqual([false, 2]);
  });
});

import { expect, it } from "vitest";

import { gatewayName } from "../../../src/base/ports/gateways.ts";
import { listedGateways } from "../../../src/roles/upstreams/listed-gateways.ts";
import { TestClock, TestLog } from "../../_cluster.ts";

const intervalMs = 10_000;

/** Names that a test changes, and what a service is told of the gateways that it lists. */
function listed(...urls: string[]) {
  const clock = new TestClock();
  const log = new TestLog();
  const addresses = new Map<string, readonly string[] | Error | "hangs">();
  const told: string[][] = [];
  let lookups = 0;
  const names = {
    async resolve(host: string) {
      lookups++;
      const found = addresses.get(host) ?? new Error(`getaddrinfo ENOTFOUND ${host}`);
      if (found === "hangs") return await new Promise<never>(() => {});
      if (found instanceof Error) throw found;
      return found;
    },
    own: () => [],
  };
  const gateways = listedGateways({ names, clock, log }, urls);
  return {
    clock,
    log,
    addresses,
    told,
    lookups: () => lookups,
    watch: () =>
      gateways.watch((all) => {
        const now = all.map(gatewayName);
        // It tells them after each lookup.
        if (String(now) !== String(told.at(-1))) told.push(now);
      }),
  };
}

it("addresses and localhost are gateways at once, and are never looked up", async () => {
  const { clock, told, watch, lookups } = listed(
    "http://127.0.0.1:3002",
    "http://[::1]:3002",
    "http://localhost:3003",
    "http://shop.localhost:3004",
  );
  watch();
  expect(told).toEqual([
    [
      "http://127.0.0.1:3002",
      "http://[::1]:3002",
      "http://localhost:3003",
      "http://shop.localhost:3004",
    ],
  ]);
  await clock.pass(3 * intervalMs);
  expect([told.length, lookups(), clock.waiting]).toEqual([1, 0, 0]);
});

it("a name with several addresses is a gateway at each, and one with a single address is dialled by name", async () => {
  const { clock, told, addresses, watch } = listed("https://gateways:3002", "http://single:3002");
  addresses.set("gateways", ["10.0.0.2", "10.0.0.1", "10.0.0.2", "fd00::7"]);
  addresses.set("single", ["10.0.0.9"]);
  watch();
  await clock.settle();
  expect(told).toEqual([
    [
      "https://gateways:3002 (10.0.0.1)",
      "https://gateways:3002 (10.0.0.2)",
      "https://gateways:3002 (fd00::7)",
      "http://single:3002",
    ],
  ]);
});

it("names are looked up every 10 s, and a change is told at once", async () => {
  const { clock, told, addresses, watch } = listed("http://gateways:3002");
  addresses.set("gateways", ["10.0.0.1", "10.0.0.2"]);
  const end = watch();
  await clock.settle();
  addresses.set("gateways", ["10.0.0.2", "10.0.0.1"]);
  await clock.pass(intervalMs);
  expect(told).toHaveLength(1);
  addresses.set("gateways", ["10.0.0.2", "10.0.0.3"]);
  await clock.pass(intervalMs - 1);
  expect(told).toHaveLength(1);
  await clock.pass(1);
  expect(told[1]).toEqual(["http://gateways:3002 (10.0.0.2)", "http://gateways:3002 (10.0.0.3)"]);
  end();
  addresses.set("gateways", ["10.0.0.4"]);
  await clock.pass(3 * intervalMs);
  expect([told.length, clock.waiting]).toEqual([2, 0]);
});

it("a lookup that fails keeps the known addresses, and is logged once until one succeeds", async () => {
  const { clock, told, addresses, watch, log } = listed("http://gateways:3002");
  addresses.set("gateways", ["10.0.0.1", "10.0.0.2"]);
  watch();
  await clock.settle();
  addresses.set("gateways", new Error("getaddrinfo EAI_AGAIN gateways"));
  await clock.pass(3 * intervalMs);
  addresses.set("gateways", "hangs");
  await clock.pass(2 * intervalMs);
  expect(told).toHaveLength(1);
  addresses.set("gateways", ["10.0.0.1", "10.0.0.2"]);
  await clock.pass(2 * intervalMs);
  expect([told.length, log.lines]).toEqual([
    1,
    [
      "warning: can't look 'gateways' up (getaddrinfo EAI_AGAIN gateways): keeping its 2 addresses",
      "'gateways' can be looked up again",
    ],
  ]);
});

it("a name that can't be looked up at the start is a gateway by its name, after 3 s at most", async () => {
  const { clock, told, addresses, watch, log } = listed("http://gateways:3002", "http://hangs:1");
  addresses.set("hangs", "hangs");
  watch();
  await clock.pass(3_000);
  expect(told).toEqual([["http://gateways:3002", "http://hangs:1"]]);
  expect(log.lines).toEqual([]);
  addresses.set("gateways", ["10.0.0.1", "10.0.0.2"]);
  addresses.set("hangs", ["10.0.0.3"]);
  await clock.pass(intervalMs);
  expect(told[1]).toEqual([
    "http://gateways:3002 (10.0.0.1)",
    "http://gateways:3002 (10.0.0.2)",
    "http://hangs:1",
  ]);
});

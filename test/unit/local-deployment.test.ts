// A deployment in memory, which development and the test kit run.

import { expect, it } from "vitest";

import { ask, TestDeployment, testModules } from "../_cluster.ts";
import { body } from "../spec/_shop.ts";

it("has many calls and links at once without a warning of Node's", async () => {
  const warnings: Error[] = [];
  const listener = (warning: Error): void => void warnings.push(warning);
  process.on("warning", listener);
  try {
    const waiting: (() => void)[] = [];
    const modules = () =>
      testModules([
        {
          fqn: "shop/wait",
          in: { all: "public" },
          body: body("shop/wait", () => new Promise<void>((resolve) => waiting.push(resolve))),
        },
      ]);
    const local = new TestDeployment();
    await local.gateway();
    for (let index = 0; index < 12; index++)
      await local.node(`node-${index}`, { modules: modules(), segments: ["all"] });
    const gateway = local.network.roles.get(local.urlOf("gateway"))!;
    const calls = Array.from(
      { length: 12 },
      async () => await ask(gateway, "GET", "/rpc/shop/wait"),
    );
    await local.clock.pass(0);
    expect(waiting).toHaveLength(12);
    for (const finish of waiting) finish();
    await Promise.all(calls);
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("warning", listener);
  }
  expect(warnings).toEqual([]);
});

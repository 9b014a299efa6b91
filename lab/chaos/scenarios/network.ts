// R18: the network between the gateway and one node holds all bytes, breaks connections, drips.

import type { Kind } from "../harness/application.ts";
import {
  hasFailed,
  isUnexplained,
  type Measure,
  overrun,
  rowOf,
  worst,
} from "../harness/measure.ts";
import { type Scenario, settled, underLoad } from "../harness/scenario.ts";

const r18 = rowOf("R18");
const heldMs = 10_000;
const badMs = 3_000;

export const network: Scenario = {
  name: "network",
  rows: ["R18"],
  options: { hasShim: true },
  async run(deployment, context) {
    const shim = deployment.shim!;
    const [behind] = deployment.members;
    const measures: Measure[] = [];
    const held = [
      { kind: "order", deadlineMs: 1_000 },
      { kind: "stock", deadlineMs: 5_000 },
    ] as const satisfies readonly { readonly kind: Kind; readonly deadlineMs: number }[];
    for (const { kind, deadlineMs } of held) {
      const from = 500 + context.random.between(0, 1_000);
      const until = from + heldMs;
      const loaded = await underLoad(
        deployment,
        context,
        { kinds: [kind], deadlineMs, durationMs: until + 3_000 },
        async (load) => {
          await load.at(from);
          shim.weather = "held";
          await load.at(until);
          shim.weather = "fair";
        },
      );
      const { outcomes, plan } = loaded;
      const failed = outcomes.filter(hasFailed);
      const back = outcomes.find(({ at, node }) => at >= until && node === behind!.name);
      measures.push(...loaded.measures);
      if (kind === "stock")
        measures.push(
          r18("held: idempotent calls with 5 s failed", "calls", failed.length, { most: 0 }),
        );
      else
        measures.push(
          r18("held: orders with 1 s failed", "calls", failed.length, { most: 80 }),
          r18("held: last order sent there", "ms", worst(failed.map(({ at }) => at - from)), {
            most: 2_500,
          }),
          r18("held: an order ended after its deadline by", "ms", overrun(outcomes, plan), {
            most: 250,
          }),
          r18("held: the node has calls again after", "ms", (back?.at ?? Infinity) - until, {
            most: 2_000,
          }),
        );
      await settled(deployment);
    }
    for (const kind of ["order", "stock"] as const) {
      const loaded = await underLoad(
        deployment,
        context,
        { kinds: [kind], durationMs: 2_000 + badMs },
        async (load) => {
          await load.at(500);
          while (load.now() < 500 + badMs) {
            shim.reset();
            await load.at(load.now() + context.random.between(50, 350));
          }
        },
      );
      const failed = loaded.outcomes.filter(hasFailed);
      measures.push(
        ...loaded.measures,
        kind === "stock"
          ? r18("connections break: idempotent calls failed", "calls", failed.length, { most: 0 })
          : r18(
              "connections break: orders without 502, 503 and x-svc-error",
              "calls",
              failed.filter(isUnexplained).length,
              { most: 0 },
            ),
      );
      await settled(deployment);
    }
    const dripping = await underLoad(
      deployment,
      context,
      { kinds: ["order", "stock"], durationMs: 2_000 + badMs, deadlineMs: 5_000 },
      async (load) => {
        await load.at(500);
        shim.weather = "dripping";
        await load.at(500 + badMs);
        shim.weather = "fair";
      },
    );
    await settled(deployment);
    return [
      ...measures,
      ...dripping.measures,
      r18(
        "4 bytes a millisecond: calls with 5 s failed",
        "calls",
        dripping.outcomes.filter(hasFailed).length,
        { most: 0 },
      ),
    ];
  },
};

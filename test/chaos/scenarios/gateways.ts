// R19: one of two gateways is killed. R20: both are restarted, one after the other. Callers use a proxy.

import {
  certain,
  hasFailed,
  isUnexplained,
  type Measure,
  ofKind,
  rowOf,
  worst,
} from "../harness/measure.ts";
import type { DeploymentOptions } from "../harness/deployment.ts";
import { type Scenario, settled, underLoad } from "../harness/scenario.ts";

const r19 = rowOf("R19");
const r20 = rowOf("R20");

const options = { gateways: 2, nodes: 2 } as const;

export const lostGateway: Scenario = {
  name: "lost-gateway",
  rows: ["R19"],
  options,
  async run(deployment, context) {
    const { random, isShort } = context;
    const victim = random.pick(deployment.gateways);
    const killAt = 500 + random.between(0, 1_000);
    let killedAt = 0;
    const loaded = await underLoad(
      deployment,
      context,
      {
        kinds: ["order", "stock"],
        durationMs: isShort ? 2_500 : 6_000,
        url: deployment.proxy.url,
        // With few calls, long ones: some must be on their way through it.
        ...(isShort && { callMs: 300 }),
      },
      async (load) => {
        await load.at(killAt);
        killedAt = load.now();
        victim.signal("SIGKILL");
        await victim.ended();
        await load.at(killAt + 500);
        await victim.start();
      },
    );
    const failed = loaded.outcomes.filter(hasFailed);
    const orders = ofKind(failed, "order");
    const inFlight = ofKind(loaded.outcomes, "order").filter(
      ({ at, ended }) => at <= killedAt && ended >= killedAt,
    );
    const measures: Measure[] = [
      ...loaded.measures,
      r19("orders in flight when it is killed", "calls", inFlight.length),
      r19("orders failed", "calls", orders.length),
      r19(
        "orders failed that came after it was killed",
        "calls",
        // The signal takes a moment.
        orders.filter(({ at }) => at > killedAt + 50).length,
        { most: 0 },
        certain,
      ),
      r19("last failure after the kill", "ms", worst(orders.map(({ ended }) => ended - killedAt)), {
        most: 250,
      }),
      r19(
        "calls declared idempotent failed",
        "calls",
        ofKind(failed, "stock").length,
        { most: 0 },
        certain,
      ),
      r19(
        "orders failed without 502, 503 and x-svc-error",
        "calls",
        orders.filter(isUnexplained).length,
        { most: 0 },
        certain,
      ),
    ];
    await settled(deployment, deployment.members, deployment.proxy.url);
    for (const { url } of deployment.gateways) await settled(deployment, deployment.members, url);
    return measures;
  },
};

export const rollingGateways: Scenario = rolled("rolling-gateways", options);
/** The directory's servers are rolled first, and the gateways leave it before they drain. */
export const rollingByDirectory: Scenario = rolled("rolling-by-directory", {
  ...options,
  hasDirectory: true,
});

function rolled(name: string, having: DeploymentOptions): Scenario {
  return {
    name,
    rows: ["R20"],
    options: having,
    async run(deployment, context) {
      const { random, isShort } = context;
      const codes: (number | NodeJS.Signals)[] = [];
      let isOver = false;
      const loaded = await underLoad(
        deployment,
        context,
        {
          kinds: ["order", "stock"],
          durationMs: having.hasDirectory === true ? 24_000 : isShort ? 6_000 : 8_000,
          url: deployment.proxy.url,
          // Some last longer than a stopping gateway serves on.
          ...(having.hasDirectory === true
            ? { callMs: 1_500, rate: isShort ? 20 : 40 }
            : isShort && { callMs: 300 }),
        },
        async (load) => {
          await load.at(200 + random.between(0, 500));
          for (const server of deployment.nats) {
            await server.kill();
            await server.start();
          }
          for (const gateway of deployment.gateways) {
            gateway.signal("SIGTERM");
            codes.push(await gateway.ended());
            await gateway.start();
            // As docs/guide/deployment.md says: the next one when the nodes are back at this one.
            await settled(deployment, deployment.members, gateway.url);
          }
          isOver = true;
        },
      );
      if (!isOver) throw new Error("the load ended before the last restart");
      const measures: Measure[] = [
        ...loaded.measures,
        r20(
          "calls of any kind failed",
          "calls",
          loaded.outcomes.filter(hasFailed).length,
          { most: 0 },
          certain,
        ),
        r20(
          "exit codes that aren't 0",
          "",
          codes.filter((code) => code !== 0).length,
          { most: 0 },
          certain,
        ),
      ];
      for (const { url } of deployment.gateways) await settled(deployment, deployment.members, url);
      return measures;
    },
  };
}

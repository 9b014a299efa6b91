// R9: one of two gateways is killed. Callers use a proxy.

import {
  certain,
  hasFailed,
  isUnexplained,
  type Measure,
  ofKind,
  rowOf,
  worst,
} from "../harness/measure.ts";
import { type Scenario, settled, underLoad } from "../harness/scenario.ts";

const r9 = rowOf("R9");

export const lostGateway: Scenario = {
  name: "lost-gateway",
  rows: ["R9"],
  options: { gateways: 2, nodes: 2 },
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
      r9("one of two killed: orders in flight at that moment", "calls", inFlight.length),
      r9("one of two killed: orders failed", "calls", orders.length),
      r9(
        "one of two killed: orders failed that came later",
        "calls",
        // The signal takes a moment.
        orders.filter(({ at }) => at > killedAt + 50).length,
        { most: 0 },
        certain,
      ),
      r9(
        "one of two killed: last failure after that",
        "ms",
        worst(orders.map(({ ended }) => ended - killedAt)),
        {
          most: 250,
        },
      ),
      r9(
        "one of two killed: calls declared idempotent failed",
        "calls",
        ofKind(failed, "stock").length,
        { most: 0 },
        certain,
      ),
      r9(
        "one of two killed: orders failed without 502, 503 and x-svc-error",
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

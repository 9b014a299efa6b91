// R9: the gateway is killed, or stopped, and back half a second later. Callers use the proxy.

import type { Outcome } from "../harness/load.ts";
import {
  certain,
  hasFailed,
  isUnexplained,
  type Measure,
  rowOf,
  worst,
} from "../harness/measure.ts";
import { type Scenario, settled, underLoad } from "../harness/scenario.ts";

const r9 = rowOf("R9");
const awayMs = 500;

export const gateway: Scenario = {
  name: "gateway",
  rows: ["R9"],
  async run(deployment, context) {
    const measures: Measure[] = [];
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      const endAt = 500 + context.random.between(0, 1_000);
      let endedAt = 0;
      let listensAt = 0;
      const options = {
        kinds: ["order", "stock"],
        durationMs: (signal === "SIGKILL" ? 5_500 : 7_500) - (context.isShort ? 2_000 : 0),
        url: deployment.proxy.url,
        ...(context.isShort && { callMs: 300 }),
      } as const;
      const loaded = await underLoad(deployment, context, options, async (load) => {
        await load.at(endAt);
        deployment.gateway.signal(signal);
        await deployment.gateway.ended();
        endedAt = load.now();
        await load.at(endedAt + awayMs);
        await deployment.gateway.start();
        listensAt = load.now();
      });
      const { outcomes } = loaded;
      measures.push(...loaded.measures);
      const failed = outcomes.filter(hasFailed);
      const back = deployment.members.map(
        ({ name }) =>
          (outcomes.find(({ at, node }) => at >= listensAt && node === name)?.at ?? Infinity) -
          listensAt,
      );
      const what = signal === "SIGKILL" ? "killed" : "stopped";
      measures.push(
        r9(`${what}: last node back after it listens`, "ms", worst(back), { most: 2_000 }),
        r9(`${what}: calls refused`, "calls", failed.length),
        r9(
          `${what}: refused otherwise than with 502 or 503 and x-svc-error`,
          "calls",
          failed.filter(isUnexplained).length,
          { most: 0 },
          certain,
        ),
        r9(
          `${what}: 503 without retry-after`,
          "calls",
          failed.filter(({ status, retryAfter }) => status === 503 && retryAfter === undefined)
            .length,
          { most: 0 },
          certain,
        ),
        r9(`${what}: longest wait for a 503`, "ms", worst(refused(failed)), { most: 250 }),
      );
      if (signal === "SIGTERM") {
        const lost = failed.filter(({ status }) => status !== 503);
        measures.push(r9("stopped: calls lost", "calls", lost.length, { most: 0 }, certain));
      }
      await settled(deployment, deployment.members, deployment.proxy.url);
      await settled(deployment);
    }
    return measures;
  },
};

const refused = (failed: readonly Outcome[]): readonly number[] =>
  failed.filter(({ status }) => status === 503).map(({ at, ended }) => ended - at);

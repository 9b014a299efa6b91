// R13: three times as many calls as a node can run; each keeps its processor busy for 5 ms.

import { readFileSync } from "node:fs";
import { Agent } from "node:http";

import type { Deployment } from "../harness/deployment.ts";
import { exchange } from "../harness/load.ts";
import { hasFailed, quantile, rowOf } from "../harness/measure.ts";
import { type Scenario, settled, underLoad } from "../harness/scenario.ts";

const r13 = rowOf("R13");
const peakMs = 4_000;
const durationMs = 10_000;
/** An answer later than this is of no use. */
const usefulMs = 1_000;
/** Until a service knows that it has too much to do. */
const noticedMs = 2_000;

export const overload: Scenario = {
  name: "overload",
  rows: ["R13"],
  options: { nodes: 1 },
  async run(deployment, context) {
    const peak = await peakOf(deployment);
    const before = megabytes(deployment);
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, megabytes(deployment))), 200);
    const loaded = await underLoad(
      deployment,
      context,
      { kinds: ["count"], durationMs, rate: Math.round(3 * peak) },
      async () => {},
    );
    clearInterval(watch);
    const late = loaded.outcomes.filter(({ at }) => at >= noticedMs);
    const useful = late.filter(
      (outcome) => !hasFailed(outcome) && outcome.ended - outcome.at < usefulMs,
    );
    const goodput = useful.length / ((durationMs - noticedMs) / 1_000);
    const refused = late.filter(hasFailed);
    await settled(deployment);
    return [
      r13("calls a second at the peak", "", peak),
      r13("answered within 1 s, of the peak", "%", (100 * goodput) / peak, { least: 80 }),
      r13(
        "time until a refusal, 99 %",
        "ms",
        quantile(
          refused.map(({ at, ended }) => ended - at),
          0.99,
        ),
        { most: 100 },
      ),
      r13(
        "refused otherwise than with 503",
        "calls",
        refused.filter(({ status }) => status !== 503).length,
        { most: 0 },
      ),
      r13("more memory of gateway and node", "MB", most - before, { most: 200 }),
      ...loaded.measures,
    ];
  },
};

/** Calls a second that are answered, with sixteen callers that wait for each answer. */
async function peakOf(deployment: Deployment): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const begun = performance.now();
  let answered = 0;
  const caller = async (name: number): Promise<void> => {
    for (let calls = 0; performance.now() - begun < peakMs; calls++) {
      const call = deployment.callOf("count", `peak-${begun}-${name}-${calls}`);
      const { status } = await exchange(deployment.url, agent, call, 34_000);
      if (status === 200) answered++;
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, name) => caller(name)));
  agent.destroy();
  return (answered * 1_000) / (performance.now() - begun);
}

/** Resident memory of the gateway and the nodes. */
function megabytes({ gateway, members }: Deployment): number {
  const kilobytes = [gateway, ...members].map(({ pid }) =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0),
  );
  return kilobytes.reduce((sum, part) => sum + part, 0) / 1_024;
}

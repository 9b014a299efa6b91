// R17: the clocks of all services jump an hour forward, and two hours back.

import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { environment } from "../../../test/_way.ts";
import { hasFailed, rowOf, worst } from "../harness/measure.ts";
import { type Scenario, settled, underLoad } from "../harness/scenario.ts";

const r17 = rowOf("R17");
const module = pathToFileURL(join(import.meta.dirname, "../harness/clock.mjs")).href;

export const clock: Scenario = {
  name: "clock",
  rows: ["R17"],
  options: { env: { NODE_OPTIONS: `${environment["NODE_OPTIONS"] ?? ""} --import=${module}` } },
  async run(deployment, context) {
    const { gateway, proxy, repository, members } = deployment;
    const at = 500 + context.random.between(0, 1_000);
    const loaded = await underLoad(
      deployment,
      context,
      { kinds: ["order", "stock"], durationMs: 10_000 },
      async (load) => {
        for (const ms of [at, at + 4_000]) {
          await load.at(ms);
          for (const service of [repository, gateway, proxy, ...members]) service.signal("SIGUSR2");
        }
      },
    );
    await settled(deployment);
    const { outcomes } = loaded;
    const warnings = [gateway, ...members].filter(({ command }) =>
      /^warning/m.test(command.output()),
    );
    return [
      r17("calls failed", "calls", outcomes.filter(hasFailed).length, { most: 0 }),
      r17("longest wait", "ms", worst(outcomes.map(({ at: sent, ended }) => ended - sent)), {
        most: 1_000,
      }),
      r17("services that warned of something", "", warnings.length, { most: 0 }),
      ...loaded.measures,
    ];
  },
};

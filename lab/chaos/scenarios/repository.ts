// R10: the repository is away. Nodes that run go on, and one that starts waits for it.

import { certain, hasFailed, rowOf } from "../harness/measure.ts";
import { type Scenario, settled, underLoad } from "../harness/scenario.ts";

const r10 = rowOf("R10");
const givesUpMs = 60_000;

export const repository: Scenario = {
  name: "repository",
  rows: ["R10"],
  async run(deployment, context) {
    const killAt = 500 + context.random.between(0, 1_000);
    const waiting = await deployment.node(`waiting-${context.random.seed}`);
    let startedAt = 0;
    let tookMs = 0;
    const loaded = await underLoad(
      deployment,
      context,
      { kinds: ["order", "stock"], durationMs: 6_000 },
      async (load) => {
        await load.at(killAt);
        deployment.repository.signal("SIGKILL");
        await deployment.repository.ended();
        // It isn't ready until the repository is back.
        const started = waiting.start().then(() => (tookMs = load.now() - startedAt));
        await load.at(killAt + 2_500);
        await deployment.repository.start();
        startedAt = load.now();
        await started;
      },
    );
    waiting.signal("SIGTERM");
    await waiting.ended();
    // One whose repository never comes, at an address where nothing listens.
    const hopeless = await deployment.node(`hopeless-${context.random.seed}`, {
      repository: "http://127.0.0.1:9",
    });
    const begun = performance.now();
    const isReady = await hopeless.start().then(
      () => true,
      () => false,
    );
    const code = await hopeless.ended();
    const waited = performance.now() - begun;
    const isExplained = /repository/.test(hopeless.command.output());
    await settled(deployment);
    const failed = loaded.outcomes.filter(hasFailed).length;
    return [
      r10("calls failed while it is away", "calls", failed, { most: 0 }, certain),
      r10("a node that waits is ready after it is back", "ms", tookMs, { most: 10_000 }),
      r10("a node gives up after", "ms", waited, {
        least: givesUpMs - 5_000,
        most: givesUpMs + 15_000,
      }),
      r10(
        "gives up without a reason, or with exit code 0",
        "",
        Number(isReady || code === 0 || !isExplained),
        { most: 0 },
      ),
      ...loaded.measures,
    ];
  },
};

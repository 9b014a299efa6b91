// R12: all nodes refuse half of their calls because they have too much to do.

import { FakeMember } from "../harness/fake-members.ts";
import { hasFailed, rowOf } from "../harness/measure.ts";
import { type Scenario, underLoad } from "../harness/scenario.ts";

const r12 = rowOf("R12");
const durationMs = 10_000;

export const refusals: Scenario = {
  name: "refusals",
  rows: ["R12"],
  options: { nodes: 0 },
  async run(deployment, context) {
    const { url, ledger } = deployment;
    const fakes = ["x", "y", "z"].map(
      (name) => new FakeMember(`${name}${context.random.seed}`, ledger),
    );
    const leaving: (() => Promise<void>)[] = [];
    try {
      for (const fake of fakes) {
        fake.refuses = () => context.random.next() < 0.5;
        await fake.join(url);
        leaving.push(async () => await fake.leave());
      }
      const loaded = await underLoad(
        deployment,
        context,
        { kinds: ["order"], durationMs },
        async () => {},
      );
      const total = loaded.outcomes.length;
      const attempts = fakes.reduce((sum, { calls }) => sum + calls, 0);
      const failed = loaded.outcomes.filter(hasFailed).length;
      // The reserve is a fifth of the calls of 10 s.
      const most = 1.2 + 0.2;
      return [
        r12("attempts for each call", "×", attempts / total, { most }),
        r12("calls failed, of half that nodes refuse", "%", (100 * failed) / total, { most: 45 }),
        ...loaded.measures,
      ];
    } finally {
      for (const leave of leaving) await leave();
      for (const fake of fakes) fake.close();
    }
  },
};

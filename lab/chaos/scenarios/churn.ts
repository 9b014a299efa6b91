// R16: fifty members join and leave each second, beside three nodes that stay.

import { FakeMember } from "../harness/fake-members.ts";
import { hasFailed, rowOf, worst } from "../harness/measure.ts";
import { type Scenario, underLoad } from "../harness/scenario.ts";

const r16 = rowOf("R16");
const durationMs = 60_000;
const everyMs = 1_000 / 50;
/** So many are members at once. */
const together = 5;

export const churn: Scenario = {
  name: "churn",
  rows: ["R16"],
  async run(deployment, context) {
    const { url, ledger, members } = deployment;
    const fakes = Array.from(
      { length: 60 },
      (_, index) => new FakeMember(`f${context.random.seed}x${index}`, ledger),
    );
    let calledLate = 0;
    let turns = 0;
    try {
      const loaded = await underLoad(
        deployment,
        context,
        { kinds: ["order"], durationMs },
        async (load) => {
          await load.at(1_000);
          const present: FakeMember[] = [];
          const leave = async (): Promise<void> => {
            const fake = present.shift()!;
            await fake.leave();
            fake.leftAt = performance.now();
          };
          for (; load.now() < durationMs - 2_000; turns++) {
            const fake = fakes[turns % fakes.length]!;
            // It was away for more than a second.
            if (fake.lastCall > fake.leftAt + 1_000) calledLate++;
            fake.leftAt = Infinity;
            await fake.join(url);
            present.push(fake);
            if (present.length > together) await leave();
            await load.at(1_000 + turns * everyMs);
          }
          while (present.length > 0) await leave();
        },
      );
      const { outcomes } = loaded;
      const shares = members.map(({ name }) => outcomes.filter(({ node }) => node === name).length);
      const fair = shares.reduce((sum, share) => sum + share, 0) / members.length;
      return [
        r16("joins and leaves a second", "", (turns * 1_000) / (durationMs - 3_000)),
        r16("calls failed", "calls", outcomes.filter(hasFailed).length, { most: 0 }),
        r16(
          "a node's share differs from an even one by",
          "%",
          worst(shares.map((share) => (100 * Math.abs(share - fair)) / fair)),
          { most: 5 },
        ),
        r16("members called a second after they left", "", calledLate, { most: 0 }),
        ...loaded.measures,
      ];
    } finally {
      for (const fake of fakes) fake.close();
    }
  },
};

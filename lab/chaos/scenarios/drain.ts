// R2: a node gets SIGTERM. R3: all are restarted, one after the other.

import { certain, hasFailed, type Measure, rowOf, worst } from "../harness/measure.ts";
import { type AnchoredScenario, settled, underLoad } from "../harness/scenario.ts";

/** `drainMs` by default, and three seconds more. */
const longestExitMs = 13_000;

export const drain: AnchoredScenario = restarts("drain", "R2", false);
export const rolling: AnchoredScenario = restarts("rolling", "R3", true);

function restarts(name: string, id: string, isRolling: boolean): AnchoredScenario {
  const row = rowOf(id);
  return {
    name,
    rows: [id],
    async run(subject, context) {
      const { random, isShort } = context;
      const members = isRolling ? subject.members : [random.pick(subject.members)];
      const exits: number[] = [];
      const codes: (number | NodeJS.Signals)[] = [];
      let isOver = false;
      const loaded = await underLoad(
        subject,
        context,
        {
          kinds: ["order", "stock"],
          durationMs: isRolling ? 9_000 : 5_000,
          // With few calls, long ones: some must be running when a node stops.
          ...(isShort && { callMs: 300 }),
        },
        async (load) => {
          await load.at(500 + random.between(0, 500));
          for (const member of members) {
            const begun = load.now();
            member.signal("SIGTERM");
            codes.push(await member.ended());
            exits.push(load.now() - begun);
            await member.start();
          }
          isOver = true;
        },
      );
      if (!isOver) throw new Error("the load ended before the last restart");
      const { outcomes } = loaded;
      const measures: Measure[] = [
        ...loaded.measures,
        row(
          "calls of any kind failed",
          "calls",
          outcomes.filter(hasFailed).length,
          { most: 0 },
          certain,
        ),
        row(
          "exit codes that aren't 0",
          "",
          codes.filter((code) => code !== 0).length,
          { most: 0 },
          certain,
        ),
        row("until the process has ended", "ms", worst(exits), { most: longestExitMs }),
      ];
      await settled(subject);
      return measures;
    },
  };
}

// R4: a node is stopped with SIGSTOP, and goes on after some seconds.

import type { Kind } from "../harness/application.ts";
import {
  certain,
  hasFailed,
  type Measure,
  ofKind,
  overrun,
  rowOf,
  worst,
} from "../harness/measure.ts";
import { type AnchoredScenario, settled, underLoad } from "../harness/scenario.ts";

const r4 = rowOf("R4");

/** Orders have one second; idempotent calls enough for a second try. */
const loads: readonly { readonly kind: Kind; readonly deadlineMs: number }[] = [
  { kind: "order", deadlineMs: 1_000 },
  { kind: "stock", deadlineMs: 5_000 },
];

export const hang: AnchoredScenario = {
  name: "hang",
  rows: ["R4"],
  async run(subject, context) {
    const { random, isShort } = context;
    const measures: Measure[] = [];
    for (const { kind, deadlineMs } of loads) {
      // Longer than the deadline: a call that stays with the node fails.
      const hangsForMs = isShort && kind === "order" ? 3_000 : 6_000;
      const victim = random.pick(subject.members);
      const stopAt = 500 + random.between(0, 1_000);
      const loaded = await underLoad(
        subject,
        context,
        { kinds: [kind], deadlineMs, durationMs: stopAt + hangsForMs + (isShort ? 500 : 2_000) },
        async (load) => {
          await load.at(stopAt);
          victim.signal("SIGSTOP");
          await load.at(stopAt + hangsForMs);
          victim.signal("SIGCONT");
        },
      );
      const { outcomes, runs, plan, load } = loaded;
      measures.push(...loaded.measures);
      const failed = ofKind(outcomes, kind).filter(hasFailed);
      if (kind === "stock") {
        measures.push(
          r4("idempotent calls with 5 s failed", "calls", failed.length, { most: 0 }, certain),
        );
      } else {
        const late = outcomes.filter(({ id, at }) =>
          runs.get(id)?.some((run) => run.at > load.epoch + at + deadlineMs + 50),
        );
        measures.push(
          r4("orders with 1 s failed", "calls", failed.length, { most: 80 }),
          r4("last order sent to it", "ms", worst(failed.map(({ at }) => at - stopAt)), {
            most: 2_500,
          }),
          r4(
            "an order ended after its deadline by",
            "ms",
            overrun(outcomes, plan),
            { most: isShort ? 2_000 : 250 },
            certain,
          ),
          r4("orders that ran after their deadline", "calls", late.length, { most: 0 }),
        );
      }
      await settled(subject);
    }
    return measures;
  },
};

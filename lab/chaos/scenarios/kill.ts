// R1: a node is killed with -9. R5: it comes back.

import type { Outcome } from "../harness/load.ts";
import {
  certain,
  hasFailed,
  isUnexplained,
  type Measure,
  ofKind,
  rowOf,
  worst,
} from "../harness/measure.ts";
import { type AnchoredScenario, loadsOf, settled, underLoad } from "../harness/scenario.ts";

const r1 = rowOf("R1");
const r5 = rowOf("R5");

/** Shares are counted in windows of this length. */
const windowMs = 500;

export const kill: AnchoredScenario = {
  name: "kill",
  rows: ["R1", "R5"],
  async run(subject, context) {
    const { random, isShort } = context;
    const measures: Measure[] = [];
    for (const kinds of loadsOf(context)) {
      const victim = random.pick(subject.members);
      const killAt = 1_000 + random.between(0, 1_000);
      const { pid } = victim;
      let readyAt = 0;
      const loaded = await underLoad(
        subject,
        context,
        // With few calls, long ones: some must be running on the node that is killed.
        isShort ? { kinds, durationMs: 4_500, callMs: 300 } : { kinds, durationMs: 8_000 },
        async (load) => {
          await load.at(killAt);
          victim.signal("SIGKILL");
          await victim.ended();
          await load.at(killAt + 1_000);
          await victim.start();
          readyAt = load.now();
        },
      );
      const { outcomes, runs } = loaded;
      measures.push(...loaded.measures);
      const orders = ofKind(outcomes, "order").filter(hasFailed);
      if (kinds.includes("order")) {
        const elsewhere = orders.filter(({ id }) => runs.get(id)?.some((run) => run.pid !== pid));
        measures.push(
          r1("orders failed", "calls", orders.length),
          r1(
            "orders failed though another node ran them",
            "calls",
            elsewhere.length,
            { most: 0 },
            certain,
          ),
          ...(subject.hasErrorNames ? [unexplained(orders)] : []),
          r1(
            "last failure after the kill",
            "ms",
            Math.max(0, worst(orders.map(({ at }) => at - killAt))),
            {
              most: 250,
            },
          ),
        );
      }
      if (kinds.includes("stock")) {
        const failed = ofKind(outcomes, "stock").filter(hasFailed).length;
        measures.push(
          r1("calls declared idempotent failed", "calls", failed, { most: 0 }, certain),
        );
      }
      measures.push(...comeBack(outcomes, victim.name, readyAt, subject.members.length));
      await settled(subject);
    }
    return measures;
  },
};

const unexplained = (orders: readonly Outcome[]): Measure =>
  r1(
    "orders failed without 502, 503 and x-svc-error",
    "calls",
    orders.filter(isUnexplained).length,
    { most: 0 },
    certain,
  );

/** When the node had calls again, and how many. */
function comeBack(
  outcomes: readonly Outcome[],
  name: string,
  readyAt: number,
  members: number,
): Measure[] {
  const after = outcomes.filter(({ at }) => at >= readyAt);
  const first = after.find(({ node }) => node === name);
  const end = worst(outcomes.map(({ at }) => at));
  const shares: { readonly from: number; readonly share: number }[] = [];
  for (let from = first?.at ?? end; from + windowMs <= end; from += windowMs) {
    const window = after.filter(({ at }) => at >= from && at < from + windowMs);
    const own = window.filter(({ node }) => node === name).length;
    shares.push({ from, share: (own * members) / Math.max(1, window.length) });
  }
  const even = shares.find(({ share }) => share > 0.9 && share < 1.1);
  return [
    r5("first call on it after it is ready", "ms", (first?.at ?? Infinity) - readyAt, {
      most: 250,
    }),
    r5("its share is even after", "ms", (even?.from ?? Infinity) - readyAt, { most: 5_000 }),
    r5(
      "its greatest share in 500 ms, of an even one",
      "×",
      worst(shares.map(({ share }) => share)),
      { most: 1.5 },
    ),
  ];
}

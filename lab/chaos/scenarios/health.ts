// R6: a health check of the application says no, on one node and then on all. R7: no node answers.

import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { hasFailed, type Measure, rowOf, worst } from "../harness/measure.ts";
import { type Scenario, settled, underLoad } from "../harness/scenario.ts";

const r6 = rowOf("R6");
const r7 = rowOf("R7");
const intervalMs = 500;
const lagMs = 250;

export const health: Scenario = {
  name: "health",
  rows: ["R6"],
  options: {
    gatewayConfig: { healthIntervalMs: intervalMs },
    nodeConfig: { healthChecks: { ill: "./check.mjs" } },
  },
  async run(deployment, context) {
    const { members, ledger } = deployment;
    const victim = context.random.pick(members);
    const ill = async (names: readonly string[], isIll: boolean): Promise<void> => {
      for (const name of names)
        await (isIll
          ? writeFile(join(ledger, `ill-${name}`), "")
          : rm(join(ledger, `ill-${name}`)));
    };
    const all = members.map(({ name }) => name);
    const illAt = 500 + context.random.between(0, intervalMs);
    const [wellAt, allIllAt, allWellAt] = [2_000, 4_000, 6_000].map((ms) => illAt + ms) as [
      number,
      number,
      number,
    ];
    const loaded = await underLoad(
      deployment,
      context,
      { kinds: ["order"], durationMs: illAt + 8_000 },
      async (load) => {
        await load.at(illAt);
        await ill([victim.name], true);
        await load.at(wellAt);
        await ill([victim.name], false);
        await load.at(allIllAt);
        await ill(all, true);
        await load.at(allWellAt);
        await ill(all, false);
      },
    );
    const { outcomes } = loaded;
    const between = (from: number, to: number) =>
      outcomes.filter(({ at }) => at >= from && at < to);
    const own = between(illAt, wellAt).filter(({ node }) => node === victim.name);
    const back = between(wellAt, allIllAt).find(({ node }) => node === victim.name);
    const isOut = between(allIllAt + intervalMs + lagMs, allWellAt);
    const answered = isOut.filter((outcome) => !hasFailed(outcome));
    const first = between(allWellAt, Infinity).find((outcome) => !hasFailed(outcome));
    await settled(deployment);
    const most = intervalMs + lagMs;
    return [
      r6("out after its check says no", "ms", worst(own.map(({ at }) => at - illAt)), { most }),
      r6("back after it says yes", "ms", (back?.at ?? Infinity) - wellAt, { most }),
      r6("calls failed meanwhile", "calls", between(0, allIllAt).filter(hasFailed).length, {
        most: 0,
      }),
      r6("all say no: calls that a node still ran", "calls", answered.length, { most: 0 }),
      r6(
        "all say no: answers that aren't 503",
        "calls",
        isOut.filter(({ status }) => status !== 503 && status !== 200).length,
        { most: 0 },
      ),
      r6("all say yes again: first answer", "ms", (first?.at ?? Infinity) - allWellAt, { most }),
      ...loaded.measures,
    ];
  },
};

export const nobody: Scenario = {
  name: "nobody",
  rows: ["R7"],
  async run(deployment, context) {
    const { members } = deployment;
    const measures: Measure[] = [];
    const fails = 500 + context.random.between(0, 500);
    const startAt = fails + 2_500;
    let back = Infinity;
    const killed = await underLoad(
      deployment,
      context,
      { kinds: ["order"], durationMs: 6_000 },
      async (load) => {
        await load.at(fails);
        for (const member of members) member.signal("SIGKILL");
        await Promise.all(members.map((member) => member.ended()));
        await load.at(startAt);
        await Promise.race(
          members.map((member) => member.start().then(() => (back = Math.min(back, load.now())))),
        );
      },
    );
    // Processes that start keep the machine busy.
    const refused = killed.outcomes.filter(
      (outcome) => outcome.ended < startAt && hasFailed(outcome),
    );
    const first = killed.outcomes.find((outcome) => outcome.at >= back && !hasFailed(outcome));
    measures.push(
      ...killed.measures,
      r7(
        "all killed: longest wait for a refusal",
        "ms",
        worst(refused.map(({ at, ended }) => ended - at)),
        { most: 100 },
      ),
      r7("first answer after the first is back", "ms", (first?.at ?? Infinity) - back, {
        most: 250,
      }),
    );
    await settled(deployment);
    const stopAt = 500 + context.random.between(0, 500);
    const wakeAt = stopAt + 4_000;
    const silent = await underLoad(
      deployment,
      context,
      { kinds: ["stock"], durationMs: wakeAt + 3_000, deadlineMs: 1_000 },
      async (load) => {
        await load.at(stopAt);
        for (const member of members) member.signal("SIGSTOP");
        await load.at(wakeAt);
        for (const member of members) member.signal("SIGCONT");
      },
    );
    const awake = silent.outcomes.find((outcome) => outcome.at >= wakeAt && !hasFailed(outcome));
    const late = silent.outcomes.filter(
      (outcome) => outcome.at >= wakeAt + 1_000 && hasFailed(outcome),
    );
    measures.push(
      ...silent.measures,
      r7(
        "all silent for 4 s: first answer after they wake up",
        "ms",
        (awake?.at ?? Infinity) - wakeAt,
        { most: 250 },
      ),
      r7("calls that fail later than 1 s after that", "calls", late.length, { most: 0 }),
    );
    await settled(deployment);
    return measures;
  },
};

// The short form of a scenario: less load, and only what holds however busy the machine is.

import { expect } from "vitest";

import type { Deployment } from "../../lab/chaos/harness/deployment.ts";
import { keeps, type Measure } from "../../lab/chaos/harness/measure.ts";
import { randomFrom } from "../../lab/chaos/harness/random.ts";
import type { Context, Scenario } from "../../lab/chaos/harness/scenario.ts";
import { tooStarved } from "../../lab/chaos/harness/starved.ts";

const seed = Number(process.env["CHAOS_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
const random = randomFrom(seed);

/**
 * The measures that a scenario broke. A machine that hardly runs the processes may make their calls fail: then
 * the scenario gets another chance. That no call ran twice holds in any case.
 */
export async function broken(
  scenario: Pick<Scenario, "run">,
  subject: Deployment,
): Promise<readonly string[]> {
  for (let tries = 1; ; tries++) {
    let starved = 0;
    const lines: string[] = [];
    const context: Context = {
      random,
      isShort: true,
      log: (line) => void lines.push(line),
      starved: (share) => (starved = Math.max(starved, share)),
    };
    const measures = await scenario.run(subject, context);
    const checked = measures.filter(({ isCertain }) => isCertain);
    expect(checked.length).toBeGreaterThan(2);
    const wrong = checked.filter((measure) => !keeps(measure));
    const isExcused = starved > tooStarved && wrong.every(({ row }) => row !== "R11");
    if (isExcused && tries < 3) continue;
    const about = `seed ${seed}, waited ${Math.round(starved * 100)} % for a processor; ${lines.join("; ")}`;
    return wrong.map((measure) => `${shown(measure)} (${about})`);
  }
}

function shown({ row, what, value, promised }: Measure): string {
  return `${row}: ${what}: ${value}, promised ${JSON.stringify(promised)}`;
}

// The long form of `npm run chaos`: each scenario some times, beside nginx and HAProxy where it makes
// sense for them. lab/chaos.mjs starts it.

import { type AnchorName, startAnchor, versionOf } from "./anchors/anchor.ts";
import { startDeployment } from "./harness/deployment.ts";
import type { Measure } from "./harness/measure.ts";
import { randomFrom } from "./harness/random.ts";
import { brokenPromises, machine, type Measured, table, writeToPage } from "./harness/report.ts";
import { type Context, type Scenario, settled } from "./harness/scenario.ts";
import { tooStarved } from "./harness/starved.ts";
import type { Subject } from "./harness/subject.ts";
import { anchored, own } from "./scenarios/all.ts";

export interface RunOptions {
  /** Names of scenarios or rows, in lower case; all if undefined. */
  readonly only: readonly string[] | undefined;
  readonly runs: number;
  readonly seed: number;
  /** Writes the tables into docs/reliability.md. */
  readonly writesPage: boolean;
  readonly hasAnchors: boolean;
  print(line: string): void;
}

/** A subject that is started when it is first needed, and anew after a run that failed. */
interface Runner {
  readonly name: string;
  run(context: Context): Promise<readonly Measure[]>;
  close(): Promise<void>;
}

function runnerOf<S extends Subject>(
  name: string,
  scenario: Scenario<S>,
  start: () => Promise<S>,
): Runner {
  let subject: S | undefined;
  const close = async (): Promise<void> => {
    await subject?.close();
    subject = undefined;
  };
  return {
    name,
    async run(context) {
      try {
        if (subject === undefined) {
          subject = await start();
          await settled(subject);
        }
        return await scenario.run(subject, context);
      } catch (error) {
        await close();
        throw error;
      }
    },
    close,
  };
}

const names = Object.keys({ nginx: 0, HAProxy: 0 } satisfies Record<AnchorName, 0>) as AnchorName[];

/** Resolves with the promises that were broken, and the runs that failed. */
export async function runChaos(options: RunOptions): Promise<readonly string[]> {
  const { only, print } = options;
  const isWanted = ({ name, rows }: Pick<Scenario, "name" | "rows">): boolean =>
    only === undefined || [name, ...rows].some((word) => only.includes(word.toLowerCase()));
  const known = [...anchored, ...own].flatMap(({ name, rows }) => [name, ...rows]);
  const unknown = only?.find((word) => !known.some((name) => name.toLowerCase() === word));
  if (unknown !== undefined)
    throw new Error(`There is no scenario or row '${unknown}'; there are ${known.join(", ")}`);

  const installed: AnchorName[] = [];
  for (const name of options.hasAnchors ? names : []) {
    const version = versionOf(name);
    if (version === undefined)
      print(`${name} isn't installed: skipped (apt-get install ${name.toLowerCase()})`);
    else {
      installed.push(name);
      print(`${name} ${version}`);
    }
  }
  print(`${machine()}; seed ${options.seed}`);

  const wrong: string[] = [];
  const measure = async (scenario: Pick<Scenario, "name" | "rows">, runners: readonly Runner[]) => {
    print(`\n## ${scenario.name}: ${scenario.rows.join(", ")}`);
    const measured = await runAll(scenario.name, runners, options, wrong);
    const text = table(measured);
    print(`\n${text}`);
    wrong.push(...brokenPromises(measured));
    if (options.writesPage)
      await writeToPage(scenario.name, `${text}\n\n${captionOf(options, measured)}`);
  };

  for (const scenario of anchored.filter(isWanted))
    await measure(scenario, [
      runnerOf("Seamline", scenario, () => startDeployment()),
      ...installed.map((name) => runnerOf(name, scenario, () => startAnchor(name))),
    ]);
  for (const scenario of own.filter(isWanted))
    await measure(scenario, [
      runnerOf("Seamline", scenario, () => startDeployment(scenario.options)),
    ]);
  return wrong;
}

const busy = (name: string, share: number): string =>
  `${name}: this run doesn't count: its processes waited ${Math.round(share * 100)} % of the time for a processor`;

function captionOf({ seed }: RunOptions, measured: readonly Measured[]): string {
  const date = new Date().toISOString().slice(0, "2000-01-01".length);
  const counts = new Set(measured.map(({ runs }) => runs.length));
  return `*Runs: ${[...counts].join(" or ")}, worst (median), ${date}; seed ${seed}; ${machine()}.*`;
}

/** All subjects take turns, so that other work on the machine hits them alike. */
async function runAll(
  scenario: string,
  runners: readonly Runner[],
  { runs, seed, print }: RunOptions,
  wrong: string[],
): Promise<readonly Measured[]> {
  const measured = runners.map(({ name }) => ({
    subject: name,
    runs: [] as (readonly Measure[])[],
  }));
  try {
    for (let run = 0; run < runs; run++) {
      for (const [index, runner] of runners.entries()) {
        let starved = 0;
        const context: Context = {
          random: randomFrom(seed + run),
          isShort: false,
          log: print,
          starved: (share) => (starved = Math.max(starved, share)),
        };
        try {
          const measures = await runner.run(context);
          if (starved < tooStarved) measured[index]!.runs.push(measures);
          else print(busy(runner.name, starved));
        } catch (error) {
          const line = `${scenario}, run ${run + 1} of ${runner.name}: ${String(error)}`;
          print(line);
          if (runner.name === "Seamline") wrong.push(line);
        }
      }
    }
  } finally {
    await Promise.all(runners.map((runner) => runner.close()));
  }
  return measured;
}

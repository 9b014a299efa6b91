// A scenario: load, a fault at a random phase of it, and what came of it.

import { Agent } from "node:http";

import type { Kind } from "./application.ts";
import type { Deployment, DeploymentOptions } from "./deployment.ts";
import { readLedger, type Runs } from "./ledger.ts";
import { exchange, type Load, type Outcome, pause, type Plan, startLoad } from "./load.ts";
import { always, failuresOf, type Measure } from "./measure.ts";
import type { Random } from "./random.ts";
import { watchStarving } from "./starved.ts";
import type { Member, Subject } from "./subject.ts";

export interface Context {
  readonly random: Random;
  /** In CI: less load, and all kinds of calls at once. */
  readonly isShort: boolean;
  log(line: string): void;
  /** A load's processes waited for a processor for this share of its time. */
  starved(share: number): void;
}

export interface Scenario<S extends Subject = Deployment> {
  readonly name: string;
  /** The rows of docs/reliability.md that it measures, besides R11. */
  readonly rows: readonly string[];
  /** Of the deployment; scenarios without options share one. */
  readonly options?: DeploymentOptions;
  run(subject: S, context: Context): Promise<readonly Measure[]>;
}

/** Scenarios that other balancers can go through as well. */
export type AnchoredScenario = Scenario<Subject>;

export interface Loaded {
  readonly outcomes: readonly Outcome[];
  readonly runs: Runs;
  readonly load: Load;
  readonly plan: Plan;
  readonly measures: readonly Measure[];
}

export interface LoadOptions {
  readonly kinds: readonly Kind[];
  readonly durationMs: number;
  /** The time that the first service gives each call, if less than usual. */
  readonly deadlineMs?: number;
  /** Calls a second; 300, or 20 in the short form. */
  readonly rate?: number;
  /** How long a procedure takes. */
  readonly callMs?: Plan["callMs"];
  /** Where calls go, if not to the subject. */
  readonly url?: string | (() => string);
}

/** Bounds waiting for calls that have as much time as the service gives them. */
const defaultDeadlineMs = 30_000;

/** Puts a subject under load while `during` does harm to it. */
export async function underLoad(
  subject: Subject,
  context: Context,
  options: LoadOptions,
  during: (load: Load) => Promise<void>,
): Promise<Loaded> {
  const { kinds, durationMs, deadlineMs = defaultDeadlineMs } = options;
  const rate = options.rate ?? (context.isShort ? 20 : 300);
  const plan: Plan = { rate, durationMs, kinds, deadlineMs, callMs: options.callMs };
  const url =
    options.url ??
    (options.deadlineMs === undefined ? subject.url : await subject.urlFor(deadlineMs));
  const load = startLoad(url, plan, context.random, subject.callOf);
  const starving = watchStarving([...subject.pids(), process.pid]);
  const [outcomes] = await Promise.all([load.outcomes, during(load)]);
  context.starved(starving());
  const runs = await readLedger(subject.ledger);
  const failures = failuresOf(outcomes);
  if (failures !== "") context.log(`${subject.name}: ${failures}`);
  return { outcomes, runs, load, plan, measures: always(outcomes, runs) };
}

/** All kinds in one load, or a load for each. */
export const loadsOf = ({ isShort }: Context): readonly (readonly Kind[])[] =>
  isShort ? [["order", "stock"]] : [["order"], ["stock"]];

/** Bounds waiting for a subject that doesn't recover. */
const settledWithinMs = 40_000;

/** Waits until each member that runs answers calls again. */
export async function settled(
  subject: Subject,
  members: readonly Member[] = subject.members,
  url: string = subject.url,
): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const begun = performance.now();
  const missing = new Set(members.map(({ name }) => name));
  let inARow = 0;
  for (let calls = 0; missing.size > 0 || inARow < 2 * members.length; calls++) {
    if (performance.now() - begun > settledWithinMs)
      throw new Error(`${subject.name}: no calls reach ${[...missing].join(", ") || "all nodes"}`);
    const call = subject.callOf("stock", `settling-${process.pid}-${calls}`);
    const { node } = await exchange(url, agent, call, 4_000);
    inARow = node === undefined ? 0 : inARow + 1;
    if (node === undefined) await pause(50);
    else missing.delete(node);
  }
  agent.destroy();
}

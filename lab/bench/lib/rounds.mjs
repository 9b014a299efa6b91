// Interleaved rounds: all subjects of a case run in each round, and every second round takes them
// in the opposite order, so that what else the machine does hits all of them alike.

import { interval, median } from "./statistics.mjs";

/**
 * A subject that runs. `measure` returns what a call costs; `seconds` is how long it may take.
 * `calls` tells how many there were, if they are many.
 * @typedef {{ measure: (seconds: number) => Promise<number>, stop: () => Promise<void>, calls?: () => number, remarks?: () => Record<string, number> }} Running
 * @typedef {{ name: string, start: () => Promise<Running> }} Subject
 * A subject of the comparison. The first one is the limit, to which the others are ratios.
 * `share`: ratios say how much of the limit's speed a subject has, instead of how often it takes the limit's time.
 * `once`: values that don't vary, such as bytes, are taken once. `unrelated`: ratios would say nothing.
 * `cold`: each value is of a new process, so there is nothing to warm up but files.
 * @typedef {{ name: string, unit: string, share?: boolean, once?: boolean, unrelated?: boolean, rounds?: number, cold?: boolean, subjects: Subject[] }} Case
 * @typedef {{ rounds: number, seconds: number, warmup: number, subjects?: string[] }} Options
 * @typedef {{ subject: string, value?: number, ratio?: number, low?: number, high?: number, values?: number[], ratios?: number[], remarks?: Record<string, number>, problem?: string }} Result
 */

/** Describes an error in a line that fits a table and names no folder. @param {unknown} error */
function problemOf(error) {
  const text = error instanceof Error ? error.message : String(error);
  const missing = /Cannot find package '([^']+)'/.exec(text)?.[1];
  if (missing) return `${missing} isn't installed (npm ci --prefix lab/bench)`;
  const line = /^\w*Error(?: \[\w+\])?: .*$/m.exec(text)?.[0] ?? text.split("\n")[0] ?? "";
  return line.replaceAll(/(?:file:\/\/)?\/[\w./-]+\//g, "").slice(0, 200);
}

/**
 * Starts the subjects, measures them in turns, and stops them. One that fails is left out, and says
 * why.
 * @param {Case} compared
 * @param {Options} options
 * @param {(text: string) => void} tell
 * @returns {Promise<Result[]>}
 */
export async function run(compared, options, tell) {
  const { once, share, unrelated, subjects } = compared;
  const rounds = once ? 1 : (compared.rounds ?? options.rounds);
  /** @type {Map<string, { running?: Running, values: number[], problem?: string, remarks?: Record<string, number> }>} */
  const states = new Map();
  /** @param {string} name @param {(state: any) => Promise<void>} act */
  const attempt = async (name, act) => {
    const state = states.get(name);
    if (!state || state.problem !== undefined) return;
    try {
      await act(state);
    } catch (error) {
      state.problem = problemOf(error);
      tell(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const chosen = subjects.filter(
    ({ name }, index) =>
      index === 0 || (options.subjects?.some((word) => matches(name, word)) ?? true),
  );
  try {
    for (const { name, start } of chosen) {
      states.set(name, { values: [] });
      await attempt(name, async (state) => void (state.running = await start()));
    }
    if (!once)
      for (const { name } of chosen)
        await attempt(name, (state) => warm(state.running, compared.cold, options));
    for (let round = 0; round < rounds; round++)
      for (const { name } of round % 2 === 0 ? chosen : chosen.toReversed())
        await attempt(
          name,
          async (state) => void state.values.push(await state.running.measure(options.seconds)),
        );
    for (const { name } of chosen)
      await attempt(name, async (state) => void (state.remarks = state.running.remarks?.()));
  } finally {
    for (const { running } of states.values()) await running?.stop();
  }
  const limit = states.get(chosen[0]?.name ?? "")?.values ?? [];
  return chosen.map(({ name }) => {
    const { values = [], problem, remarks } = states.get(name) ?? {};
    if (problem !== undefined) return { subject: name, problem };
    const ratios = values
      .map((value, round) => value / (limit[round] ?? NaN))
      .map((ratio) => (share ? 1 / ratio : ratio))
      .filter((ratio) => Number.isFinite(ratio));
    const base = { subject: name, value: median(values), values, ...(remarks && { remarks }) };
    if (unrelated || ratios.length === 0) return base;
    const [low, high] = interval(ratios);
    return { ...base, ratio: median(ratios), ...(!once && { low, high, ratios }) };
  });
}

/** Calls after which V8 has compiled what it is going to compile, and how long they may take. */
const warmCalls = 8_000;
const warmSeconds = 40;

/**
 * Runs a subject until its code is compiled: for the seconds of the warm-up, and on while a call gets
 * cheaper or as long as there were too few, as on a busy machine these seconds may be few calls.
 * @param {Running} running
 * @param {boolean | undefined} cold
 * @param {Options} options
 */
async function warm(running, cold, { warmup, seconds }) {
  const slice = cold ? seconds : Math.max(seconds, warmup / 2);
  let best = await running.measure(slice);
  if (cold) return;
  for (let spent = slice; spent < Math.max(warmSeconds, warmup); spent += slice) {
    const cost = await running.measure(slice);
    const enough = (running.calls?.() ?? warmCalls) >= warmCalls;
    if (enough && spent + slice >= warmup && cost > 0.9 * best) return;
    best = Math.min(best, cost);
  }
}

/** Whether a word of `--subjects` names it. @param {string} name @param {string} word */
const matches = (name, word) => name.toLowerCase().includes(word.toLowerCase());

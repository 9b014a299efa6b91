// `npm run soak` (lab/soak.mjs): many calls through a gateway to a node, with errors and callers
// that leave, and what the processes hold in between.

import { parseArgs } from "node:util";

import { Pool } from "undici";
import { bytesPerStart } from "./client-starts.ts";
import { type Main, numberOf } from "./command-line.ts";
import { Random } from "./random.ts";
import { type Sample, startProcesses } from "./services/processes.ts";

/** Calls at once. */
const concurrency = 64;
/** Time for sockets and timers of the last calls to end. */
const quietMs = 3_000;
/** The most that the heap may grow between a tenth of the calls and the end. */
const heapShare = 1.05;
/** Starts and imports of the client, and the bytes that each may leave behind. */
const starts = 10_000;
const mostBytesPerStart = 20;
/** Pools of connections may have one more, or one fewer. */
const handleSlack = 4;

export const main: Main = async (words, print) => {
  const { values } = parseArgs({
    args: [...words],
    options: {
      calls: { type: "string", default: "1000000" },
      seed: { type: "string", default: "1" },
    },
  });
  const calls = numberOf("calls", values.calls, 10);
  const random = new Random(numberOf("seed", values.seed));
  const perStart = await bytesPerStart(starts);
  print(`${starts} starts and imports of the client: ${perStart.toFixed(1)} bytes each`);
  const { services, close } = await startProcesses();
  const watched = ["gateway", "node"] as const;
  const series: Record<(typeof watched)[number], Sample[]> = { gateway: [], node: [] };
  const counts: Record<string, number> = {};
  try {
    for (let step = 0; step < 10; step++) {
      const pool = new Pool(services.gateway.url, { connections: concurrency });
      const begun = performance.now();
      await runCalls(pool, calls / 10, random, counts);
      const rate = Math.round(calls / 10 / ((performance.now() - begun) / 1_000));
      await pool.destroy();
      await new Promise((resolve) => setTimeout(resolve, quietMs));
      const texts: string[] = [];
      for (const name of watched) {
        const ended = services[name].ended();
        if (ended !== undefined)
          throw new Error(`The ${name} ended with ${ended}: ${services[name].output()}`);
        const sample = await services[name].sample();
        series[name].push(sample);
        texts.push(
          `${name} heap ${(sample.heapUsed / 1e6).toFixed(2)} MB, rss ${Math.round(sample.rss / 1e6)} MB, ${JSON.stringify(sample.handles)}`,
        );
      }
      print(`${((step + 1) * calls) / 10} calls, ${rate}/s; ${texts.join("; ")}`);
    }
  } finally {
    await close();
  }
  print(`outcomes: ${JSON.stringify(counts)}`);
  const problems = watched.flatMap((name) => problemsOf(name, series[name]));
  if (perStart > mostBytesPerStart) problems.push(`a start of the client leaves ${perStart} bytes`);
  problems.forEach((problem) => print(`✗ ${problem}`));
  return problems.length === 0 ? 0 : 1;
};

function problemsOf(name: string, samples: readonly Sample[]): string[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return [];
  const problems: string[] = [];
  if (last.heapUsed > first.heapUsed * heapShare)
    problems.push(`the heap of the ${name} grew from ${first.heapUsed} to ${last.heapUsed} bytes`);
  for (const kind of new Set([...Object.keys(first.handles), ...Object.keys(last.handles)])) {
    const [before = 0, after = 0] = [first.handles[kind], last.handles[kind]];
    if (after > before + handleSlack)
      problems.push(`the ${name} has ${after} ${kind} instead of ${before}`);
  }
  return problems;
}

const json = { "content-type": "application/json" };

async function runCalls(
  pool: Pool,
  calls: number,
  random: Random,
  counts: Record<string, number>,
): Promise<void> {
  let left = calls;
  const note = (outcome: string): void => {
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  };
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const choice = random.below(200);
      try {
        if (choice === 0) await failing(pool, note);
        else if (choice === 1) await leaving(pool, random, note);
        else await ordinary(pool, random, note);
      } catch (thrown) {
        note(`thrown: ${String(thrown).slice(0, 80)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

type Note = (outcome: string) => void;

async function ordinary(pool: Pool, random: Random, note: Note): Promise<void> {
  const isGet = random.once(2);
  const { statusCode, body } = isGet
    ? await pool.request({ method: "GET", path: "/rpc/a/add?a=1&b=2" })
    : await pool.request({
        method: "POST",
        path: "/rpc/a/echo",
        headers: json,
        body: `{"value":"${"a".repeat(random.few(2_000))}"}`,
      });
  const text = await body.text();
  note(statusCode === 200 ? "200" : `${statusCode} ${text.slice(0, 80)}`);
}

/** The procedure throws. */
async function failing(pool: Pool, note: Note): Promise<void> {
  const { statusCode, body } = await pool.request({ method: "GET", path: "/rpc/a/fail" });
  await body.text();
  note(String(statusCode));
}

/** The caller leaves: before the answer, or while it comes. */
async function leaving(pool: Pool, random: Random, note: Note): Promise<void> {
  const controller = new AbortController();
  const path = random.once(2) ? "/rpc/a/wait?ms=200" : "/rpc/a/many?count=2000000";
  const timer = setTimeout(() => controller.abort(), random.below(30));
  try {
    const { body } = await pool.request({ method: "GET", path, signal: controller.signal });
    await body.text();
    note("answered before the caller left");
  } catch {
    note("left");
  } finally {
    clearTimeout(timer);
  }
}

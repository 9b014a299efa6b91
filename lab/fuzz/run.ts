// Runs targets for a time or a number of inputs, and collects what they find.

import { Random, seedOf } from "./random.ts";
import { census, Finding, type Target } from "./target.ts";

export interface RunOptions {
  readonly seed: number;
  /** First input of each target. */
  readonly from?: number;
  /** Number of inputs of each target [no limit]. */
  readonly count?: number;
  /** Milliseconds for each target [no limit]. */
  readonly ms?: number;
  /** Called before each input. */
  readonly onInput?: (target: string, index: number) => void;
  /** Ends a target after so many findings [5]. */
  readonly mostFindings?: number;
}

export interface Report {
  readonly target: string;
  readonly inputs: number;
  readonly ms: number;
  readonly findings: readonly Found[];
  readonly figures: string | undefined;
}

export interface Found {
  readonly index: number;
  readonly message: string;
  readonly input?: string;
}

const defaultSlowMs = 1_000;
/** A machine that is busy with something else may take long once. */
const slowTries = 3;

export async function runTarget(target: Target, options: RunOptions): Promise<Report> {
  const { seed, from = 0, count = Infinity, ms = Infinity, mostFindings = 5 } = options;
  const findings: Found[] = [];
  await target.open?.();
  const begun = performance.now();
  const before = census();
  let index = from;
  try {
    while (index < from + count && findings.length < mostFindings) {
      options.onInput?.(target.name, index);
      const found = await findingOf(target, seedOf(seed, target.name, index));
      // Each kind of fault once.
      if (found !== undefined && !findings.some(({ message }) => isAlike(message, found.message)))
        findings.push({ index, ...found });
      if (census() !== before) {
        findings.push({ index, message: `pollutes the process: ${census()}, before: ${before}` });
        break;
      }
      index++;
      // Asked seldom, as most inputs take microseconds.
      if (index % 16 === 0 && performance.now() - begun >= ms) break;
    }
    const figures = await Promise.resolve(target.figures?.()).catch((thrown: unknown) => {
      findings.push({ index, message: String(thrown) });
      return undefined;
    });
    return {
      target: target.name,
      inputs: index - from,
      ms: performance.now() - begun,
      findings,
      figures,
    };
  } finally {
    await target.close?.();
  }
}

const isAlike = (left: string, right: string): boolean => kindOf(left) === kindOf(right);
const kindOf = (message: string): string => message.slice(0, 200).replace(/\d+|"[^"]*"?/g, "");

async function findingOf(target: Target, seed: number): Promise<Omit<Found, "index"> | undefined> {
  const { slowMs = defaultSlowMs } = target;
  let took = 0;
  for (let tries = 0; tries < slowTries; tries++) {
    const begun = performance.now();
    try {
      const attempt = target.attempt(new Random(seed));
      if (attempt !== undefined) await attempt;
    } catch (thrown) {
      if (thrown instanceof Finding) return { message: thrown.what, input: thrown.input };
      return { message: thrown instanceof Error ? String(thrown.stack) : String(thrown) };
    }
    took = performance.now() - begun;
    if (took < slowMs) return undefined;
  }
  return { message: `takes ${Math.round(took)} ms, and may take ${slowMs}` };
}

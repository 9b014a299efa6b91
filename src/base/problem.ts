// Problems in an application's files, collected to report all of them at once.

/** One mistake in a source module, a segment file or a configuration. */
export interface Problem {
  /** Relative to the application folder, with forward slashes. */
  readonly file: string;
  /** One-based. */
  readonly line?: number;
  /** One-based. */
  readonly column?: number;
  /** JSON path in a segment file or configuration: `./shop/quote.access`. */
  readonly path?: string;
  /** The mistake, in one sentence. */
  readonly message: string;
  /** The remedy, in one sentence. */
  readonly hint?: string;
  /** The source lines around the place, with a marker. */
  readonly frame?: string;
}

/** Thrown if a build, check or start can't go on; the message lists all problems. */
export class Problems extends Error {
  override readonly name: string = "Problems";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join("\n\n"));
    this.problems = problems;
  }
}

/** `file:line:column: message`, the frame, and the remedy. */
export function formatProblem(problem: Problem): string {
  const place =
    problem.line === undefined
      ? problem.file
      : `${problem.file}:${problem.line}:${problem.column ?? 1}`;
  const head =
    problem.path === undefined
      ? `${place}: ${problem.message}`
      : `${place} at ${problem.path}: ${problem.message}`;
  return [head, problem.frame, problem.hint === undefined ? undefined : `  → ${problem.hint}`]
    .filter((line) => line !== undefined)
    .join("\n");
}

/** The candidate that `name` was probably meant to be, for "did you mean". */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let shortest = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < shortest) [best, shortest] = [candidate, distance];
  }
  return best;
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const cost = left[i - 1] === right[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + cost));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}

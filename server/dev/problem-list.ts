// What is wrong now, by what it is of: a mistake in one thing must not hide one in another, and each is told until it is mended.

import { formatProblem, type Problem } from "../../src/problem.ts";
import type { DevEvent } from "./session.ts";

/** `imports`: what no browser could import, and names that nobody exports. They keep nothing from running. */
type Of = "configuration" | "application" | "load" | "imports";

export class ProblemList {
  readonly #of = new Map<Of, readonly Problem[]>();
  readonly #tell: (event: DevEvent) => void;
  readonly #warned = new Set<string>();
  #told = "";

  constructor(tell: (event: DevEvent) => void) {
    this.#tell = tell;
  }

  get all(): readonly Problem[] {
    return [...this.#of.values()].flat();
  }

  of(what: Of): readonly Problem[] {
    return this.#of.get(what) ?? [];
  }

  /** Takes these in the place of those that there were, and tells when that makes a difference. */
  set(what: Of, problems: readonly Problem[]): void {
    this.setAll({ [what]: problems });
  }

  /** The same for several at once, of which there is one thing to tell. */
  setAll(found: Readonly<Partial<Record<Of, readonly Problem[]>>>): void {
    for (const [what, problems] of Object.entries(found)) this.#of.set(what as Of, problems);
    const all = this.all;
    const text = all.map(formatProblem).join("\n");
    if (text === this.#told) return;
    this.#told = text;
    const isLive = all.length === this.of("imports").length;
    this.#tell(
      all.length > 0
        ? { kind: "problems", problems: all, ...(isLive && { isLive }) }
        : { kind: "mended" },
    );
  }

  /** Each once: they are no reason to stop. */
  warn(problems: readonly Problem[]): void {
    for (const problem of problems) {
      const text = formatProblem(problem);
      if (this.#warned.has(text)) continue;
      this.#warned.add(text);
      this.#tell({ kind: "warning", problem });
    }
  }
}

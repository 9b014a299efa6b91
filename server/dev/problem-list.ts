// The current problems by source, so that one in the configuration doesn't hide one in the
// application. Each stays until it is fixed.

import { formatProblem, type Problem } from "../../src/base/problem.ts";
import type { DevEvent } from "./session.ts";

/** `imports`: what browsers can't import, and names that no module exports. They stop nothing. */
type Source = "configuration" | "application" | "load" | "imports";

export class ProblemList {
  readonly #bySource = new Map<Source, readonly Problem[]>();
  readonly #onEvent: (event: DevEvent) => void;
  readonly #warned = new Set<string>();
  #reported = "";

  constructor(onEvent: (event: DevEvent) => void) {
    this.#onEvent = onEvent;
  }

  get all(): readonly Problem[] {
    return [...this.#bySource.values()].flat();
  }

  of(source: Source): readonly Problem[] {
    return this.#bySource.get(source) ?? [];
  }

  /** Replaces the problems of one source, and reports all problems if anything has changed. */
  set(source: Source, problems: readonly Problem[]): void {
    this.setAll({ [source]: problems });
  }

  /** The same for several sources, with one report. */
  setAll(found: Readonly<Partial<Record<Source, readonly Problem[]>>>): void {
    for (const [source, problems] of Object.entries(found))
      this.#bySource.set(source as Source, problems);
    const all = this.all;
    const text = all.map(formatProblem).join("\n");
    if (text === this.#reported) return;
    this.#reported = text;
    const isLive = all.length === this.of("imports").length;
    this.#onEvent(
      all.length > 0
        ? { kind: "problems", problems: all, ...(isLive && { isLive }) }
        : { kind: "mended" },
    );
  }

  /** Runs a change, and reports the problems again that it leaves as they are. */
  async through(change: () => Promise<void>): Promise<void> {
    const before = this.#reported;
    await change();
    if (this.#reported === before && this.all.length > 0)
      this.#onEvent({ kind: "unsolved", problems: this.all });
  }

  /** Reports each warning once. */
  warn(problems: readonly Problem[]): void {
    for (const problem of problems) {
      const text = formatProblem(problem);
      if (this.#warned.has(text)) continue;
      this.#warned.add(text);
      this.#onEvent({ kind: "warning", problem });
    }
  }
}

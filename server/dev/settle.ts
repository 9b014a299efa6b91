// Decides when changed files are complete, and applies them. People and programs save in steps: an
// editor empties a file before it writes it, a move changes two segment files, and a move by hand
// takes a procedure out of one file a while before it is in another.

import { statSync } from "node:fs";
import { join } from "node:path";

import { segmentFileEnding } from "../../src/base/manifest.ts";
import type { Application } from "../compile/cut/application.ts";
import type { ApplicationProcedure } from "../compile/cut/application-procedure.ts";
import type { DevEvent, Move } from "./session.ts";
import {
  emptyLookMs,
  orphanWindowMs,
  savedTogetherMs,
  secondSaveMs,
  segmentFilesWindowMs,
} from "./times.ts";

/** Looks are counted rather than timed, since this process may be busy meanwhile. */
const maxEmptyLooks = 10;

export interface SettleOptions {
  /** Applies changed files; never rejects. `since` is when the first of them was seen. */
  readonly apply: (files: ReadonlySet<string>, since: number) => Promise<void>;
  readonly movesBetween: (before: Application, after: Application) => readonly Move[];
  readonly onEvent: (event: DevEvent) => void;
}

export class Settle {
  readonly #options: SettleOptions;
  /** When the change of each file was seen. */
  #pending = new Map<string, number>();
  #isScheduled = false;
  #last: Promise<unknown> = Promise.resolve();
  /** The first half of a move, which isn't reported yet, and the application before it. */
  #half: { readonly before: Application; readonly timer: NodeJS.Timeout } | undefined;
  #orphans: { readonly timers: readonly NodeJS.Timeout[]; isOver: boolean } | undefined;

  constructor(options: SettleOptions) {
    this.#options = options;
  }

  /**
   * Applies a changed file once the current change is done. All files that change until then, and
   * for `windowMs` after it, are applied together, for example when a branch is checked out.
   */
  add(file: string, windowMs: number = windowOf(file)): void {
    if (!this.#pending.has(file)) this.#pending.set(file, performance.now());
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void this.run(async () => {
      await sleep(windowMs);
      this.#isScheduled = false;
      const files = this.#pending;
      this.#pending = new Map();
      await written(files.keys());
      await this.#options.apply(new Set(files.keys()), Math.min(...files.values()));
    });
  }

  /** Runs `act` after everything before it, so that it sees one state of the sources. */
  async run<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#last.then(act);
    this.#last = result.catch(() => {});
    return await result;
  }

  /** Resolves when all changes so far are applied. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /**
   * Whether a change has to wait, because no segment file names some procedures any more. Moving one
   * by hand means removing it from one file, saving, and then adding it to another. Until then it
   * must not become a part of every module that imports it, so it stays where it was for a while. An
   * edited module means that nothing is being moved by hand.
   */
  waits(before: Application, after: Application, changed: ReadonlySet<string>): boolean {
    const [first, ...others] = orphansOf(before, after);
    const isEdited = [...changed].some(
      (file) => (before.modules.byFile(file) ?? after.modules.byFile(file)) !== undefined,
    );
    if (first === undefined || isEdited || this.#orphans?.isOver === true) {
      this.#stopWaiting();
      return false;
    }
    if (this.#orphans !== undefined) return true;
    const [named] = first.entries;
    const file = named?.segment.file ?? "";
    const end = (): void => {
      orphans.isOver = true;
      this.add(join(before.root, file));
    };
    const names = [first, ...others].map(({ fqn }) => fqn).join(", ");
    const message = `no segment file names ${names} any more: it stays where it is for ${orphanWindowMs / 1000} s, for another one to name it`;
    const warn = (): void => this.#options.onEvent({ kind: "warning", problem: { file, message } });
    // The warning is delayed, so that saving both files at once reports only the move.
    const timers = [setTimeout(end, orphanWindowMs).unref(), setTimeout(warn, secondSaveMs)];
    const orphans = { timers, isOver: false };
    this.#orphans = orphans;
    return true;
  }

  /**
   * Reports the moves of a change that is live. If the segment file of the new place was saved first,
   * a procedure is in both places now: the report then waits for the second save, to name one move.
   */
  moved(before: Application, after: Application, moves: readonly Move[], ms: number): void {
    const { movesBetween, onEvent } = this.#options;
    const earlier = this.#half;
    clearTimeout(earlier?.timer);
    this.#half = undefined;
    const procedures = earlier === undefined ? moves : movesBetween(earlier.before, after);
    if (procedures.length === 0) return;
    const report = (): void => onEvent({ kind: "moved", procedures, ms });
    if (!procedures.some(isHalf)) return report();
    const end = async (): Promise<void> => {
      if (this.#half !== half) return;
      this.#half = undefined;
      report();
    };
    // After the changes before it, one of which may be the second half.
    const timer = setTimeout(() => void this.run(end), secondSaveMs);
    const half = { before: earlier?.before ?? before, timer };
    this.#half = half;
  }

  /** Resolves when all changes so far are applied. Reports no move and no orphan any more. */
  async close(): Promise<void> {
    const stop = (): void => {
      clearTimeout(this.#half?.timer);
      this.#half = undefined;
      this.#stopWaiting();
    };
    stop();
    await this.settled();
    // The last change may have begun to wait.
    stop();
  }

  #stopWaiting(): void {
    for (const timer of this.#orphans?.timers ?? []) clearTimeout(timer);
    this.#orphans = undefined;
  }
}

async function sleep(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

function windowOf(file: string): number {
  return file.endsWith(segmentFileEnding) ? segmentFilesWindowMs : savedTogetherMs;
}

/** Resolves when no file is empty any more, or after a while. */
async function written(files: Iterable<string>): Promise<void> {
  let empty = [...files].filter(isEmpty);
  for (let look = 0; empty.length > 0 && look < maxEmptyLooks; look++) {
    await sleep(emptyLookMs);
    empty = empty.filter(isEmpty);
  }
}

function isEmpty(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true && found.size === 0;
  } catch {
    // Not accessible: reading it reports that.
    return false;
  }
}

/** The procedure is still where it was, and in another place too. */
function isHalf({ from, to }: Move): boolean {
  return (
    from.length > 0 && to.length > from.length && from.every((location) => to.includes(location))
  );
}

/** Procedures and routes that lost their segment but whose functions still exist. */
function orphansOf(before: Application, after: Application): readonly ApplicationProcedure[] {
  const named = new Set([...after.procedures, ...after.routes].map(nameOf));
  return [...before.procedures, ...before.routes].filter((procedure) => {
    if (named.has(nameOf(procedure))) return false;
    const module = after.modules.get(procedure.module.id);
    return (
      module !== undefined &&
      after.modules.describe(module).exports.some(({ name }) => name === procedure.export)
    );
  });
}

function nameOf({ module, export: name }: ApplicationProcedure): string {
  return `${module.id}#${name}`;
}

// Procedures that no segment file names any more. Whoever moves one by hand takes it out of one file, saves, and then writes it into
// another: in between it is not meant to become a part of all who import it. So it stays where it was for a while.

import { join } from "node:path";

import type { Application } from "../build/application.ts";
import type { Procedure } from "../build/procedures.ts";
import { secondSave } from "./moves.ts";
import type { DevEvent } from "./session.ts";

/** Long enough to open another file and to write three words, in ms. */
const patience = 10_000;

export class Orphans {
  readonly #tell: (event: DevEvent) => void;
  readonly #again: (file: string) => void;
  #deadline: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #warning: NodeJS.Timeout | undefined;

  /** `again` has the application looked at once more, as if this file had changed. */
  constructor(tell: (event: DevEvent) => void, again: (file: string) => void) {
    this.#tell = tell;
    this.#again = again;
  }

  /** Whether a change is to wait. One of a module says that nothing is to be moved; a log that somebody writes says nothing. */
  wait(before: Application, after: Application, changed: ReadonlySet<string>): boolean {
    const [first, ...others] = orphansOf(before, after);
    if (first === undefined) return this.#end();
    this.#deadline ??= performance.now() + patience;
    const isEdited = [...changed].some(
      (file) => (before.modules.byFile(file) ?? after.modules.byFile(file)) !== undefined,
    );
    if (performance.now() >= this.#deadline || isEdited) return this.#end();
    if (this.#timer !== undefined) return true;
    const [named] = first.entries;
    const file = named?.segment.file ?? "";
    this.#timer = setTimeout(() => this.#again(join(before.root, file)), patience);
    this.#timer.unref();
    const who = [first, ...others].map(({ fqn }) => fqn).join(", ");
    const message = `no segment file names ${who} any more: it stays where it is for ${patience / 1000} s, for another one to name it`;
    // Who has saved both files at once is to be told of the move, and of nothing before it.
    this.#warning = setTimeout(
      () => this.#tell({ kind: "warning", problem: { file, message } }),
      secondSave,
    );
    return true;
  }

  close(): void {
    this.#end();
  }

  #end(): false {
    clearTimeout(this.#timer);
    clearTimeout(this.#warning);
    this.#timer = this.#warning = this.#deadline = undefined;
    return false;
  }
}

/** Those whose functions are still there. */
function orphansOf(before: Application, after: Application): readonly Procedure[] {
  const named = new Set(after.procedures.map(nameOf));
  return before.procedures.filter((one) => {
    if (named.has(nameOf(one))) return false;
    const module = after.modules.get(one.module.id);
    return (
      module !== undefined &&
      after.modules.describe(module).exports.some((other) => other.name === one.export)
    );
  });
}

function nameOf({ module, export: name }: Procedure): string {
  return `${module.id}#${name}`;
}

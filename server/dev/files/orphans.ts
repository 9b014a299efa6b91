// Procedures that no segment file names any more. Moving one by hand means removing it from one
// file, saving, and then adding it to another. In between it must not become a part of every module
// that imports it, so it stays where it was for a while.

import { join } from "node:path";

import type { Application } from "../../compile/cut/application.ts";
import type { ApplicationProcedure } from "../../compile/cut/application-procedure.ts";
import { secondSaveMs } from "./moves.ts";
import type { DevEvent } from "../session/session.ts";

/** Long enough to open another file and type three words. */
const orphanWindowMs = 10_000;

export class Orphans {
  readonly #onEvent: (event: DevEvent) => void;
  readonly #readAgain: (file: string) => void;
  #deadline: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #warning: NodeJS.Timeout | undefined;

  /** `readAgain` rereads the application as if this file had changed. */
  constructor(onEvent: (event: DevEvent) => void, readAgain: (file: string) => void) {
    this.#onEvent = onEvent;
    this.#readAgain = readAgain;
  }

  /** Whether a change has to wait. An edited module means that nothing is being moved by hand. */
  wait(before: Application, after: Application, changed: ReadonlySet<string>): boolean {
    const [first, ...others] = orphansOf(before, after);
    if (first === undefined) return this.#end();
    this.#deadline ??= performance.now() + orphanWindowMs;
    const isEdited = [...changed].some(
      (file) => (before.modules.byFile(file) ?? after.modules.byFile(file)) !== undefined,
    );
    if (performance.now() >= this.#deadline || isEdited) return this.#end();
    if (this.#timer !== undefined) return true;
    const [named] = first.entries;
    const file = named?.segment.file ?? "";
    this.#timer = setTimeout(() => this.#readAgain(join(before.root, file)), orphanWindowMs);
    this.#timer.unref();
    const names = [first, ...others].map(({ fqn }) => fqn).join(", ");
    const message = `no segment file names ${names} any more: it stays where it is for ${orphanWindowMs / 1000} s, for another one to name it`;
    // Delayed, so that saving both files at once reports only the move.
    this.#warning = setTimeout(
      () => this.#onEvent({ kind: "warning", problem: { file, message } }),
      secondSaveMs,
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

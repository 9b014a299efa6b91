// Results that follow from the text of one file, kept until the file changes.

import { readFileSync } from "node:fs";

import type { KeptReadings } from "./kept-readings.ts";

/** Remembers by file, and by what was asked of it. */
export class FileMemory {
  readonly #byFile = new Map<string, Map<string, unknown>>();
  readonly #byObject = new WeakMap<object, unknown>();
  readonly #kept: KeptReadings | undefined;

  /** `kept` is what outlives this process. */
  constructor(kept: KeptReadings | undefined) {
    this.#kept = kept;
  }

  /** The text of a file, read once. */
  text(file: string): string {
    return this.of(file, "text", () => readFileSync(file, "utf8"));
  }

  /** What `make` gave when `what` was first asked of this file. It may depend on nothing but the file's text, and `what`. */
  of<T>(file: string, what: string, make: () => T): T {
    let known = this.#byFile.get(file);
    if (known === undefined) this.#byFile.set(file, (known = new Map()));
    if (known.has(what)) return known.get(what) as T;
    const made = make();
    known.set(what, made);
    return made;
  }

  /** What `make` gives for what it `rests` on, in this process or an earlier one: something that costs much, and is plain data. */
  lasting<T>(rests: readonly string[], make: () => T): T {
    return this.#kept === undefined ? make() : this.#kept.of(rests, make);
  }

  /** What `make` gave for this object, which must be remembered itself. */
  ofObject<T>(object: object, make: () => T): T {
    if (!this.#byObject.has(object)) this.#byObject.set(object, make());
    return this.#byObject.get(object) as T;
  }

  forget(file: string): void {
    this.#byFile.delete(file);
  }

  clear(): void {
    this.#byFile.clear();
  }
}

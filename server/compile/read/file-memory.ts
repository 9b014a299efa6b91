// Caches results that depend on the text of one file until the file changes.

import { readFileSync } from "node:fs";

/** Caches by file and key. */
export class FileMemory {
  readonly #byFile = new Map<string, Map<string, unknown>>();
  readonly #byObject = new WeakMap<object, unknown>();

  /** The text of a file, read once. */
  text(file: string): string {
    return this.of(file, "text", () => readFileSync(file, "utf8"));
  }

  /**
   * Returns the cached result or makes it. The result may depend only on the file's text and on
   * `what`.
   */
  of<T>(file: string, what: string, make: () => T): T {
    let results = this.#byFile.get(file);
    if (results === undefined) this.#byFile.set(file, (results = new Map()));
    if (results.has(what)) return results.get(what) as T;
    const made = make();
    results.set(what, made);
    return made;
  }

  /** The cached result, if there is one. */
  known(file: string, what: string): unknown {
    return this.#byFile.get(file)?.get(what);
  }

  /** The same for an object as key, which has to be the same object again. */
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

// Arguments for middleware: decoded when it first looks at them. A service that only forwards calls sends them
// on as they came, unless they were changed.

import type { Args } from "../../base/call.ts";

/**
 * A call's arguments by name, decoded on first use. If they are malformed, every use throws the
 * error that a node would answer with.
 */
export class LazyArguments extends Map<string, unknown> {
  #read: (() => Args) | undefined;
  #touched = false;

  constructor(read: () => Args) {
    super();
    this.#read = read;
  }

  /** Middleware changed them, or got an object that it may have changed. */
  get touched(): boolean {
    return this.#touched;
  }

  #decode(): void {
    if (this.#read === undefined) return;
    const args = this.#read();
    this.#read = undefined;
    for (const [name, value] of args) super.set(name, value);
  }

  /** For methods that hand out all values. */
  #decodeAll(): void {
    this.#decode();
    for (const value of super.values()) this.#touched ||= isObject(value);
  }

  override get size(): number {
    this.#decode();
    return super.size;
  }

  override get(name: string): unknown {
    this.#decode();
    const value = super.get(name);
    this.#touched ||= isObject(value);
    return value;
  }

  override has(name: string): boolean {
    this.#decode();
    return super.has(name);
  }

  override set(name: string, value: unknown): this {
    this.#decode();
    this.#touched = true;
    return super.set(name, value);
  }

  override delete(name: string): boolean {
    this.#decode();
    this.#touched = true;
    return super.delete(name);
  }

  override clear(): void {
    this.#decode();
    this.#touched = true;
    super.clear();
  }

  override keys(): MapIterator<string> {
    this.#decode();
    return super.keys();
  }

  override values(): MapIterator<unknown> {
    this.#decodeAll();
    return super.values();
  }

  override entries(): MapIterator<[string, unknown]> {
    this.#decodeAll();
    return super.entries();
  }

  override forEach(
    act: (value: unknown, name: string, args: Map<string, unknown>) => void,
    self?: unknown,
  ): void {
    this.#decodeAll();
    super.forEach(act, self);
  }

  override [Symbol.iterator](): MapIterator<[string, unknown]> {
    return this.entries();
  }

  static {
    // `console.log` reads a Map's contents without its methods, and would show an empty one.
    Object.defineProperty(this.prototype, Symbol.for("nodejs.util.inspect.custom"), {
      value(this: LazyArguments): Map<string, unknown> {
        return new Map(this);
      },
    });
  }
}

function isObject(value: unknown): boolean {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

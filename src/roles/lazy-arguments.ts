// Arguments at a service that only passes calls on: decoded when a layer first looks at them (§2.7), sent on as they came unless it changed them.

import type { Args } from "../call.ts";

/** A call's arguments by name (§2.7), read from the request at the first look. What is malformed throws at every look what a node would answer. */
export class LazyArguments extends Map<string, unknown> {
  #read: (() => Args) | undefined;
  #touched = false;

  constructor(read: () => Args) {
    super();
    this.#read = read;
  }

  /** A layer changed them, or was given an object that it may have changed. */
  get touched(): boolean {
    return this.#touched;
  }

  #open(): void {
    if (this.#read === undefined) return;
    const args = this.#read();
    this.#read = undefined;
    for (const [name, value] of args) super.set(name, value);
  }

  /** All values are handed out. */
  #openAll(): void {
    this.#open();
    for (const value of super.values()) this.#touched ||= isObject(value);
  }

  override get size(): number {
    this.#open();
    return super.size;
  }

  override get(name: string): unknown {
    this.#open();
    const value = super.get(name);
    this.#touched ||= isObject(value);
    return value;
  }

  override has(name: string): boolean {
    this.#open();
    return super.has(name);
  }

  override set(name: string, value: unknown): this {
    this.#open();
    this.#touched = true;
    return super.set(name, value);
  }

  override delete(name: string): boolean {
    this.#open();
    this.#touched = true;
    return super.delete(name);
  }

  override clear(): void {
    this.#open();
    this.#touched = true;
    super.clear();
  }

  override keys(): MapIterator<string> {
    this.#open();
    return super.keys();
  }

  override values(): MapIterator<unknown> {
    this.#openAll();
    return super.values();
  }

  override entries(): MapIterator<[string, unknown]> {
    this.#openAll();
    return super.entries();
  }

  override forEach(
    act: (value: unknown, name: string, args: Map<string, unknown>) => void,
    self?: unknown,
  ): void {
    this.#openAll();
    super.forEach(act, self);
  }

  override [Symbol.iterator](): MapIterator<[string, unknown]> {
    return this.entries();
  }

  static {
    // `console.log` reads a Map behind its methods' backs, and would show an empty one.
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

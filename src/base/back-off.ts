// How long to wait before something that failed is tried again.

/**
 * Waits that double from a first to a largest one. Each is any part of that: services that lost the same
 * other one don't all come back at the same moment.
 */
export class BackOff {
  readonly #firstMs: number;
  readonly #mostMs: number;
  #ms: number;

  constructor({ first, longest }: { readonly first: number; readonly longest: number }) {
    this.#firstMs = this.#ms = first;
    this.#mostMs = longest;
  }

  /** The wait before the next try, in milliseconds. */
  next(): number {
    const ms = Math.random() * this.#ms;
    this.#ms = Math.min(this.#mostMs, 2 * this.#ms);
    return ms;
  }

  /** It has succeeded. */
  reset(): void {
    this.#ms = this.#firstMs;
  }
}

// Aborts of calls. Nearly all calls end without one, and an AbortSignal costs each of them 2 µs: so
// a call has one only if somebody asks for it.

/** What requests use of an AbortSignal, which is one of these, too. */
export interface AbortNotice {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", act: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", act: () => void): void;
  throwIfAborted(): void;
}

/** An abort that may come. */
export class Abort implements AbortNotice {
  #aborted = false;
  #reason: unknown;
  #acts: Set<() => void> | undefined;
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** The same as an AbortSignal; made when it is first read. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Tells everybody who listens, the first time. */
  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    const acts = this.#acts;
    this.#acts = undefined;
    this.#controller?.abort(reason);
    if (acts !== undefined) for (const act of acts) act();
  }

  addEventListener(_: "abort", act: () => void): void {
    if (!this.#aborted) (this.#acts ??= new Set()).add(act);
  }

  removeEventListener(_: "abort", act: () => void): void {
    this.#acts?.delete(act);
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  /** Aborts when `other` does, with its reason. */
  follow(other: AbortNotice): void {
    if (other.aborted) this.abort(other.reason);
    else other.addEventListener("abort", () => this.abort(other.reason), { once: true });
  }
}

// Aborts, which tell a request that its answer isn't wanted any more, and time limits.

import type { AbortListener, AbortNotice, Clock } from "./ports.ts";

/**
 * An abort that may come. Nearly all calls end without one, and an AbortSignal costs each of them 2 µs, so a call
 * only gets one when its `signal` is read.
 */
export class Abort implements AbortNotice {
  #aborted = false;
  #reason: unknown;
  // Not a Set, which costs more than these few calls.
  #listeners: AbortListener[] | undefined;
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

  /** Notifies all listeners, the first time. */
  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    this.#controller?.abort(reason);
    if (listeners === undefined) return;
    for (const listener of listeners)
      if (typeof listener === "function") listener();
      else listener.handleEvent();
  }

  addEventListener(_: "abort", listener: AbortListener): void {
    if (this.#aborted) return;
    if (this.#listeners === undefined) this.#listeners = [listener];
    else if (!this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_: "abort", listener: AbortListener): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at >= 0) this.#listeners?.splice(at, 1);
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }
}

/** `abort` aborts when `other` does, with its reason. */
export function abortWith(abort: Abort, other: AbortNotice): void {
  if (other.aborted) abort.abort(other.reason);
  else other.addEventListener("abort", () => abort.abort(other.reason), { once: true });
}

/**
 * Runs `act` with a signal that aborts when `outer` does, or after `ms` with the error from `late`.
 * Once it has aborted, rejects with its reason.
 */
export async function bounded<T>(
  outer: AbortSignal | undefined,
  clock: Clock,
  ms: number,
  late: () => Error,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const leave = outer && follow(outer, () => controller.abort(outer.reason));
  const cancel = clock.after(ms, () => controller.abort(late()));
  try {
    signal.throwIfAborted();
    return await act(signal);
  } catch (thrown) {
    // Transports throw different errors for an abort, so use the reason.
    throw signal.aborted ? signal.reason : thrown;
  } finally {
    cancel();
    leave?.();
  }
}

const followers = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `act` when the signal aborts. All calls share one listener: Node warns about a leak at the
 * eleventh, and a procedure may make more calls at once.
 */
function follow(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act();
  let acts = followers.get(signal);
  if (acts === undefined) {
    const all = new Set<() => void>();
    followers.set(signal, (acts = all));
    signal.addEventListener("abort", () => all.forEach((one) => one()), { once: true });
  }
  acts.add(act);
  return () => acts.delete(act);
}

/** Waits for something, and rejects with the signal's reason as soon as that aborts. */
export async function unlessAborted(
  signal: AbortNotice | undefined,
  something: Promise<unknown>,
): Promise<void> {
  if (signal === undefined) return void (await something);
  let leave = (): void => {};
  const left = new Promise<void>((resolve) => signal.addEventListener("abort", (leave = resolve)));
  try {
    signal.throwIfAborted();
    await Promise.race([something, left]);
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

interface Watchers {
  readonly acts: Set<() => void>;
  readonly notify: () => void;
}

const watchers = new WeakMap<AbortSignal, Watchers>();

/**
 * Like {@link follow}, for a signal of the application, which may live long: the listener is removed with its last
 * user.
 */
export function watch(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act();
    return () => {};
  }
  let current = watchers.get(signal);
  if (current === undefined) {
    const acts = new Set<() => void>();
    current = { acts, notify: () => acts.forEach((each) => each()) };
    watchers.set(signal, current);
    signal.addEventListener("abort", current.notify);
  }
  const { acts, notify } = current;
  acts.add(act);
  return () => {
    acts.delete(act);
    if (acts.size > 0) return;
    watchers.delete(signal);
    signal.removeEventListener("abort", notify);
  };
}

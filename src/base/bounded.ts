// Runs an act with a time limit and an outer abort signal.

import type { Clock } from "./ports.ts";

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

interface Watchers {
  readonly acts: Set<() => void>;
  readonly notify: () => void;
}

const watchers = new WeakMap<AbortSignal, Watchers>();

/**
 * Like {@link follow}, for a signal of the application, which may live long: the last one that leaves
 * removes the listener.
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

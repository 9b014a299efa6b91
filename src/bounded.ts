// An act that ends in time: at the caller's wish, or when the clock says so.

import type { Clock } from "./ports.ts";

/**
 * Runs `act` under a signal that aborts when `outer` does, or after `ms` with what `late` makes. When it has aborted, its reason is what this
 * rejects with.
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
    // Transports differ in what they make of an abort: the reason is what counts.
    throw signal.aborted ? signal.reason : thrown;
  } finally {
    cancel();
    leave?.();
  }
}

const followers = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `act` when the signal aborts. One listener serves all calls: Node warns of a leak at the eleventh, and a procedure may make more at once. */
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

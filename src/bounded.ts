// An act that ends in time: at the caller's wish, or when the clock says so.

import type { Clock } from "./ports.ts";

/** How long an act may take, and what it rejects with after that. */
export interface Bound {
  readonly ms: number;
  readonly late: () => Error;
  /** Whose end is the act's end, too. */
  readonly outer?: AbortSignal | undefined;
}

/** Runs `act` under a signal that follows the bound; when that aborts, its reason is what this rejects with. */
export async function bounded<T>(clock: Clock, { ms, late, outer }: Bound, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const leave = outer === undefined ? undefined : follow(outer, () => controller.abort(outer.reason));
  const cancel = clock.after(ms, () => controller.abort(late()));
  try {
    controller.signal.throwIfAborted();
    return await act(controller.signal);
  } catch (thrown) {
    // Transports differ in what they make of an abort: the reason is what counts.
    throw controller.signal.aborted ? controller.signal.reason : thrown;
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

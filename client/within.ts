// Waits for a result, but only for a limited time.

import type { Clock } from "../src/base/ports.ts";

/**
 * Settles as `act` does. Rejects with the error from `late` after `ms`, and with the reason of `signal`
 * as soon as it aborts. If it has aborted already, `act` doesn't run.
 */
export async function within<Result>(
  clock: Clock,
  act: () => Promise<Result>,
  ms: number,
  late: () => unknown,
  signal?: AbortSignal,
): Promise<Result> {
  signal?.throwIfAborted?.();
  let leave = (): void => {};
  return await new Promise<Result>((resolve, reject) => {
    const abort = (): void => reject(signal?.reason);
    const cancel = clock.after(ms, () => reject(late()));
    // It isn't checked yet that this is a signal.
    signal?.addEventListener?.("abort", abort);
    leave = () => {
      cancel();
      signal?.removeEventListener?.("abort", abort);
    };
    act().then(resolve, reject);
  }).finally(() => leave());
}

// The options of a call, as applications see them.

import type { Procedure } from "./imported.ts";

/**
 * Headers by name, in any case. `undefined` removes a header that the call would have had:
 * `{ authorization: session?.token }`.
 */
export type OptionHeaders =
  | Readonly<Record<string, string | null | undefined>>
  | Iterable<readonly [string, string]>;

/** Options of `withOptions` and `runProcedure` for one call. */
export interface CallOptions {
  /**
   * Ends the call, and a stream until its end. It rejects at once with `signal.reason`, and the procedure's
   * `signal` aborts.
   */
  readonly signal?: AbortSignal | undefined;
  /** Headers of the call, over those that it inherits. Its procedure's own calls inherit them. */
  readonly headers?: OptionHeaders | undefined;
  /**
   * Ends the call after so many milliseconds with `DeadlineExceeded`; a stream, if it has no item until then. It can
   * only shorten the time that the call has anyway.
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * Returns `procedure` with options: a function of the same type, each call of which has them.
 * `withOptions(quote, { signal, timeoutMs: 500 })("tweed", 2)`.
 */
export type WithOptions = <Called extends Procedure>(
  procedure: Called,
  options: CallOptions,
) => Called;

/** How a node runs one call with options. @internal */
export type CallWith = (
  procedure: unknown,
  options: unknown,
  self: unknown,
  args: readonly unknown[],
) => Promise<unknown>;

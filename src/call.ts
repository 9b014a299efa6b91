import type { Version } from "./version.ts";

/** Arguments by name (§2.1); a rest parameter stands under `...name` here too, its value an array. */
export type Args = Map<string, unknown>;

/** HTTP headers with lower-case names (§2.7). */
export type CallHeaders = Map<string, string>;

/** One call of one procedure, wherever it runs: the one type that carries everything. */
export interface Call {
  readonly fqn: string;
  readonly version: Version;
  readonly args: Args;
  readonly headers: CallHeaders;
  /** A procedure of this deployment made the call, or a holder of the trust key (decisions §5, trusted calls). */
  readonly trusted: boolean;
  /** Aborted when the caller goes away or the deadline passes. */
  readonly signal: AbortSignal;
  /** When the call has to be answered, on the host's monotonic clock in ms; `undefined` where there is no limit. */
  readonly deadline: number | undefined;
  /** How many services have passed the call on. */
  readonly hops: number;
}

/** The one seam of the runtime: run the call here, or send it away. */
export type Invoke = (call: Call) => Promise<unknown>;

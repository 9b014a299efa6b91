import type { AbortNotice } from "./ports/aborts.ts";
import type { CallScope } from "./call-scope.ts";
import type { Version } from "./version.ts";

/** Arguments by name. A rest parameter is an array under `...name`. */
export type Args = Map<string, unknown>;

/** HTTP headers with lower-case names. */
export type CallHeaders = Map<string, string>;

/** One call of one procedure, with everything that it carries. */
export interface Call {
  readonly fqn: string;
  readonly version: Version;
  readonly args: Args;
  readonly headers: CallHeaders;
  /** A procedure of this deployment made the call, or a holder of the trust key. */
  readonly trusted: boolean;
  /** Aborted when the caller goes away or the deadline passes. */
  readonly signal: AbortSignal;
  /** The same as `signal`, for less than it costs. */
  readonly departure: AbortNotice;
  /**
   * When the call must be answered, in ms of the host's monotonic clock; `undefined` for no limit.
   */
  readonly deadline: number | undefined;
  /** How many services have passed the call on. */
  readonly hops: number;
  /** Made when first read. */
  readonly scope: CallScope;
  /** The procedure starts: freezes what middleware has put into `locals`. */
  begin(): void;
}

/** Runs a call on this node, or forwards it, depending on the role. */
export type Invoke = (call: Call) => Promise<unknown>;

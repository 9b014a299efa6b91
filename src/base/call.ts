import type { AbortNotice } from "./ports/aborts.ts";
import type { CallScope } from "./call-scope.ts";
import type { Version } from "./version.ts";

/** Arguments by name. A rest parameter is an array under `...name`. */
export type Args = Map<string, unknown>;

/** HTTP headers with lower-case names. */
export type CallHeaders = Map<string, string>;

/** An incoming call of a procedure, or request for a route, as the code that runs it sees it. */
export interface Call {
  readonly fqn: string;
  readonly version: Version;
  readonly headers: CallHeaders;
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
  readonly state: CallScope;
  /** The procedure starts: freezes `locals`, which middleware has set. */
  begin(): void;
}

/** Runs a call on this node, or forwards it, depending on the role. */
export type Invoke = (call: Call, args: Args) => Promise<unknown>;

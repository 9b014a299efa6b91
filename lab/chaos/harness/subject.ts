// The subject of a load: a deployment of Seamline, or another balancer before the same number of
// servers. Scenarios know no more of it than this.

import type { Kind } from "./application.ts";
import type { Call } from "./load.ts";

/** A process that runs procedures. */
export interface Member {
  readonly name: string;
  readonly pid: number;
  /** Starts it anew. Resolves when it is ready, by its own word. */
  start(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with its exit code, or the signal that ended it. */
  ended(): Promise<number | NodeJS.Signals>;
}

export interface Subject {
  readonly name: string;
  /** Where calls go. */
  readonly url: string;
  readonly members: readonly Member[];
  /** All processes through which calls pass. */
  pids(): readonly number[];
  /** The folder of the ledger. */
  readonly ledger: string;
  /** Failures have `x-svc-error`. */
  readonly hasErrorNames: boolean;
  /** Where calls go that have so many milliseconds. */
  urlFor(deadlineMs: number): Promise<string>;
  /** `ms` is how long the procedure takes. */
  callOf(kind: Kind, id: string, ms?: number): Call;
  /** Stops all processes. */
  close(): Promise<void>;
}

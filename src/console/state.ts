// What the console's endpoint says: the shape of `GET /svc/console/state`, and of the events (docs/guide/console.md has it for others).
// Values of arguments and results are in none of it.

import type { Access, Parameter } from "../manifest.ts";

/** All that is known now. Times are milliseconds of the service's own clock, `figures.now` says which it is. */
export interface ConsoleState {
  readonly format: 1;
  readonly service: ServiceState;
  readonly members: readonly MemberState[];
  readonly procedures: readonly ProcedureState[];
  readonly figures: Figures;
  /** Of procedures that were called within the window. */
  readonly rates: readonly ProcedureRate[];
  /** The last calls, oldest first. */
  readonly calls: readonly SeenCall[];
}

/** The service that is asked. */
export interface ServiceState {
  readonly mode: string;
  readonly url: string;
  readonly name?: string;
  /** As `GET /health`. */
  readonly checks: Readonly<Record<string, unknown>>;
}

/** Who runs procedures. */
export interface MemberState {
  readonly id: string;
  readonly url?: string;
  readonly name?: string;
  /** Absent: it didn't say. */
  readonly segments?: readonly string[];
  /** FQNs, of a member that named no segments. */
  readonly procedures?: readonly string[];
  /** `out`: it gets no calls, as it is unhealthy or refused a connection. */
  readonly state: "ready" | "out";
  /** Milliseconds until its lease runs out. */
  readonly lease?: number;
  /** Milliseconds since its last health check. */
  readonly checked?: number;
  /** As its `GET /health`. */
  readonly checks?: Readonly<Record<string, unknown>>;
}

/** One version of a procedure. What a member didn't tell is absent. */
export interface ProcedureState {
  readonly fqn: string;
  readonly version?: string;
  /** The most open one of its segments. */
  readonly access?: Access;
  readonly segments: readonly string[];
  readonly parameters?: readonly Parameter[];
}

/** Numbers of all calls. */
export interface Figures {
  readonly now: number;
  /** When watching began. */
  readonly since: number;
  readonly calls: number;
  /** Answers of 400 and over, and local calls that threw. */
  readonly failures: number;
  /** Under way. */
  readonly open: number;
  /** Calls and failures of each of the last 60 seconds, the present one last. */
  readonly seconds: readonly (readonly [calls: number, failures: number])[];
  readonly p50?: number;
  readonly p95?: number;
  /** Pairs of site and kind of browser that called within the last minute. */
  readonly browsers: number;
  /** Their sites (`shop.example`), a few of them. */
  readonly sites: readonly string[];
}

/** Of one version of one procedure, over the last minute. */
export interface ProcedureRate {
  readonly fqn: string;
  readonly version: string;
  readonly calls: number;
  readonly failures: number;
  readonly perSecond: number;
  /** Milliseconds, within 12 %. */
  readonly p50: number;
  readonly p95: number;
}

/** Who made a call: a page, another caller outside, a service of the deployment, a seam in this process, the console's own form. */
export type Caller = "browser" | "outside" | "member" | "here" | "console";

/** A call that has ended. */
export interface SeenCall {
  /** Counts up by one. */
  readonly number: number;
  /** When it ended. */
  readonly at: number;
  readonly fqn: string;
  readonly version: string;
  readonly from: Caller;
  /** The member that had it. */
  readonly to?: string;
  /** The name that the node gave itself. */
  readonly node?: string;
  /** Absent for a call through a seam in this process, as are the next three. */
  readonly method?: string;
  /** Bytes. */
  readonly arguments?: number;
  readonly result?: number;
  readonly status?: number;
  /** The error's name, where the answer tells it. */
  readonly error?: string;
  /** Trace lines of a failure. */
  readonly trace?: readonly string[];
  readonly ms: number;
  readonly hops: number;
}

/** Calls between two places since the last event. */
export interface Flow {
  readonly from: Caller;
  readonly to?: string;
  readonly calls: number;
  readonly failures: number;
}

/** What has changed since the event before. Lists that didn't change are absent. */
export interface ConsoleChange {
  readonly figures: Figures;
  readonly flows: readonly Flow[];
  /** New ones, of many the last few. */
  readonly calls: readonly SeenCall[];
  /** Those that changed. One whose `calls` is 0 has left the window. */
  readonly rates?: readonly ProcedureRate[];
  readonly members?: readonly MemberState[];
  readonly procedures?: readonly ProcedureState[];
  readonly service?: ServiceState;
}

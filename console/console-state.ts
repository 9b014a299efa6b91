// The shapes of `GET /svc/console/state` and its events, for the console's page and its server half
// (docs/guide/console.md describes them). Values of arguments and results are never in them, except
// in the messages of errors that callers outside are sent.

import type { Access, Parameter } from "../src/base/manifest.ts";
import type { CallFigures } from "../src/base/ports/telemetry.ts";
import type { DevelopmentState } from "../src/types/development-state.ts";

export type { DevelopmentState };
/**
 * `GET /svc/console/types/<FQN>`: the model of `server/types`, or `null` if arguments aren't checked by it.
 */
export type { CallerName, CallTypes, Literal, Type } from "../server/console/console-port.ts";

/** Times are milliseconds of the service's own clock, which reads `figures.now`. */
export interface ConsoleState {
  readonly format: 1;
  readonly service: ServiceState;
  readonly members: readonly MemberState[];
  readonly procedures: readonly ProcedureState[];
  readonly figures: Figures;
  /** Procedures that were called within the last minute. */
  readonly rates: readonly ProcedureRate[];
  /** The last calls, oldest first. */
  readonly calls: readonly SeenCall[];
  /** Only with `seamline dev` and `vite`. */
  readonly development?: DevelopmentState;
}

/** The service that has this console. */
export interface ServiceState {
  readonly mode: string;
  readonly url: string;
  readonly name?: string;
  /** The details of `GET /health`. */
  readonly checks: Readonly<Record<string, unknown>>;
  readonly calls: CallFigures;
}

/** A service that runs procedures. */
export interface MemberState {
  readonly id: string;
  readonly url?: string;
  readonly name?: string;
  /** Absent for a node without a description: one with over 10,000 procedures sends none. */
  readonly segments?: readonly string[];
  /** FQNs of a member without `segments`. */
  readonly procedures?: readonly string[];
  /** `out` of rotation: unhealthy or silent. */
  readonly state: "ready" | "out";
  /** The gateways that have it as a member, if the deployment has several. */
  readonly gateways?: readonly string[];
  /** It isn't a member of this gateway, but of others, or in the directory: calls of this gateway don't go to it. */
  readonly isElsewhere?: true;
  /** Milliseconds since its last health check. */
  readonly checked?: number;
  /** The details of its `GET /health`. */
  readonly checks?: Readonly<Record<string, unknown>>;
  /** Missing until the member has reported them. */
  readonly calls?: CallFigures;
}

/** One version of a procedure, or a route. Without a description from its nodes, it has only name and segments. */
export interface ProcedureState {
  readonly fqn: string;
  readonly version?: string;
  /** The most open one of its segments. */
  readonly access?: Access;
  readonly segments: readonly string[];
  readonly parameters?: readonly Parameter[];
  /** Method and path of a route, which isn't called by name: `POST /webhooks/:provider`. */
  readonly route?: string;
  /** The guard of callers from outside, the console included: `auth#signedIn`. */
  readonly guard?: string;
}

/** Figures of all calls. */
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

/** Figures of one version of one procedure, over the last minute. */
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

/**
 * Where a call came from: a page, another caller outside, a service of the deployment, a seam in
 * this process, the console's form.
 */
export type Caller = "browser" | "outside" | "member" | "local" | "console";

/** A call that has ended. */
export interface SeenCall {
  /** Counts up by one. */
  readonly number: number;
  /** When it ended. */
  readonly at: number;
  readonly fqn: string;
  readonly version: string;
  readonly from: Caller;
  /** Id of the member that got it. */
  readonly to?: string;
  /** The node's name. */
  readonly node?: string;
  /** This and the next three are absent for a call through a seam in this process. */
  readonly method?: string;
  /** Bytes. */
  readonly arguments?: number;
  readonly result?: number;
  readonly status?: number;
  /** The error's name, if the answer has it. */
  readonly error?: string;
  /** The error's message: 300 characters at most, and none if the service masks it. */
  readonly message?: string;
  /** Trace lines of a failure. */
  readonly trace?: readonly string[];
  readonly ms: number;
  readonly hops: number;
}

/** Calls from a kind of caller to a member since the last event. */
export interface Flow {
  readonly from: Caller;
  readonly to?: string;
  readonly calls: number;
  readonly failures: number;
}

/** Changes since the last event. Lists that didn't change are absent. */
export interface ConsoleChange {
  readonly figures: Figures;
  readonly flows: readonly Flow[];
  /** New calls; the last few if there are many. */
  readonly calls: readonly SeenCall[];
  /** Rates that changed. One with `calls` 0 has left the window. */
  readonly rates?: readonly ProcedureRate[];
  readonly members?: readonly MemberState[];
  readonly procedures?: readonly ProcedureState[];
  readonly service?: ServiceState;
  readonly development?: DevelopmentState;
}

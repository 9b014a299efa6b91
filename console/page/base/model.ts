// The page's copy of the service's state: a snapshot, then changes. Notifies views once per frame of the parts that
// changed.

import { hostOf } from "./format.ts";
import type {
  ConsoleChange,
  ConsoleState,
  DevelopmentState,
  Figures,
  MemberState,
  ProcedureRate,
  ProcedureState,
  SeenCall,
  ServiceState,
} from "../../console-state.ts";
import { clockToleranceMs, rateWindowMs } from "./times.ts";

export type Part =
  | "service"
  | "members"
  | "procedures"
  | "rates"
  | "calls"
  | "figures"
  | "development"
  | "link";
/** State of the event stream. */
export type Link = "connecting" | "live" | "lost";

const maxCalls = 100;

export class Model {
  service: ServiceState = {
    mode: "",
    url: "",
    checks: {},
    calls: { running: 0, limit: 0, refused: 0, medianMs: 0, oldestMs: 0, streams: 0 },
  };
  members: readonly MemberState[] = [];
  procedures: readonly ProcedureState[] = [];
  figures: Figures | undefined;
  readonly rates: Map<string, ProcedureRate> = new Map();
  /** Newest first. */
  calls: readonly SeenCall[] = [];
  link: Link = "connecting";
  /** In development only. */
  development: DevelopmentState | undefined;
  /** Add to a time of the service to get a time of this page, in ms. */
  offset = 0;

  readonly #views: ((parts: ReadonlySet<Part>) => void)[] = [];
  readonly #flowViews: ((change: ConsoleChange) => void)[] = [];
  readonly #flows = new Map<string, { at: number; calls: number }[]>();
  #parts = new Set<Part>();

  /** Where a service is. In development none has an address of its own: all share the page's. */
  hostOf(url: string): string {
    return this.development === undefined ? hostOf(url) : location.host;
  }

  /** Calls `view` at most once per frame, with the parts that changed. */
  onChange(view: (parts: ReadonlySet<Part>) => void): void {
    this.#views.push(view);
  }

  /** Calls `view` with each change as it arrives. */
  onFlow(view: (change: ConsoleChange) => void): void {
    this.#flowViews.push(view);
  }

  take(state: ConsoleState): void {
    this.service = state.service;
    this.members = state.members;
    this.procedures = state.procedures;
    this.rates.clear();
    this.#rate(state.rates);
    this.calls = state.calls.toReversed().slice(0, maxCalls);
    this.#figures(state.figures);
    this.development = state.development;
    this.link = "live";
    this.changed("service", "members", "procedures", "rates", "calls", "development", "link");
  }

  apply(change: ConsoleChange): void {
    this.#figures(change.figures);
    if (change.service !== undefined) {
      this.service = change.service;
      this.changed("service");
    }
    if (change.members !== undefined) {
      this.members = change.members;
      this.changed("members");
    }
    if (change.procedures !== undefined) {
      this.procedures = change.procedures;
      this.changed("procedures");
    }
    if (change.development !== undefined) {
      this.development = change.development;
      this.changed("development");
    }
    if (change.rates !== undefined) {
      this.#rate(change.rates);
      this.changed("rates");
    }
    if (change.calls.length > 0) {
      this.calls = [...change.calls.toReversed(), ...this.calls].slice(0, maxCalls);
      this.changed("calls");
    }
    const now = performance.now();
    for (const { to, calls } of change.flows) {
      const recent = this.#flows.get(to ?? "") ?? [];
      this.#flows.set(to ?? "", recent);
      recent.push({ at: now, calls });
    }
    for (const view of this.#flowViews) view(change);
  }

  changed(...parts: readonly Part[]): void {
    if (this.#parts.size === 0) requestAnimationFrame(() => this.#show());
    for (const part of parts) this.#parts.add(part);
  }

  /** Calls per second of a member. */
  memberRate(id: string): number {
    const recent = this.#flows.get(id);
    if (recent === undefined) return 0;
    const from = performance.now() - rateWindowMs;
    while (recent.length > 0 && recent[0]!.at < from) recent.shift();
    return recent.reduce((sum, { calls }) => sum + calls, 0) / (rateWindowMs / 1000);
  }

  /** The member that ran a call. */
  placeOf({ to, node }: Pick<SeenCall, "to" | "node">): MemberState | undefined {
    if (this.service.mode === "standalone") return this.members[0];
    return (
      this.members.find(({ id }) => id === to) ??
      (node === undefined ? undefined : this.members.find(({ name }) => name === node))
    );
  }

  #figures(figures: Figures): void {
    this.figures = figures;
    const offset = Date.now() - figures.now;
    // Latency varies, but a call must show the same time everywhere.
    if (Math.abs(offset - this.offset) > clockToleranceMs) this.offset = offset;
    this.changed("figures");
  }

  #rate(rates: readonly ProcedureRate[]): void {
    for (const figures of rates) {
      const key = rateKey(figures.fqn, figures.version);
      if (figures.calls === 0) this.rates.delete(key);
      else this.rates.set(key, figures);
    }
  }

  #show(): void {
    const parts = this.#parts;
    this.#parts = new Set();
    for (const view of this.#views) view(parts);
  }
}

export function rateKey(fqn: string, version: string | undefined): string {
  return `${fqn} ${version ?? "0.0.0"}`;
}

/** The members that hold a procedure. */
export function holdersOf(
  procedure: ProcedureState,
  members: readonly MemberState[],
): readonly MemberState[] {
  return members.filter(({ segments, procedures }) =>
    segments === undefined
      ? procedures?.includes(procedure.fqn) === true
      : segments.some((name) => procedure.segments.includes(name)),
  );
}

// What the page knows: the snapshot, brought up to date by each change. Views are told once a frame which parts are new.

import type {
  ConsoleChange,
  ConsoleState,
  Figures,
  MemberState,
  ProcedureRate,
  ProcedureState,
  SeenCall,
  ServiceState,
} from "../../src/console/state.ts";

export type Part =
  | "service"
  | "members"
  | "procedures"
  | "rates"
  | "calls"
  | "figures"
  | "connection";
export type Connection = "connecting" | "live" | "lost";

/** So many calls stay in the list. */
const kept = 100;
/** A member's calls per second are of so many seconds. */
const rateSpan = 5_000;

/** So far, in ms, may the two clocks come apart before the page notices: one was set, or the machine slept. */
const clockJump = 1_000;

export class Model {
  service: ServiceState = { mode: "", url: "", checks: {} };
  members: readonly MemberState[] = [];
  procedures: readonly ProcedureState[] = [];
  figures: Figures | undefined;
  readonly rates: Map<string, ProcedureRate> = new Map();
  /** The newest first. */
  calls: readonly SeenCall[] = [];
  connection: Connection = "connecting";
  /** Add to a time of the service to get one of this page. */
  offset = 0;

  readonly #views: ((parts: ReadonlySet<Part>) => void)[] = [];
  readonly #flowViews: ((change: ConsoleChange) => void)[] = [];
  readonly #flows = new Map<string, { at: number; calls: number }[]>();
  #parts = new Set<Part>();

  /** `view` is called at most once a frame, with what has changed since. */
  onChange(view: (parts: ReadonlySet<Part>) => void): void {
    this.#views.push(view);
  }

  /** Told of each change as it comes. */
  onFlow(view: (change: ConsoleChange) => void): void {
    this.#flowViews.push(view);
  }

  take(state: ConsoleState): void {
    this.service = state.service;
    this.members = state.members;
    this.procedures = state.procedures;
    this.rates.clear();
    this.#rate(state.rates);
    this.calls = state.calls.toReversed().slice(0, kept);
    this.#figures(state.figures);
    this.connection = "live";
    this.changed("service", "members", "procedures", "rates", "calls", "connection");
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
    if (change.rates !== undefined) {
      this.#rate(change.rates);
      this.changed("rates");
    }
    if (change.calls.length > 0) {
      this.calls = [...change.calls.toReversed(), ...this.calls].slice(0, kept);
      this.changed("calls");
    }
    const now = performance.now();
    for (const { to, calls } of change.flows) {
      const counted = this.#flows.get(to ?? "") ?? [];
      this.#flows.set(to ?? "", counted);
      counted.push({ at: now, calls });
    }
    for (const view of this.#flowViews) view(change);
  }

  changed(...parts: readonly Part[]): void {
    if (this.#parts.size === 0) requestAnimationFrame(() => this.#show());
    for (const part of parts) this.#parts.add(part);
  }

  /** Calls per second of a member; in a standalone and for what nobody told, of everything. */
  memberRate(id: string): number {
    const counted = this.#flows.get(id);
    if (counted === undefined) return 0;
    const from = performance.now() - rateSpan;
    while (counted.length > 0 && counted[0]!.at < from) counted.shift();
    return counted.reduce((sum, { calls }) => sum + calls, 0) / (rateSpan / 1000);
  }

  /** The member that had a call. */
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
    // Messages are under way for longer or shorter; a call has one time wherever it is shown.
    if (Math.abs(offset - this.offset) > clockJump) this.offset = offset;
    this.changed("figures");
  }

  #rate(rates: readonly ProcedureRate[]): void {
    for (const one of rates) {
      const key = rateKey(one.fqn, one.version);
      if (one.calls === 0) this.rates.delete(key);
      else this.rates.set(key, one);
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

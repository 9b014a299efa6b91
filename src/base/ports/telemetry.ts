// Notes on requests and calls for the operators of a service. A host that keeps none provides none of this, and its
// requests pay nothing.

/** The fields of a log line. The names are those of the line's JSON. */
export interface LogFields {
  /** The kind of an event: `joined`, `left`, `ejected`. */
  readonly event?: string | undefined;
  /** The id of the request: its `x-request-id`. */
  readonly request?: string | undefined;
  /** The id of its trace. */
  readonly trace?: string | undefined;
  /** The procedure or route. */
  readonly procedure?: string | undefined;
  /** How long it took. */
  readonly ms?: number | undefined;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  /** The caller left before its answer. */
  readonly left?: boolean | undefined;
  /** The address of another service. */
  readonly service?: string | undefined;
}

/** Notes one call that is sent to another service. */
export interface SentNotes {
  /** Headers that the call sends, replacing its own of the same names. */
  readonly headers: Readonly<Record<string, string>>;
  answered(status: number): void;
  /** The call wasn't answered. */
  failed(thrown: unknown): void;
}

/** Notes on a request while it is answered. */
export interface RequestNotes {
  /** Notes a call that the request makes. Missing if the service keeps no such notes. */
  sends?: ((name: string) => SentNotes) | undefined;
  /** The route that answers it: its name, and the pattern of its path. */
  route: { readonly name: string; readonly path: string } | undefined;
  /** The thrown error, if the request is answered with one. */
  failure: { readonly thrown: unknown } | undefined;
}

/** The calls that a service runs or passes on. */
export interface CallFigures {
  readonly running: number;
  /** How many may run at once now. */
  readonly limit: number;
  /** Since the start. */
  readonly refused: number;
  /** The median time that the running calls have been running for; 0 if there are none. */
  readonly medianMs: number;
  readonly oldestMs: number;
  /** Streams of procedures that are being sent, or passed on. */
  readonly streams: number;
}

/** The streams of a role, besides how many are open. */
export interface StreamFigures {
  /** How many may be open at once. */
  readonly limit: number;
  /** Items that its procedures have yielded since the start. */
  readonly items: number;
}

/** Figures of a role at this moment. */
export interface RoleFigures {
  readonly calls: CallFigures;
  readonly streams: StreamFigures;
  readonly links: { readonly dialled: number; readonly accepted: number };
  /** A gateway's members, by the reason that keeps calls from them; `ready` for none. */
  readonly members?: Readonly<Record<"ready" | "unhealthy" | "silent", number>>;
  /** Calls that a gateway sent to another member, since the start, by the reason. */
  readonly resent?: Readonly<Record<"unsent" | "refused" | "build" | "unanswered", number>>;
}

/** The names that a role knows. */
export interface RoleNames {
  /** Whether a service of the deployment has announced a procedure with this name. */
  knows(name: string): boolean;
}

/** Facts that a role adds to those of all roles. */
export interface MeasuredParts extends RoleNames {
  readonly figures?: () => Pick<RoleFigures, "members" | "resent">;
}

/** The parts of a request that identify its sender and procedure. */
export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly from?: "outside" | "trusted" | "service" | "key" | undefined;
}

/** Questions to a role that is measured. */
export interface MeasuredRole extends RoleNames {
  /** The announced name of the procedure or route that a request is for. */
  nameOf(request: SeenRequest): string | undefined;
  /** Whether a service of the deployment sent the request. */
  believes(request: SeenRequest): boolean;
  figures(): RoleFigures;
}

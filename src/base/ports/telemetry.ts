// What is noted of requests and calls for those who run a service. A host that notes nothing lends
// nothing, and then a request pays for nothing.

/** What a line of the log is about. The names are those of the line's JSON. */
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
  /** What the call takes along, in place of what it has under these names. */
  readonly headers: Readonly<Record<string, string>>;
  answered(status: number): void;
  /** There is no answer. */
  failed(thrown: unknown): void;
}

/** What is noted of a request while it is answered. */
export interface RequestNotes {
  /** Notes a call that the request causes. Missing where nobody wants to know. */
  sends?: ((name: string) => SentNotes) | undefined;
  /** The route that answers it: its name, and the pattern of its path. */
  route: { readonly name: string; readonly path: string } | undefined;
  /** What was thrown, if it is answered with an error. */
  failure: { readonly thrown: unknown } | undefined;
}

/** The calls that a service runs or passes on. */
export interface CallFigures {
  readonly running: number;
  /** How many may run at once now. */
  readonly limit: number;
  /** Since the start. */
  readonly refused: number;
  /** For how long the middle one of those that run has been running; 0 if none does. */
  readonly medianMs: number;
  readonly oldestMs: number;
}

/** What a role holds at the moment, in numbers. */
export interface RoleFigures {
  readonly calls: CallFigures;
  readonly links: { readonly dialled: number; readonly accepted: number };
  /** Of a gateway, by what keeps calls from them; `in` are those that nothing keeps out. */
  readonly members?: Readonly<Record<"ready" | "unhealthy" | "silent", number>>;
  /** Calls that a gateway sent to another member, since the start, by the reason. */
  readonly resent?: Readonly<Record<"unsent" | "refused" | "build" | "unanswered", number>>;
}

/** What names a role knows. */
export interface RoleNames {
  /** Whether a service of the deployment has announced a procedure with this name. */
  knows(name: string): boolean;
}

/** What a role adds to what all roles tell. */
export interface MeasuredParts extends RoleNames {
  readonly figures?: () => Pick<RoleFigures, "members" | "resent">;
}

/** What of a request says whose it is, and for what. */
export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly from?: "outside" | "trusted" | "service" | "key" | undefined;
}

/** What may be asked of a role that is measured. */
export interface MeasuredRole extends RoleNames {
  /** The announced name of the procedure or route that a request is for. */
  nameOf(request: SeenRequest): string | undefined;
  /** Whether a service of the deployment sent the request. */
  believes(request: SeenRequest): boolean;
  figures(): RoleFigures;
}

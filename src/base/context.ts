import type { CallHeaders } from "./call.ts";

const brand: unique symbol = Symbol.for("seamline.context");

/** What a {@link Context} is made of. @internal */
export interface ContextParts {
  readonly headers: CallHeaders;
  readonly deadline: number | undefined;
  readonly trace: readonly string[];
  readonly hops: number;
  /** Called on first use. */
  readonly signal: () => AbortSignal;
}

/**
 * `this` of a procedure: the headers and limits of the call. Calls made inside inherit it; where
 * the platform can't carry it, pass it on: `quote.call(this, …)`.
 */
export class Context {
  /** By lower-case names. They never include the trust key. */
  readonly headers: CallHeaders;
  /** When the call must be answered, in milliseconds of this host's monotonic clock. */
  readonly deadline: number | undefined;
  /** The procedure's own line, the same for local and remote callers. */
  readonly trace: readonly string[];
  /** How many services have passed the call on. */
  readonly hops: number;
  readonly #signal: () => AbortSignal;

  /** @internal */
  constructor(parts: ContextParts) {
    this.headers = parts.headers;
    this.deadline = parts.deadline;
    this.trace = parts.trace;
    this.hops = parts.hops;
    this.#signal = parts.signal;
  }

  /** Aborted when the caller goes away or the deadline passes. */
  get signal(): AbortSignal {
    return this.#signal();
  }

  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }
}

/**
 * `this` of a procedure that may be called in any way, also as a member of a namespace: `import *
 * as api`, `api.quote()`. At run time it is always a {@link Context}; for the compiler each member
 * may be missing: `this?.headers?.get("accept-language")`.
 */
export type MaybeContext =
  | Context
  | void
  | ({ readonly [Name in keyof Context]?: undefined } & { readonly [name: string]: unknown });

/** `this` is a context only when branded: `ns.quote()` passes a namespace object. @internal */
export function isContext(value: unknown): value is Context {
  return (
    typeof value === "object" && value !== null && (value as { [brand]?: true })[brand] === true
  );
}

// Shared by all calls without an outside caller, since nobody can abort them.
const never = new AbortController().signal;

/**
 * The context of a call without an outside caller: no limits, and only the given headers. @internal
 */
export function emptyContext(headers: CallHeaders = new Map()): Context {
  return new Context({ headers, deadline: undefined, trace: [], hops: 0, signal: () => never });
}

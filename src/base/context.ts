import type { AbortNotice } from "./ports/aborts.ts";
import type { CallResponse, Locals, OuterRequest, RequestCookies } from "./call-scope.ts";

const brand: unique symbol = Symbol.for("seamline.context");

/**
 * The parameters of a route's path, decoded: `:name` is one part of the path, `*name` all the rest.
 */
export type PathParameters = Readonly<Record<string, string | undefined>>;

/** The parts of a {@link Context}. @internal */
export interface ContextParts {
  readonly headers: ReadonlyMap<string, string>;
  /** In milliseconds of the host's clock. */
  readonly endsAt: number | undefined;
  readonly trace: readonly string[];
  readonly hops: number;
  /** Called on first use. */
  readonly signal: () => AbortSignal;
  /** Tells the same for less than it costs, where there is something [the signal]. */
  readonly departure?: (() => AbortNotice) | undefined;
  /** The context whose cookies, locals and response this one shares. */
  readonly parent?: Context;
  /** A route's path parameters. */
  readonly params?: PathParameters | undefined;
}

/**
 * Members of contexts on Node. Pages lack them, except the times of a call with `timeoutMs`: a page has no request,
 * and its browser takes care of cookies.
 */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- as below
export interface Context {
  /** The cookies of the request. Setting cookies for the answer doesn't change them. */
  readonly cookies: RequestCookies;
  /** Settings for the answer that the outermost caller gets. */
  readonly response: CallResponse;
  /** Notes of middleware about the call. Frozen while procedures run. */
  readonly locals: Locals;
  /**
   * The request of the outermost caller, as the first service saw it; `undefined` if there was
   * none, as for a call that a service makes at its start.
   */
  readonly request: OuterRequest | undefined;
  /**
   * The id of the last item that a resuming reader of a stream has received; `undefined` for a reader that
   * begins. It comes from outside. Only where the segment entry has `resume`.
   */
  readonly lastEventId: string | undefined;
  /** The parameters of a route's path; empty in a procedure. */
  readonly params: PathParameters;
  /** When the call must be answered, by this machine's clock; `undefined` if there is no limit. */
  readonly deadline: Date | undefined;
  /** Milliseconds until the deadline, at least 0; `Infinity` if there is none. */
  timeLeft(): number;
}

/**
 * `this` of a procedure: the headers and limits of the call. Calls made inside inherit it; where
 * the platform can't carry it, pass it on: `quote.call(this, …)`.
 */
export class Context {
  /** By lower-case names. They never include the trust key. */
  readonly headers: ReadonlyMap<string, string>;
  /** The deadline in milliseconds of the host's clock, which can't be set. @internal */
  readonly endsAt: number | undefined;
  /** The procedure's own line, the same for local and remote callers. */
  readonly trace: readonly string[];
  /** How many services have passed the call on. */
  readonly hops: number;
  readonly #signal: () => AbortSignal;

  /** @internal */
  constructor(parts: ContextParts) {
    this.headers = parts.headers;
    this.endsAt = parts.endsAt;
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

/** Shared by all calls without an outside caller, since they can't be aborted. */
const never: AbortSignal = new AbortController().signal;

/**
 * The context of a call without an outside caller: no limits, and only the given headers. @internal
 */
export function emptyContext(headers: ReadonlyMap<string, string> = new Map()): Context {
  return new Context({ headers, endsAt: undefined, trace: [], hops: 0, signal: () => never });
}

/** `getContext` of a page. @internal */
export function noContext(): never {
  throw new Error("getContext() needs Node: pages carry none");
}

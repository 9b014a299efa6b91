import type { CallHeaders } from "./call.ts";

const brand: unique symbol = Symbol.for("seamline.context");

/** What a {@link Context} is made of. @internal */
export interface ContextParts {
  readonly headers: CallHeaders;
  readonly deadline: number | undefined;
  readonly trace: readonly string[];
  readonly hops: number;
  /** Asked when somebody first looks. */
  readonly signal: () => AbortSignal;
}

/**
 * What `this` is inside a procedure (§4.6, decisions §5): the headers of the call, and what bounds it. Calls made
 * inside inherit it; where the platform can't carry it, pass it on: `quote.call(this, …)`.
 */
export class Context {
  /** Lower-case names. The trust key is never among them. */
  readonly headers: CallHeaders;
  /** Monotonic milliseconds of this host at which the call must be answered. */
  readonly deadline: number | undefined;
  /** The procedure's own line: the same whether its caller runs beside it or far away. */
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
 * `this` of a procedure that may be called in any way, as a member of a namespace too: `import * as api`, `api.quote()`. The runtime gives it a
 * {@link Context} whoever calls; to the compiler each of its members may be missing: `this?.headers?.get("accept-language")`.
 */
export type MaybeContext =
  | Context
  | void
  | ({ readonly [Name in keyof Context]?: undefined } & { readonly [name: string]: unknown });

/** `this` is a context only when branded: `ns.quote()` passes a namespace object (architecture: start-up). @internal */
export function isContext(value: unknown): value is Context {
  return (
    typeof value === "object" && value !== null && (value as { [brand]?: true })[brand] === true
  );
}

// One for all: it is read only, as nothing comes in beside a call that has no caller outside.
const never = new AbortController().signal;

/** The context of a call that nobody made from outside: no bounds, and no headers but those given. @internal */
export function emptyContext(headers: CallHeaders = new Map()): Context {
  return new Context({ headers, deadline: undefined, trace: [], hops: 0, signal: () => never });
}

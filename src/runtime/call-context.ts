// The context of a call on Node: with cookies, locals and settings of the answer, all made when
// first used.

import type { Call } from "../base/call.ts";
import type {
  CallResponse,
  CallScope,
  Locals,
  OuterRequest,
  RequestCookies,
} from "../base/call-scope.ts";
import type { Context, ContextParts, PathParameters } from "../base/context.ts";
import { Abort, abortWith } from "../base/aborts.ts";
import type { AbortNotice, Clock } from "../base/ports.ts";
import { innerContext, sentHeaders } from "./options-context.ts";
import { TimedContext } from "./timed-context.ts";
import { noParameters } from "../http/route-table.ts";
import { CookieReader } from "../http/context/cookies.ts";
import { HeaderView } from "../http/context/header-view.ts";
import { ResponseSettings } from "../http/context/response-settings.ts";

/** Where the scope of an incoming call comes from. */
type ScopeSource = Pick<Call, "state">;

export class CallContext extends TimedContext {
  readonly #source: ScopeSource | undefined;
  #cookies: CookieReader | undefined;
  #own: CallScope | undefined;
  override readonly params: PathParameters;
  /** As in {@link ContextParts}. */
  readonly departure: ContextParts["departure"];
  #sent: Readonly<Record<string, string>> | undefined;

  constructor(parts: ContextParts, clock: Clock, source?: ScopeSource) {
    super(
      parts.headers instanceof HeaderView
        ? parts
        : Object.assign({}, parts, { headers: new HeaderView(() => parts.headers) }),
      clock,
    );
    this.params = parts.params ?? noParameters;
    this.departure = parts.departure;
    this.#source = source ?? CallContext.sourceOf(parts.parent);
  }

  override get cookies(): RequestCookies {
    return (this.#cookies ??= new CookieReader(this.headers));
  }

  override get lastEventId(): string | undefined {
    const id = this.headers.get("last-event-id");
    return id === "" || id === "0" ? undefined : id;
  }

  override get response(): CallResponse {
    return this.#scope.response;
  }

  override get locals(): Locals {
    return this.#scope.locals;
  }

  override get request(): OuterRequest | undefined {
    return this.#scope.request;
  }

  get #scope(): CallScope {
    return this.#source?.state ?? (this.#own ??= new NoCall());
  }

  /** The parts that every call made in the context inherits. @internal */
  static sentBy(context: Context): Readonly<Record<string, string>> {
    return #sent in context
      ? (context.#sent ??= Object.fromEntries(sentHeaders(context)))
      : Object.fromEntries(sentHeaders(context));
  }

  /** @internal */
  static sourceOf(context: Context | undefined): ScopeSource | undefined {
    const inner = context && innerContext(context);
    return inner !== undefined && #source in inner ? inner.#source : undefined;
  }
}

/** The state that all contexts of an incoming call share; `undefined` outside of such a call. */
export function scopeOf(context: Context): CallScope | undefined {
  return CallContext.sourceOf(context)?.state;
}

/** Of contexts that have no call. Their signals may be shared, and Node warns at the 11th listener. */
const followers = new WeakMap<AbortSignal, Abort>();

/** Tells that the caller in a context leaves. */
export function departureOf(context: Context): AbortNotice {
  const { departure } = context as Partial<CallContext>;
  if (departure !== undefined) return departure();
  const { signal } = context;
  let follower = followers.get(signal);
  if (follower === undefined) {
    followers.set(signal, (follower = new Abort()));
    abortWith(follower, signal);
  }
  return follower;
}

/** The context of code that runs around a procedure: middleware and guards. */
export function contextOfCall(
  call: Call,
  clock: Clock,
  params?: PathParameters,
  deadline: number | undefined = call.deadline,
): CallContext {
  return new CallContext({ ...callParts(call, [], params), endsAt: deadline }, clock, call);
}

/** The parts of the context of an incoming call. */
export function callParts(
  call: Call,
  trace: readonly string[],
  params?: PathParameters,
): ContextParts {
  const { deadline, hops } = call;
  return {
    trace,
    params,
    headers: new HeaderView(() => call.headers),
    endsAt: deadline,
    hops,
    signal: () => call.signal,
    departure: () => call.departure,
  };
}

/** For a call that no request caused: there is no answer that could take its headers. */
class NoCall implements CallScope {
  readonly request = undefined;
  readonly locals: Locals = Object.freeze({});
  readonly response: CallResponse = new ResponseSettings(() => ({
    secureCookies: true,
    takesCookies: true,
    cookie: undefined,
    base: "",
  }));
}

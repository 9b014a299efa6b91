// The context with which a call with options begins, and the parts that calls inherit from a context.

import { HeaderView } from "../http/context/header-view.ts";
import { forwardedHeaders } from "../http/forwarded.ts";
import type { OwnHeaders } from "../http/option-headers.ts";
import { Context, type ContextParts, type PathParameters } from "../base/context.ts";
import type { Clock } from "../base/ports.ts";
import type { Copies } from "../codec/values/snapshot.ts";

/**
 * The options of one call, apart from the parts that it inherits. The procedure sees {@link OptionsContext.inner}.
 */
export class OptionsContext extends Context {
  /** For the call itself only: the procedure's own calls inherit these like any others. */
  readonly own: OwnHeaders;
  /** The plain context, for the procedure and its own calls. */
  readonly inner: Context;
  /** As in {@link ContextParts}. */
  readonly departure: ContextParts["departure"];
  /** The clock of `endsAt`, if it may not be that of the service which sends the call. */
  readonly clock: Clock | undefined;
  /** While the call begins: its values at the time of the page's call, if it had to wait since. */
  copies?: Copies | undefined;

  /** `parts` have the headers that the call inherits. */
  constructor(
    parts: ContextParts,
    own: OwnHeaders,
    create: (parts: ContextParts) => Context = plainContext,
    clock?: Clock,
  ) {
    const merged = Object.assign({}, parts, {
      headers: new HeaderView(() => withOwn(parts.headers, own)),
    });
    super(merged);
    this.own = own;
    this.departure = parts.departure;
    this.clock = clock;
    this.inner = create(merged);
  }
}

const plainContext = (parts: ContextParts): Context => new Context(parts);

function withOwn(headers: ReadonlyMap<string, string>, own: OwnHeaders): Map<string, string> {
  const merged = new Map(headers);
  for (const [name, value] of own)
    if (value === undefined) merged.delete(name);
    else merged.set(name, value);
  return merged;
}

/** The headers that only this call sends; `undefined` for a call without options. */
export function ownHeaders(context: Context): OwnHeaders | undefined {
  return (context as Partial<OptionsContext>).own;
}

/** The headers that a call in this context is sent with. */
export function sentHeaders(context: Context): ReadonlyMap<string, string> {
  const { headers, own } = context as Partial<OptionsContext> & Context;
  return own ? headers : forwardedHeaders(headers);
}

/** The copies that a call with this `this` sends in place of its caller's objects. */
export function copiesOf(self: unknown): Copies | undefined {
  return (self as Partial<OptionsContext> | undefined)?.copies;
}

/** The context for the procedure of a call. */
export function innerContext(context: Context): Context {
  return (context as Partial<OptionsContext>).inner ?? context;
}

/** The parts of a context for a call that is made in `context`. Inherited headers are selected on first use. */
export function inherited(
  context: Context,
  trace: readonly string[] = context.trace,
  params?: PathParameters,
): ContextParts {
  const { endsAt, hops } = context;
  const { departure } = context as Partial<OptionsContext>;
  return {
    trace,
    params,
    headers: new HeaderView(() => sentHeaders(context)),
    endsAt,
    hops,
    signal: () => context.signal,
    departure,
    parent: context,
  };
}

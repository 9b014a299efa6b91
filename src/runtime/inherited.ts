// What a call inherits from the procedure that makes it.

import { ownHeaders, withOwn } from "./options-context.ts";
import type { Context, ContextParts } from "../base/context.ts";
import { forwardedHeaders } from "../http/forwarded.ts";

/** The parts of a context for a call that is made in `context`. */
export function inherited(context: Context): Omit<ContextParts, "trace"> {
  const { headers, deadline, hops } = context;
  return {
    headers: withOwn(forwardedHeaders(headers), ownHeaders(context)),
    deadline,
    hops,
    signal: () => context.signal,
  };
}

// What a call inherits from the procedure that makes it.

import { sentHeaders } from "./options-context.ts";
import type { Context, ContextParts } from "../base/context.ts";

/** The parts of a context for a call that is made in `context`. */
export function inherited(
  context: Context,
  headers: ContextParts["headers"] = sentHeaders(context),
): Omit<ContextParts, "trace"> {
  const { deadline, hops } = context;
  return {
    headers,
    deadline,
    hops,
    signal: () => context.signal,
    parent: context,
  };
}

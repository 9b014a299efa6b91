// The trace lines of an error in one incoming call, which services send and log. Pages can't tell calls apart, so
// this isn't part of their runtime.

import { passed, traceOf } from "./trace.ts";

/** The trace lines of `error` in `call`, or in the last call that has thrown it. */
export function linesOf(error: unknown, call: object | undefined): readonly string[] {
  const ways = call && passed.get(error as object)?.ways.get(call);
  // The way that has come furthest out.
  return ways === undefined
    ? traceOf(error)
    : ways.reduce((way, next) => (next.run < way.run ? next : way)).lines;
}

// The smallest part of streams: what a page starts with, whether it has any or not.

import type { ProcedureFunction } from "./seam.ts";

/** The iterator of a stream, as callers of the procedure hold it. */
export type Stream = AsyncGenerator<unknown, unknown, undefined>;

/** A stream that is made, or whose code is loaded, once somebody asks it for something. */
export function streamOf(make: () => Promise<Stream>): Stream {
  let made: Promise<Stream> | undefined;
  let isRead = false;
  const step =
    (name: "next" | "return" | "throw") =>
    async (value: unknown): Promise<IteratorResult<unknown, unknown>> =>
      (await (made ??= make()))[name](value as never);
  return Object.assign((async function* () {})(), {
    next: step("next"),
    return: step("return"),
    throw: step("throw"),
    [Symbol.asyncIterator](): Stream {
      if (isRead) throw new TypeError("A stream can be read once");
      isRead = true;
      return this as never;
    },
  });
}

/** `act`, which has to wait before it calls a procedure, as a function for the procedure's seam. */
export function waiting(
  { stream }: { readonly stream?: true | undefined },
  act: ProcedureFunction,
): ProcedureFunction {
  return stream
    ? (function (this: unknown, ...args: never[]) {
        return streamOf(() => act.apply(this, args) as Promise<Stream>);
      } as never)
    : act;
}

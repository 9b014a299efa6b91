// The smallest part of streams, which every page loads at its start, even without streams.

import type { CallWith, WithOptions } from "../types/call-options.ts";
import type { ProcedureFunction } from "./procedure-function.ts";

/** The iterator of a stream, as callers of the procedure hold it. */
export type Stream = AsyncGenerator<unknown, unknown, undefined>;

/** A stream that is made, or whose code is loaded, at the first call of one of its methods. */
export function streamOf(make: () => Promise<Stream>): Stream {
  let made: Promise<Stream> | undefined;
  let isRead = false;
  const step =
    (name: "next" | "return" | "throw") =>
    async (value: unknown): Promise<IteratorResult<unknown, unknown>> =>
      (await (made ??= make()))[name](value);
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

const mark: unique symbol = Symbol.for("seamline.stream");

/** Notes that a function returns streams: a seam's face looks like one that returns a promise. */
export function markStream<Marked extends object>(fn: Marked): Marked {
  return Object.defineProperty(fn, mark, { value: true });
}

/** `withOptions`, whose calls are made with `callWith`. */
export function createWithOptions(callWith: CallWith): WithOptions {
  return (procedure, options) => {
    const { [mark]: isMarked, [Symbol.toStringTag]: tag } = Object(procedure) as {
      [mark]?: true;
      [Symbol.toStringTag]?: string;
    };
    const stream = isMarked ?? (tag === "AsyncGeneratorFunction" || undefined);
    const called = waiting({ stream }, async function (this: unknown, ...args) {
      return await callWith(procedure, options, this, args);
    });
    return (stream ? markStream(called) : called) as never;
  };
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

// Calls with options: a signal, headers and a time limit of their own. A page loads this file when
// its first such call is made.

import { inherited, OptionsContext, ownHeaders } from "./options-context.ts";
import { type Context, type ContextParts, emptyContext, isContext } from "../base/context.ts";
import { DeadlineExceeded } from "../base/errors.ts";
import { cleanUpMs } from "../base/limits.ts";
import { Abort, watch } from "../base/aborts.ts";
import type { Copies } from "../codec/values/snapshot.ts";
import type { Clock, ContextCarrier } from "../base/ports.ts";
import type { Stream } from "./stream.ts";
import { nearest } from "../base/problem.ts";
import { readOptionHeaders } from "../http/option-headers.ts";

/** The signal of contexts that can't be aborted. */
const never = emptyContext().signal;

/** The host's part in calls with options. */
export interface OptionsHost {
  readonly clock: Clock;
  readonly carrier: ContextCarrier;
  /** When the call began [now]: a page may load this file first. */
  readonly began?: number;
  /** The name in error messages of the function that takes the options [withOptions]. */
  readonly place?: string;
  /** The call's values at that time, if the page had to load it. */
  readonly copies?: Copies | undefined;
  /** Browsers set some headers themselves. */
  readonly isPage?: boolean;
  /** Makes the context that the procedure sees [a plain one]. */
  readonly createContext?: (parts: ContextParts) => Context;
}

/** The host, and the maker of streams with options, which a page loads first. */
export interface StreamingHost extends OptionsHost {
  readonly bind: (parts: BindParts) => unknown;
}

/** The parts of a stream with options. */
export interface BindParts {
  readonly stream: Stream;
  readonly carrier: ContextCarrier;
  readonly context: Context;
  readonly abort: Abort;
  /** Called with its first item, or with its end before. */
  readonly onFirst: () => void;
  readonly onEnd: () => void;
}

type CheckedOptions = Readonly<{
  signal: AbortSignal | undefined;
  timeoutMs: number | undefined;
  headers: ReturnType<typeof readOptionHeaders>;
}>;

const optionNames = ["signal", "headers", "timeoutMs"];

/** A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** One call of `withOptions(procedure, options)`, with `self` as `this`, or of `runProcedure`. */
export async function callWith(
  host: StreamingHost,
  procedure: unknown,
  options: unknown,
  self: unknown,
  args: readonly unknown[],
): Promise<unknown> {
  if (typeof procedure !== "function")
    throw new TypeError(`withOptions needs a procedure, not ${named(procedure)}`);
  const checked = checkOptions(options, host.place ?? "withOptions", host.isPage === true);
  const isRunning = !isContext(self);
  const caller = isRunning ? currentContext(host) : self;
  return await limited(host, caller, isRunning, checked, (context) =>
    // Functions that aren't called through a seam inherit the options all the same.
    host.carrier.run(context.inner, () => Reflect.apply(procedure, context, args) as unknown),
  );
}

function currentContext({ carrier }: OptionsHost): Context {
  return carrier.current() ?? emptyContext();
}

function checkOptions(options: unknown, place: string, isPage: boolean): CheckedOptions {
  if (typeof options !== "object" || options === null)
    throw new TypeError(
      `${place} needs options, { ${optionNames.join(", ")} }, not ${named(options)}`,
    );
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown !== undefined) {
    const near = nearest(unknown, optionNames);
    const hint =
      near === undefined ? `there are ${optionNames.join(", ")}` : `did you mean '${near}'?`;
    throw new TypeError(`${place} has no option '${unknown}'; ${hint}`);
  }
  const { signal, timeoutMs, headers } = options as Readonly<Record<string, unknown>>;
  if (signal !== undefined && !isSignal(signal))
    throw new TypeError(`${place}: 'signal' must be an AbortSignal, not ${named(signal)}`);
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0))
    throw new TypeError(
      `${place}: 'timeoutMs' must be a number of milliseconds above 0, not ${named(timeoutMs)}`,
    );
  return { signal, timeoutMs, headers: readOptionHeaders(headers, place, isPage) };
}

function isSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener } = Object(value) as Partial<AbortSignal>;
  return typeof aborted === "boolean" && typeof addEventListener === "function";
}

function named(value: unknown): string {
  return typeof value === "number" || typeof value === "string"
    ? JSON.stringify(value)
    : value === null || value === undefined
      ? String(value)
      : `a ${typeof value}`;
}

function isStream(value: unknown): value is Stream {
  return typeof Object(value)[Symbol.asyncIterator] === "function";
}

/**
 * Runs `act` in a context of its own. Rejects as soon as a signal aborts or the time is over,
 * whatever `act` does then.
 */
function limited(
  { clock, carrier, bind, createContext, copies, began = clock.now() }: StreamingHost,
  caller: Context,
  isRunning: boolean,
  { signal, timeoutMs, headers }: CheckedOptions,
  act: (context: OptionsContext) => unknown,
): Promise<unknown> {
  signal?.throwIfAborted();
  // Options may be nested: the outer ones, which the caller wrote last, win.
  const outer = ownHeaders(caller);
  const own = outer === undefined ? headers : new Map([...headers, ...outer]);
  const until = timeoutMs === undefined ? Infinity : began + timeoutMs;
  const late = (): Error =>
    new DeadlineExceeded(`The call was not answered within ${timeoutMs} ms`);
  if (until <= clock.now()) throw late();
  // A call that begins after its caller has left is part of a clean-up, and doesn't end with it.
  const isCleanUp = isRunning && caller.signal.aborted;
  const given = isCleanUp ? clock.now() + cleanUpMs : caller.endsAt;
  const endsAt = Math.min(given ?? Infinity, until);
  const abort = new Abort();
  const parts: ContextParts = Object.assign(inherited(caller), {
    endsAt: endsAt === Infinity ? undefined : endsAt,
    signal: () => abort.signal,
    departure: () => abort,
  });
  return new Promise((resolve, reject) => {
    const ends: (() => void)[] = [];
    let cancelTimer = (): void => {};
    const end = (): void => ends.forEach((each) => each());
    const stop = (reason: unknown): void => {
      end();
      // Reject first, so that the caller gets this reason rather than the procedure's reaction to the abort.
      reject(reason);
      abort.abort(reason);
    };
    for (const followed of isCleanUp ? [signal] : [signal, caller.signal])
      if (followed !== undefined && followed !== never)
        ends.push(watch(followed, () => stop(followed.reason)));
    if (timeoutMs !== undefined)
      ends.push(
        (cancelTimer = clock.after(Math.min(until - clock.now(), longestTimerMs), () =>
          stop(late()),
        )),
      );
    // The caller may have gone already.
    if (abort.aborted) return end();
    const fail = (thrown: unknown): void => {
      end();
      reject(thrown);
    };
    const context = new OptionsContext(parts, own, createContext, clock);
    context.copies = copies;
    try {
      const made = act(context);
      if (isStream(made))
        // Its time counts to the first item, and its signal to the end.
        resolve(
          bind({
            stream: made,
            carrier,
            context: context.inner,
            abort,
            onFirst: () => cancelTimer(),
            onEnd: end,
          }),
        );
      else
        Promise.resolve(made).then((value) => {
          end();
          resolve(value);
        }, fail);
    } catch (thrown) {
      fail(thrown);
    }
    // Later uses of the same objects by the procedure aren't part of this call.
    context.copies = undefined;
  });
}

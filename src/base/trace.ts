// Trace lines: one per procedure that an error passed, the origin first. They aren't in the
// message.

/**
 * The most lines of a trace. More come from runaway recursion. Keeps both ends, and one line in
 * between that says how many are missing.
 * @internal
 */
export const mostLines = 128;
const ofOrigin = 100;

// Lines of frozen errors, which can't be given any.
const ofFrozen = new WeakMap<object, readonly string[]>();

/**
 * The lines of an error on one way through procedures. An application may throw one error object
 * any number of times, or let several calls wait for one promise that is rejected: each time is
 * another way. @internal
 */
export interface Way {
  readonly lines: readonly string[];
  /** The outermost run of a procedure that it has passed, and the last that began before it did. */
  readonly run: number;
  readonly end: number;
}

/** @internal */
export interface Passed {
  /** The lines that the error came with from another service. */
  readonly before: readonly string[];
  /** By the call that they are part of. Weak, as an application may keep the error. */
  readonly ways: WeakMap<object, readonly Way[]>;
}

/** @internal */
export const passed: WeakMap<object, Passed> = new WeakMap();
/**
 * Stands for the call of errors that no call from outside has caused, and for those of pages, which can't tell
 * calls apart.
 */
const noCall = {};

let runs = 0;

/** Numbers the run of a procedure that begins. @internal */
export function begun(): number {
  return ++runs;
}

/**
 * The trace lines of `error`: one for each procedure that it passed, the origin first. If several calls have thrown
 * it, the lines of the last of them.
 */
export function traceOf(error: unknown): readonly string[] {
  const lines =
    ofFrozen.get(error as object) ?? (error as { trace?: unknown } | null | undefined)?.trace;
  // An application's errors may have a `trace` of their own. Other services accept only trace
  // lines.
  return Array.isArray(lines)
    ? lines.filter((line): line is string => typeof line === "string")
    : [];
}

/** Sets the lines of `error`, hidden from `Object.keys` and JSON. @internal */
export function setTrace(error: Error, lines: readonly string[]): void {
  const trace = { value: lines, writable: true };
  if (!Reflect.defineProperty(error, "trace", trace)) ofFrozen.set(error, lines);
}

/**
 * The error to throw in place of `thrown`, which a procedure's body has thrown: the same error with the procedure's
 * line added. Any other value becomes an error with its text as message, here and not only on the wire, so that
 * local and remote callers see the same.
 *
 * `run` is the number of the procedure's run, and `call` the incoming call that it is part of. An error has come
 * from within a run if it has passed one that began later, of the same call.
 */
export function traced(thrown: unknown, line: string, run = 0, call: object = noCall): Error {
  const error = errorOf(thrown);
  let all = passed.get(error);
  if (all === undefined) passed.set(error, (all = { before: traceOf(error), ways: new WeakMap() }));
  const ways = all.ways.get(call) ?? [];
  // If there are several, take the first: `Promise.all` rejects with it.
  const inner = ways.find((way) => way.run >= run);
  const lines = (inner?.lines ?? all.before).concat(line);
  // The first time remove two lines, as the line that counts them is new; later one.
  if (lines.length > mostLines)
    lines.splice(ofOrigin, 2, `… ${1 + (parseInt(lines[ofOrigin]!.split("… ")[1]!) || 1)} more`);
  // Drop the ways from within, which end here, and those that ended before this run.
  const others = ways.filter((way) => way.run < run && way.end >= run);
  const way = { lines, run, end: runs };
  all.ways.set(call, inner === undefined ? [...others, way] : [way, ...others]);
  setTrace(error, lines);
  return error;
}

/** `thrown` itself if it is an error, of any realm, else an error with its text as message. @internal */
export function errorOf(thrown: unknown): Error {
  try {
    if (thrown instanceof Error || / Error]|DOME/.test({}.toString.call(thrown)))
      return thrown as Error;
    // A function's text is its source, which callers mustn't see.
    return new Error(typeof thrown === "function" ? "A function was thrown" : String(thrown));
  } catch {
    // An object without a usable toString, `Object.create(null)` for one.
    return new Error("A value without text");
  }
}

// Errors from a named node. Kept beside them, since errors belong to the application.
const nodes = new WeakMap<object, string>();

/** The name of the node that `thrown` came from, if it was another one. @internal */
export function ranOn(thrown: unknown): string | undefined {
  // `thrown` may be any value; the map is empty for values that aren't objects.
  return nodes.get(thrown as object);
}

/** Notes which node an error came from. @internal */
export function setRanOn(error: object, node: string): void {
  nodes.set(error, node);
}

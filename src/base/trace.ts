// Trace lines: one per procedure that an error passed, the origin first. They aren't in the
// message.

/**
 * The most lines of a trace. More come from runaway recursion, or an error object that an
 * application throws again and again. Keeps both ends, and one line in between that says how many
 * are missing.
 * @internal
 */
export const mostLines = 128;
const ofOrigin = 100;

// Lines of frozen errors, which can't be given any.
const ofFrozen = new WeakMap<object, readonly string[]>();

/** The trace lines of `error`: one for each procedure that it passed, the origin first. */
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
 * What a procedure's body throws instead of `thrown`: the same error with the procedure's line
 * added. Any other value becomes an error with its text as message, here and not only on the wire,
 * so that local and remote callers see the same.
 */
export function traced(thrown: unknown, line: string): Error {
  const error = errorOf(thrown);
  const lines = traceOf(error).concat(line);
  // The first time remove two lines, as the line that counts them is new; later one.
  if (lines.length > mostLines)
    lines.splice(ofOrigin, 2, `… ${1 + (parseInt(lines[ofOrigin]!.split("… ")[1]!) || 1)} more`);
  setTrace(error, lines);
  return error;
}

/** `thrown` itself if it is an error, else an error with its text as message. @internal */
export function errorOf(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  try {
    // A function's text is its source, which callers mustn't see.
    return new Error(typeof thrown === "function" ? "A function was thrown" : String(thrown));
  } catch {
    // An object without a usable toString, `Object.create(null)` for one.
    return new Error("A value without text was thrown");
  }
}

// Errors from a named node. Kept beside them, since errors belong to the application.
const nodes = new WeakMap<object, string>();

/** The name of the node that `thrown` came from, if it was another one. @internal */
export function ranOn(thrown: unknown): string | undefined {
  // It may be any value: of one that isn't an object the map knows nothing.
  return nodes.get(thrown as object);
}

/** Notes which node an error came from. @internal */
export function setRanOn(error: object, node: string): void {
  nodes.set(error, node);
}

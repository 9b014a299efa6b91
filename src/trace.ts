// Trace lines (§7.1): one per procedure that an error passed, the origin first, beside the message and not in it.

/**
 * How many lines a trace has at most. Chosen: a path of so many procedures is a recursion that ran away, or an error object that an application
 * keeps and throws for ever. Its origin and its end are kept, and one line in place of those between says how many they are.
 * @internal
 */
export const mostLines = 128;
const ofOrigin = 100;

/** The trace lines (§7.1) that `error` has gathered so far: one for each procedure that it passed, the origin first. */
export function traceOf(error: unknown): readonly string[] {
  const lines = (error as { trace?: unknown } | null | undefined)?.trace;
  // An application may have a `trace` of its own on its errors: what is no line no other service would take.
  return Array.isArray(lines)
    ? lines.filter((line): line is string => typeof line === "string")
    : [];
}

/** Sets the lines of `error`, out of sight of `Object.keys` and JSON. @internal */
export function setTrace(error: Error, lines: readonly string[]): void {
  // False where it can't be: of a frozen error the lines are lost, and the error is worth more.
  Reflect.defineProperty(error, "trace", { value: lines, configurable: true, writable: true });
}

/**
 * What a procedure's body throws in place of `thrown`: the same error with the procedure's line added.
 * Chosen: a thrown value that is no error becomes one with its text as message, here and not only on the wire, so that
 * a caller sees the same whether the procedure ran beside it or far away (decisions §4).
 */
export function traced(thrown: unknown, line: string): Error {
  const error = errorOf(thrown);
  const lines = traceOf(error).concat(line);
  // Two go at first, for the line that says so is one more; and then one.
  if (lines.length > mostLines)
    lines.splice(
      ofOrigin,
      2,
      `… ${1 + (parseInt(lines[ofOrigin]?.split("… ")[1] ?? "") || 1)} more`,
    );
  setTrace(error, lines);
  return error;
}

/** `thrown` itself, or when it is no error, one with its text as message (decisions §4). @internal */
export function errorOf(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  try {
    // The text of a function is its source, which is nobody's business.
    return new Error(typeof thrown === "function" ? "A function was thrown" : String(thrown));
  } catch {
    // An object without a usable toString, `Object.create(null)` for one.
    return new Error("A value that has no text was thrown");
  }
}

// Errors that came from a node with a name. Beside them, as they are the application's objects.
const nodes = new WeakMap<object, string>();

/** The name of the node whose error `thrown` is, when it came from elsewhere. @internal */
export function ranOn(thrown: unknown): string | undefined {
  return typeof thrown === "object" && thrown !== null ? nodes.get(thrown) : undefined;
}

/** Notes which node an error came from. @internal */
export function setRanOn(error: object, node: string): void {
  nodes.set(error, node);
}

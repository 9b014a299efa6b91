// Trace lines (§7.1): one per procedure that an error passed, the origin first, beside the message and not in it.

// Chosen: a path of so many procedures is a recursion that ran away, or an error object that an application keeps and throws for ever. Its
// origin and its end are kept, and one line in place of those between says how many they are.
const [first, last] = [100, 27];
/** How many lines a trace has at most. @internal */
export const mostLines: number = first + 1 + last;
const omission = /^… (\d{1,15}) more$/;

/** Whether a line of a trace stands for those that were left out. @internal */
export function isOmission(line: string | undefined): boolean {
  return line !== undefined && omission.test(line);
}

/** The trace lines (§7.1) that `error` has gathered so far: one for each procedure that it passed, the origin first. */
export function traceOf(error: unknown): readonly string[] {
  const lines = (error as { trace?: unknown } | null | undefined)?.trace;
  // An application may have a `trace` of its own on its errors: what is no line no other service would take.
  return Array.isArray(lines) ? lines.filter((line): line is string => typeof line === "string") : [];
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
  setTrace(error, withLine(traceOf(error), line));
  return error;
}

function withLine(lines: readonly string[], line: string): readonly string[] {
  if (lines.length < mostLines) return [...lines, line];
  const between = lines.slice(first, 1 - last);
  const before = omission.exec(between[0] ?? "");
  const more = between.length + (before === null ? 0 : Number(before[1]) - 1);
  return [...lines.slice(0, first), `… ${more} more`, ...lines.slice(1 - last), line];
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

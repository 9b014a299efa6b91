// Errors on the wire (§7.1, decisions §3 and §4): the class, the message, the trace lines, and what the class adds.

import { frameworkErrors, ServiceError } from "../errors.ts";
import { setTrace, traceOf } from "../trace.ts";
import type { ClassTable, KnownClass } from "./class-table.ts";
import { Fault } from "./fault.ts";
import { buildInstance, type Members, readInstance } from "./instance.ts";
import { isOfPlatform, publicMessage, textOf } from "./public-message.ts";
import { type FormWalk, walkMembers, walkParts, walkValue } from "./walk.ts";

type ErrorClass = new (message?: string) => Error;

const builtIn = new Map<string, ErrorClass>(
  [
    Error,
    TypeError,
    RangeError,
    SyntaxError,
    ReferenceError,
    EvalError,
    URIError,
    AggregateError,
  ].map((one) => [one.name, one as ErrorClass]),
);

/** The members of an Error form, besides those of every form. */
export const errorMembers = [
  "type",
  "message",
  "trace",
  "cause",
  "fields",
  "key",
  "args",
  "stack",
  "dom",
] as const;

/** Own members that every error has or may have, and that stand in the form beside the fields (decisions §3). */
export const reserved: ReadonlySet<string> = new Set([
  "name",
  "message",
  "stack",
  "cause",
  "trace",
]);

// On an error of a class that this service doesn't have: what came of it, to be sent on.
// Registered, as /svc/remote.js and /svc/superjson.js each hold a copy of this module.
const kept: unique symbol = Symbol.for("seamline.kept");
interface Kept {
  readonly key: string;
  readonly args: Members;
  readonly fields: Members;
}

/** The Error form. */
export function encodeErrorForm(error: Error & { [kept]?: Kept }, walk: FormWalk): object {
  const { stacks } = walk;
  const message = stacks ? textOf(error.message) : publicMessage(error);
  const known = knownError(error, walk.classes);
  const rest: Members = { fields: {} };
  // Its name says what happened, and not which class it is.
  if (error instanceof DOMException) rest["dom"] = true;
  if (error[kept]) {
    const { key, args, fields } = error[kept];
    Object.assign(rest, { key, args: walkParts(args, walk), fields: walkParts(fields, walk) });
  } else if (known)
    Object.assign(rest, { key: known.record.key }, readInstance(error, known, walk));
  // Chosen: what a library's own error class carries (requests with their headers, rows of a database) stays between services.
  else if (
    stacks ||
    error instanceof ServiceError ||
    (builtIn.get(error.constructor.name) === error.constructor &&
      message === error.message &&
      !isOfPlatform(error))
  ) {
    const own = Object.entries(error).filter(([key]) => !reserved.has(key));
    // A member that nobody counts.
    if (error instanceof AggregateError) own.push(["errors", error.errors]);
    rest["fields"] = walkMembers(Object.fromEntries(own), walk, true);
  }
  if (error.cause !== undefined) rest["cause"] = walkValue(error.cause, walk);
  if (stacks) rest["stack"] = error.stack;
  return {
    serialized: true,
    name: "Error",
    type: textOf(error.name),
    message,
    trace: traceOf(error),
    ...rest,
  };
}

/** The class that an error travels as: one that isn't exported, as the nearest of its parents that is. */
export function knownError(error: Error, classes: ClassTable): KnownClass | undefined {
  let known: KnownClass | undefined;
  for (
    let one: object | null = error;
    one && !known;
    one = Object.getPrototypeOf(one) as object | null
  )
    known = classes.of(one);
  return known;
}

/** The key that an error travels under, if its class has one. */
export function keyOfError(
  error: Error & { [kept]?: Kept },
  classes: ClassTable,
): string | undefined {
  return error[kept]?.key ?? knownError(error, classes)?.record.key;
}

/** The error of a form whose members are decoded; `status` is that of the answer it came in, which tells the nearest class. */
export function decodeErrorForm(
  form: Members,
  known: KnownClass | undefined,
  status: number | undefined,
): Error {
  const { type, message, trace = [], key, stack, cause } = form;
  const args = form["args"] as Members;
  const fields = form["fields"] as Members;
  if (
    typeof type !== "string" ||
    typeof message !== "string" ||
    !Array.isArray(trace) ||
    !trace.every((line) => typeof line === "string")
  )
    throw new Fault("an Error form needs a type, a message and a trace of lines");
  let error: Error | undefined;
  try {
    if (known) error = buildInstance(known, args, fields) as Error;
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.cause === undefined) throw thrown;
    // Its constructor or a setter wants more than what can be read of it. What was thrown is worth more than its class.
  }
  const own = error !== undefined;
  error ??= form["dom"] === true ? new DOMException(message, type) : rebuild(type, message, status);
  const members = error as unknown as Members;
  // A class may freeze its own: then what its constructor made is all there is.
  const define = (name: PropertyKey, value: unknown): void => {
    Reflect.defineProperty(members, name, {
      value,
      configurable: true,
      writable: true,
      enumerable: false,
    });
  };
  if (!own)
    for (const name of Object.keys(fields)) {
      if (reserved.has(name)) throw new Fault(`'${name}' is no field of an error`);
      members[name] = fields[name];
    }
  if (!own && key !== undefined) define(kept, { key, args, fields });
  if (error.message !== message) define("message", message);
  if (error.name !== type) define("name", type);
  if (cause !== undefined) define("cause", cause);
  if (typeof stack === "string") define("stack", stack);
  setTrace(error, trace);
  return error;
}

function rebuild(type: string, message: string, status: number | undefined): Error {
  const exact = frameworkErrors.get(type) ?? builtIn.get(type);
  if ((exact as unknown) === AggregateError) return new AggregateError([], message);
  return exact ? new exact(message) : nearestError(status, message);
}

/** An error of an application's class that this service doesn't have: the status of its answer tells what it extends. */
export function nearestError(status: number | undefined, message: string): Error {
  if (status !== undefined && status !== 500)
    for (const one of frameworkErrors.values())
      if ((one as unknown as typeof ServiceError).status === status) return new one(message);
  return new Error(message);
}

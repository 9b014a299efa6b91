// Errors on the wire: class, message, trace lines, and the members that the class adds.

import { frameworkErrors, ServiceError } from "../base/errors.ts";
import { linesOf } from "../base/call-trace.ts";
import { isError } from "../base/foreign-error.ts";
import { setTrace } from "../base/trace.ts";
import type { ClassTable, FormWalk } from "./class-table.ts";
import { Fault, ReferenceFault } from "./values/fault.ts";
import { buildInstance, type Properties, readInstance } from "./instance.ts";
import type { KnownClass } from "./values/known-class.ts";
import {
  idOfInternal,
  internal,
  isAmong,
  isInternal,
  noteInternal,
  publicMessage,
  textOf,
} from "./values/public-message.ts";
import { walkMembers, walkParts, walkValue } from "./values/walk.ts";

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
  ].map((type) => [type.name, type as ErrorClass]),
);

/** The members of an Error form, besides those that every form has. */
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
  "outside",
] as const;

/** Members that any error may have. They stand in the form beside its fields. */
export const commonErrorMembers: ReadonlySet<string> = new Set([
  "name",
  "message",
  "stack",
  "cause",
  "trace",
]);

// On an error whose class isn't here: the form as received, to be passed on. A registered symbol, because
// /svc/codec.js and /svc/superjson.js each contain a copy of this module.
const received: unique symbol = Symbol.for("seamline.kept");
interface Received {
  readonly key: string;
  readonly args: Properties;
  readonly fields: Properties;
}

// Errors from other services that have a class of the framework here, because their own was a subclass that isn't
// exported.
const lostTheirClass = new WeakSet<object>();

/**
 * The Error form. `cover` may replace a cause, or an entry of an AggregateError.
 *
 * The node that threw an error decides how much of it outside callers may read: all recorded members of an exported
 * class, and all of the framework's own errors; of any other error, only the message. Services get everything, and
 * `outside` tells them the decision, as they may not have the class, or the members that the decision depends on.
 */
export function encodeErrorForm(
  error: Error & { [received]?: Received },
  walk: FormWalk,
  cover: (value: unknown) => unknown = (value) => value,
): object {
  const { stacks, trusted, hidden } = walk;
  const message =
    stacks || trusted ? textOf(error.message) : (hidden?.messageOf(error) ?? publicMessage(error));
  const known = knownError(error, walk.classes);
  const rest: Properties = { fields: {} };
  const isOpen = isOfFramework(error) && !isInternal(error);
  // Read once: a getter may give another name the next time.
  const type = textOf(error.name);
  const dom = nameOwner(error, type);
  if (dom !== undefined) rest["dom"] = dom;
  if (error[received]) {
    const { key, args, fields } = error[received];
    Object.assign(rest, { key, args: walkParts(args, walk), fields: walkParts(fields, walk) });
  } else if (known)
    Object.assign(rest, { key: known.record.key }, readInstance(error, known, walk));
  else {
    // Libraries put requests with their headers on errors, or statements with their values.
    const own = trusted || isOpen ? ownMembers(error) : [];
    if (isOpen && own.length > 0) rest["outside"] = "fields";
    const entries = entriesOf(error, walk);
    if (entries !== undefined) own.push(["errors", entries]);
    const members = Object.fromEntries(own);
    const isData = trusted && !stacks && !isOpen;
    rest["fields"] = isData
      ? walkWhatTravels(error, members, walk)
      : walkMembers(members, walk, true);
  }
  if (message !== error.message) replaceMessage(rest, error.message, message);
  // The log has an id only for errors that were thrown.
  if (trusted && isInternal(error))
    rest["outside"] = hidden?.idOf(error) ?? idOfInternal(error) ?? "nothing";
  if (error.cause !== undefined) {
    const cause = cover(error.cause);
    // A cause that isn't an error is data that the application has put there.
    if (trusted || isOpen || rest["key"] !== undefined || isError(cause))
      rest["cause"] = walkValue(cause, walk);
  }
  if (stacks) rest["stack"] = error.stack;
  return {
    serialized: true,
    name: "Error",
    type,
    message,
    trace: linesOf(error, walk.call),
    ...rest,
  };
}

/** Whether an error's class is one of the framework's, not an extension of it. */
function isOfFramework(error: Error): boolean {
  if (!(error instanceof ServiceError) || isAmong(lostTheirClass, error)) return false;
  const { constructor } = Object.getPrototypeOf(error) as { constructor: typeof ServiceError };
  // A subclass inherits the kind.
  return Object.hasOwn(constructor, "kind") && frameworkErrors.has(constructor.kind);
}

/** The data of an error, without the members that any error may have. */
function ownMembers(error: Error): [string, unknown][] {
  return Object.entries(error).filter(
    ([key, value]) =>
      !commonErrorMembers.has(key) && value !== undefined && typeof value !== "function",
  );
}

/**
 * The members of an error among arguments, or in a result, except those that can't be sent: members that libraries
 * put on errors must not fail a call. For a thrown error, the log says what was left out.
 */
function walkWhatTravels(error: Error, members: Properties, walk: FormWalk): object {
  const { level, graph } = walk;
  // A graph also keeps what it has copied of a value that it can't send.
  if (graph !== undefined)
    return builtIn.get(error.constructor.name) === error.constructor
      ? walkMembers(members, walk, true)
      : {};
  const sent: Properties = {};
  for (const name of Object.keys(members))
    try {
      Object.assign(sent, walkMembers({ [name]: members[name] }, walk, true));
    } catch (thrown) {
      const isEntries = name === "errors" && error instanceof AggregateError;
      if (isEntries || thrown instanceof ReferenceFault) throw thrown;
      walk.level = level;
    }
  return sent;
}

/** Nearly every class has the message as an argument of its constructor. */
function replaceMessage(rest: Properties, hidden: unknown, message: string): void {
  for (const part of ["args", "fields"]) {
    const members = { ...(rest[part] as Properties) };
    for (const name of Object.keys(members)) if (members[name] === hidden) members[name] = message;
    if (rest[part] !== undefined) rest[part] = members;
  }
}

/** The entries of an AggregateError, which aren't enumerable. Outsiders get those that are errors. */
function entriesOf(error: Error, { trusted, hidden }: FormWalk): unknown {
  if (!(error instanceof AggregateError)) return undefined;
  if (trusted) return error.errors;
  // A class that extends it is as any other class.
  if (error.constructor !== AggregateError || !Array.isArray(error.errors)) return undefined;
  return Array.from(error.errors as unknown[], (entry) =>
    isError(entry) ? entry : new Error(hidden?.hide(entry) ?? internal),
  );
}

/**
 * The owner of an error's name, if it isn't the name of its class: `true` for a DOMException, whose name says what
 * happened; `false` if the application gave it the name of a framework's class.
 */
export function nameOwner(error: Error, name: string): boolean | undefined {
  if (error instanceof DOMException) return true;
  return !(error instanceof ServiceError) && frameworkErrors.has(name) ? false : undefined;
}

/** The class that an error travels as: its own, or the nearest one it extends that is exported. */
export function knownError(error: Error, classes: ClassTable): KnownClass | undefined {
  let known: KnownClass | undefined;
  for (
    let value: object | null = error;
    value && !known;
    value = Object.getPrototypeOf(value) as object | null
  )
    known = classes.of(value);
  return known;
}

/** The key that an error travels under, if its class has one. */
export function keyOfError(
  error: Error & { [received]?: Received },
  classes: ClassTable,
): string | undefined {
  return error[received]?.key ?? knownError(error, classes)?.record.key;
}

/**
 * The error of a form whose members are decoded. If its class isn't here, the `status` of the
 * response selects the nearest one.
 */
export function decodeErrorForm(
  form: Properties,
  known: KnownClass | undefined,
  status: number | undefined,
): Error {
  const { type, message, trace = [], key, stack, cause, outside } = form;
  const args = form["args"] as Properties;
  const fields = form["fields"] as Properties;
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
    // Its constructor or a setter needs more than was sent. An error of another class is better than none.
  }
  const isRebuilt = error !== undefined;
  error ??=
    form["dom"] === true
      ? new DOMException(message, type)
      : rebuild(form["dom"] === false ? "" : type, message, status);
  const members = error as unknown as Properties;
  // A class may freeze its instances, and then nothing can be defined.
  const define = (name: PropertyKey, value: unknown): void => {
    Reflect.defineProperty(members, name, {
      value,
      configurable: true,
      writable: true,
      enumerable: false,
    });
  };
  if (!isRebuilt)
    for (const name of Object.keys(fields)) {
      if (commonErrorMembers.has(name)) throw new Fault(`'${name}' can't be a field of an error`);
      members[name] = fields[name];
    }
  if (!isRebuilt && key !== undefined) define(received, { key, args, fields });
  if (error.message !== message) define("message", message);
  if (error.name !== type) define("name", type);
  if (!isRebuilt && key === undefined && error instanceof ServiceError && outside !== "fields")
    lostTheirClass.add(error);
  if (outside !== undefined && outside !== "fields") noteInternal(error, outside);
  if (cause !== undefined) define("cause", cause);
  if (typeof stack === "string") define("stack", stack);
  setTrace(error, trace);
  return error;
}

function rebuild(type: string, message: string, status: number | undefined): Error {
  const exact = frameworkErrors.get(type) ?? builtIn.get(type);
  if ((exact as unknown) === AggregateError) return new AggregateError([], message);
  return nearestError(status, message, exact);
}

type StatusClass = typeof ServiceError;

/**
 * For an error whose class may not be here: `exact` is the class that it names; otherwise the status of the
 * response selects the class that it extends. The error has that status here, too.
 */
export function nearestError(
  status: number | undefined,
  message: string,
  exact?: new (message: string) => Error,
): Error {
  if (status === undefined || status === 500) return new (exact ?? Error)(message);
  const type = (exact ??
    [...frameworkErrors.values()].find(
      (known) => (known as unknown as StatusClass).status === status,
    ) ??
    ServiceError) as StatusClass;
  if (type.status === undefined || type.status === status) return new type(message);
  const own: number = status;
  return new (class extends type {
    static override readonly status: number = own;
  })(message);
}

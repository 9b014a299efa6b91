// Errors deep inside a value, with the path to where they are.

import { InvalidSerializedValue, ValueNotSerializable } from "../../base/errors.ts";
import { errorOf } from "../../base/trace.ts";
import { publicMessage } from "./public-message.ts";

/**
 * An error deep inside a value. Collects its path on the way up, so a walk without errors pays
 * nothing for paths.
 */
export class Fault extends Error {
  readonly path: PropertyKey[] = [];
  readonly holders: unknown[] = [];
}

/** A fault that an encoding which keeps references may not have. */
export class ReferenceFault extends Fault {}

/** The fault to rethrow if the member `key` of `holder` threw `thrown`. */
export function faultAt(thrown: unknown, key: PropertyKey, holder: unknown): Fault {
  const fault = faultOf(thrown);
  fault.path.unshift(key);
  fault.holders.unshift(holder);
  return fault;
}

// The flag isn't a member of the error: an application may see it.
const fromReferences = new WeakSet<Error>();

/** The error for a value that can't be encoded; its message calls the value `root`. */
export function notSerializable(thrown: unknown, root: string): ValueNotSerializable {
  const fault = faultOf(thrown);
  const error = new ValueNotSerializable(describeFault(fault, root), causeOf(thrown));
  if (fault instanceof ReferenceFault || cycleEnd(fault) >= 0) fromReferences.add(error);
  return error;
}

/** Whether an encoding that keeps references could send the value. */
export function needsReferences(thrown: unknown): boolean {
  return thrown instanceof Error && fromReferences.has(thrown);
}

/** The error for a message that can't be decoded; its message calls the value `root`. */
export function invalidValue(thrown: unknown, root: string): InvalidSerializedValue {
  return new InvalidSerializedValue(describeFault(faultOf(thrown), root), causeOf(thrown));
}

/** `root.people[3].born: a function can't be sent` */
function describeFault(fault: Fault, root: string): string {
  const end = cycleEnd(fault);
  const where = fault.path
    .slice(0, end < 0 ? 16 : end)
    .map((key) =>
      typeof key !== "string"
        ? `[${String(key)}]`
        : /^[A-Za-z_$][\w$]*$/.test(key)
          ? `.${key}`
          : `[${JSON.stringify(key)}]`,
    );
  // A key may be as long as the message that holds it.
  return `${root}${where.join("").slice(0, 256)}: ${end < 0 ? fault.message.slice(0, 256) : "a cycle can't be sent"}`;
}

/**
 * Length of the path to where a cycle closes; -1 without one. A cycle is noticed only by its depth,
 * after many rounds.
 */
function cycleEnd({ holders }: Fault): number {
  return holders.findIndex((holder, index) => holders.indexOf(holder) < index);
}

// A getter, setter or constructor of the application may throw anything. Outsiders read no more of
// it here than of any other error.
function faultOf(thrown: unknown): Fault {
  return thrown instanceof Fault
    ? thrown
    : new Fault(publicMessage(errorOf(thrown)), { cause: thrown });
}

/** The `cause` option for an error of the application. Our own faults need none. */
function causeOf(thrown: unknown): ErrorOptions {
  return !(thrown instanceof Fault)
    ? { cause: thrown }
    : thrown.cause === undefined
      ? {}
      : { cause: thrown.cause };
}

/**
 * The result of `make`, or `undefined` if it throws. For constructors of the platform, whose messages wouldn't help
 * the sender.
 */
export function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** Whether a key could reach a prototype. Such keys are refused, not removed. */
export function isForbidden(key: string): boolean {
  return key === "__proto__" || key === "constructor" || key === "prototype";
}

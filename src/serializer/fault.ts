import { ValueNotSerializable } from "../errors.ts";
import { errorOf } from "../trace.ts";
import { publicMessage } from "./public-message.ts";

/** A fault deep inside a value. It gathers its path on the way up, so that a walk without a fault pays nothing for paths. */
export class Fault extends Error {
  readonly path: PropertyKey[] = [];
  readonly holders: unknown[] = [];
}

/** What to throw on when `thrown` came out of the member `key` of `holder`. */
export function faultAt(thrown: unknown, key: PropertyKey, holder: unknown): Fault {
  const fault = faultOf(thrown);
  fault.path.unshift(key);
  fault.holders.unshift(holder);
  return fault;
}

/** `root.people[3].born: what is wrong` */
export function describeFault(thrown: unknown, root: string): string {
  const fault = faultOf(thrown);
  const { path, holders } = fault;
  // A cycle is found by its depth: what counts is where it closes, not how often the walk went round.
  const end = holders.findIndex((one, index) => holders.indexOf(one) < index);
  const where = path
    .slice(0, end < 0 ? 16 : end)
    .map((key) =>
      typeof key !== "string"
        ? `[${String(key)}]`
        : /^[A-Za-z_$][\w$]*$/.test(key)
          ? `.${key}`
          : `[${JSON.stringify(key)}]`,
    );
  // The path may hold keys as long as the whole message.
  return `${root}${where.join("").slice(0, 256)}: ${end < 0 ? fault.message.slice(0, 256) : "a cycle can't be sent"}`;
}

// A getter, setter or constructor of the application may throw anything, and of what it throws outsiders read no more than elsewhere.
function faultOf(thrown: unknown): Fault {
  return thrown instanceof Fault
    ? thrown
    : new Fault(publicMessage(errorOf(thrown)), { cause: thrown });
}

/** What the application threw under a fault; a fault of ours is all in its message. */
export function causeOf(thrown: unknown): ErrorOptions {
  return !(thrown instanceof Fault)
    ? { cause: thrown }
    : thrown.cause === undefined
      ? {}
      : { cause: thrown.cause };
}

/** Whether an encoding that keeps references could send what this one could not. */
export function needsReferences(thrown: unknown): thrown is ValueNotSerializable {
  return (
    thrown instanceof ValueNotSerializable &&
    /: a cycle can't be sent$| objects$/.test(thrown.message)
  );
}

/** What a constructor of the platform makes, or nothing if it throws: what it would say is about itself, not about the message. */
export function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** Keys that are refused wherever data comes in, not cleaned (decisions §6): they reach prototypes. */
export function isForbidden(key: string): boolean {
  return key === "__proto__" || key === "constructor" || key === "prototype";
}

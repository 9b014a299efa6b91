// What is left of an error when not all of it can be sent. Only services need it: they answer with errors, pages don't.

import { ValueNotSerializable } from "../errors.ts";
import { errorOf } from "../trace.ts";
import type { ClassTable } from "./class-table.ts";
import { knownError, reserved } from "./error-form.ts";
import { Fault } from "./fault.ts";
import { publicMessage, textOf } from "./public-message.ts";
import { encodeSerialized } from "./serialized.ts";

export interface SendableOptions {
  readonly classes: ClassTable;
  /** Is told what is left out, and why: `OutOfStock.request: a function can't be sent`. */
  readonly tell: (what: string) => void;
}

/**
 * An error that stands in for `error` on the wire: class, name, message and trace are the same (§7.1), and so are its members and
 * causes but for those that can't be sent. May throw what the application's getters throw.
 */
export function sendableError(
  error: Error,
  options: SendableOptions,
  within: readonly Error[] = [],
): Error {
  const { classes, tell } = options;
  const inside = [...within, error];
  // It inherits from the error: so it is of its class, and has what is not a member.
  const stand = Object.create(error) as Record<string, unknown>;
  // Those of a DOMException are read from nothing but itself.
  for (const name of ["name", "message"] as const)
    Object.defineProperty(stand, name, { value: error[name], configurable: true });
  const names = new Set(Object.keys(error).filter((name) => !reserved.has(name)));
  const known = knownError(error, classes);
  for (const name of [...(known?.names ?? []), ...(known?.record.fields ?? [])])
    if (name !== null) names.add(name);
  const sendable = (value: unknown): unknown => {
    if (value instanceof Error) {
      if (inside.includes(value)) throw new Fault("a cycle can't be sent");
      return sendableError(value, options, inside);
    }
    if (typeof value === "function") return undefined;
    // Whether it can be: the text itself is made with the error's.
    void encodeSerialized(value, { classes, path: "" });
    return value;
  };
  for (const name of [...names, "errors", "cause"]) {
    // Of an error that has none they are nothing to define.
    if (!names.has(name) && !(name in error)) continue;
    let value: unknown;
    try {
      const member = (error as unknown as Record<string, unknown>)[name];
      value = name === "errors" && Array.isArray(member) ? member.map(sendable) : sendable(member);
    } catch (thrown) {
      // What an encoding says begins with the path inside of the member.
      const what =
        thrown instanceof ValueNotSerializable
          ? thrown.message
          : `: ${publicMessage(errorOf(thrown))}`;
      tell(`${textOf(error.name)}.${name}${what}`);
    }
    Object.defineProperty(stand, name, {
      value,
      configurable: true,
      writable: true,
      enumerable: names.has(name),
    });
  }
  return stand as unknown as Error;
}

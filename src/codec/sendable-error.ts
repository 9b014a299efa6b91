// Reduces an error to the parts that can be sent. Only services need this: pages don't answer with errors.

import { ValueNotSerializable } from "../base/errors.ts";
import { errorOf } from "../base/trace.ts";
import { commonErrorMembers, knownError } from "./error-form.ts";
import type { WalkOptions } from "./form-walk.ts";
import { Fault } from "./values/fault.ts";
import { publicMessage, textOf } from "./values/public-message.ts";
import { encodeSerialized } from "./serialized.ts";

export interface SendableOptions extends WalkOptions {
  /** Called for each part that is left out, with the reason: `OutOfStock.request: a function can't be sent`. */
  readonly onLost: (what: string) => void;
}

/**
 * An error that stands in for `error` on the wire: it has the same class, name, message and trace, and the same
 * members and causes except those that can't be sent. Errors of the application's getters pass through.
 */
export function sendableError(
  error: Error,
  options: SendableOptions,
  within: readonly Error[] = [],
): Error {
  const { classes, onLost } = options;
  const inside = [...within, error];
  // It inherits from the error, so it's an instance of its class and has its inherited members.
  const standIn = Object.create(error) as Record<string, unknown>;
  // The getters of a DOMException work only on the exception itself.
  for (const name of ["name", "message"] as const)
    Object.defineProperty(standIn, name, { value: error[name], configurable: true });
  const hidden = classes.hides?.(error) === true;
  const names = new Set(
    hidden ? [] : Object.keys(error).filter((name) => !commonErrorMembers.has(name)),
  );
  const known = hidden ? undefined : knownError(error, classes);
  for (const name of [...(known?.names ?? []), ...(known?.record.fields ?? [])])
    if (name !== null) names.add(name);
  const sendable = (value: unknown): unknown => {
    if (value instanceof Error) {
      if (inside.includes(value)) throw new Fault("a cycle can't be sent");
      return sendableError(value, options, inside);
    }
    if (typeof value === "function") return undefined;
    // Throws if it can't be sent. The text is discarded: it's made again with the whole error.
    void encodeSerialized(value, { ...options, path: "" });
    return value;
  };
  for (const name of [...names, "errors", "cause"]) {
    // Most errors have neither `errors` nor `cause`.
    if (!names.has(name) && !(name in error)) continue;
    let value: unknown;
    try {
      const member = (error as unknown as Record<string, unknown>)[name];
      value = name === "errors" && Array.isArray(member) ? member.map(sendable) : sendable(member);
    } catch (thrown) {
      // The encoder's message begins with the path inside the member.
      const what =
        thrown instanceof ValueNotSerializable
          ? thrown.message
          : `: ${publicMessage(errorOf(thrown))}`;
      onLost(`${textOf(error.name)}.${name}${what}`);
    }
    Object.defineProperty(standIn, name, {
      value,
      configurable: true,
      writable: true,
      enumerable: names.has(name),
    });
  }
  return standIn as unknown as Error;
}

// Errors of another realm: `vm`, jsdom, an iframe. They aren't instances of our classes, but of
// classes like them.

import { errorOf } from "./trace.ts";

/** Whether `value` is an error, of any realm. */
export const isError = (value: unknown): value is Error => errorOf(value) === value;

/**
 * An error of another realm as one of this realm; `undefined` for other values. Rethrows errors of the
 * application's getters.
 */
export function ofForeignError(value: unknown): Error | undefined {
  if (!isError(value) || value instanceof Error) return undefined;
  const { message, name, stack } = value as Error;
  if (Object.prototype.toString.call(value).includes("DOM")) return new DOMException(message, name);
  const own = new Error();
  const type = (globalThis as Record<string, unknown>)[name] as typeof Error | undefined;
  if (type && Object.getPrototypeOf(type) === Error) Object.setPrototypeOf(own, type.prototype);
  // Some runtimes have an accessor for the stack, which reads that of the error itself.
  return Object.defineProperties(own, {
    ...Object.getOwnPropertyDescriptors(value as Error),
    name: { value: name, configurable: true },
    stack: { value: stack, configurable: true },
  });
}

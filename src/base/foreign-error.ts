// Errors of another realm: `vm`, jsdom, an iframe. They aren't instances of our classes, but of
// classes like them.

/**
 * An error of another realm as one of this realm; `undefined` for other values. Throws what the
 * application's getters throw.
 */
export function ofForeignError(value: unknown): Error | undefined {
  if (value instanceof Error) return undefined;
  const { message, name, stack } = value as Error;
  switch (Object.prototype.toString.call(value)) {
    case "[object DOMException]":
      return new DOMException(message, name);
    case "[object Error]": {
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
    default:
      return undefined;
  }
}

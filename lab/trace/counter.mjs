// Records which functions a traced process enters. The instrumented files import it.

/** @type {string[] | undefined} */
let entered;

/** Called first in every function. @param {string} place */
export const enter = (place) => void entered?.push(place);

// The work of timers isn't part of a call, although some begin with one and so run beside each.
for (const name of /** @type {const} */ (["setTimeout", "setInterval"])) {
  const plain = globalThis[name];
  /** @type {(callback: (...args: unknown[]) => void, ...rest: [ms?: number, ...args: unknown[]]) => NodeJS.Timeout} */
  const uncounted = (callback, ...rest) =>
    plain(
      (...args) => {
        const counted = entered;
        entered = undefined;
        try {
          callback(...args);
        } finally {
          entered = counted;
        }
      },
      ...rest,
    );
  Object.defineProperties(uncounted, Object.getOwnPropertyDescriptors(plain));
  globalThis[name] = /** @type {any} */ (uncounted);
}

process.on("message", (message) => {
  if (message !== "record" && message !== "report") return;
  process.send?.({ entered });
  entered = message === "record" ? [] : undefined;
});
// Stopping a service doesn't wait for the tracer.
process.channel?.unref();

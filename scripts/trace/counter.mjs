// Records which functions a traced process enters. The instrumented files import it.

/** @type {string[] | undefined} */
let entered;

/** Called first in every function. @param {string} place */
export const enter = (place) => void entered?.push(place);

process.on("message", (message) => {
  if (message !== "record" && message !== "report") return;
  process.send?.({ entered });
  entered = message === "record" ? [] : undefined;
});
// Stopping a service doesn't wait for the tracer.
process.channel?.unref();

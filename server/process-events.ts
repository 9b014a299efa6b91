// What the process hears: signals that ask it to stop, exceptions that nothing caught, promises that failed with nobody waiting.

import type { Log } from "../src/ports.ts";

export interface Stoppable {
  stop(): Promise<void>;
}

/** From the signal to the end of the process, whatever the application still has open, in ms (R2). */
const endTime = 10_000;
/** The same from an exception on: to leave its gateway, and to serve on for a second. Nothing more, as no state can be relied on any more. */
const crashTime = 2_000;
// For output that is still being written.
const lastWords = 200;
/** Exceptions that are told of a service that ends already: a timer that throws throws again, and the log itself may be what fails. */
const mostTold = 10;

/** Stops `server` when the process is asked to end, or has to; the returned function ends the listening. */
export function listenToProcess(server: Stoppable, log: Log): () => void {
  let exceptions = 0;

  const end = (event: string, ms: number): void => {
    const begun = performance.now();
    const exit = (): void => process.exit();
    const late = setTimeout(exit, ms);
    late.unref();
    server
      .stop()
      .catch((error: unknown) => {
        log.error("could not stop cleanly", error);
        process.exitCode = 1;
      })
      .finally(() => {
        clearTimeout(late);
        // A timer or a pool of connections of the application would keep the process until somebody kills it. Who listens
        // as well, another service or the application itself, may still have something to finish.
        const left = process.listenerCount(event) > 0 ? ms - (performance.now() - begun) : 0;
        setTimeout(exit, Math.max(left, lastWords)).unref();
      });
  };

  const stop = (signal: NodeJS.Signals): void => end(signal, endTime);
  const crash = (error: unknown): void => {
    if (++exceptions <= mostTold)
      log.error("an exception that nothing caught: this service ends", error);
    process.exitCode = 1;
    if (exceptions === 1) end("uncaughtException", crashTime);
  };
  // Node would end the process: then whoever finds a procedure that forgets an await could end the service at will.
  const lost = (reason: unknown): void =>
    log.error("a promise failed, and nothing waited for it: an await is missing", reason);

  const events = {
    SIGTERM: stop,
    SIGINT: stop,
    uncaughtException: crash,
    unhandledRejection: lost,
  };
  for (const [name, listener] of Object.entries(events)) process.on(name, listener);
  return () => {
    for (const [name, listener] of Object.entries(events)) process.off(name, listener);
  };
}

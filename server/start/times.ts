// Times of a process that starts or ends, in ms, with their reasons.

// process-events.ts
/**
 * From there to the end of the process, even if the application has open handles: half a second for the answers of
 * cut requests, 3 s for `onStop`, and time to log that.
 */
export const endMs = 4_000;
/**
 * After an exception: time to leave the gateway and to serve on for a second. State can't be relied
 * on for longer.
 */
export const crashMs = 2_000;
export const crashDrainMs = 1_500;
/** npm passes a signal on that the terminal has already sent to the whole group of processes. */
export const echoMs = 200;
/** For output that is still being written. */
export const flushMs = 200;

// running-service.ts
/**
 * How long a stopping service serves on: load balancers need to see that it isn't ready before it
 * closes.
 */
export const servingOnMs = 1_000;

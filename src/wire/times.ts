// Times of calls while a service is busy, and of streams, in ms, with their reasons.

// admission.ts
/** How often the number is adjusted. */
export const intervalMs = 1_000;
/** Above this delay of the event loop, fewer calls may run. */
export const lateMs = 100;
/** Below this delay, more may. */
export const promptMs = 20;
/** The calls that begin together keep the loop for about this long. */
export const turnMs = 5;
/** While calls are refused, the log says so at most this often. */
export const logMs = 10_000;
/** A call that would wait longer than this to begin is refused. */
export const longestWaitMs = 500;
/** Calls of a procedure line up until the waiting ones take less than this: then all of them begin. */
export const shortWaitMs = 100;

// encode-stream.ts
/** A stream without items shows so often that it lives: proxies cut what is silent for 30 or 60 s. */
export const signMs = 15_000;

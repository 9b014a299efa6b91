// Times of the directory, in ms, with their reasons.

// buckets.ts
export const retryMs: { readonly first: number; readonly longest: number } = {
  first: 250,
  longest: 2_000,
};
/**
 * A request without an answer within this time is made again, with more time for each try. Requests are lost while
 * a cluster elects leaders: a wait for one of them, or a pause, must end well within the 5 s after the election in
 * which a gateway is found.
 */
export const firstLimitMs = 500;
export const longestLimitMs = 3_000;
export const requestMs = 5_000;
/** How often a service asks whether the streams are unchanged. Watches report their end themselves. */
export const checkMs = 10_000;
/** How long a stopping service waits for a server that hangs. */
export const closeMs = 1_000;

// options.ts
/** Tries to connect again begin within this time, each at another moment. */
export const reconnectMs = 500;
export const reconnectJitterMs = 500;
/** The time limit for each server; then the next one is tried. */
export const connectTimeoutMs = 2_000;
/** A hanging server is noticed within this time, even if nothing else is asked of it. */
export const pingMs = 10_000;

// streams.ts
/** Entries are written every 30 s, so older ones were left behind. */
export const entriesMs: number = 10 * 60_000;
/** Lists may expire: a missing list is written again. */
export const listsMs: number = 24 * 3_600_000;

// watch.ts
/** How long to wait for the last value of a list: it may have expired meanwhile. */
export const listMs = 2_000;
/** How often the server sends a sign of life. */
export const heartbeatMs = 1_000;
/** After this time the server drops a consumer without a listener. */
export const forgottenMs = 30_000;

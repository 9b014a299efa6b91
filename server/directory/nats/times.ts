// Times of the directory, in ms, with their reasons.

// buckets.ts
export const retryMs: { readonly first: number; readonly longest: number } = {
  first: 250,
  longest: 2_000,
};
/**
 * A request that has no answer by then is made again. It has more time with each try. While a cluster elects
 * leaders, requests are lost: one that is waited for, or a pause, must end well within the 5 s after that in
 * which a gateway is found.
 */
export const firstLimitMs = 500;
export const longestLimitMs = 3_000;
export const requestMs = 5_000;
/** How often a service asks whether the streams are what they were. Watches say themselves that they are over. */
export const checkMs = 10_000;
/** A stopping service waits no longer for a server that hangs. */
export const closeMs = 1_000;

// options.ts
/** Tries to connect again begin within this time, each at another moment. */
export const reconnectMs = 500;
export const reconnectJitterMs = 500;
/** For each server; then the next one is tried. */
export const connectTimeoutMs = 2_000;
/** A hanging server is noticed within this time, even if nothing else is asked of it. */
export const pingMs = 10_000;

// streams.ts
/** Entries are written every 30 s, so what is older was left behind. */
export const entriesMs: number = 10 * 60_000;
/** A list is written again when it is gone. */
export const listsMs: number = 24 * 3_600_000;

// watch.ts
/** Waits no longer for the last value of a list: it may have run out meanwhile. */
export const listMs = 2_000;
/** The server sends something this often. */
export const heartbeatMs = 1_000;
/** The server forgets a consumer that nothing listens to. */
export const forgottenMs = 30_000;

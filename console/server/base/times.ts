// Times of the half of the console that runs on servers, in ms, with their reasons.

// access/sessions.ts
/** How long a token can be traded for a session. */
export const tokenMs = 600_000;
export const sessionMs = 28_800_000;

// calls/callers.ts
export const windowMs = 60_000;

// calls/procedure-rates.ts
export const ratesRefreshMs = 1_000;
/** After this time, all readers have seen the procedure's figures drop to 0. */
export const forgetMs = 180_000;

// calls/window.ts
export const slotMs = 10_000;
/**
 * Buckets start at 0.05 ms and grow by a quarter each. The last starts at 64 s, and figures are off
 * by at most 12 %.
 */
export const firstBucketMs = 0.05;

// overview.ts
export const overviewRefreshMs = 1_000;
/** The interval of health checks, and of updates whose only change is elapsed time. */
export const checksMs = 5_000;

// sources/fetch-json.ts
/** In development, a node first reads the types of a whole application. */
export const typesAnswerMs = 10_000;

// sources/gateway-source.ts
/** How often to request each member's checks while there are viewers. */
export const gatewayPollMs = 5_000;
/** Longer than the 5 s that a check may take. */
export const memberAnswerMs = 6_000;

// sources/other-gateways.ts
/** Nodes see each other's gateways differently: a gateway that no node has reported for this long is gone. */
export const keptMs = 20_000;
export const otherAnswerMs = 3_000;

// sources/proxy-source.ts
/**
 * How often to request the state of the service behind while there are viewers, and the time limit.
 */
export const proxyPollMs = 3_000;

// stream.ts
/** Often enough for a screen, and makes the cost independent of the number of calls. */
export const messageMs = 250;
/** Readers and proxies give up on silent connections. */
export const heartbeatMs = 10_000;
/** The delay before a browser reconnects. */
export const retryMs = 1_000;

// viewers.ts
/** Keeps the figures while a page reloads. */
export const lingerMs = 60_000;

// Times of connections, in ms, with their reasons.

// connection/caller-connection.ts
/** A connection that was idle for this long is unlikely to be used next. */
export const unusedMs = 1_000;
/** After a search without result, all connections count as busy for this long. */
export const searchPauseMs = 100;
/** How long a connection that was just opened may take to bring its request. */
export const openingMs = 1_000;
/** How long answers to requests that are cut may take to leave. */
export const cutMs = 500;

// http2-sessions.ts
/** How often the limits of time of streams and connections are looked at. */
export const sessionCheckMs = 1_000;
/** How long a connection of HTTP/2 without requests may take to end. */
export const sessionEndMs = 5_000;

// links/dial.ts
/** How long the other end may take to answer all requests of a dial. */
export const dialAnswerMs = 5_000;

// links/socket-channel.ts
/** How long sent bytes may take to leave, once the link is over. */
export const closingMs = 1_000;

// listening.ts
/** How long accepting may take when a service closes. */
export const acceptingMs = 500;

// page-links/page-link.ts
/** Proxies in front end connections that were idle for a minute, and a page that is gone shouldn't keep its streams. */
export const pingMs = 15_000;
/** How long a page may take to close a link without streams, when its service stops. */
export const leavingMs = 1_000;

// writing/write-answer.ts
/**
 * How long a caller that has its answer may go on sending the body, before the connection is cut.
 */
export const lingerMs = 2_000;

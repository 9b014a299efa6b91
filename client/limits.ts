// Limits of pages, with their reasons. Bytes, unless said otherwise.

// page-link.ts
/** The service gets credit once this much has been read: a quarter of the window, so that it needn't pause. */
export const creditBytes = 65_536;
/** Characters up to which text that waits is put together: a part for each short message would cost more than the text. */
export const partLength = 16_384;
/**
 * Streams by `fetch`. Browsers open six HTTP/1.1 connections to an origin, and servers let a connection of HTTP/2
 * carry 100 requests or more: some stay free for calls.
 */
export const mostFetches = { h1: 4, h2: 50 } as const;

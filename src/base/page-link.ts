// The facts of a page's link that both of its ends know. Each end has a parser of its own: `client/page-link.ts`
// and `server/http/page-links/page-link.ts`.

/** The version of the link's messages, as the subprotocol of its WebSocket. */
export const pageLinkProtocol = "seamline-page.1";

/** Bytes of a stream's text, as UTF-8, that may be on their way to its reader, or wait for it there. */
export const windowBytes = 262_144;

/** The most bytes of the head with which a page opens a stream. A longer one goes over HTTP. */
export const mostHeadBytes = 16_384;

/** On an answer that changes the cookies of its request, with any value: links have those of their handshake. */
export const cookiesHeader = "x-svc-cookies";

/** The channel on which pages of an origin tell each other that their cookies have changed. */
export const cookiesChannel = "seamline-cookies";

/** The fields that a page may add to those of the handshake for one stream, besides `streamHeaders` of the configuration. */
export const pageLinkHeaders: readonly string[] = [
  "authorization",
  "accept-language",
  "traceparent",
  "last-event-id",
];

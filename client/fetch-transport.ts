// Transport over fetch: a page's way out.

import { type Transport, TransportError } from "../src/ports.ts";

/** Sends requests with the page's own `fetch`, cookies of its origin included. */
export const fetchTransport: Transport = {
  async send({ url, method, headers, body, signal }) {
    try {
      const response = await fetch(url, {
        method,
        headers,
        body: body as BodyInit,
        signal: signal ?? null,
      });
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: new Uint8Array(await response.arrayBuffer()),
      };
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      // A page isn't told how far a request came; only without any network it is sure that nothing was sent.
      throw new TransportError(`${url} does not answer`, globalThis.navigator?.onLine !== false, {
        cause,
      });
    }
  },
  close: async () => {},
};

// Transport over fetch, for a page's outbound calls.

import { type Transport, TransportError } from "../src/base/ports.ts";

/** Sends requests with the page's `fetch`, including the cookies of its origin. */
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
      // fetch doesn't say how far a request got. Only when offline is it certain that nothing was
      // sent.
      throw new TransportError(`${url} doesn't answer`, globalThis.navigator?.onLine !== false, {
        cause,
      });
    }
  },
  close: async () => {},
};

// Transport over fetch, for a page's outbound calls.

import { type Transport, TransportError } from "../src/base/ports.ts";

/**
 * Sends requests with the page's `fetch`, including the cookies of its origin. A page sends bytes
 * only: over HTTP/1.1 `fetch` can't send a stream.
 */
export const fetchTransport: Transport = {
  async send({ url, method, headers, body, signal }) {
    const fail = (cause: unknown, sent: boolean): never => {
      if (signal?.aborted) throw signal.reason;
      throw new TransportError(`${url} doesn't answer`, sent, { cause });
    };
    const response = await fetch(url, {
      method,
      headers,
      body: body as BodyInit,
      signal: signal ?? null,
    }).catch((cause: unknown) =>
      // fetch doesn't say how far a request got. Only when offline is it certain that nothing was
      // sent.
      fail(cause, globalThis.navigator?.onLine !== false),
    );
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: {
        bytes: async () =>
          new Uint8Array(await response.arrayBuffer().catch((cause: unknown) => fail(cause, true))),
        [Symbol.asyncIterator]: () => response.body![Symbol.asyncIterator](),
      },
    };
  },
  close: async () => {},
};

// Transport over fetch, for a page's outbound calls.

import { Abort } from "../src/base/aborts.ts";
import { type Peer, TransportError } from "../src/base/ports.ts";

/**
 * Sends requests with the page's `fetch`, including the cookies of its origin. A page sends bytes
 * only: over HTTP/1.1 `fetch` can't send a stream.
 */
export const fetchTransport: Peer = {
  async send({ url, method, headers, body, signal }) {
    const fail =
      (sent: boolean) =>
      (cause: unknown): never => {
        if (signal?.aborted) throw signal.reason;
        throw new TransportError(`${url} doesn't answer`, sent, { cause });
      };
    // fetch doesn't say how far a request got. Only when offline is it certain that nothing was
    // sent.
    const sent = globalThis.navigator?.onLine !== false;
    const response = await fetch(url, {
      method,
      headers,
      body: body as BodyInit,
      signal: signal instanceof Abort ? signal.signal : ((signal as AbortSignal) ?? null),
    }).catch(fail(sent));
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: {
        bytes: async () => new Uint8Array(await response.arrayBuffer().catch(fail(true))),
        // Its own iterator isn't in every browser.
        [Symbol.asyncIterator]() {
          // A 204 has none.
          const reader = (response.body ?? new Blob().stream()).getReader();
          return {
            next: () => reader.read().catch(fail(true)) as Promise<IteratorResult<Uint8Array>>,
            async return() {
              await reader.cancel();
              return { done: true, value: undefined };
            },
          };
        },
      },
    };
  },
};

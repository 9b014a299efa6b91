// Streams that can't go over the page's link, each by a `fetch`. There is a limit for them: they hold connections
// that calls need.

import { TooManyStreams } from "../src/base/errors.ts";
import type { ByteStream, OutgoingRequest, Peer, PeerResponse } from "../src/base/ports.ts";
import { mostFetches } from "./limits.ts";

export interface FetchedStreamsParts {
  readonly fetch: Peer;
  /** The protocol of HTTP requests to the service, by its ALPN name; `undefined` if that isn't known. */
  readonly protocol: () => string | undefined;
  /** Called with the reason when only one more stream fits. */
  readonly onCrowded?: ((why: string) => void) | undefined;
}

/** The protocol of the page's last request to `base` that the browser has noted. */
export function protocolTo(base: string): string | undefined {
  const { origin } = new URL(base);
  const entries = performance.getEntries() as PerformanceResourceTiming[];
  return entries.findLast(
    ({ name, nextHopProtocol }) => nextHopProtocol && name.startsWith(`${origin}/`),
  )?.nextHopProtocol;
}

/** Sends streams. `why` is the reason why one isn't on the link, for the error of one too many. */
export function createFetchedStreams(
  parts: FetchedStreamsParts,
): (request: OutgoingRequest, why: string) => Promise<PeerResponse> {
  const { fetch, protocol, onCrowded } = parts;
  let count = 0;
  return async (request, why) => {
    const way = protocol() ?? "http/1.1";
    const most = /^h[23]/.test(way) ? mostFetches.h2 : mostFetches.h1;
    if (count >= most)
      throw new TooManyStreams(
        `This page has ${most} streams open by fetch over ${way}, and one more could keep its calls from leaving. This one isn't on the page's link because ${why}`,
      );
    if (++count === most - 1) onCrowded?.(why);
    let isOver = false;
    const over = (): void => {
      if (!isOver) count--;
      isOver = true;
    };
    request.signal?.addEventListener("abort", over);
    try {
      const answer = await fetch.send(request);
      const { body } = answer;
      if (!(body instanceof Uint8Array)) return { ...answer, body: noticed(body, over) };
      over();
      return answer;
    } catch (error) {
      over();
      throw error;
    }
  };
}

/** The same body, which tells when it is over. */
function noticed(body: ByteStream, over: () => void): ByteStream {
  return {
    bytes: () => body.bytes().finally(over),
    [Symbol.asyncIterator]() {
      const reader = body[Symbol.asyncIterator]();
      return {
        async next() {
          let isOver = true;
          try {
            const result = await reader.next();
            isOver = result.done === true;
            return result;
          } finally {
            if (isOver) over();
          }
        },
        async return() {
          over();
          return (await reader.return?.()) ?? { value: undefined, done: true };
        },
      };
    },
  };
}

// /svc/stream.js: streams of procedures. /svc/remote.js loads it with a page's first stream.

import { statusOf } from "../src/base/errors.ts";
import type { Clock, Peer } from "../src/base/ports.ts";
import type { StreamSource } from "../src/runtime/bound-stream.ts";
import type { SendStream } from "../src/types/outgoing-call.ts";
import type { CallCodec, Sender } from "../src/wire/outgoing/send-call.ts";
import {
  createStreams,
  type OpenStream,
  type ReceivedStream,
} from "../src/wire/outgoing/send-stream.ts";
import { createFetchedStreams, protocolTo } from "./fetched-streams.ts";
import { browserParts, createPageLink } from "./page-link.ts";
import { resumeMs, streamIdleMs } from "./times.ts";

export { bindStream } from "../src/runtime/bound-stream.ts";

/** What /svc/remote.js shares with this file. */
export interface PageSender {
  readonly base: string;
  readonly open: Sender["open"];
  readonly codec: Pick<CallCodec, "decode">;
  readonly clock: Clock;
  readonly fetch: Peer;
}

/** For all streams of the page. */
export function createPageStreams({ base, open, codec, clock, fetch }: PageSender): SendStream {
  const link = createPageLink({
    base,
    clock,
    ...browserParts(),
    fetch: createFetchedStreams({
      fetch,
      protocol: () => protocolTo(base),
      onCrowded: (why) =>
        // oxlint-disable-next-line no-console -- its calls are about to wait, which nothing else shows
        console.warn(`Seamline: only one more stream fits beside the page's calls, as ${why}`),
    }),
  });
  return createStreams({
    open: (call, accept, take, peer = link) => open(call, accept, take, peer),
    codec,
    clock,
    departure: ({ signal }) => signal,
    idleMs: streamIdleMs,
    reopen: (ask) => new ResumedStream(ask, link, clock),
  });
}

/** A stream that is asked for again where it was cut, if its segment entry allows it. */
class ResumedStream implements StreamSource {
  readonly #ask: OpenStream;
  readonly #link: Peer;
  readonly #clock: Clock;
  #source: ReceivedStream | undefined;
  #isOver = false;
  /** Attempts since the last item. */
  #tries = 0;

  constructor(ask: OpenStream, link: Peer, clock: Clock) {
    this.#ask = ask;
    this.#link = link;
    this.#clock = clock;
  }

  async next(): Promise<IteratorResult<unknown, unknown>> {
    const source = (this.#source ??= await this.#ask());
    try {
      const result = await source.next();
      this.#tries = 0;
      return result;
    } catch (error) {
      if (!source.isCut || !source.mayResume || this.#isOver) throw error;
      this.#source = await this.#again(source.lastId, error);
      return await this.next();
    }
  }

  return(): Promise<unknown> {
    this.#isOver = true;
    return this.#source?.return() ?? Promise.resolve();
  }

  /** Asks until somebody answers, or refuses. */
  async #again(lastId: string, cut: unknown): Promise<ReceivedStream> {
    const peer: Peer = {
      send: (request) =>
        this.#link.send({ ...request, headers: { ...request.headers, "last-event-id": lastId } }),
    };
    for (;;) {
      await this.#pause();
      if (this.#isOver) throw cut;
      try {
        return await this.#ask(peer);
      } catch (error) {
        // A signal's reason, or what asking once more doesn't change.
        const status = statusOf(error);
        if (this.#isOver || status < 502) throw error;
      }
    }
  }

  /** 1 s, doubling to 30 s, at random below that; or until the network is back. */
  async #pause(): Promise<void> {
    const ms = Math.random() * Math.min(resumeMs.first * 2 ** this.#tries++, resumeMs.longest);
    let goOn = (): void => {};
    const cancel = this.#clock.after(ms, () => goOn());
    await new Promise<void>((resolve) => {
      goOn = resolve;
      globalThis.addEventListener("online", goOn);
    });
    globalThis.removeEventListener("online", goOn);
    cancel();
  }
}

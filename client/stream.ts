// /svc/stream.js: streams of procedures. /svc/remote.js loads it with a page's first stream.

import { statusOf, Unauthorized } from "../src/base/errors.ts";
import { type Clock, type Peer, TransportError } from "../src/base/ports.ts";
import type { StreamSource } from "../src/runtime/bound-stream.ts";
import type { SendStream } from "../src/types/outgoing-call.ts";
import type { CallCodec, Sender } from "../src/wire/outgoing/send-call.ts";
import {
  createStreams,
  type OpenStream,
  type ReceivedStream,
} from "../src/wire/outgoing/send-stream.ts";
import { createFetchedStreams, protocolTo } from "./fetched-streams.ts";
import { createPageLink, opener, type PageLink } from "./page-link.ts";
import { resumeMs, streamIdleMs } from "./times.ts";

export { bindStream } from "../src/runtime/bound-stream.ts";

/** The parts that /svc/remote.js shares with this file. */
export interface PageSender {
  readonly base: string;
  readonly open: Sender["open"];
  readonly codec: Pick<CallCodec, "decode">;
  readonly clock: Clock;
  readonly fetch: Peer;
  /** The other pages of the origin, which have the same cookies, tell here that they have changed them. */
  readonly pages: BroadcastChannel;
}

export interface PageStreams {
  readonly send: SendStream;
  /** The page's cookies have changed. */
  readonly renew: () => void;
}

/** For all streams of the page. */
export function createPageStreams({
  base,
  open,
  codec,
  clock,
  fetch,
  pages,
}: PageSender): PageStreams {
  const link = createPageLink({
    base,
    clock,
    open: opener(),
    fetch: createFetchedStreams({
      fetch,
      protocol: () => protocolTo(base),
      onCrowded: (why) =>
        // oxlint-disable-next-line no-console -- its calls are about to wait, which nothing else shows
        console.warn(`Seamline: only one more stream fits beside the page's calls, as ${why}`),
    }),
  });
  const streams = new Set<ResumedStream>();
  const renew = (): void => {
    link.renew();
    for (const stream of streams) stream.renew();
  };
  pages.addEventListener("message", renew);
  return {
    send: createStreams({
      open: (call, accept, take, peer = link) => open(call, accept, take, peer),
      codec,
      clock,
      departure: ({ signal }) => signal,
      idleMs: streamIdleMs,
      reopen: (ask) => new ResumedStream(ask, link, clock, streams),
    }),
    renew,
  };
}

/** A stream that is asked for again where it was cut, if its segment entry allows it. */
class ResumedStream implements StreamSource {
  readonly #ask: OpenStream;
  readonly #link: PageLink;
  readonly #clock: Clock;
  /** All that are open. */
  readonly #all: Set<ResumedStream>;
  #source: ReceivedStream | undefined;
  /** Cookies have changed since it was asked for. */
  #isOld = false;
  #isOver = false;
  /** Attempts since the last item. */
  #tries = 0;
  #endPause = (): void => {};

  constructor(ask: OpenStream, link: PageLink, clock: Clock, all: Set<ResumedStream>) {
    this.#ask = ask;
    this.#link = link;
    this.#clock = clock;
    this.#all = all.add(this);
  }

  async next(): Promise<IteratorResult<unknown, unknown>> {
    try {
      const source = (this.#source ??= await this.#open());
      const result = await source.next();
      this.#tries = 0;
      if (result.done) this.#all.delete(this);
      return result;
    } catch (error) {
      const cut = this.#source;
      if (!cut?.isCut || !cut.mayResume || this.#isOver) {
        this.#all.delete(this);
        throw error;
      }
      this.#source = await this.#again(cut.lastId, error);
    }
    return await this.next();
  }

  return(): Promise<unknown> {
    this.#isOver = true;
    this.#all.delete(this);
    this.#endPause();
    return this.#source?.return() ?? Promise.resolve();
  }

  /** The page's user may have changed. */
  renew(): void {
    this.#isOld = true;
    const source = this.#source;
    if (source?.mayResume) source.breakOff(new TransportError("The page's cookies changed", true));
    else if (source?.isGuarded)
      source.breakOff(new Unauthorized("The page's cookies have changed since the stream began"));
  }

  /** With the cookies of now: those may change before the answer is there. */
  async #open(peer?: Peer): Promise<ReceivedStream> {
    this.#isOld = false;
    const source = await this.#ask(peer);
    this.#source = source;
    if (this.#isOld) this.renew();
    return source;
  }

  /** Asks until a service answers, or refuses. */
  async #again(lastId: string, cut: unknown): Promise<ReceivedStream> {
    const peer: Peer = {
      send: (request) =>
        this.#link.send({ ...request, headers: { ...request.headers, "last-event-id": lastId } }),
    };
    let wasRefused = false;
    for (;;) {
      await this.#pause();
      if (this.#isOver) throw cut;
      try {
        return await this.#open(peer);
      } catch (error) {
        const status = statusOf(error);
        // Try once more with fresh headers over a fresh link: the user may have signed in meanwhile.
        if (status === 401 && !wasRefused) {
          wasRefused = true;
          this.#link.renew();
        } else if (this.#isOver || status < 502) {
          // The signal's reason, or a failure that would come again.
          this.#all.delete(this);
          throw error;
        }
      }
    }
  }

  /** 1 s, doubling to 30 s, at random below that; or until the network or the page is back. */
  async #pause(): Promise<void> {
    const ms = Math.random() * Math.min(resumeMs.first * 2 ** this.#tries++, resumeMs.longest);
    const events = ["online", "pageshow"];
    let cancel = (): void => {};
    await new Promise<void>((resolve) => {
      this.#endPause = resolve;
      cancel = this.#clock.after(ms, resolve);
      for (const event of events) globalThis.addEventListener(event, this.#endPause);
    });
    for (const event of events) globalThis.removeEventListener(event, this.#endPause);
    cancel();
  }
}

// /svc/remote.js: a page's outbound calls. Kept out of /svc/client.js so that pages start fast: both
// load at the same time, and only the first remote call waits for this one. Plain data and dates need no more;
// /svc/codec.js is loaded for the first other value, and for the first error.

import { type Away, createAway } from "../src/runtime/calls.ts";
import { NodeNotAvailable } from "../src/base/errors.ts";
import { cookiesChannel, cookiesHeader } from "../src/base/page-link.ts";
import type { PeerResponse } from "../src/base/ports.ts";
import type { Placement } from "../src/runtime/placement.ts";
import { defaultTime } from "../src/base/limits.ts";
import { snapshot } from "../src/codec/values/snapshot.ts";
import { parseDated, plainAnswer, plainArguments } from "../src/wire/outgoing/plain-call.ts";
import { bothEncodings, type CallCodec, createSender } from "../src/wire/outgoing/send-call.ts";
import { fetchTransport } from "./fetch-transport.ts";
import type { Rare } from "./load-rare.ts";
import { unavailable } from "./unavailable.ts";
import type { ModuleFiles } from "./module-files.ts";
import type { Browser, Revisions } from "./page-parts.ts";
import type { PageHeaders } from "../src/types/client.ts";
import type { PageStreams } from "./stream.ts";

/** The parts of a started page. */
export interface Page {
  readonly browser: Browser;
  readonly files: ModuleFiles;
  readonly revisions: Revisions;
  readonly placement: Placement;
  /** Headers that the application sets for each call that leaves the page. */
  headers?: PageHeaders | undefined;
  /** Sees each answer, in development. */
  readonly answered?: (answer: Pick<PeerResponse, "headers">) => void;
  /** Waits for `/svc/remote.js`. */
  readonly remote: () => Promise<Remote>;
  /** Loads `/svc/rare.js`. */
  readonly rare: () => Promise<Rare>;
}

/** The page's interface to this file. */
export type Remote = Away;

/** Calls to the page's service. */
export function createPageRemote(page: Page): Remote {
  const { placement } = page;
  const { clock, base } = page.browser;
  let opened: Promise<CallCodec> | undefined;
  let ready: CallCodec | undefined;
  let streams: Promise<PageStreams> | undefined;
  let channel: BroadcastChannel | undefined;
  const pages = (): BroadcastChannel => (channel ??= new BroadcastChannel(cookiesChannel));
  const loaded = (): Promise<CallCodec> =>
    (opened ??= import("./codec.ts")
      .then(({ createPageCodec }) => (ready = createPageCodec(page)))
      .catch((cause: unknown) => {
        opened = undefined;
        throw new NodeNotAvailable("Can't load /svc/codec.js", { cause });
      }));
  const codec: CallCodec = {
    encode(args) {
      const body = plainArguments(args);
      if (body !== undefined) return { body, encoding: bothEncodings };
      if (ready !== undefined) return ready.encode(args);
      const taken = snapshot(args);
      return loaded().then((all) => all.encode(taken));
    },
    async decode(response) {
      page.answered?.(response);
      if (response.headers[cookiesHeader]) {
        // Now: the caller's next stream may begin as soon as it has this answer.
        await streams?.then(({ renew }) => renew());
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origins
        pages().postMessage("");
      }
      try {
        return plainAnswer(response, parseDated) ?? (await (await loaded()).decode(response));
      } catch (error) {
        // The decoder's lines, or those of a server, have replaced the page's call.
        const call = new Error().stack?.replace(/^Error.*\n/, "");
        Reflect.set(error as Error, "stack", `${(error as Error).stack}\n${call}`);
        throw error;
      }
    },
  };
  const { call: remote, open } = createSender({
    transport: fetchTransport,
    base,
    codec,
    limits: { callTimeoutMs: defaultTime },
    clock,
    // Calls with headers come from /svc/rare.js, which has chosen them.
    sentHeaders: ({ headers }) => Object.fromEntries(headers),
    prepare: (call) =>
      page.headers || call.context.headers.size > 0
        ? page.rare().then(({ withHeaders }) => withHeaders(page, call))
        : call,
  });
  return createAway({
    placement,
    carrier: { current: () => undefined },
    clock,
    remote,
    // The reader of a stream waits for the stream's code anyway.
    stream: (...call) =>
      (streams ??= import("./stream.ts").then(
        ({ createPageStreams }) =>
          createPageStreams({ base, open, codec, clock, fetch: fetchTransport, pages: pages() }),
        (cause: unknown) => {
          streams = undefined;
          return unavailable("stream")(cause);
        },
      )).then(({ send }) => send(...call)) as never,
  });
}

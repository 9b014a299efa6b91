// The page's end of its link: one WebSocket to its service, which carries all of its streams. Browsers open six
// HTTP/1.1 connections to an origin, over all tabs, so six streams by `fetch` would leave none for calls.
// The messages are in server/http/page-links/README.md. Closures, as they are half as long as classes once minified.

import {
  mostHeadBytes,
  pageLinkHeaders,
  pageLinkProtocol,
  windowBytes,
} from "../src/base/page-link.ts";
import {
  type AbortNotice,
  type ByteStream,
  type Clock,
  type OutgoingRequest,
  type Peer,
  type PeerResponse,
  TransportError,
} from "../src/base/ports.ts";
import { headers as fields, pageLinkPath } from "../src/base/protocol.ts";
import { creditBytes, partLength } from "./limits.ts";
import { linkMs } from "./times.ts";

/** The part of a browser's WebSocket that a link uses. */
export type PageSocket = Pick<WebSocket, "addEventListener" | "send" | "close">;

export interface PageLinkParts {
  /** Address of the service: `https://shop.example`, maybe with a path. */
  readonly base: string;
  readonly clock: Clock;
  /** Opens a WebSocket. Missing in a service worker, which is stopped while it has one. */
  readonly open?: ((url: string) => PageSocket) | undefined;
  /** Sends a stream that can't go over the link, for this reason: {@link createFetchedStreams}. */
  readonly fetch: (request: OutgoingRequest, why: string) => Promise<PeerResponse>;
}

/** Sends calls that are answered with streams. */
export interface PageLink extends Peer {
  /** The next stream opens a new link, with the cookies of that time. Streams on the old one go on. */
  renew(): void;
}

/** Opens WebSockets of a page or a worker. */
export function opener(): PageLinkParts["open"] {
  return "ServiceWorkerGlobalScope" in globalThis
    ? undefined
    : (url) => new WebSocket(url, pageLinkProtocol);
}

export function createPageLink({ base, clock, open, fetch }: PageLinkParts): PageLink {
  const url = base.replace("http", "ws") + pageLinkPath;
  let current: Link | undefined;
  let retryAt = 0;
  /** Links in a row that were cut as soon as they were open. */
  let cuts = 0;

  return {
    async send(request) {
      const { signal } = request;
      const { text, added, misfit } = headOf(request, base);
      let why = misfit;
      if (!misfit && open && (current || clock.now() >= retryAt)) {
        const link = (current ??= createLink(
          () => open(url),
          clock,
          (retired, livedMs) => {
            if (current === retired) current = undefined;
            if (livedMs === undefined) return;
            cuts = livedMs < linkMs.cut ? cuts + 1 : 0;
            if (cuts > 1 || livedMs < 0) retryAt = clock.now() + linkMs.retry;
          },
        ));
        await new Promise<void>((resolve, reject) => {
          const leave = (): void => reject(signal!.reason);
          if (signal?.aborted) leave();
          signal?.addEventListener("abort", leave);
          void link.opened.then(resolve);
        });
        const { headers } = link;
        if (headers) {
          const other = added.find((name) => !headers.includes(name));
          if (!other) return await link.send(text, signal);
          why = `'streamHeaders' has no '${other}'`;
        }
      }
      return await fetch(request, why ?? `${url} can't be opened`);
    },
    renew() {
      current?.retire();
      cuts = retryAt = 0;
    },
  };
}

/** One WebSocket. */
interface Link {
  /** Resolves when it is open, or can't be opened. */
  readonly opened: Promise<void>;
  /** The fields that a stream may add to those of the handshake, as long as it is open. */
  headers?: readonly string[] | undefined;
  send(head: string, signal: AbortNotice | undefined): Promise<PeerResponse>;
  /** Takes no more streams, and closes after the last one. */
  retire(): void;
}

/**
 * `over`: the link takes no more streams; `livedMs` if it was cut, negative if it never was open. Each event may come
 * more than once, but for a cut.
 */
function createLink(
  connect: () => PageSocket,
  clock: Clock,
  over: (link: Link, livedMs?: number) => void,
): Link {
  const streams = new Map<number, (kind: string, rest: string | Error) => void>();
  let socket: PageSocket | undefined;
  let last = 0;
  let openedAt = Infinity;
  let heardAt = Infinity;
  let isRetired = false;
  let isLost = false;
  let settle: () => void;
  let cancelTimer = clock.after(linkMs.open, () => close(4000, "it didn't open in time"));

  const lost = (why: string): void => {
    cancelTimer();
    link.headers = undefined;
    settle();
    const livedMs = isRetired || isLost ? undefined : clock.now() - openedAt;
    isLost = true;
    over(link, livedMs);
    for (const take of streams.values())
      take("lost", new TransportError(`The page's link was cut: ${why}`, true));
  };
  const close = (code: number, why: string): void => {
    socket?.close(code, why);
    lost(why);
  };
  /** Closes it if it has no streams: at once if it takes no more, otherwise after a while. */
  const rest = (): void => {
    if (link.headers === undefined || streams.size > 0) return;
    cancelTimer();
    // Even then not now: those that wait for it to open come next.
    cancelTimer = clock.after(isRetired ? 0 : linkMs.idle, () => {
      isRetired = true;
      close(1000, "");
    });
  };
  const take = (data: string): void => {
    heardAt = clock.now();
    const [, kind, digits, more] = /^(open|data|end|cancel) (\d+) ?(.*)$/s.exec(data)!;
    const id = Number(digits);
    if (id > last || (link.headers === undefined && `${kind}${id}` !== "open0"))
      throw new RangeError(data);
    if (id > 0) return streams.get(id)?.(kind!, more!);
    if (kind !== "open") return link.retire();
    link.headers = [...pageLinkHeaders, ...JSON.parse(more!).headers];
    openedAt = clock.now();
    rest();
    settle();
  };

  const link: Link = {
    opened: new Promise((resolve) => (settle = resolve)),
    retire() {
      isRetired = true;
      over(link);
      rest();
    },
    send(head, signal) {
      return new Promise((resolve, reject) => {
        const id = ++last;
        let text = "";
        /** Bytes that the reader has taken since the last credit. */
        let taken = 0;
        let fault: unknown;
        let wake = (): void => {};

        const say = (kind: string, more: string | number = ""): void => {
          if (streams.has(id) && link.headers) socket!.send(`${kind} ${id} ${more}`.trimEnd());
        };
        const end = (error?: unknown): void => {
          if (!streams.delete(id)) return;
          fault = error;
          signal?.removeEventListener("abort", leave);
          // Without effect once the head is there.
          reject(error ?? new TransportError("The answer has no head", true));
          wake();
          rest();
        };
        const cancel = (error?: unknown): void => {
          text = "";
          say("cancel");
          // Something on the way has forgotten it, and would keep each stream from beginning.
          if (clock.now() - heardAt > linkMs.silent) link.retire();
          end(error);
        };
        const leave = (): void => cancel(signal!.reason);
        const isWaiting = (): boolean => text === "" && streams.has(id);
        const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
          // The chunk that was taken before has been read now.
          if (taken >= creditBytes) {
            say("credit", taken);
            taken = 0;
          }
          while (isWaiting()) await new Promise<void>((resume) => (wake = resume));
          if (text === "") {
            if (fault !== undefined) throw fault;
            return { value: undefined, done: true };
          }
          // Not within a character.
          const length = partLength + (text.codePointAt(partLength - 1)! > 0xffff ? 1 : 0);
          const value = encoder.encode(text.slice(0, length));
          text = text.slice(length);
          taken += value.length;
          return { value, done: false };
        };
        const body: ByteStream = {
          async bytes() {
            const parts: Uint8Array[] = [];
            for await (const part of body) parts.push(part);
            return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
          },
          [Symbol.asyncIterator]: () => ({
            next,
            async return() {
              cancel();
              return { value: undefined, done: true };
            },
          }),
        };
        streams.set(id, (kind, more) => {
          if (more instanceof Error) end(more);
          else if (kind === "open") resolve({ ...JSON.parse(more), body });
          else if (kind === "data") {
            text += more;
            // A character has at least as many bytes.
            if (text.length > windowBytes) throw new RangeError("more than its credit");
            wake();
          } else
            end(kind === "end" ? undefined : new TransportError("The answer was cut off", true));
        });
        signal?.addEventListener("abort", leave);
        cancelTimer();
        say("open", head);
      });
    },
  };
  // Later: the one who asks for it has to know it before it ends.
  queueMicrotask(() => {
    try {
      socket = connect();
      socket.addEventListener("close", ({ code, reason }) => lost(`${code} ${reason}`));
      socket.addEventListener("message", ({ data }) => {
        try {
          take(data);
        } catch {
          // Also what isn't a message of a link.
          close(4002, "an unknown message");
        }
      });
    } catch {
      // A policy of the page forbids it, as the browser's console says.
      lost("");
    }
  });
  return link;
}

const encoder = new TextEncoder();

interface Head {
  readonly text: string;
  /** The names of the fields that it adds to those of the handshake. */
  readonly added: readonly string[];
  /** Why the request can't go over a link. */
  readonly misfit: string | undefined;
}

/** These the service sets itself. */
const own: readonly unknown[] = [
  "content-type",
  "accept",
  fields.encoding,
  fields.hops,
  fields.deadline,
];

function headOf({ url, headers, body }: OutgoingRequest, base: string): Head {
  const added = Object.keys(headers).filter((name) => !own.includes(name));
  const text = JSON.stringify({
    target: url.slice(new URL(base).origin.length),
    encoding: headers[fields.encoding],
    headers: Object.fromEntries(added.map((name) => [name, headers[name]])),
    body,
  });
  const isLong = encoder.encode(text).length > mostHeadBytes;
  const misfit = isLong ? "its arguments are large" : undefined;
  return { text, added, misfit: typeof body === "string" ? misfit : "its arguments hold files" };
}

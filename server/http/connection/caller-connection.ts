// The state of one incoming connection, and the choice of one to close when there are too many.

import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

import { NodeNotAvailable } from "../../../src/base/errors.ts";
import { Bag, type Bagged } from "../../host/bag.ts";
import { allRead } from "../../host/event-loop.ts";
import type { HeldFor } from "../../../src/base/ports.ts";
import type { HeldMemory, Holder } from "../../host/held-memory.ts";
import { cutMs, openingMs, searchPauseMs, unusedMs } from "./times.ts";

/** Something that ends when its caller is gone. */
export interface Leaver extends Bagged {
  leave(): void;
}

export interface CallerConnection {
  /** Number of open requests. */
  open: number;
  /** When the last request ended, by the clock of `performance`. */
  idleSince: number;
  /** Called when the connection closes. */
  readonly leavers: Bag<Leaver>;
  readonly memory: HeldMemory;
  readonly holder: Holder;
  /** Whether it is over the limit of open connections, so that its calls are refused. */
  readonly isSpare: boolean;
  /** How long a stream may stand still. */
  readonly idleMs: number;
  /** Gets the fault of an answer that the caller has received completely. */
  readonly onFault: ((fault: unknown) => void) | undefined;
  /** The unknown protocol that the next request asked to upgrade to. */
  upgrade?: string | undefined;
  /** Whether a request to upgrade was refused. */
  wasRefused?: boolean;
  /** Ends the connection once its requests are answered. Only those of HTTP/2 can say that they will. */
  end?: () => void;
  /** Whether it has brought a request, if `request` stands for several. */
  hadRequest?: boolean;
  /** The last request. */
  request?: { readonly mayTakeLong: boolean; cut(reason: Error): void };
}

export interface CallerConnectionOptions {
  readonly memory: HeldMemory;
  /** How long a caller may leave an answer unread. */
  readonly untakenMs: number;
  readonly idleMs: number;
  readonly isSpare: boolean;
  readonly onFault?: ((fault: unknown) => void) | undefined;
}

export function createCallerConnection(
  socket: Socket,
  { memory, untakenMs, idleMs, isSpare, onFault }: CallerConnectionOptions,
): CallerConnection {
  return {
    open: 0,
    idleSince: performance.now(),
    leavers: new Bag(),
    memory,
    isSpare,
    idleMs,
    onFault,
    holder: memory.holder(new HeldSocket(socket), untakenMs),
  };
}

/**
 * Returns a function that closes an idle connection, or else a stalled one, and returns whether
 * there was one.
 */
export function createCloser(
  connections: ReadonlyMap<Socket, CallerConnection>,
  memory: HeldMemory,
): () => boolean {
  let nextSearch = -Infinity;
  return () => {
    const now = performance.now();
    if (now < nextSearch) return false;
    // A map keeps insertion order, so the oldest comes first.
    for (const [socket, { open, idleSince }] of connections)
      if (
        open === 0 &&
        now - idleSince >= unusedMs &&
        socket.writableLength === 0 &&
        !socket.destroyed
      ) {
        socket.destroy();
        return true;
      }
    if (memory.cutStalled()) return true;
    // All are busy. Searching again for each new connection would make a flood of them worse.
    nextSearch = now + searchPauseMs;
    return false;
  };
}

/** Whether a caller is still there. Waits until everything that has come was read, such as its leaving. */
export async function isStillOpen(socket: Socket): Promise<boolean> {
  await allRead();
  if (!socket.destroyed && !socket.readableEnded && socket.writable) return true;
  socket.destroy();
  return false;
}

/**
 * Ends the connections without a request. With `graceMs`, new connections have at most a second: their callers
 * are about to send a request, which is answered.
 */
function endIdle(connections: ReadonlyMap<Socket, CallerConnection>, graceMs: number): void {
  const end = (mayBeAwaited: boolean): void => {
    const now = performance.now();
    for (const [socket, { open, request, idleSince, end: endSession, hadRequest }] of connections) {
      const hasAsked = endSession === undefined ? request !== undefined : hadRequest === true;
      const isNew = !hasAsked && now - idleSince < openingMs;
      // Node counts a connection without any request as busy; browsers open some in advance. Parts
      // of an answer that are already written are still sent.
      if (mayBeAwaited && isNew) continue;
      if (endSession !== undefined) endSession();
      else if (open === 0) socket.destroySoon();
    }
  };
  end(graceMs > 0);
  // The connections that it waits for keep the process alive.
  if (graceMs > 0) setTimeout(end, Math.min(graceMs, openingMs), false).unref();
}

/** The end of a server's connections. */
export class ConnectionsEnd {
  readonly #connections: ReadonlyMap<Socket, CallerConnection>;
  readonly #onCut: ((count: number) => void) | undefined;
  readonly #over: Promise<void>;
  #resolve = (): void => {};
  #timer: NodeJS.Timeout | undefined;
  #isCut = false;

  /** `onCut` is called with the number of requests that are cut. */
  constructor(
    connections: ReadonlyMap<Socket, CallerConnection>,
    onCut: ((count: number) => void) | undefined,
  ) {
    this.#connections = connections;
    this.#onCut = onCut;
    this.#over = new Promise((resolve) => (this.#resolve = resolve));
  }

  /**
   * Ends connections without a request, and cuts the others after `graceMs`, however long they had before.
   * Resolves when none is left.
   */
  within(graceMs: number): Promise<void> {
    endIdle(this.#connections, graceMs);
    if (this.#connections.size === 0) this.reached();
    else if (!this.#isCut) this.#cutAfter(graceMs);
    return this.#over;
  }

  /** No connection is left. */
  reached(): void {
    clearTimeout(this.#timer);
    this.#resolve();
  }

  #cutAfter(graceMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isCut = true;
      const reason = new NodeNotAvailable("This service stopped before the request ended");
      const count = cutRequests(this.#connections, reason);
      if (count > 0) this.#onCut?.(count);
      this.#timer = setTimeout(
        () => {
          for (const socket of this.#connections.keys()) socket.destroy();
        },
        count === 0 ? 0 : cutMs,
      );
    }, graceMs);
  }
}

/** Ends all requests with this error, and returns their number. */
function cutRequests(connections: ReadonlyMap<Socket, CallerConnection>, reason: Error): number {
  let count = 0;
  for (const { open, request } of connections.values()) {
    if (open === 0) continue;
    count += open;
    request?.cut(reason);
  }
  return count;
}

/** Memory that is held for a socket, which is cut if its other end takes nothing. */
export class HeldSocket implements HeldFor {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  progress(): number {
    const { bytesRead, bytesWritten, writableLength } = this.#socket;
    return bytesRead + bytesWritten - writableLength - this.#queued();
  }

  isUntaken(): boolean {
    return this.#socket.writableLength > 0 || this.#queued() > 0;
  }

  cut(): void {
    this.#socket.destroy();
  }

  /**
   * Bytes of the last write that the system hasn't taken. Not a public API; without it a write
   * counts as one step.
   */
  #queued(): number {
    return (
      (this.#socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ??
      0
    );
  }
}

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Ends a connection whose bytes aren't HTTP, or come too slowly, as Node does without a listener for
 * `clientError`: answers and closes. If an answer has begun, it only closes, after the bytes that were written.
 */
export function endFaulty(error: NodeJS.ErrnoException, socket: Socket): void {
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse | null };
  if (socket.writable && answer?.headersSent !== true) {
    const status = statuses[error.code ?? ""] ?? 400;
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
  } else socket.uncork();
  socket.destroy(error);
}

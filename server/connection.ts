// A connection of a caller, as requests on it see it.

import type { Socket } from "node:net";

import type { HeldFor, HeldMemory, Holder } from "./held-memory.ts";

/** A connection on which so long nothing has been asked isn't about to be used, in ms. */
const idleMs = 1_000;
/** How long all connections count as busy after none was found that isn't. */
const searchMs = 100;

/** One connection: how many requests it has open, what to abort when it closes, and what it holds. */
export interface Connection {
  open: number;
  /** Since when no request is open, by the clock of `performance`. */
  idleSince: number;
  readonly aborts: Set<() => void>;
  readonly memory: HeldMemory;
  readonly holder: Holder;
  /** It is past the number of connections that are to be open: its calls are refused. */
  readonly isSpare: boolean;
}

export interface ConnectionOptions {
  readonly memory: HeldMemory;
  /** How long a caller may take nothing of an answer. */
  readonly untakenMs: number;
  readonly isSpare: boolean;
}

export function createConnection(
  socket: Socket,
  { memory, untakenMs, isSpare }: ConnectionOptions,
): Connection {
  return {
    open: 0,
    idleSince: performance.now(),
    aborts: new Set(),
    memory,
    isSpare,
    holder: memory.holder(new HeldSocket(socket), untakenMs),
  };
}

/** What closes the connection that is missed least: one that nothing happens on, or else one that stands still. It gives whether there was one. */
export function createCloser(
  connections: ReadonlyMap<Socket, Connection>,
  memory: HeldMemory,
): () => boolean {
  let nextSearch = -Infinity;
  return () => {
    const now = performance.now();
    if (now < nextSearch) return false;
    // The first ones are the oldest.
    for (const [socket, { open, idleSince }] of connections)
      if (
        open === 0 &&
        now - idleSince >= idleMs &&
        socket.writableLength === 0 &&
        !socket.destroyed
      ) {
        socket.destroy();
        return true;
      }
    if (memory.cutStalled()) return true;
    // All of them are busy: to look at each of them for every connection that comes would be what a flood of these wants.
    nextSearch = now + searchMs;
    return false;
  };
}

class HeldSocket implements HeldFor {
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

  /** What the system hasn't taken of the last write. It has no public name; without it a write counts as one step. */
  #queued(): number {
    return (
      (this.#socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ??
      0
    );
  }
}

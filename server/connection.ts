// A connection of a caller, as requests on it see it.

import type { Socket } from "node:net";

import type { HeldFor, HeldMemory, Holder } from "./held-memory.ts";

/** One connection: how many requests it has open, what to abort when it closes, and what it holds. */
export interface Connection {
  open: number;
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

export function createConnection(socket: Socket, { memory, untakenMs, isSpare }: ConnectionOptions): Connection {
  return { open: 0, aborts: new Set(), memory, isSpare, holder: memory.holder(new HeldSocket(socket), untakenMs) };
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
    return (this.#socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
  }
}

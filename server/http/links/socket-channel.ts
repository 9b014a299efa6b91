// A socket as the channel of a link.

import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

import type { HeldFor, Holding } from "../../../src/base/ports.ts";
import type {
  Channel,
  ChannelReceiver,
  LinkConnection,
  LinkTls,
} from "../../../src/base/ports/links.ts";
import type { HeldMemory, Holder } from "../../host/held-memory.ts";
import { closingMs } from "../connection/times.ts";

export class SocketChannel implements Channel {
  readonly #socket: Socket;
  #head: Buffer | undefined;
  readonly #memory: HeldMemory;
  readonly #holder: Holder;
  #cause: unknown;

  /** `head`: bytes that have already come. */
  constructor(socket: Socket, head: Buffer, memory: HeldMemory, holder: Holder) {
    this.#socket = socket;
    this.#head = head.length > 0 ? head : undefined;
    this.#memory = memory;
    this.#holder = holder;
    socket.setNoDelay(true);
    socket.setTimeout(0);
    socket.on("error", (error) => (this.#cause ??= error));
    // A socket of an HTTP server stays half open otherwise.
    socket.on("end", () => this.close());
  }

  get queued(): number {
    return this.#socket.writableLength;
  }

  get address(): string | undefined {
    return this.#socket.remoteAddress;
  }

  /** `onLeft`: these bytes aren't queued any more. */
  send(bytes: Uint8Array, isMore = false, onLeft?: () => void): void {
    if (!this.#socket.writable) return;
    if (isMore) this.#socket.cork();
    this.#socket.write(bytes, onLeft);
    // Corks count, so it takes as many to write everything at once.
    if (!isMore) while (this.#socket.writableCorked > 0) this.#socket.uncork();
  }

  close(): void {
    if (this.#socket.destroyed) return;
    this.#socket.destroySoon();
    // An other end that doesn't read would keep it open.
    if (!this.#socket.destroyed) setTimeout(() => this.#socket.destroy(), closingMs).unref();
  }

  /** Closes it. The first reason counts. */
  protected closeFor(cause: Error): void {
    this.#cause ??= cause;
    this.close();
  }

  hold(bytes: number): void {
    if (bytes > 0) this.#holder.take(bytes);
    else this.#holder.give(-bytes);
  }

  fits(bytes: number): boolean {
    return this.#memory.fits(bytes);
  }

  holding(of: HeldFor): Holding {
    return this.#memory.holding(of);
  }

  open(receiver: ChannelReceiver): void {
    const socket = this.#socket;
    const head = this.#head;
    this.#head = undefined;
    if (head !== undefined) receiver.onBytes(head);
    socket.on("data", (bytes: Buffer) => receiver.onBytes(bytes));
    socket.on("drain", () => receiver.onDrain());
    socket.once("close", () => {
      this.#holder.close();
      receiver.onClose(this.#cause);
    });
    if (socket.destroyed) receiver.onClose(this.#cause);
  }
}

/** Describes the connection to which proofs over this socket are tied. */
export function connectionOf(
  socket: Socket,
  way: LinkConnection["way"] = "socket",
): LinkConnection {
  // Not `instanceof`: other runtimes have encrypted sockets of other classes.
  const { encrypted } = socket as Partial<TLSSocket>;
  return { way, tls: encrypted === true ? tlsOf(socket as TLSSocket) : undefined };
}

function tlsOf(socket: Partial<TLSSocket>): LinkTls {
  // Bun has it for dialled connections only, Deno for none.
  if (socket.exportKeyingMaterial === undefined)
    return {
      lack: "this runtime can't tell what only the two ends of a TLS connection know: use Node",
    };
  // In earlier versions two connections can have the same secrets (RFC 7627). Node's own is never one.
  const version = socket.getProtocol?.();
  if (version !== "TLSv1.3")
    return {
      lack: `something between the two services ends TLS, as they speak TLS 1.3 and this is ${version}: let it pass TLS through`,
    };
  const secret = socket.exportKeyingMaterial(32, "EXPORTER-seamline-link-1", Buffer.alloc(0));
  return { secret: secret.toString("base64url") };
}

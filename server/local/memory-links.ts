// Links between the roles of one process, without sockets.

import { baseAt } from "../../src/base/ports/gateways.ts";
import type { Host } from "../../src/base/ports.ts";
import { type Channel, type ChannelReceiver, NoLinkThere } from "../../src/base/ports/links.ts";
import { paths } from "../../src/base/protocol.ts";
import { ask, type MemoryNetwork } from "../../src/roles/memory-network.ts";

/** A channel with fewer waiting bytes than this counts as empty. */
const littleBytes = 16 * 1024;

/** Hears of the bytes of a channel, and of its end. */
export interface ChannelTap {
  sent?(bytes: Uint8Array): void;
  received?(bytes: Uint8Array): void;
  closed?(): void;
}

export interface MemoryLinksOptions {
  /** Address of the dialling role. If no role listens there any more, it is closed, and can't dial. */
  readonly own?: string;
  /** Taps the bytes of links. */
  readonly tap?: (base: string) => ChannelTap;
  /** Gets the two ends of each link, and a function that breaks it, as when one of them is gone. */
  readonly onDial?: (ends: readonly string[], cut: () => void) => void;
}

/** Links to the roles of a network. */
export function memoryLinks(
  { roles }: Pick<MemoryNetwork, "roles">,
  { own, tap, onDial }: MemoryLinksOptions = {},
): Host["links"] {
  return {
    soon: queueMicrotask,
    async dial(base, address, dialing) {
      const origin = address === undefined ? new URL(base).origin : baseAt(base, address);
      const role = own === undefined || roles.has(own) ? roles.get(origin) : undefined;
      if (role === undefined) throw new Error(`${origin} refused the connection`);
      const connection = { way: "socket", tls: undefined } as const;
      if (role.accept === undefined) {
        const { status, headers, text } = await ask(
          role,
          "GET",
          paths.link,
          dialing.fields(connection),
        );
        dialing.refused({ status, headers, body: text });
        throw new NoLinkThere(`${origin} takes no links`);
      }
      for (;;) {
        const headers = dialing.fields(connection);
        const answer = role.accept({ ...connection, headers, from: own });
        if (answer === undefined) throw new Error(`${origin} closed the connection`);
        if (!("open" in answer)) {
          dialing.refused(answer);
          continue;
        }
        const [here, there] = memoryChannels();
        answer.open(there);
        if (own !== undefined) onDial?.([own, origin], () => here.cut());
        return tap === undefined ? here : tapped(here, tap(origin));
      }
    },
  };
}

/** The two ends of a channel. */
export function memoryChannels(): readonly [MemoryChannel, MemoryChannel] {
  const [here, there] = [new MemoryChannel(), new MemoryChannel()];
  here.to(there);
  there.to(here);
  return [here, there];
}

/** The channel, of which `tap` hears. */
export function tapped(channel: Channel, tap: ChannelTap): Channel {
  return {
    send(bytes) {
      tap.sent?.(bytes);
      channel.send(bytes);
    },
    get queued() {
      return channel.queued;
    },
    close: () => channel.close(),
    open: (receiver) =>
      channel.open({
        onBytes(bytes) {
          tap.received?.(bytes);
          receiver.onBytes(bytes);
        },
        onDrain: () => receiver.onDrain(),
        onClose(cause) {
          tap.closed?.();
          receiver.onClose(cause);
        },
      }),
  };
}

export class MemoryChannel implements Channel {
  #other: MemoryChannel | undefined;
  #receiver: ChannelReceiver | undefined;
  /** Bytes that have arrived and haven't been handed over. */
  #arrived: Uint8Array[] = [];
  #queued = 0;
  #isDelivering = false;
  #isClosing = false;
  #isClosed = false;

  to(other: MemoryChannel): void {
    this.#other = other;
  }

  get queued(): number {
    return this.#queued;
  }

  send(bytes: Uint8Array): void {
    if (this.#isClosing || this.#isClosed) return;
    this.#queued += bytes.length;
    this.#other!.#take(bytes);
  }

  close(): void {
    this.#isClosing = true;
    this.#other!.#deliverSoon();
    this.#deliverSoon();
  }

  /** Closes both ends at once. Bytes on their way are lost. */
  cut(): void {
    for (const end of [this, this.#other!]) {
      if (end.#isClosed) continue;
      end.#isClosed = end.#isClosing = true;
      end.#receiver?.onClose();
    }
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.#deliverSoon();
  }

  #take(bytes: Uint8Array): void {
    this.#arrived.push(bytes);
    this.#deliverSoon();
  }

  #deliverSoon(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    queueMicrotask(() => {
      this.#isDelivering = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    const receiver = this.#receiver;
    const other = this.#other;
    if (receiver === undefined || other === undefined || this.#isClosed) return;
    for (const bytes of this.#arrived.splice(0)) {
      if (!this.#isClosing) receiver.onBytes(bytes);
      other.#left(bytes.length);
    }
    if (this.#isClosing || other.#isClosing) {
      this.#isClosed = this.#isClosing = true;
      other.#deliverSoon();
      receiver.onClose();
    }
  }

  #left(bytes: number): void {
    const wasCrowded = this.#queued > littleBytes;
    this.#queued -= bytes;
    if (wasCrowded && this.#queued <= littleBytes && !this.#isClosed) this.#receiver?.onDrain();
  }
}

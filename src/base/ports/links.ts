// Interfaces that a host implements for links between services.

import type { HeldFor, Holding } from "./held.ts";

/** A carrier for a link: both directions at once, in order, and lossless until it closes. */
export interface Channel {
  /** Sends bytes, which the channel may keep. `isMore`: more bytes follow at once. */
  send(bytes: Uint8Array, isMore?: boolean): void;
  /** The number of bytes that have been sent and haven't left yet. */
  readonly queued: number;
  /** The IP address of the other end, if it has one. */
  readonly address?: string | undefined;
  /** Closes it once everything that was sent has left, or the other end has stopped reading. */
  close(): void;
  /** Starts delivering to `receiver`. Called once. */
  open(receiver: ChannelReceiver): void;
  /** Adds this many bytes to the memory that is held for its data, which is limited; negative to subtract. */
  hold?(bytes: number): void;
  /** Whether this many more bytes may be held. */
  fits?(bytes: number): boolean;
  /** The same for something that can be cut by itself when memory is short. */
  holding?(of: HeldFor): Holding;
}

export interface ChannelReceiver {
  /** The bytes don't change any more. */
  onBytes(bytes: Uint8Array): void;
  /** Little or nothing is queued any more. */
  onDrain(): void;
  /** No more bytes arrive or leave. Called once, also after `close`. */
  onClose(cause?: unknown): void;
}

/** Header fields, as `HeaderFields` of the ports, which import this file. */
type LinkFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A secret that only the two ends of a TLS connection know, or why this end can't get one, with what to do. */
export type LinkTls = { readonly secret: string } | { readonly lack: string };

/** The connection that is to carry a link. */
export interface LinkConnection {
  /** The kind of connection. */
  readonly way: "socket" | "websocket";
  /** The TLS between this end and the next one; `undefined` without TLS. */
  readonly tls: LinkTls | undefined;
}

/** Another service asks for a link. */
export interface LinkUpgrade extends LinkConnection {
  /** The fields that are named in `linkHeaders`. */
  readonly headers: LinkFields;
  /** The other end's address, for the log. */
  readonly from: string | undefined;
}

/** A refused request for a link. */
export interface LinkRefusal {
  readonly status: number;
  readonly headers: LinkFields;
  readonly body: string;
}

/**
 * The answer to a request for a link. `undefined` for no answer, as the service is stopping: any answer would mean
 * that it takes no links.
 */
export type LinkAnswer =
  | undefined
  | LinkRefusal
  | {
      readonly status: 101;
      /** Takes the channel that the connection has become. */
      open(channel: Channel): void;
    };

/** A service's side of the handshake for a link, over as many requests as it takes. */
export interface LinkDialing {
  /** The fields of the next request, which goes over this connection. */
  fields(connection: LinkConnection): Readonly<Record<string, string>>;
  /** Takes a refusal. Returns if the request is to be sent again, and throws the reason why there is no link. */
  refused(answer: LinkRefusal): void;
}

/** The other end was reached, and it or a proxy on the way doesn't take links. */
export class NoLinkThere extends Error {
  override readonly name: string = "NoLinkThere";
}

/** `Handle` answers a request, `Send` sends one. */
export interface LinkHost<Handle, Send = never> {
  /**
   * Opens a channel to `base`, at this IP address [the address of its host], once the service there accepts the
   * handshake of `dialing`. Rejects with {@link NoLinkThere}, with another error if a later try may succeed, or
   * with the error that `dialing` throws.
   */
  dial(base: string, address: string | undefined, dialing: LinkDialing): Promise<Channel>;
  /** Wraps the handler of a link's requests, where a host has something to add. */
  readonly around?: (handle: Handle) => Handle;
  /** The same for requests that are sent. `to` returns the address of the other end, once that is known. */
  readonly sending?: ((send: Send, to: () => string) => Send) | undefined;
  /** The versions of the protocol that another release speaks, for tests [this release's]. */
  readonly versions?: readonly [lowest: number, highest: number] | undefined;
  /** Runs this at the end of the event loop's turn, after the turn's other callbacks. */
  soon(run: () => void): void;
}

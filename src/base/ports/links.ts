// What a host provides for links between services.

import type { HeldFor, Holding } from "./held.ts";

/** What carries a link: both ways at once, in order, and without a loss until it closes. */
export interface Channel {
  /** Sends bytes, which the channel may keep. `isMore`: others follow at once. */
  send(bytes: Uint8Array, isMore?: boolean): void;
  /** How many bytes have been sent and haven't left yet. */
  readonly queued: number;
  /** The IP address of the other end, if it has one. */
  readonly address?: string | undefined;
  /** Closes it once everything that was sent has left, or nobody takes it. */
  close(): void;
  /** Hands over what comes. Called once. */
  open(receiver: ChannelReceiver): void;
  /** So many bytes more or less are held for what it carries, in the memory that is limited. */
  hold?(bytes: number): void;
  /** Whether so many bytes more may be held. */
  fits?(bytes: number): boolean;
  /** The same for something that can be cut by itself when memory is short. */
  holding?(of: HeldFor): Holding;
}

export interface ChannelReceiver {
  /** Nobody changes the bytes any more. */
  onBytes(bytes: Uint8Array): void;
  /** Little or nothing is queued any more. */
  onDrain(): void;
  /** Nothing comes or leaves any more. Called once, also after `close`. */
  onClose(cause?: unknown): void;
}

/** Header fields, as `HeaderFields` of the ports, which import this file. */
type LinkFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What only the two ends of a TLS connection know, or why this end can't tell, with what to do. */
export type LinkTls = { readonly secret: string } | { readonly lack: string };

/** The connection that is to carry a link. */
export interface LinkConnection {
  /** What the channel is made of. */
  readonly way: "socket" | "websocket";
  /** What this end knows of the TLS between it and the next one. `undefined`: it has none. */
  readonly tls: LinkTls | undefined;
}

/** Another service asks for a link. */
export interface LinkUpgrade extends LinkConnection {
  /** The fields that are named in `linkHeaders`. */
  readonly headers: LinkFields;
  /** The other end's address, for the log. */
  readonly from: string | undefined;
}

/** There is no link, or not yet. */
export interface LinkRefusal {
  readonly status: number;
  readonly headers: LinkFields;
  readonly body: string;
}

/**
 * What a service answers that was asked for a link. `undefined`: nothing, as it stops. Any answer would say
 * that it takes no links.
 */
export type LinkAnswer =
  | undefined
  | LinkRefusal
  | {
      readonly status: 101;
      /** Takes the channel that the connection is now. */
      open(channel: Channel): void;
    };

/** What a service says when it asks for a link, as often as it has to. */
export interface LinkDialing {
  /** The fields of the next request, which goes over this connection. */
  fields(connection: LinkConnection): Readonly<Record<string, string>>;
  /** Takes an answer. Returns if the service is to be asked again, and throws why there is no link. */
  refused(answer: LinkRefusal): void;
}

/** The other end was reached, and takes no links, or something on the way doesn't. */
export class NoLinkThere extends Error {
  override readonly name: string = "NoLinkThere";
}

/** `Handle` answers a request, `Send` sends one. */
export interface LinkHost<Handle, Send = never> {
  /**
   * Opens a channel to `base`, at this IP address [what its host resolves to], once the service there
   * takes what `dialing` says. Rejects with {@link NoLinkThere}, with another error if it may go better
   * later, or with what `dialing` throws.
   */
  dial(base: string, address: string | undefined, dialing: LinkDialing): Promise<Channel>;
  /** Stands before what answers the requests of links, where a host has something to do there. */
  readonly around?: (handle: Handle) => Handle;
  /** The same for requests that are sent. `to` returns the address of the other end, once that is known. */
  readonly sending?: ((send: Send, to: () => string) => Send) | undefined;
  /** The versions of the protocol that another release speaks, for tests [this release's]. */
  readonly versions?: readonly [lowest: number, highest: number] | undefined;
  /** Runs this at the end of the turn of the event loop, together with what else happens in it. */
  soon(run: () => void): void;
}

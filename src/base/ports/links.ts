// What a host provides for links between services.

/** What carries a link: both ways at once, in order, and without a loss until it closes. */
export interface Channel {
  /** Sends bytes, which the channel may keep. `isMore`: others follow at once. */
  send(bytes: Uint8Array, isMore?: boolean): void;
  /** How many bytes have been sent and haven't left yet. */
  readonly queued: number;
  /** Closes it once everything that was sent has left, or nobody takes it. */
  close(): void;
  /** Hands over what comes. Called once. */
  open(receiver: ChannelReceiver): void;
  /** The other end has shown the key. */
  trust?(): void;
  /** So many bytes more or less are held for what it carries, in the memory that is limited. */
  hold?(bytes: number): void;
  /** Whether so many bytes more may be held. */
  fits?(bytes: number): boolean;
}

export interface ChannelReceiver {
  /** Nobody changes the bytes any more. */
  onBytes(bytes: Uint8Array): void;
  /** Little or nothing is queued any more. */
  onDrain(): void;
  /** Nothing comes or leaves any more. Called once, also after `close`. */
  onClose(cause?: unknown): void;
}

/** A channel, and what both ends know of it without being told. */
export interface DialledChannel {
  readonly channel: Channel;
  readonly connection: string;
}

/** The other end was reached, and takes no links, or something on the way doesn't. */
export class NoLinkThere extends Error {
  override readonly name: string = "NoLinkThere";
}

/** `Handle` answers a request. */
export interface LinkHost<Handle> {
  /**
   * Opens a channel to `base`, at this IP address [what its host resolves to]. Rejects with
   * {@link NoLinkThere}, or with another error if it may go better later.
   */
  dial(base: string, address?: string): Promise<DialledChannel>;
  /** Stands before what answers the requests of links, where a host has something to do there. */
  readonly around?: (handle: Handle) => Handle;
  /** The versions of the protocol that another release speaks, for tests [this release's]. */
  readonly versions?: readonly [lowest: number, highest: number] | undefined;
  /** Runs this at the end of the turn of the event loop, together with what else happens in it. */
  soon(run: () => void): void;
}

// Keys and values that services share on a server outside of the deployment. Whoever may write there can
// write anything, so a value is only worth what its own signature or digest proves.

/** `lists` holds what is too long for an entry, in parts. */
export type BucketName = "gateways" | "members" | "lists";

/** What a host tells of the server that holds the buckets. */
export interface BucketEvents {
  /** The server answers, for the first time or again. It may have lost what was in it. */
  onReached(): void;
  /** It doesn't answer. Told once, until it is reached. */
  onAway(why: string): void;
}

export interface Buckets {
  /** The server's addresses, for people. */
  readonly name: string;
  /**
   * Resolves when the server is reached, however long that takes. Rejects if it never will be, as the
   * credentials are wrong, for instance.
   */
  open(events: BucketEvents): Promise<void>;
  /** Resolves when the value is stored. */
  put(bucket: BucketName, key: string, value: Uint8Array): Promise<void>;
  /** `undefined`: there is no such key. Rejects if the server doesn't say. */
  get(bucket: BucketName, key: string): Promise<Uint8Array | undefined>;
  /**
   * Passes on the values that there are, then calls `onListed`, and passes on what changes. It begins
   * again whenever the server is reached again.
   */
  watch(
    bucket: BucketName,
    onValue: (key: string, value: Uint8Array) => void,
    onListed: () => void,
  ): () => void;
  close(): Promise<void>;
}

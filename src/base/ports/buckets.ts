// Keys and values that services share on a server outside of the deployment. Anything with write access there can
// write anything, so a value is only worth what its own signature or digest proves.

/** `lists` holds values that are too long for an entry, in parts. */
export type BucketName = "gateways" | "members" | "lists";

/** Events of the server that holds the buckets. */
export interface BucketEvents {
  /** The server answers, for the first time or again. Its data may be lost. */
  onReached(): void;
  /** The server doesn't answer. Called once, until it is reached again. */
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
  /** `undefined` if there is no such key. Rejects if the server doesn't answer. */
  get(bucket: BucketName, key: string): Promise<Uint8Array | undefined>;
  /**
   * Passes on the current values, then calls `onListed`, and passes on changes. Starts over each time the server is
   * reached again.
   */
  watch(
    bucket: BucketName,
    onValue: (key: string, value: Uint8Array) => void,
    onListed: () => void,
  ): () => void;
  close(): Promise<void>;
}

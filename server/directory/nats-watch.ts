// Lists what is in a bucket, and then passes on what changes, over one connection.

import type { KV, KvWatchEntry } from "@nats-io/kv";
import type { QueuedIterator } from "@nats-io/transport-node";
import type { BucketName, Buckets } from "../../src/base/ports/buckets.ts";
import { nodeClock } from "../http/clock.ts";

/** Waits no longer for the last value of a list: it may have run out meanwhile. */
const listMs = 2_000;

type OnValue = Parameters<Buckets["watch"]>[1];

export class NatsWatch {
  readonly bucket: BucketName;
  readonly #onValue: OnValue;
  readonly #onListed: () => void;
  #iterator: QueuedIterator<KvWatchEntry> | undefined;

  constructor(bucket: BucketName, onValue: OnValue, onListed: () => void) {
    this.bucket = bucket;
    this.#onValue = onValue;
    this.#onListed = onListed;
  }

  stop(): void {
    this.#iterator?.stop();
  }

  /** Resolves when it is over, or when the server ends it. */
  async run(store: KV, isOver: () => boolean): Promise<void> {
    this.stop();
    let cancel = (): void => {};
    let isListed = false;
    const listed = (): void => {
      if (isListed || isOver()) return;
      isListed = true;
      cancel();
      this.#onListed();
    };
    try {
      const { values } = await store.status();
      const iterator = await store.watch();
      if (isOver()) return iterator.stop();
      this.#iterator = iterator;
      if (values === 0) listed();
      else cancel = nodeClock.after(listMs, listed);
      for await (const { key, value, operation, delta } of iterator) {
        if (isOver()) break;
        // A process that leaves says so in an entry of its own, which is signed. A key that is gone says nothing.
        if (operation === "PUT") this.#onValue(key, value);
        if (delta === 0) listed();
      }
    } finally {
      cancel();
    }
  }
}

// Buckets in memory, and the server that holds them: it can be away, forget, and hold values that no service writes.

import type { BucketEvents, BucketName, Buckets } from "../src/base/ports/buckets.ts";

type OnValue = Parameters<Buckets["watch"]>[1];

interface Watch {
  readonly bucket: BucketName;
  readonly onValue: OnValue;
  readonly onListed: () => void;
}

export class MemoryServer {
  readonly values = new Map<string, Uint8Array>();
  readonly puts: string[] = [];
  readonly #clients = new Set<MemoryBuckets>();
  #isAway = false;

  get isAway(): boolean {
    return this.#isAway;
  }

  /** A service's client of it. */
  buckets(): Buckets {
    const buckets = new MemoryBuckets(this);
    this.#clients.add(buckets);
    return buckets;
  }

  away(): void {
    this.#isAway = true;
    for (const client of this.#clients) client.events?.onAway("it was switched off");
  }

  back(): void {
    this.#isAway = false;
    for (const client of this.#clients) client.reach();
  }

  /** Loses its values. */
  forget(): void {
    this.values.clear();
  }

  /** Writes as any client that may, without a check. */
  write(bucket: BucketName, key: string, value: Uint8Array): void {
    this.puts.push(`${bucket} ${key}`);
    this.values.set(`${bucket} ${key}`, value.slice());
    for (const client of this.#clients) client.changed(bucket, key, value);
  }

  closed(client: MemoryBuckets): void {
    this.#clients.delete(client);
  }
}

class MemoryBuckets implements Buckets {
  readonly name = "a server in memory";
  readonly #server: MemoryServer;
  readonly #watches = new Set<Watch>();
  #opened: (() => void) | undefined;
  events: BucketEvents | undefined;

  constructor(server: MemoryServer) {
    this.#server = server;
  }

  async open(events: BucketEvents): Promise<void> {
    this.events = events;
    if (!this.#server.isAway) return this.reach();
    events.onAway("it is switched off");
    await new Promise<void>((resolve) => (this.#opened = resolve));
  }

  reach(): void {
    this.events?.onReached();
    for (const watch of this.#watches) this.#list(watch);
    this.#opened?.();
  }

  async put(bucket: BucketName, key: string, value: Uint8Array): Promise<void> {
    this.#asked();
    this.#server.write(bucket, key, value);
  }

  async get(bucket: BucketName, key: string): Promise<Uint8Array | undefined> {
    this.#asked();
    return this.#server.values.get(`${bucket} ${key}`);
  }

  watch(bucket: BucketName, onValue: OnValue, onListed: () => void): () => void {
    const watch = { bucket, onValue, onListed };
    this.#watches.add(watch);
    if (!this.#server.isAway) this.#list(watch);
    return () => void this.#watches.delete(watch);
  }

  changed(bucket: BucketName, key: string, value: Uint8Array): void {
    for (const watch of this.#watches) if (watch.bucket === bucket) watch.onValue(key, value);
  }

  async close(): Promise<void> {
    this.#server.closed(this);
  }

  #list({ bucket, onValue, onListed }: Watch): void {
    for (const [name, value] of this.#server.values)
      if (name.startsWith(`${bucket} `)) onValue(name.slice(bucket.length + 1), value);
    onListed();
  }

  #asked(): void {
    if (this.#server.isAway) throw new Error("it is switched off");
  }
}

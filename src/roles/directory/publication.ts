// Publishes this process's entry in the directory: when it changes, every 30 s, and when the server is back.

import { BackOff } from "../../base/back-off.ts";
import type { BucketName, Buckets } from "../../base/ports/buckets.ts";
import type { Clock, Log } from "../../base/ports.ts";
import type { Entries } from "./entry.ts";
import { everyMs, patienceMs, retryMs } from "../common/times.ts";

export interface PublicationParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly buckets: Buckets;
  readonly bucket: BucketName;
  readonly entries: Entries;
  readonly instance: string;
  /** Writes the list that an entry refers to. Runs before each entry except the last. */
  readonly before?: () => Promise<void>;
}

export class Publication {
  readonly #parts: PublicationParts;
  #sequence = 0;
  #content: unknown;
  /** The last content that was written. */
  #written: unknown;
  #isReached = false;
  #isLeaving = false;
  #writing: Promise<void> | undefined;
  /** Whether the content has changed while it was being written. */
  #isStale = false;
  #hasWarned = false;
  readonly #backOff = new BackOff(retryMs.entry);
  #cancel = (): void => {};

  constructor(parts: PublicationParts) {
    this.#parts = parts;
  }

  /** Publishes this content from now on. Resolves after the first try to write it. */
  async say(content: unknown): Promise<void> {
    if (this.#isLeaving) return;
    this.#content = content;
    await this.#write();
  }

  reached(): void {
    this.#isReached = true;
    if (this.#content === undefined || this.#isLeaving) return;
    const { bucket, clock } = this.#parts;
    if (bucket !== "members" || this.#written !== this.#content) return void this.#write();
    this.#cancel();
    this.#cancel = clock.after(patienceMs.membersAgain * Math.random(), () => void this.#write());
  }

  /** Waits for the server. */
  away(): void {
    this.#isReached = false;
    this.#cancel();
  }

  /** Publishes that this process has left. If the server is away, its entry expires later. */
  async leave(): Promise<void> {
    const hasSaid = this.#content !== undefined;
    this.#isLeaving = true;
    this.#cancel();
    this.#content = undefined;
    if (!hasSaid || !this.#isReached) return;
    const { clock } = this.#parts;
    await Promise.race([
      (this.#writing ?? Promise.resolve())
        .then(() => this.#put())
        .catch(() => {
          // Its entry expires by itself.
        }),
      new Promise<void>((resolve) => void clock.after(patienceMs.directory, resolve)),
    ]);
  }

  stop(): void {
    this.#isLeaving = true;
    this.#cancel();
  }

  async #write(): Promise<void> {
    this.#cancel();
    if (!this.#isReached) return;
    if (this.#writing !== undefined) {
      this.#isStale = true;
      return await this.#writing;
    }
    this.#isStale = false;
    this.#writing = this.#tryPut();
    await this.#writing;
    this.#writing = undefined;
    if (this.#isLeaving || !this.#isReached) return;
    if (this.#isStale) await this.#write();
  }

  async #tryPut(): Promise<void> {
    const { bucket, buckets, log, before } = this.#parts;
    let nextMs: number;
    try {
      await before?.();
      const content = this.#content;
      await this.#put();
      this.#written = content;
      if (this.#hasWarned) log.info(`this service is in the directory's ${bucket} again`);
      this.#hasWarned = false;
      this.#backOff.reset();
      // Random, so that services that were started together don't write together.
      nextMs = everyMs.entry * (0.75 + Math.random() / 4);
    } catch (error) {
      if (this.#isLeaving || !this.#isReached) return;
      if (!this.#hasWarned)
        log.warn(
          `can't write to the directory's ${bucket} at ${buckets.name} (${(error as Error).message}); trying again`,
        );
      this.#hasWarned = true;
      nextMs = this.#backOff.next();
    }
    if (!this.#isLeaving && this.#isReached)
      this.#cancel = this.#parts.clock.after(nextMs, () => void this.#write());
  }

  async #put(): Promise<void> {
    const { buckets, bucket, entries, instance } = this.#parts;
    const entry = { instance, sequence: ++this.#sequence, content: this.#content };
    await buckets.put(bucket, instance, entries.write(bucket, entry));
  }
}

// A service's copy of a bucket's entries. An entry is valid while it keeps changing: a process that has crashed
// writes no new ones.

import type { BucketName } from "../../base/ports/buckets.ts";
import type { Clock, Log } from "../../base/ports.ts";
import type { Entries } from "./entry.ts";
import { everyMs } from "../common/times.ts";
import { maxRecords, maxWarnings } from "../common/limits.ts";

/** An entry that hasn't changed for three refreshes expires. */
const sweepsToLive = (3 * everyMs.entry) / everyMs.sweep;

interface KnownEntry<Content> {
  sequence: number;
  /** `undefined`: the process has left, or its entry has expired. */
  content: Content | undefined;
  /** Number of sweeps since it changed. */
  sweeps: number;
}

export interface ReplicaParts<Content> {
  readonly clock: Clock;
  readonly log: Log;
  readonly bucket: BucketName;
  readonly entries: Entries;
  /** Reads the content of an entry. Throws an error with the mistake. */
  readonly read: (content: unknown) => Content;
  /** Called for each change with the process and its content, `undefined` if the process has ended. */
  readonly onChange: (instance: string, content: Content | undefined) => void;
}

export class Replica<Content> {
  readonly #parts: ReplicaParts<Content>;
  readonly #known = new Map<string, KnownEntry<Content>>();
  readonly #warned = new Set<string>();
  /** Number of remembered processes that have ended. */
  #ended = 0;
  #hasWarnedOfMany = false;
  #isReached = false;
  #cancel = (): void => {};

  constructor(parts: ReplicaParts<Content>) {
    this.#parts = parts;
  }

  /** The contents of valid entries, by process. */
  get all(): ReadonlyMap<string, Content> {
    const all = new Map<string, Content>();
    for (const [instance, { content }] of this.#known)
      if (content !== undefined) all.set(instance, content);
    return all;
  }

  readonly onValue = (key: string, value: Uint8Array): void => {
    const { bucket, entries, read, onChange } = this.#parts;
    let sequence: number;
    let content: Content | undefined;
    try {
      const entry = entries.read(bucket, key, value);
      sequence = entry.sequence;
      content = entry.content === undefined ? undefined : read(entry.content);
    } catch (error) {
      return this.#warn(key, (error as Error).message);
    }
    const known = this.#known.get(key);
    // An attacker may restore an old entry.
    if (known !== undefined && sequence <= known.sequence) return;
    if (known === undefined && this.#known.size >= maxRecords && !this.#forgetOne())
      return this.#warnOfMany();
    const isNews = JSON.stringify(known?.content) !== JSON.stringify(content);
    this.#known.set(key, { sequence, content, sweeps: 0 });
    this.#ended += endedOf(content) - (known === undefined ? 0 : endedOf(known.content));
    if (isNews) onChange(key, content);
  };

  /** The server is reachable: from now on, entries that don't change expire. */
  reached(): void {
    this.#isReached = true;
    for (const entry of this.#known.values()) entry.sweeps = 0;
    this.#cancel();
    this.#sweepLater();
  }

  /** No entry can be written, so none expires. */
  away(): void {
    this.#isReached = false;
    this.#cancel();
  }

  stop(): void {
    this.away();
    this.#known.clear();
    this.#ended = 0;
  }

  #sweepLater(): void {
    this.#cancel = this.#parts.clock.after(everyMs.sweep, () => {
      if (!this.#isReached) return;
      this.#sweep();
      this.#sweepLater();
    });
  }

  #sweep(): void {
    for (const [instance, entry] of this.#known) {
      if (entry.content === undefined || ++entry.sweeps < sweepsToLive) continue;
      entry.content = undefined;
      this.#ended++;
      this.#parts.onChange(instance, undefined);
    }
  }

  /** Drops a process that has ended. Its number was kept so that an old entry isn't taken for a new one. */
  #forgetOne(): boolean {
    // Searching at each ignored value would take longer than reading it.
    if (this.#ended === 0) return false;
    for (const [instance, { content }] of this.#known) {
      if (content !== undefined) continue;
      this.#ended--;
      return this.#known.delete(instance);
    }
    return false;
  }

  #warnOfMany(): void {
    if (this.#hasWarnedOfMany) return;
    this.#hasWarnedOfMany = true;
    const { bucket, log } = this.#parts;
    log.warn(
      `the directory has more than ${maxRecords} ${bucket}: this service knows the first ${maxRecords}, and others when some of these have left`,
    );
  }

  #warn(key: string, why: string): void {
    if (this.#warned.has(key) || this.#warned.size >= maxWarnings) return;
    this.#warned.add(key);
    const { bucket, log } = this.#parts;
    const isLast = this.#warned.size === maxWarnings;
    log.warn(
      `ignored a value in the directory's ${bucket}, ${JSON.stringify(key.slice(0, 100))}: ${why}${
        isLast ? ". More of them won't be logged" : ""
      }`,
    );
  }
}

function endedOf(content: unknown): number {
  return content === undefined ? 1 : 0;
}

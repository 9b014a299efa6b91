// What a service knows of a bucket's entries. An entry counts while it changes: a process that has ended
// without a word writes no new ones.

import type { BucketName } from "../../base/ports/buckets.ts";
import type { Clock, Log } from "../../base/ports.ts";
import type { Entries } from "./entry.ts";
import { everyMs } from "../common/times.ts";

/** An entry that hasn't changed for three refreshes is over. */
const sweepsToLive = (3 * everyMs.entry) / everyMs.sweep;
/** More than deployments have. Those that have ended count, as they are remembered. */
const maxRecords = 10_000;
/** So many values that aren't entries are worth a line in the log. */
const maxWarnings = 20;

interface KnownEntry<Content> {
  sequence: number;
  /** `undefined`: the process has left, or has been silent for too long. */
  content: Content | undefined;
  /** Looked at so many times since it changed. */
  sweeps: number;
}

export interface ReplicaParts<Content> {
  readonly clock: Clock;
  readonly log: Log;
  readonly bucket: BucketName;
  readonly entries: Entries;
  /** Throws an error that says what is wrong with the content of an entry. */
  readonly read: (content: unknown) => Content;
  /** Called with what changed: the process, and what it says now, or `undefined` if it has ended. */
  readonly onChange: (instance: string, content: Content | undefined) => void;
}

export class Replica<Content> {
  readonly #parts: ReplicaParts<Content>;
  readonly #known = new Map<string, KnownEntry<Content>>();
  readonly #warned = new Set<string>();
  /** So many have ended, of those that are known. */
  #ended = 0;
  #hasWarnedOfMany = false;
  #isReached = false;
  #cancel = (): void => {};

  constructor(parts: ReplicaParts<Content>) {
    this.#parts = parts;
  }

  /** What the processes say that are there. */
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
    // Somebody may put back what was true once.
    if (known !== undefined && sequence <= known.sequence) return;
    if (known === undefined && this.#known.size >= maxRecords && !this.#forgetOne())
      return this.#warnOfMany();
    const isNews = JSON.stringify(known?.content) !== JSON.stringify(content);
    this.#known.set(key, { sequence, content, sweeps: 0 });
    this.#ended += endedOf(content) - (known === undefined ? 0 : endedOf(known.content));
    if (isNews) onChange(key, content);
  };

  /** Entries can be written: from now on, those that don't change run out. */
  reached(): void {
    this.#isReached = true;
    for (const entry of this.#known.values()) entry.sweeps = 0;
    this.#cancel();
    this.#sweepLater();
  }

  /** Nobody can write, so nothing runs out. */
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

  /** Makes room: for all that have ended, a number is kept, so that their entries aren't taken for news. */
  #forgetOne(): boolean {
    // A search in each of the values that are ignored would take longer than to read them.
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

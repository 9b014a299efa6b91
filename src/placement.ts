// What is here and what is away: points every seam of a node at its procedure, or at a call that leaves.
// It is all that a page needs to start, so it knows neither how a call leaves nor who may call from outside.

import { NodeNotAvailable, SegmentNotFound } from "./errors.ts";
import { procedureKey } from "./fqn.ts";
import type { Waits } from "./loading.ts";
import { entryOf, type Manifest, type ProcedureRecord, type SegmentEntry } from "./manifest.ts";
import type { Clock, ModuleLoader } from "./ports.ts";
import type { Procedure, Seam, SeamRecord } from "./seam.ts";

/** One call through a seam, as {@link Placement.observe} reports it when it has ended. */
export interface ObservedCall {
  readonly fqn: string;
  readonly version: string;
  /** `here` on this node, `away` on another. */
  readonly where: "here" | "away";
  /** The other node's name, when its configuration gives it one. */
  readonly node?: string;
  readonly ms: number;
  readonly error?: unknown;
}

/** A procedure of this node. */
export interface Held {
  readonly record: ProcedureRecord;
  readonly run: Procedure;
}

export interface PlacementParts {
  readonly loader: Pick<ModuleLoader, "import">;
  readonly clock: Clock;
  /** What a seam to another node runs. */
  readonly away: (seam: SeamRecord) => Procedure;
  /** Hears of each procedure that has come, before any seam leads to it, and gives what seams run in its place. */
  readonly add?: (
    segment: string,
    record: ProcedureRecord,
    entry: SegmentEntry,
    run: Procedure,
  ) => Procedure;
  /** Finds bodies that would wait for each other for ever, where the platform can tell who waits. */
  readonly waits?: Waits;
}

export interface Placement {
  /** Points a seam, now and whenever something changes. */
  readonly attach: (seam: Seam) => void;
  /**
   * Loads segments of a manifest that may still be on its way: seams wait for it, and then each for its own body only.
   * The manifest has these segments.
   */
  readonly load: (manifest: Promise<Manifest>, segments: readonly string[]) => Promise<void>;
  /** Lets procedures go: from now on calls of them leave. By their keys; those that run come to their end. */
  readonly drop: (keys: Iterable<string>) => void;
  /** The procedure, if it is here or will be when its body has come. */
  readonly find: (fqn: string, version: string) => Promise<Held | undefined>;
  /** Reports every call through a seam until the returned function is called. Costs nothing while nobody listens. */
  readonly observe: (listener: (call: ObservedCall) => void) => () => void;
  /** Tells those who observe. */
  readonly tell: (call: ObservedCall) => void;
}

export function createPlacement({ loader, clock, away, add, waits }: PlacementParts): Placement {
  const here = new Map<string, Held>();
  const seams = new Set<Seam>();
  const listeners = new Set<(call: ObservedCall) => void>();
  /** Procedures of segments that this node loads, and whose body isn't there yet. */
  const loading = new Map<string, { file: string; done: Promise<void> }>();
  /** Loads of which it isn't known yet what they bring: until then no seam can tell where it leads. */
  const pending = new Set<Promise<void>>();
  /** Why nothing can be called, until it is first known what is here. */
  let unplaced: unknown = new NodeNotAvailable("No segments are loaded yet");

  const point = (seam: Seam): void => {
    const key = procedureKey(seam.fqn, seam.version);
    const held = here.get(key);
    if (held !== undefined) seam.run = listeners.size === 0 ? held.run : observed(seam, held.run);
    else if (!unplaced && pending.size === 0 && !loading.has(key)) seam.run = away(seam);
    else
      seam.run = async function (this: unknown, ...args) {
        await settled(key);
        point(seam);
        return await seam.run.apply(this, args);
      };
  };
  const pointAll = (): void => seams.forEach(point);

  const settled = async (key: string): Promise<void> => {
    while (pending.size > 0) await Promise.allSettled(pending);
    if (unplaced) throw unplaced;
    const body = loading.get(key);
    if (body === undefined) return;
    waits?.check(body.file, key);
    await body.done;
  };

  const tell = (call: ObservedCall): void => {
    for (const listener of listeners)
      try {
        listener(call);
      } catch (error) {
        // Who listens is no part of the call: it goes where a page's errors go.
        globalThis.reportError?.(error);
      }
  };

  const observed = ({ fqn, version }: SeamRecord, run: Procedure): Procedure =>
    async function (this: unknown, ...args) {
      const started = clock.now();
      const report = (more?: { error: unknown }): void =>
        tell({ fqn, version, where: "here", ms: clock.now() - started, ...more });
      try {
        const result = await run.apply(this, args);
        report();
        return result;
      } catch (error) {
        report({ error });
        throw error;
      }
    };

  const loadBody = async (file: string, brought: readonly Brought[]): Promise<void> => {
    const get = () => loader.import(file);
    const body = await (waits ? waits.during(file, get) : get());
    for (const { segment, record, entry } of brought) {
      const run = body[record.export] as Procedure;
      if (typeof run !== "function")
        throw new TypeError(`${file} doesn't export '${record.export}' as a function: build again`);
      const key = procedureKey(record.fqn, record.version);
      here.set(key, { record, run: add?.(segment, record, entry, run) ?? run });
      loading.delete(key);
    }
  };

  return {
    attach(seam) {
      seams.add(seam);
      point(seam);
    },

    async load(manifest, segments) {
      const started = manifest.then((known) =>
        [...bodiesOf(known, segments)].map(([file, brought]) => {
          // The bodies that are on their way must be known before any seam is told that the placement is.
          const done = loadBody(file, brought);
          for (const { record } of brought) {
            const key = procedureKey(record.fqn, record.version);
            if (!here.has(key)) loading.set(key, { file, done });
          }
          return done;
        }),
      );
      const placed = started.then(
        () => void (unplaced = undefined),
        (error: unknown) => {
          if (unplaced) unplaced = error;
          throw error;
        },
      );
      pending.add(placed);
      pointAll();
      try {
        await placed.finally(() => pending.delete(placed));
        pointAll();
        await Promise.all(await started);
      } finally {
        pointAll();
      }
    },

    drop(keys) {
      for (const key of keys) here.delete(key);
      pointAll();
    },

    async find(fqn, version) {
      const key = procedureKey(fqn, version);
      await settled(key);
      return here.get(key);
    },

    observe(listener) {
      listeners.add(listener);
      pointAll();
      return () => {
        listeners.delete(listener);
        pointAll();
      };
    },
    tell,
  };
}

interface Brought {
  readonly segment: string;
  readonly record: ProcedureRecord;
  readonly entry: SegmentEntry;
}

/** Which bodies the segments need, and what each of them brings. */
export function bodiesOf(manifest: Manifest, segments: readonly string[]): Map<string, Brought[]> {
  const bodies = new Map<string, Brought[]>();
  for (const segment of segments)
    for (const entry of entryOf(manifest.segments, segment) ?? []) {
      const record = manifest.procedures[entry.procedure];
      const file = record && entryOf(manifest.modules, record.module)?.body;
      if (record === undefined || file === undefined)
        throw new SegmentNotFound(
          `Segment '${segment}' names a procedure whose module isn't in the build: build again`,
        );
      const brought = bodies.get(file) ?? [];
      bodies.set(file, brought);
      brought.push({ segment, record, entry });
    }
  return bodies;
}

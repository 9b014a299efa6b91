// Points every seam of a node at its local procedure, or at a remote call.
// A page starts with this alone, so it knows neither how remote calls work nor about access.

import { NodeNotAvailable, SegmentNotFound } from "../base/errors.ts";
import { snapshot } from "../codec/values/snapshot.ts";
import { procedureKey } from "../base/fqn.ts";
import { copiesOf } from "./options-context.ts";
import { waiting } from "./stream.ts";
import type { Waits } from "./loading.ts";
import {
  entryOf,
  type Manifest,
  type ProcedureRecord,
  type SegmentEntry,
} from "../base/manifest.ts";
import type { ObservedCall } from "../types/outgoing-call.ts";
import type { Clock, ModuleLoader } from "../base/ports.ts";
import type { ProcedureFunction } from "./procedure-function.ts";
import type { Seam, SeamRecord } from "./seam.ts";

/** A procedure of this node. */
export interface LocalProcedure {
  readonly record: ProcedureRecord;
  readonly run: ProcedureFunction;
}

/** A file with procedures of this node. */
export interface Body {
  readonly file: string;
  readonly brought: readonly Brought[];
  /** Loads it. Called again, it returns the same promise. */
  readonly load: () => Promise<void>;
}

export interface PlacementParts {
  readonly loader: Pick<ModuleLoader, "import">;
  readonly clock: Clock;
  /** Returns the function that a seam runs while its procedure is on another node. */
  readonly away: (seam: SeamRecord) => ProcedureFunction;
  /** Called for each loaded procedure before a seam points at it; the returned record is kept. */
  readonly add?: (
    segment: string,
    record: ProcedureRecord,
    entry: SegmentEntry,
    run: ProcedureFunction,
  ) => LocalProcedure;
  /** Returns a function for a seam to run instead of a local procedure. Called when a seam is pointed at it. */
  readonly beside?: (local: LocalProcedure) => ProcedureFunction;
  /** Finds bodies that would wait for each other forever, if the platform carries contexts. */
  readonly checkWait?: Waits["check"];
}

export interface Placement {
  /** Points a seam now, and again whenever something changes. */
  readonly attach: (seam: Seam) => void;
  /**
   * Loads segments of a manifest that may still be on its way: seams wait for it, and then each for
   * its own body only. The manifest must have these segments. `loadAll` decides in which order
   * bodies are loaded [all at once]; one that a seam waits for is loaded at once.
   */
  readonly load: (
    manifest: Promise<Manifest>,
    segments: readonly string[],
    loadAll?: (bodies: readonly Body[]) => Promise<unknown>,
  ) => Promise<void>;
  /** Drops procedures by their keys: later calls are remote, running ones finish. */
  readonly drop: (keys: Iterable<string>) => void;
  /** The procedure, if it is local or will be once its body is loaded. A promise while it waits. */
  readonly find: (
    fqn: string,
    version: string,
  ) => LocalProcedure | undefined | Promise<LocalProcedure | undefined>;
  /** Reports every call through a seam until the returned function is called. Costs nothing without listeners. */
  readonly observe: (listener: (call: ObservedCall) => void) => () => void;
  /** Notifies the observers. */
  readonly report: (call: ObservedCall) => void;
}

export function createPlacement({
  loader,
  clock,
  away,
  add,
  beside = ({ run }) => run,
  checkWait,
}: PlacementParts): Placement {
  const here = new Map<string, LocalProcedure>();
  const seams = new Set<Seam>();
  const listeners = new Set<(call: ObservedCall) => void>();
  /** Procedures of this node whose bodies are still loading. */
  const loading = new Map<string, Body>();
  /** Loads that wait for their manifest: until it arrives, no seam can be pointed. */
  const pending = new Set<Promise<void>>();
  /** The reason why calls fail before the first manifest. */
  let unplaced: unknown = new NodeNotAvailable("No segment loaded");

  const isSettled = (key: string): boolean => !unplaced && pending.size === 0 && !loading.has(key);

  const point = (seam: Seam): void => {
    const key = procedureKey(seam.fqn, seam.version);
    const local = here.get(key);
    if (local) {
      const run = beside(local);
      seam.run = listeners.size === 0 ? run : observed(seam, run);
    } else if (isSettled(key)) seam.run = away(seam);
    else
      seam.run = waiting(seam, async function (this: unknown, ...args) {
        const taken = snapshot(args, copiesOf(this));
        await settled(key);
        point(seam);
        // A procedure that turns out to be here gets the caller's own objects, as it always does.
        return await seam.run.apply(this, here.has(key) ? args : taken);
      });
  };
  const pointAll = (): void => seams.forEach(point);

  const settled = async (key: string): Promise<void> => {
    while (pending.size > 0) await Promise.allSettled(pending);
    if (unplaced) throw unplaced;
    const body = loading.get(key);
    if (body === undefined) return;
    checkWait?.(body.file, key);
    await body.load();
  };

  const report = (call: ObservedCall): void => {
    for (const listener of listeners)
      try {
        listener(call);
      } catch (error) {
        // An observer's error must not fail the call: report it like any error of the page.
        globalThis.reportError?.(error);
      }
  };

  const observed = ({ fqn, version }: SeamRecord, run: ProcedureFunction): ProcedureFunction =>
    async function (this: unknown, ...args) {
      const started = clock.now();
      const reportOutcome = (failure?: { error: unknown }): void =>
        report({ fqn, version, where: "local", ms: clock.now() - started, ...failure });
      try {
        const result = await run.apply(this, args);
        reportOutcome();
        return result;
      } catch (error) {
        reportOutcome({ error });
        throw error;
      }
    };

  const loadBody = async (file: string, brought: readonly Brought[]): Promise<void> => {
    const body = await loader.import(file);
    for (const { segment, record, entry, key } of brought) {
      const run = body[record.export] as ProcedureFunction;
      if (typeof run !== "function")
        throw new TypeError(`${file} has no function '${record.export}': build again`);
      here.set(key, add?.(segment, record, entry, run) ?? { record, run });
      loading.delete(key);
    }
  };

  return {
    attach(seam) {
      seams.add(seam);
      point(seam);
    },

    async load(
      manifest,
      segments,
      loadAll = (bodies) => Promise.all(bodies.map(({ load }) => load())),
    ) {
      const started = manifest.then((arrived) =>
        [...bodiesOf(arrived, segments)].map(([file, brought]): Body => {
          let loaded: Promise<void> | undefined;
          const body = { file, brought, load: () => (loaded ??= loadBody(file, brought)) };
          // Before any seam learns that the placement is known.
          for (const { key } of brought) if (!here.has(key)) loading.set(key, body);
          return body;
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
        await loadAll(await started);
      } finally {
        pointAll();
      }
    },

    drop(keys) {
      for (const key of keys) here.delete(key);
      pointAll();
    },

    find(fqn, version) {
      const key = procedureKey(fqn, version);
      return isSettled(key) ? here.get(key) : settled(key).then(() => here.get(key));
    },

    observe(listener) {
      listeners.add(listener);
      pointAll();
      return () => {
        listeners.delete(listener);
        pointAll();
      };
    },
    report,
  };
}

/** A procedure that a segment has in a body. */
export interface Brought {
  readonly segment: string;
  readonly record: ProcedureRecord;
  readonly entry: SegmentEntry;
  readonly key: string;
}

/** The bodies that segments need, with the procedures of each. */
export function bodiesOf(manifest: Manifest, segments: readonly string[]): Map<string, Brought[]> {
  const bodies = new Map<string, Brought[]>();
  for (const segment of segments)
    for (const entry of entryOf(manifest.segments, segment) ?? []) {
      const record = manifest.procedures[entry.procedure];
      const file = record && entryOf(manifest.modules, record.module)?.body;
      if (record === undefined || file === undefined)
        throw new SegmentNotFound(`Segment '${segment}' lacks a module: build again`);
      const brought = bodies.get(file) ?? [];
      bodies.set(file, brought);
      const key = procedureKey(record.fqn, record.version);
      brought.push({ segment, record, entry, key });
    }
  return bodies;
}

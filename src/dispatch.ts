// Here or there: points every seam of a node at its procedure, or at a remote call.

import type { Call } from "./call.ts";
import { Context, emptyContext, isContext } from "./context.ts";
import { NodeNotAvailable, SegmentNotFound } from "./errors.ts";
import { procedureKey, traceLine } from "./fqn.ts";
import type { Manifest, ProcedureRecord, SegmentEntry } from "./manifest.ts";
import { nameArguments } from "./parameters.ts";
import type { Clock, ContextCarrier, ModuleLoader } from "./ports.ts";
import { nearest } from "./problem.ts";
import { createWaits } from "./loading.ts";
import { procedureNotFound, Registry, type Registration } from "./registry.ts";
import type { Procedure, Seam, SeamHost } from "./seam.ts";
import { ranOn } from "./trace.ts";
import { parseVersion } from "./version.ts";
import type { Answer, OutgoingCall } from "./wire/remote-call.ts";

/** One call through a seam, as {@link LocalNode.observe} reports it when it has ended. */
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

/** How calls leave a node. */
export type Remote = (call: OutgoingCall) => Promise<Answer>;

export interface LocalNodeParts {
  readonly loader: ModuleLoader;
  readonly carrier: ContextCarrier;
  readonly clock: Clock;
  /** How calls leave this node; without it, what isn't here is nowhere. */
  readonly remote?: Remote | undefined;
}

/** A node's heart, the same on a server and in a page: procedures, seams, and the way between them. */
export interface LocalNode extends SeamHost {
  readonly registry: Registry;
  /**
   * Loads segments (§2.4) of a manifest that may still be on its way: seams wait for it, and then each for its own
   * body only. Rejects with {@link SegmentNotFound} when the manifest has no such segment.
   */
  load(manifest: Manifest | Promise<Manifest>, segments: readonly string[]): Promise<void>;
  /** Runs a procedure of this node for a call that came in. */
  invoke(registration: Registration, call: Call): Promise<unknown>;
  /** Reports every call through a seam until the returned function is called. Costs nothing while nobody listens. */
  observe(listener: (call: ObservedCall) => void): () => void;
}

export function createLocalNode(parts: LocalNodeParts): LocalNode {
  const { loader, carrier, clock, remote } = parts;
  const registry = new Registry();
  const seams = new Set<Seam>();
  const listeners = new Set<(call: ObservedCall) => void>();
  /** Procedures of segments that this node loads, and whose body isn't there yet. */
  const loading = new Map<string, { file: string; done: Promise<void> }>();
  const waits = createWaits(carrier);
  /** Settles when it is known what will be here: before that, no seam can tell. */
  let placed: Promise<unknown> = Promise.reject(new NodeNotAvailable("This node has loaded no segments yet"));
  placed.catch(() => {});
  let isPlaced = false;

  const currentContext = (): Context => carrier.current() ?? emptyContext();

  const point = (seam: Seam): void => {
    const key = procedureKey(seam.fqn, seam.version);
    const here = registry.find(seam.fqn, seam.version);
    if (here !== undefined) seam.run = listeners.size === 0 ? here.run : observed(seam, here.run);
    else if (!isPlaced) seam.run = afterwards(seam, () => placed);
    else if (loading.has(key)) seam.run = afterwards(seam, () => loaded(key));
    else seam.run = away(seam);
  };

  const loaded = async (key: string): Promise<void> => {
    const body = loading.get(key);
    if (body === undefined) return;
    waits.check(body.file, key);
    await body.done;
  };

  const afterwards = (seam: Seam, wait: () => Promise<unknown> | undefined): Procedure =>
    async function (this: unknown, ...args) {
      await wait();
      point(seam);
      return await seam.run.apply(this, args);
    };

  const observed = (seam: Seam, run: Procedure): Procedure =>
    async function (this: unknown, ...args) {
      const started = clock.now();
      const report = (more: { error?: unknown }): void =>
        tell({ fqn: seam.fqn, version: seam.version, where: "here", ms: clock.now() - started, ...more });
      try {
        const result = await run.apply(this, args);
        report({});
        return result;
      } catch (error) {
        report({ error });
        throw error;
      }
    };

  const away = (seam: Seam): Procedure => {
    const named = nameArguments(seam.parameters);
    return async function (this: unknown, ...args) {
      return await send(seam.fqn, seam.version, named(args), isContext(this) ? this : currentContext());
    };
  };

  const send = async (fqn: string, version: string, args: Map<string, unknown>, context: Context): Promise<unknown> => {
    if (remote === undefined) throw procedureNotFound(fqn, version);
    const started = clock.now();
    const report = (node: string | undefined, failure: { error?: unknown }): void => {
      const ran = node === undefined ? {} : { node };
      if (listeners.size > 0) tell({ fqn, version, where: "away", ms: clock.now() - started, ...ran, ...failure });
    };
    try {
      const answer = await remote({ fqn, version, args, context });
      report(answer.node, {});
      return answer.value;
    } catch (error) {
      report(ranOn(error), { error });
      throw error;
    }
  };

  const tell = (call: ObservedCall): void => {
    for (const listener of listeners) listener(call);
  };

  const run = (registration: Registration, context: Context, args: Map<string, unknown>): Promise<unknown> => {
    const values = registration.bind(args) as never[];
    const line = traceLine(registration.record.fqn, registration.record.version);
    const inner = new Context({
      headers: context.headers,
      deadline: context.deadline,
      hops: context.hops,
      trace: [...context.trace, line],
      signal: () => context.signal,
    });
    return carrier.run(inner, () => registration.run.apply(inner, values));
  };

  /** Which bodies the segments need, and what each of them brings. */
  const bodiesOf = (manifest: Manifest, segments: readonly string[]) => {
    const bodies = new Map<string, { segment: string; record: ProcedureRecord; entry: SegmentEntry }[]>();
    for (const segment of segments) {
      for (const entry of entriesOf(manifest, segment)) {
        const record = manifest.procedures[entry.procedure];
        const file = record && manifest.modules[record.module]?.body;
        if (record === undefined || file === undefined)
          throw new SegmentNotFound(`Segment '${segment}' names a procedure whose module the build did not make; build again`);
        const brought = bodies.get(file) ?? [];
        if (!bodies.has(file)) bodies.set(file, brought);
        brought.push({ segment, record, entry });
      }
    }
    return bodies;
  };

  return {
    registry,
    currentContext,

    attach(seam) {
      seams.add(seam);
      point(seam);
    },

    async load(manifest, segments) {
      const bodies = Promise.resolve(manifest).then((known) => bodiesOf(known, segments));
      // The bodies that are on their way must be known before any seam is told that the placement is.
      const imports = bodies.then((files) =>
        [...files].map(async ([file, brought]) => {
          const body = await waits.during(file, () => loader.import(file));
          for (const { segment, record, entry } of brought) {
            registry.add(segment, record, entry, procedureOf(body, record, file));
            loading.delete(procedureKey(record.fqn, record.version));
          }
        }),
      );
      placed = Promise.all([bodies, imports]).then(([files, started]) => {
        [...files].forEach(([file, brought], index) => {
          const done = started[index] as Promise<void>;
          for (const { record } of brought)
            if (registry.find(record.fqn, record.version) === undefined)
              loading.set(procedureKey(record.fqn, record.version), { file, done });
        });
        isPlaced = true;
      });
      placed.catch(() => {});
      try {
        await placed;
        await Promise.all(await imports);
      } finally {
        for (const seam of seams) point(seam);
      }
    },

    invoke: (registration, call) => {
      const context = new Context({
        headers: call.headers,
        deadline: call.deadline,
        hops: call.hops,
        trace: [],
        signal: () => call.signal,
      });
      return run(registration, context, call.args);
    },

    async runProcedure(name, version = "", args = {}, context) {
      const wanted = parseVersion(version).toString();
      const calling = contextOf(context) ?? currentContext();
      const values = new Map(Object.entries(args));
      if (!isPlaced) await placed;
      await loaded(procedureKey(name, wanted));
      const here = registry.find(name, wanted);
      return here === undefined ? await send(name, wanted, values, calling) : await run(here, calling, values);
    },

    observe(listener) {
      listeners.add(listener);
      for (const seam of seams) point(seam);
      return () => {
        listeners.delete(listener);
        for (const seam of seams) point(seam);
      };
    },
  };
}

function entriesOf(manifest: Manifest, segment: string): readonly SegmentEntry[] {
  if (Object.hasOwn(manifest.segments, segment)) return manifest.segments[segment] ?? [];
  const known = Object.keys(manifest.segments);
  const meant = nearest(segment, known);
  throw new SegmentNotFound(
    `Segment '${segment}' not found; ${meant === undefined ? `there is ${known.join(", ") || "none"}` : `did you mean '${meant}'?`}`,
  );
}

function procedureOf(body: Readonly<Record<string, unknown>>, record: ProcedureRecord, file: string): Procedure {
  const procedure = body[record.export];
  if (typeof procedure !== "function") throw new TypeError(`${file} does not export '${record.export}' as a function: build again`);
  return procedure as Procedure;
}

/** `this` of a procedure, or anything with headers: what a page passes that has a token to send (§4.6). */
function contextOf(value: unknown): Context | undefined {
  if (isContext(value)) return value;
  const headers = (value as { headers?: unknown } | null | undefined)?.headers;
  if (typeof headers !== "object" || headers === null) return undefined;
  const pairs = Symbol.iterator in headers ? [...(headers as Iterable<[string, unknown]>)] : Object.entries(headers);
  const empty = emptyContext();
  const lower = new Map(pairs.map(([name, text]) => [name.toLowerCase(), String(text)]));
  return new Context({ headers: lower, deadline: empty.deadline, hops: empty.hops, trace: [], signal: () => empty.signal });
}

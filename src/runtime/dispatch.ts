// A node: runs its procedures for incoming calls, and sends the calls that they make.

import { Abort } from "../base/aborts.ts";
import type { Call } from "../base/call.ts";
import {
  type Context,
  type ContextParts,
  emptyContext,
  isContext,
  type PathParameters,
} from "../base/context.ts";
import { ProcedureNotFound, ValueNotSerializable } from "../base/errors.ts";
import { procedureNotFound } from "../base/fqn.ts";
import { bindStream, BoundStream, type BoundStreamParts, stepsOf } from "./bound-stream.ts";
import { callWith, type StreamingHost } from "./call-options.ts";
import { createAway, createRuns, traceOf } from "./calls.ts";
import { createWaits } from "./loading.ts";
import { entryOf, type Manifest, type SegmentEntry } from "../base/manifest.ts";
import type { ObservedCall, Remote } from "../types/outgoing-call.ts";
import { CallContext, callParts, departureOf } from "./call-context.ts";
import { bindArguments } from "./parameters.ts";
import { inherited } from "./options-context.ts";
import { type Body, createPlacement, type LocalProcedure } from "./placement.ts";
import type { Clock, ContextCarrier, ModuleLoader } from "../base/ports.ts";
import { traceOf as linesOf } from "../base/trace.ts";
import { isRefusal, noteInnerRefusal } from "../http/refusals.ts";
import { type KnownPlaces, onlyInBrowsers, Registry, withSegments } from "./registry.ts";
import type { ProcedureFunction } from "./procedure-function.ts";
import type { SeamHost } from "./seam.ts";
import type { Stream } from "./stream.ts";

export interface LocalNodeParts {
  readonly loader: ModuleLoader;
  readonly carrier: ContextCarrier;
  readonly clock: Clock;
  /** Without it, a procedure that isn't local isn't found. */
  readonly remote?: Remote | undefined;
  /** Returns the function for a seam that belongs to a route rather than a procedure. */
  readonly routeOf?: (fqn: string) => ProcedureFunction | undefined;
}

/** The parts of a stream of this node besides its procedure. */
interface StreamRunParts extends Omit<BoundStreamParts, "open"> {
  readonly call?: Call | undefined;
  /** Called once none of the procedure's code runs any more. */
  readonly onClosed?: (() => void) | undefined;
}

/** The steps of {@link LocalNode.loadBehind}. Each rejects with its error. */
export interface Behind {
  /** The node knows all its procedures. */
  readonly known: Promise<void>;
  /** All bodies are loaded. */
  readonly loaded: Promise<void>;
}

/** As many bodies are loaded at once while no call waits for them. */
const bodiesBehind = 4;

/** A server's node: its procedures, and the seams that lead to them. */
export interface LocalNode extends SeamHost {
  readonly registry: Registry;
  /**
   * Loads segments of a manifest that may still be on its way: seams wait for it, and then each for
   * its own body only. Rejects with {@link SegmentNotFound} when the manifest has no such segment.
   */
  load(manifest: Manifest | Promise<Manifest>, segments: readonly string[]): Promise<void>;
  /**
   * Loads segments whose procedures others may call before their bodies are loaded: the first call of
   * one loads its body, and the others follow in turn.
   */
  loadBehind(manifest: Manifest, segments: readonly string[]): Behind;
  /**
   * Switches to another manifest while calls go on: loads new procedures, and bodies again that are in `fresh`.
   * Removed procedures stay until the returned function is called, which needs every caller to have the new
   * manifest.
   */
  follow(
    manifest: Manifest,
    segments: readonly string[],
    fresh: ReadonlySet<string>,
  ): Promise<() => void>;
  /** Runs a procedure of this node, or the function of a route, for an incoming call. */
  invoke(
    target: { readonly run: ProcedureFunction; readonly trace: readonly string[] },
    call: Call,
    values: readonly unknown[],
    params?: PathParameters,
  ): Promise<unknown>;
  /** A stream of this node, for an incoming call. Its procedure runs once the stream is read. */
  stream(
    target: { readonly run: ProcedureFunction; readonly trace: readonly string[] },
    call: Call,
    values: readonly unknown[],
    bound: Omit<StreamRunParts, "call">,
  ): BoundStream;
  /** Reports every call through a seam until the returned function is called. Costs nothing without listeners. */
  observe(listener: (call: ObservedCall) => void): () => void;
}

export function createLocalNode(parts: LocalNodeParts): LocalNode {
  const { loader, carrier, clock } = parts;
  const registry = new Registry();
  /** The manifest that is loaded now. */
  let current: KnownPlaces | undefined;
  const waits = createWaits(carrier);
  const placement = createPlacement({
    loader: { import: async (file) => await waits.during(file, () => loader.import(file)) },
    clock,
    checkWait: (...wait) => waits.check(...wait),
    away(seam) {
      const route = parts.routeOf?.(seam.fqn);
      if (route !== undefined) return route;
      const away = others.away(seam);
      if (seam.stream === true) return away;
      const rethrow = (thrown: unknown): never => rethrowInner(seam.fqn, thrown);
      return function (this: unknown, ...args) {
        return away.apply(this, args).catch(rethrow);
      };
    },
    add: (segment, record, entry, run) => registry.add(segment, record, entry, run),
    beside: (local) => besideCaller(local),
  });
  const noCaller = emptyContext();
  // The context of the procedure that is starting: a body that uses `this` asks for it first.
  let entering: Context | undefined;
  const host: StreamingHost = {
    clock,
    carrier,
    bind: bindStream,
    createContext: (contextParts) => new CallContext(contextParts, clock),
  };
  const { remote = nowhere } = parts;
  const others = createAway({
    carrier,
    clock,
    placement,
    remote: remote.call,
    stream: remote.stream,
    failed: (fqn, error) => noteInner(fqn, error),
  });
  /** Runs what a procedure begins with, which may ask for its context. */
  const entered: ContextCarrier = {
    ...carrier,
    run: (context, act) =>
      carrier.run(context, () => {
        entering = context;
        const result = act();
        entering = undefined;
        return result;
      }),
  };
  const calls = createRuns({
    // Like a seam, a call by name doesn't wait while a procedure that is here is loaded again.
    find(fqn, version) {
      const known = registry.find(fqn, version);
      return known === undefined || known.load !== undefined ? placement.find(fqn, version) : known;
    },
    call: others.call,
    bind: bindArguments,
    createContext: (contextParts, call) => new CallContext(contextParts, clock, call),
    carrier: entered,
  });

  /** Marks an error of an inner call that is a refusal, so that the outer caller isn't blamed. */
  const noteInner = (fqn: string, thrown: unknown): void => {
    if (isRefusal(thrown)) {
      noteInnerRefusal(thrown);
      const why =
        current !== undefined && thrown instanceof ProcedureNotFound
          ? onlyInBrowsers(current, fqn)
          : undefined;
      // No server can run it. Change the same error, since others have marked it.
      if (why !== undefined) (thrown as Error).message += `: ${why}`;
      showCall(thrown as Error, noteInner);
    } else if (thrown instanceof ValueNotSerializable) showCall(thrown, noteInner);
  };
  const rethrowInner = (fqn: string, thrown: unknown): never => {
    noteInner(fqn, thrown);
    throw thrown;
  };

  const runWithContext = (procedure: LocalProcedure, self: unknown, args: readonly never[]) => {
    if (!isContext(self) || self === carrier.current())
      return procedure.run.apply(self, args as never[]);
    // A call of another call's context ends with that one, here as on another node.
    const { aborted, reason } = departureOf(self);
    if (aborted && CallContext.sourceOf(self) !== CallContext.sourceOf(carrier.current()))
      return Promise.reject(reason);
    const own = inherited(self, traceOf(procedure));
    if (procedure.record.stream !== true) return calls.run(procedure, own, args);
    const abort = new Abort();
    const bound = { ...own, signal: () => abort.signal, departure: () => abort };
    return boundStream(procedure.run, bound, args, { abort, caller: departureOf(self) }) as never;
  };

  /** A stream whose steps run in a context of its own. */
  const boundStream = (
    run: ProcedureFunction,
    contextParts: ContextParts,
    values: readonly unknown[],
    { call, onClosed, ...bound }: StreamRunParts,
  ): BoundStream => {
    const context = new CallContext(contextParts, clock, call);
    const start = () => run.apply(context, values as never[]) as unknown as Stream;
    return new BoundStream({
      ...bound,
      open: () => stepsOf(entered, context, start, onClosed),
    });
  };

  /** Runs a procedure, and the calls that it makes, in the context that it was called with. */
  const besideCaller = (procedure: LocalProcedure): ProcedureFunction => {
    const { run } = procedure;
    // Nearly all calls have no `this`, and `arguments` costs half as much as rest parameters
    // (lab/bench/rows/p5.mjs).
    return function (this: unknown) {
      if (this === undefined) return run.apply(undefined, arguments as never);
      return runWithContext(procedure, this, arguments as never);
    };
  };
  /** The manifest, current from now on, once it is there; it has these segments. */
  const found = async (
    manifest: Manifest | Promise<Manifest>,
    segments: readonly string[],
  ): Promise<Manifest> => withSegments((current = await manifest), segments);

  /** Registers the procedures of a body that isn't loaded yet; once it is, they are registered again. */
  const addBehind = ({ brought, load }: Body): void => {
    for (const { segment, record, entry } of brought) {
      const run = function (this: unknown, ...args: never[]) {
        const loaded = placement.find(record.fqn, record.version) as LocalProcedure;
        return loaded.run.apply(this, args);
      };
      registry.add(segment, record, entry, run, load);
    }
  };
  return {
    registry,
    attach: placement.attach,
    observe: placement.observe,
    contextFor(self, line) {
      if (self === entering && isContext(self)) {
        // Only once: the procedure may call itself and pass its own context.
        entering = undefined;
        return self;
      }
      // Give a procedure called on the same node the context that it would get on another node.
      const caller = isContext(self) ? self : (carrier.current() ?? noCaller);
      return new CallContext(inherited(caller, [line], caller.params), clock);
    },
    currentCall: () => CallContext.sourceOf(carrier.current()),
    callWith: (procedure, options, self, args) => callWith(host, procedure, options, self, args),
    async runProcedure(name, version, args, last) {
      try {
        if (last === undefined || last === null || isContext(last))
          return await calls.runProcedure(name, version, args, last ?? undefined);
        const run = function (this: Context): Promise<unknown> {
          return calls.runProcedure(name, version, args, this);
        };
        return await callWith({ place: "runProcedure", ...host }, run, last, undefined, []);
      } catch (thrown) {
        return rethrowInner(name, thrown);
      }
    },
    load: async (manifest, segments) => await placement.load(found(manifest, segments), segments),
    loadBehind(manifest, segments) {
      let isKnown = (): void => {};
      const known = new Promise<void>((resolve) => (isKnown = resolve));
      const loaded = placement.load(found(manifest, segments), segments, async (bodies) => {
        bodies.forEach(addBehind);
        isKnown();
        const rest = bodies.values();
        const next = async (): Promise<void> => {
          for (const body of rest) await body.load();
        };
        await Promise.all(Array.from({ length: bodiesBehind }, next));
      });
      return { known: Promise.race([known, loaded]), loaded };
    },
    async follow(manifest, segments, fresh) {
      current = manifest;
      const isNew = ({ procedure }: SegmentEntry): boolean => {
        const { fqn = "", version = "", module = "" } = manifest.procedures[procedure] ?? {};
        return (
          fresh.has(entryOf(manifest.modules, module)?.body ?? "") ||
          registry.find(fqn, version) === undefined
        );
      };
      const changes = segments.map(
        (name) => [name, (entryOf(manifest.segments, name) ?? []).filter(isNew)] as const,
      );
      await placement.load(
        Promise.resolve({ ...manifest, segments: Object.fromEntries(changes) }),
        segments,
      );
      return () => placement.drop(registry.follow(manifest, segments));
    },
    invoke(target, call, values, params) {
      call.begin();
      return calls.run(target, callParts(call, target.trace, params), values, call);
    },
    stream(target, call, values, bound) {
      call.begin();
      // The call's deadline ends with the head of its answer, and the stream may last.
      const contextParts = { ...callParts(call, target.trace), endsAt: undefined };
      return boundStream(target.run, contextParts, values, { ...bound, call });
    },
  };
}

/**
 * Adds the stack of the application's call to an error of the runtime. The runtime's own lines, perhaps from
 * another service, would lead nowhere. An error that has passed a procedure keeps its stack, too.
 */
function showCall(error: Error, below: (...args: never[]) => unknown): void {
  const call: { stack?: string } = {};
  const { captureStackTrace } = Error as {
    captureStackTrace?: (target: object, below: unknown) => void;
  };
  captureStackTrace?.(call, below);
  const at = call.stack?.indexOf("\n    at ") ?? -1;
  if (at < 0) return;
  const above = linesOf(error).length > 0 ? (error.stack ?? String(error)) : String(error);
  error.stack = above + call.stack!.slice(at);
}

/** For a service without other services. */
const nowhere: Remote = {
  call: ({ fqn, version }) => Promise.reject(procedureNotFound(fqn, version)),
  stream: (_, makeCall) =>
    new BoundStream({
      abort: new Abort(),
      open() {
        const { fqn, version } = makeCall();
        throw procedureNotFound(fqn, version);
      },
    }),
};

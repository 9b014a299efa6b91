// Here or there: a node's procedures for those who call it, and the way out for what it calls.

import type { Args, Call } from "./call.ts";
import { Context, type ContextParts, emptyContext, isContext } from "./context.ts";
import { ProcedureNotFound, SegmentNotFound } from "./errors.ts";
import { forwardedHeaders } from "./forwarded.ts";
import { leadsAstray, traceLine } from "./fqn.ts";
import { createWaits } from "./loading.ts";
import { entryOf, type Manifest, type Parameter, type SegmentEntry } from "./manifest.ts";
import { bindArguments, nameArguments } from "./parameters.ts";
import { createPlacement, type Held, type ObservedCall, type Placement } from "./placement.ts";
import type { Clock, ContextCarrier, ModuleLoader } from "./ports.ts";
import { nearest } from "./problem.ts";
import { isRefusal, noteInnerRefusal } from "./refusals.ts";
import {
  type KnownPlaces,
  onlyInBrowsers,
  procedureNotFound,
  Registry,
  type Registration,
} from "./registry.ts";
import type { Procedure, SeamHost, SeamRecord } from "./seam.ts";
import { ranOn } from "./trace.ts";
import { parseVersion } from "./version.ts";
import type { Answer, OutgoingCall } from "./wire/remote-call.ts";

export type { ObservedCall };

/** How calls leave a node. */
export type Remote = (call: OutgoingCall) => Promise<Answer>;

export interface LocalNodeParts {
  readonly loader: ModuleLoader;
  readonly carrier: ContextCarrier;
  readonly clock: Clock;
  /** How calls leave this node; without it, what isn't here is nowhere. */
  readonly remote?: Remote | undefined;
}

/** A server's node: procedures, seams, and the way between them. */
export interface LocalNode extends SeamHost {
  readonly registry: Registry;
  /**
   * Loads segments (§2.4) of a manifest that may still be on its way: seams wait for it, and then each for its own
   * body only. Rejects with {@link SegmentNotFound} when the manifest has no such segment.
   */
  load(manifest: Manifest | Promise<Manifest>, segments: readonly string[]): Promise<void>;
  /**
   * Goes by another manifest while calls go on: loads what it brings, and the bodies among `fresh`, which are others now. What left stays
   * until the function that it resolves with is called: by then nobody may send calls for it any more.
   */
  follow(
    manifest: Manifest,
    segments: readonly string[],
    fresh: ReadonlySet<string>,
  ): Promise<() => void>;
  /** Runs a procedure of this node for a call that came in. */
  invoke(registration: Registration, call: Call): Promise<unknown>;
  /** Reports every call through a seam until the returned function is called. Costs nothing while nobody listens. */
  observe(listener: (call: ObservedCall) => void): () => void;
}

export function createLocalNode(parts: LocalNodeParts): LocalNode {
  const { loader, carrier, clock } = parts;
  const registry = new Registry();
  /** What it goes by now. */
  let current: KnownPlaces | undefined;
  const placement = createPlacement({
    loader,
    clock,
    waits: createWaits(carrier),
    away(seam) {
      const away = calls.away(seam);
      return async function (this: unknown, ...args) {
        return await away.apply(this, args).catch((thrown: unknown) => letOut(seam.fqn, thrown));
      };
    },
    add(segment, record, entry, run) {
      registry.add(segment, record, entry, run);
      return besideCaller({ record, run });
    },
  });
  // Of the procedure that begins at this moment: bodies ask for their context first of all, and only one that mentions `this` asks.
  let entering: Context | undefined;
  const calls = createCalls({
    ...parts,
    placement,
    bind: bindArguments,
    carrier: {
      current: () => carrier.current(),
      run: (context, act) =>
        carrier.run(context, () => {
          entering = context;
          const given = act();
          entering = undefined;
          return given;
        }),
    },
  });

  /** Throws what a call of `fqn` that was made here came to. If it was refused, it is marked: whoever lets it out hasn't been called wrongly. */
  const letOut = (fqn: string, thrown: unknown): never => {
    if (!isRefusal(thrown)) throw thrown;
    noteInnerRefusal(thrown);
    const why =
      current !== undefined && thrown instanceof ProcedureNotFound
        ? onlyInBrowsers(current, fqn)
        : undefined;
    if (why === undefined) throw thrown;
    // No server can answer it. The same error: what is known of it besides stays known.
    const { message, stack } = thrown as Error;
    (thrown as Error).message = `${message}: ${why}`;
    if (stack !== undefined)
      (thrown as Error).stack = stack.replace(message, () => `${message}: ${why}`);
    throw thrown;
  };

  /** A procedure that is called with another context than its caller's runs under that one: what it calls itself has it too. */
  const besideCaller = (held: Held): Procedure => {
    const { run } = held;
    const given: Procedure = function (this: unknown, ...args) {
      return isContext(this) && this !== carrier.current()
        ? calls.run(held, inherited(this), args)
        : run.apply(this, args);
    };
    // Nearly all calls have no `this`, and `arguments` costs them half of what a list would (bench/seam.mjs).
    return function (this: unknown) {
      if (this === undefined) return run.apply(undefined, arguments as never);
      return given.apply(this, arguments as never);
    };
  };
  return {
    registry,
    attach: placement.attach,
    observe: placement.observe,
    contextFor(self, line) {
      if (self === entering && isContext(self)) {
        // Once: it may call itself, and pass its own on.
        entering = undefined;
        return self;
      }
      // A procedure that another one calls on the same node finds what it would find on a node of its own.
      return new Context({
        ...inherited(isContext(self) ? self : (carrier.current() ?? emptyContext())),
        trace: [line],
      });
    },
    runProcedure: async (name, ...more) =>
      await calls.runProcedure(name, ...more).catch((thrown: unknown) => letOut(name, thrown)),
    load: async (manifest, segments) =>
      await placement.load(
        Promise.resolve(manifest).then((found) => checked((current = found), segments)),
        segments,
      ),
    async follow(manifest, segments, fresh) {
      current = manifest;
      const brings = ({ procedure }: SegmentEntry): boolean => {
        const { fqn = "", version = "", module = "" } = manifest.procedures[procedure] ?? {};
        return (
          fresh.has(entryOf(manifest.modules, module)?.body ?? "") ||
          registry.find(fqn, version) === undefined
        );
      };
      const named = segments.map(
        (name) => [name, (entryOf(manifest.segments, name) ?? []).filter(brings)] as const,
      );
      await placement.load(
        Promise.resolve({ ...manifest, segments: Object.fromEntries(named) }),
        segments,
      );
      return () => placement.drop(registry.follow(manifest, segments));
    },
    invoke: (registration, call) => {
      const { headers, deadline, hops } = call;
      return calls.run(
        registration,
        { headers, deadline, hops, signal: () => call.signal },
        registration.bind(call.args),
      );
    },
  };
}

function checked(manifest: Manifest, segments: readonly string[]): Manifest {
  const known = Object.keys(manifest.segments);
  const wrong = segments.find((segment) => !known.includes(segment));
  if (wrong === undefined) return manifest;
  const meant = nearest(wrong, known);
  throw new SegmentNotFound(
    `Segment '${wrong}' not found; ${meant === undefined ? `there is ${known.join(", ") || "none"}` : `did you mean '${meant}'?`}`,
  );
}

export interface CallParts {
  readonly placement: Pick<Placement, "find" | "tell">;
  readonly carrier: ContextCarrier;
  readonly clock: Clock;
  readonly remote?: Remote | undefined;
  /** Brings named arguments to the positions of a procedure of this node, which is called by name. */
  readonly bind: (parameters: readonly Parameter[]) => Bind | Promise<Bind>;
}

type Bind = ReturnType<typeof bindArguments>;

/** The calls that a node makes: through its seams to others, and by name. */
export interface Calls extends Pick<SeamHost, "runProcedure"> {
  /** What a seam to another node runs. */
  readonly away: (seam: SeamRecord) => Procedure;
  /** Runs a procedure of this node in a context of its own. */
  readonly run: (
    held: Held,
    context: Omit<ContextParts, "trace">,
    values: readonly unknown[],
  ) => Promise<unknown>;
}

export function createCalls({ placement, carrier, clock, remote, bind }: CallParts): Calls {
  const currentContext = (): Context => carrier.current() ?? emptyContext();

  const send = async (
    fqn: string,
    version: string,
    args: Args,
    context: Context,
  ): Promise<unknown> => {
    if (remote === undefined || leadsAstray(fqn)) throw procedureNotFound(fqn, version);
    const started = clock.now();
    const report = (node: string | undefined, failure?: { error: unknown }): void =>
      placement.tell({
        fqn,
        version,
        where: "away",
        ms: clock.now() - started,
        ...(node === undefined ? {} : { node }),
        ...failure,
      });
    try {
      const answer = await remote({ fqn, version, args, context });
      report(answer.node);
      return answer.value;
    } catch (error) {
      report(ranOn(error), { error });
      throw error;
    }
  };

  const run: Calls["run"] = ({ record, run: procedure }, parts, values) => {
    const context = new Context({ ...parts, trace: [traceLine(record.fqn, record.version)] });
    return carrier.run(context, () => procedure.apply(context, values as never[]));
  };

  return {
    run,
    away({ fqn, version, parameters }) {
      const named = nameArguments(parameters);
      return async function (this: unknown, ...args) {
        return await send(fqn, version, named(args), isContext(this) ? this : currentContext());
      };
    },
    async runProcedure(name, version = "", args = {}, context) {
      const wanted = parseVersion(version).toString();
      const calling = contextOf(context) ?? currentContext();
      const values = new Map(Object.entries(args));
      const held = await placement.find(name, wanted);
      if (held === undefined) return await send(name, wanted, values, calling);
      return await run(held, inherited(calling), (await bind(held.record.parameters))(values));
    },
  };
}

/** What a call takes over from the procedure that makes it. */
function inherited(context: Context): Omit<ContextParts, "trace"> {
  const { headers, deadline, hops } = context;
  return { headers: forwardedHeaders(headers), deadline, hops, signal: () => context.signal };
}

/** `this` of a procedure, or anything with headers: what a page passes that has a token to send (§4.6). */
function contextOf(value: unknown): Context | undefined {
  if (isContext(value)) return value;
  const headers = (value as { headers?: unknown } | null | undefined)?.headers;
  if (typeof headers !== "object" || headers === null) return undefined;
  const pairs =
    Symbol.iterator in headers
      ? [...(headers as Iterable<[string, unknown]>)]
      : Object.entries(headers);
  // A header that has no value is none: `{ authorization: session?.token }`.
  const lower = new Map(
    pairs.flatMap(([name, text]) =>
      text === undefined || text === null ? [] : [[name.toLowerCase(), String(text)]],
    ),
  );
  return emptyContext(lower);
}

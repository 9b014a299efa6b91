// A seam: a live binding that a node points either at the local implementation or at a remote call.
// Faces create seams, a module graph holds them, and a node is bound to the graph. There is no
// global.

import type { Context } from "../base/context.ts";
import { procedureKey } from "../base/fqn.ts";
import type { Parameter } from "../base/manifest.ts";
import { traced } from "../base/trace.ts";
import type { ProcedureFunction } from "./procedure-function.ts";
import { createWithOptions, markStream, waiting } from "./stream.ts";
import type { CallWith, WithOptions } from "../types/call-options.ts";

/** The facts of a procedure that its face has: enough for a remote call without a manifest. @internal */
export interface SeamRecord {
  readonly fqn: string;
  readonly version: string;
  readonly parameters: readonly Parameter[];
  /** As in `ProcedureRecord`: `run` returns an async iterator. */
  readonly stream?: true;
}

/** One procedure in a module graph. @internal */
export interface Seam extends SeamRecord {
  /** The function that the face calls. Read at each call, so a procedure can move at any time. */
  run: ProcedureFunction;
}

/** The node that the seams of a graph belong to. @internal */
export interface SeamHost {
  /** Points a new seam at its procedure. */
  attach(seam: Seam): void;
  runProcedure(
    name: string,
    version?: string,
    args?: Readonly<Record<string, unknown>>,
    context?: unknown,
  ): Promise<unknown>;
  /** Makes a call of `withOptions(procedure, options)`. */
  callWith: CallWith;
  /**
   * A procedure's `this`: `self` if it was made for this call, else a child of the caller's
   * context.
   */
  contextFor(self: unknown, line: string): Context;
  /** The incoming call that runs now, where the platform can tell. */
  currentCall?(): object | undefined;
}

/** A module graph, through which its seams find their node. @internal */
export interface Graph {
  /**
   * For faces: the seam of one procedure version; the same record gives the same seam. Of a stream, with the face's
   * function: nothing else tells it from one that returns a promise.
   */
  readonly seam: (record: SeamRecord, stream?: object) => Seam;
  /** For bodies: adds the procedure's line to `thrown`. */
  readonly traced: (thrown: unknown, line: string, run?: number) => Error;
  /** For bodies whose procedure uses `this`: always returns a context. */
  readonly context: (self: unknown, line: string) => Context;
  /** Application modules import it from `seamline`. */
  runProcedure: SeamHost["runProcedure"];
  readonly withOptions: WithOptions;
  /** For the node, once. */
  bind(host: SeamHost): void;
}

/** For built modules and hosts. @internal */
export function createGraph(): Graph {
  const seams = new Map<string, Seam>();
  let node: SeamHost | undefined;
  const bound = (): SeamHost => {
    if (node === undefined)
      throw new Error(
        "Seamline isn't started: first call startClient(…) in a page, startServer(…) on Node",
      );
    return node;
  };
  const unstarted = (seam: Seam): ProcedureFunction =>
    waiting(seam, async function (this: unknown, ...args) {
      bound().attach(seam);
      return await seam.run.apply(this, args);
    });
  return {
    seam(record, stream) {
      if (stream) markStream(stream);
      const key = procedureKey(record.fqn, record.version);
      let seam = seams.get(key);
      if (seam === undefined) {
        seam = { ...record, run: undefined as never };
        seam.run = unstarted(seam);
        seams.set(key, seam);
        node?.attach(seam);
      }
      return seam;
    },
    traced: (thrown, line, run) => traced(thrown, line, run, node?.currentCall?.()),
    context: (self, line) => bound().contextFor(self, line),
    runProcedure: async (...call) => await bound().runProcedure(...call),
    withOptions: createWithOptions(async (...call) => await bound().callWith(...call)),
    bind(host) {
      if (node !== undefined) throw new Error("The graph is bound");
      node = host;
      for (const seam of seams.values()) host.attach(seam);
    },
  };
}

// A seam: a live binding that a node points either at the local implementation or at a remote call.
// Faces create seams, a graph of modules holds them, a node is bound to the graph. There is no global.

import type { Context } from "./context.ts";
import { procedureKey } from "./fqn.ts";
import type { Parameter } from "./manifest.ts";
import { traced } from "./trace.ts";

/** Any procedure; `this` is a context or nothing. */
export type Procedure = (this: unknown, ...args: never[]) => Promise<unknown>;

/** What a face says of a procedure: enough to call it elsewhere without a manifest. @internal */
export interface SeamRecord {
  readonly fqn: string;
  readonly version: string;
  readonly parameters: readonly Parameter[];
}

/** One procedure, as a graph of modules holds it. @internal */
export interface Seam extends SeamRecord {
  /** What a call of the face runs. Read at each call, so that a procedure can move while calls go on. */
  run: Procedure;
}

/** The node, as the seams of its graph see it. @internal */
export interface SeamHost {
  /** Points a new seam at its procedure. */
  attach(seam: Seam): void;
  runProcedure(
    name: string,
    version?: string,
    args?: Readonly<Record<string, unknown>>,
    context?: unknown,
  ): Promise<unknown>;
  /** What `this` is in a procedure: `self` when it was made for this very call, else what the call inherits (decisions §5). */
  contextFor(self: unknown, line: string): Context;
}

/** One graph of modules, and the place where its seams find their node. @internal */
export interface Graph {
  /** For faces: the seam of one procedure version; the same record gives the same seam. */
  readonly seam: (record: SeamRecord) => Seam;
  /** For bodies: `thrown`, with the procedure's line added (§7.1). */
  readonly traced: (thrown: unknown, line: string) => Error;
  /** For bodies whose procedure mentions `this`: a context in every case (decisions §5). */
  readonly context: (self: unknown, line: string) => Context;
  /** §4.6. For application modules, which import it from `seamline`. */
  runProcedure: SeamHost["runProcedure"];
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
        "Seamline has not been started: call startClient(…) in a page, or startServer(…) on Node, before the first call",
      );
    return node;
  };
  const unstarted = (seam: Seam): Procedure =>
    async function (this: unknown, ...args) {
      bound().attach(seam);
      return await seam.run.apply(this, args);
    };
  return {
    seam(record) {
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
    traced,
    context: (self, line) => bound().contextFor(self, line),
    runProcedure: async (...call) => await bound().runProcedure(...call),
    bind(host) {
      if (node !== undefined)
        throw new Error("This graph of modules has a node already: each node needs its own copy");
      node = host;
      for (const seam of seams.values()) host.attach(seam);
    },
  };
}

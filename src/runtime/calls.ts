// The calls that a node makes: through its seams to others, and by name.

import type { Args, Call } from "../base/call.ts";
import { Context, type ContextParts, isContext } from "../base/context.ts";
import { isUnsafePath, traceLine } from "../base/fqn.ts";
import type { Clock } from "../base/ports.ts";
import { ranOn } from "../base/trace.ts";
import { parseVersion } from "../base/version.ts";
import type { SendCall } from "../types/outgoing-call.ts";
import { nameArguments } from "./parameters.ts";
import type { LocalProcedure, Placement } from "./placement.ts";
import { procedureNotFound } from "./registry.ts";
import type { ProcedureFunction, SeamRecord } from "./seam.ts";

export interface CallParts {
  readonly placement: Pick<Placement, "find" | "report">;
  readonly clock: Clock;
  readonly remote?: SendCall | undefined;
  readonly currentContext: () => Context;
  /** Runs a local procedure that is called by name. */
  readonly runLocal: (procedure: LocalProcedure, args: Args, context: Context) => Promise<unknown>;
}

export interface Calls {
  /** Calls a procedure by name. */
  readonly runProcedure: (
    name: string,
    version?: string,
    args?: Readonly<Record<string, unknown>>,
    context?: Context,
  ) => Promise<unknown>;
  /** What a seam to another node runs. */
  readonly away: (seam: SeamRecord) => ProcedureFunction;
}

export function createCalls(parts: CallParts): Calls {
  const { placement, clock, remote, currentContext, runLocal } = parts;
  const send = async (
    fqn: string,
    version: string,
    args: Args,
    context: Context,
  ): Promise<unknown> => {
    if (remote === undefined || isUnsafePath(fqn)) throw procedureNotFound(fqn, version);
    const started = clock.now();
    const report = (node: string | undefined, failure?: { error: unknown }): void =>
      placement.report({
        fqn,
        version,
        where: "remote",
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
  return {
    away({ fqn, version, parameters }) {
      const named = nameArguments(parameters);
      return async function (this: unknown, ...args) {
        return await send(fqn, version, named(args), isContext(this) ? this : currentContext());
      };
    },
    async runProcedure(name, version = "", args = {}, context = currentContext()) {
      const fullVersion = parseVersion(version).toString();
      const values = new Map(Object.entries(args));
      const local = await placement.find(name, fullVersion);
      return local === undefined
        ? await send(name, fullVersion, values, context)
        : await runLocal(local, values, context);
    },
  };
}

export interface RunParts {
  /** Makes the context of a procedure, for an incoming call if it is one [a plain context]. */
  readonly createContext?: (parts: ContextParts, call: Call | undefined) => Context;
  /** Makes `context` the current one while `act` runs, where the platform can. */
  readonly enter?: <Result>(context: Context, act: () => Result) => Result;
}

/** Runs a local procedure in a context of its own. */
export type Run = (
  procedure: LocalProcedure,
  context: Omit<ContextParts, "trace">,
  values: readonly unknown[],
  call?: Call,
) => Promise<unknown>;

export function createRun({
  createContext = (parts) => new Context(parts),
  enter = (_, act) => act(),
}: RunParts = {}): Run {
  return ({ record, run }, parts, values, call) => {
    const trace = [traceLine(record.fqn, record.version)];
    const context = createContext({ trace, ...parts }, call);
    return enter(context, () => run.apply(context, values as never[]));
  };
}

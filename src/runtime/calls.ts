// The calls that a node makes: to other nodes, and of its own procedures. A page loads the first part
// with /svc/remote.js, and the second when it first calls a procedure by name.

import type { Args, Call } from "../base/call.ts";
import { type Context, type ContextParts, emptyContext, isContext } from "../base/context.ts";
import { isUnsafePath, procedureNotFound, traceLine } from "../base/fqn.ts";
import type { Parameter } from "../base/manifest.ts";
import type { SendCall, SendStream } from "../types/outgoing-call.ts";
import { snapshot } from "../codec/values/snapshot.ts";
import { copiesOf, inherited } from "./options-context.ts";
import { type bindArguments, nameArguments } from "./parameters.ts";
import type { LocalProcedure, Placement } from "./placement.ts";
import type { Clock, ContextCarrier } from "../base/ports.ts";
import type { ProcedureFunction } from "./procedure-function.ts";
import type { SeamRecord } from "./seam.ts";
import { ranOn } from "../base/trace.ts";
import { parseVersion } from "../base/version.ts";

export interface AwayParts {
  readonly placement: Pick<Placement, "report">;
  readonly carrier: Pick<ContextCarrier, "current">;
  readonly clock: Clock;
  readonly remote: SendCall;
  /** Makes a stream of another node. */
  readonly stream: SendStream;
  /** Called with the error of a stream before its reader gets it. */
  readonly failed?: (fqn: string, error: unknown) => void;
}

/** Calls to other nodes. */
export interface Away {
  readonly call: (fqn: string, version: string, args: Args, context: Context) => Promise<unknown>;
  /** Returns the function that a seam to another node runs. */
  readonly away: (seam: SeamRecord) => ProcedureFunction;
}

export function createAway(parts: AwayParts): Away {
  const { placement, carrier, clock, remote, stream, failed } = parts;
  const reporter = (fqn: string, version: string) => {
    const started = clock.now();
    return (node: string | undefined, failure?: { readonly error: unknown }): void =>
      placement.report({
        fqn,
        version,
        where: "remote",
        ms: clock.now() - started,
        ...(node === undefined ? {} : { node }),
        ...failure,
      });
  };
  const call: Away["call"] = (fqn, version, args, context) => {
    const report = reporter(fqn, version);
    return remote({ fqn, version, args, context }).then(
      (answer) => {
        report(answer.node);
        return answer.value;
      },
      (error: unknown) => {
        report(ranOn(error), { error });
        throw error;
      },
    );
  };
  return {
    call,
    away({ fqn, version, parameters, stream: isStream }) {
      const named = nameArguments(parameters);
      if (isStream === true)
        return function (this: unknown, ...args) {
          const context = isContext(this) ? this : (carrier.current() ?? emptyContext());
          const makeCall = () => ({ fqn, version, args: named(args), context });
          const report = reporter(fqn, version);
          return stream(context, makeCall, (node, failure) => {
            if (failure !== undefined) failed?.(fqn, failure.error);
            report(node, failure);
          }) as never;
        };
      return function (this: unknown, ...args) {
        const context = isContext(this) ? this : (carrier.current() ?? emptyContext());
        try {
          return call(fqn, version, named(args), context);
        } catch (thrown) {
          return Promise.reject(thrown);
        }
      };
    },
  };
}

/** A procedure of this node. Services have compiled how its arguments are bound. */
type NamedProcedure = LocalProcedure & { readonly bind?: ReturnType<typeof bindArguments> };

export interface RunParts {
  /** The procedure, if it is local. No promise if there is nothing to wait for. */
  readonly find: (
    fqn: string,
    version: string,
  ) => NamedProcedure | undefined | Promise<NamedProcedure | undefined>;
  readonly carrier: ContextCarrier;
  /** Calls a procedure that isn't local. */
  readonly call: Away["call"];
  /** Maps named arguments to the positions of a local procedure that is called by name. */
  readonly bind: (parameters: readonly Parameter[]) => ReturnType<typeof bindArguments>;
  /** Makes the context of a procedure, for an incoming call if it is one. */
  readonly createContext: (parts: ContextParts, call: Call | undefined) => Context;
}

/** Runs local procedures, and calls any by name. */
export interface Runs {
  /** Calls a procedure by name. Throws or rejects. */
  readonly runProcedure: (
    name: string,
    version?: string,
    args?: Readonly<Record<string, unknown>>,
    context?: Context,
  ) => Promise<unknown>;
  /** Runs a local procedure in a context of its own. */
  readonly run: (
    procedure: Pick<LocalProcedure, "run">,
    context: ContextParts,
    values: readonly unknown[],
    call?: Call,
  ) => Promise<unknown>;
}

/** The `trace` of a procedure's context. */
export function traceOf({ record }: Pick<LocalProcedure, "record">): readonly string[] {
  return [traceLine(record.fqn, record.version)];
}

export function createRuns({ find, carrier, call, bind, createContext }: RunParts): Runs {
  const run: Runs["run"] = ({ run: procedure }, parts, values, incoming) => {
    const context = createContext(parts, incoming);
    return carrier.run(context, () => procedure.apply(context, values as never[]));
  };
  return {
    run,
    runProcedure(name, version = "", args = {}, own) {
      const context = own ?? carrier.current() ?? emptyContext();
      const fullVersion = parseVersion(version).toString();
      const values: Args = new Map();
      for (const key of Object.keys(args)) values.set(key, args[key]);
      const found = find(name, fullVersion);
      const taken = found instanceof Promise ? snapshot(values, copiesOf(context)) : values;
      const start = (local: NamedProcedure | undefined): Promise<unknown> => {
        if (local !== undefined) {
          const parts = inherited(context, traceOf(local));
          const positions = local.bind?.(values) ?? bind(local.record.parameters)(values);
          return run(local, parts, positions);
        }
        // The build has checked the names of seams, but not this one.
        return isUnsafePath(name)
          ? Promise.reject(procedureNotFound(name, fullVersion))
          : call(name, fullVersion, taken, context);
      };
      return found instanceof Promise ? found.then(start) : start(found);
    },
  };
}

// Records the procedures that ran, their places and their callers.

import { AsyncLocalStorage } from "node:async_hooks";

import type { Clock, HttpRequest, OutgoingRequest } from "../../../src/base/ports.ts";
import type { ProcedureFunction } from "../../../src/runtime/procedure-function.ts";
import type { Stream } from "../../../src/runtime/stream.ts";

/** One call of a procedure that ran, or is running, in a test cluster. */
export interface RecordedCall {
  readonly fqn: string;
  readonly version: string;
  /**
   * Where it ran: a node's name, `page`, or `fakes` for a fake of a procedure that no node holds.
   */
  readonly where: string;
  /**
   * The caller: a node's name, `page`, `test` for the test's own calls, or `outside` for its
   * fetches.
   */
  readonly from: string;
  /** The arguments as the function received them. */
  readonly args: readonly unknown[];
  /** Whether a fake answered. */
  readonly faked: boolean;
  /** Duration on the cluster's clock; `undefined` while it runs. */
  readonly ms: number | undefined;
  /** The error that it threw. */
  readonly error?: unknown;
}

export interface CallRecorder {
  readonly calls: RecordedCall[];
  /** Runs a procedure and records the call. */
  record(
    call: Pick<RecordedCall, "fqn" | "version" | "where" | "args" | "faked">,
    run: ProcedureFunction,
    self: unknown,
  ): Promise<unknown>;
  /** The same for a stream, whose call ends with it. */
  recordStream(
    call: Pick<RecordedCall, "fqn" | "version" | "where" | "args" | "faked">,
    run: ProcedureFunction,
    self: unknown,
  ): Stream;
  /** Attributes calls made by `act` to `name`, unless they are attributed already. */
  as<T>(name: string, act: () => T): T;
  /** A request that `name` sends over a link, with its name as the caller. */
  sent(request: OutgoingRequest, name: string): OutgoingRequest;
  /** Handles such a request, without what it says. */
  received<T>(request: HttpRequest, handle: (request: HttpRequest) => T): T;
}

/** Says in the head of a request over a link whose calls it makes. */
const actorHeader = "x-test-actor";

export function createCallRecorder(clock: Clock): CallRecorder {
  // Everything runs in one process, so this carries the caller across the network too.
  const actors = new AsyncLocalStorage<string>();
  const calls: RecordedCall[] = [];
  type Entry = { -readonly [Key in keyof RecordedCall]: RecordedCall[Key] };
  const begin = (call: Omit<RecordedCall, "from" | "ms" | "error">): Entry => {
    const entry: Entry = { ...call, from: actors.getStore() ?? "test", ms: undefined };
    calls.push(entry);
    return entry;
  };
  return {
    calls,
    recordStream(call, run, self) {
      const entry = begin(call);
      const began = clock.now();
      const here = <T>(act: () => T): T => actors.run(call.where, act);
      const inner = here(() => run.apply(self, call.args as never[]) as unknown as Stream);
      const steps: AsyncIterable<unknown> = {
        [Symbol.asyncIterator]: () => ({
          next: async () => await here(() => inner.next()),
          return: async () => await here(() => inner.return(undefined)),
          throw: async (error) => await here(() => inner.throw(error)),
        }),
      };
      return (async function* () {
        try {
          return yield* steps;
        } catch (error) {
          entry.error = error;
          throw error;
        } finally {
          entry.ms = clock.now() - began;
        }
      })();
    },
    async record(call, run, self) {
      const entry = begin(call);
      const began = clock.now();
      try {
        // Called synchronously, since a body may read its context at once.
        return await actors.run(call.where, () => run.apply(self, call.args as never[]));
      } catch (error) {
        entry.error = error;
        throw error;
      } finally {
        entry.ms = clock.now() - began;
      }
    },
    as: (name, act) => (actors.getStore() === undefined ? actors.run(name, act) : act()),
    sent(request, name) {
      const actor = actors.getStore() ?? name;
      return { ...request, headers: { ...request.headers, [actorHeader]: actor } };
    },
    received(request, handle) {
      // They were read for this request alone.
      const fields = request.headers as Record<string, string>;
      const { [actorHeader]: actor = "" } = fields;
      delete fields[actorHeader];
      return actors.run(actor, () => handle(request));
    },
  };
}

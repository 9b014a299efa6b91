// What ran where, while a test was looking.

import { AsyncLocalStorage } from "node:async_hooks";

import type { Clock } from "../../src/ports.ts";
import type { Procedure } from "../../src/seam.ts";

/** One call of a procedure that ran, or is running, in a test cluster. */
export interface RecordedCall {
  readonly fqn: string;
  readonly version: string;
  /** Name of the place that ran it: a node's, or `page`. Where a fake stands for a procedure that no place holds: `fakes`. */
  readonly where: string;
  /** Who called: a node, `page`, `test` for what the test itself called, `outside` for what it fetched. */
  readonly from: string;
  /** By position, as the function got them. */
  readonly args: readonly unknown[];
  /** A fake answered. */
  readonly faked: boolean;
  /** On the cluster's clock. `undefined` while it runs. */
  readonly ms: number | undefined;
  /** What it threw. */
  readonly error?: unknown;
}

export interface CallRecorder {
  readonly calls: RecordedCall[];
  /** Runs a procedure and keeps what is known of the call. */
  record(
    call: Pick<RecordedCall, "fqn" | "version" | "where" | "args" | "faked">,
    run: Procedure,
    self: unknown,
  ): Promise<unknown>;
  /** Runs `act` as something that `place` does, if nothing else has been found to do it. */
  as<T>(place: string, act: () => T): T;
  /** Who acts at this moment. */
  acting(): string | undefined;
}

export function createCallRecorder(clock: Clock): CallRecorder {
  // All of it is one process, so whoever began a call is known across every network in memory.
  const actors = new AsyncLocalStorage<string>();
  const calls: RecordedCall[] = [];
  return {
    calls,
    async record(call, run, self) {
      const entry: { -readonly [Key in keyof RecordedCall]: RecordedCall[Key] } = {
        ...call,
        from: actors.getStore() ?? "test",
        ms: undefined,
      };
      calls.push(entry);
      const began = clock.now();
      try {
        // Called at once: a body asks for its context in this moment, or gets another one.
        return await actors.run(call.where, () => run.apply(self, call.args as never[]));
      } catch (error) {
        entry.error = error;
        throw error;
      } finally {
        entry.ms = clock.now() - began;
      }
    },
    as: (place, act) => (actors.getStore() === undefined ? actors.run(place, act) : act()),
    acting: () => actors.getStore(),
  };
}

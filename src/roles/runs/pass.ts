// Asks a guard.

import type { Call } from "../../base/call.ts";
import type { PathParameters } from "../../base/context.ts";
import { noteApplicationError } from "../../http/refusals.ts";
import { contextOfCall } from "../../runtime/call-context.ts";
import type { RunParts } from "./run.ts";

/**
 * Runs a guard for the caller, until the deadline of the call or another one. Rejects with the guard's error, or if the
 * call has ended meanwhile.
 */
export async function pass(
  { node, host }: RunParts,
  name: string,
  call: Call,
  params?: PathParameters,
  deadline: number | undefined = call.deadline,
): Promise<void> {
  const guard = node.guards.find(name);
  const context = contextOfCall(call, host.clock, params, deadline);
  try {
    await host.carrier.run(context, () => guard.call(context));
  } catch (thrown) {
    noteApplicationError(thrown);
    throw thrown;
  }
  call.departure.throwIfAborted();
}

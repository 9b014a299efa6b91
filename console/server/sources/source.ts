// The state that the console reads from a role, about once a second while it has viewers.

import type { MemberState, ProcedureState } from "../../console-state.ts";
import type { ObservedCall } from "../../../src/types/outgoing-call.ts";

export interface Source {
  readonly mode: string;
  readonly name?: string | undefined;
  members(): readonly MemberState[];
  /** Returns the same list until something in it changes. */
  procedures(): readonly ProcedureState[];
  /** A procedure's parameters, as a service that checks its callers describes them. */
  types(fqn: string, version: string): Promise<unknown>;
  /**
   * Starts watching until the returned function is called. `onCall` gets calls inside the process.
   */
  watch(onCall: (call: ObservedCall, member: string) => void): () => void;
}

// Calls that leave this node, and the facts about calls that observers get.

import type { Args } from "../base/call.ts";
import type { Context } from "../base/context.ts";
import type { AbortNotice } from "../base/ports.ts";

export interface OutgoingCall {
  readonly fqn: string;
  readonly version: string;
  readonly args: Args;
  readonly context: Context;
  /** Can end the call early [the caller in the context]. */
  readonly caller?: AbortNotice;
}

/** A remote procedure's result, and the name of the node that ran it, if it has one. */
export interface Answer {
  readonly value: unknown;
  readonly node?: string;
}

/** Sends a call to another node. Throws the error that the procedure threw there. */
export type SendCall = (call: OutgoingCall) => Promise<Answer>;

/**
 * A stream of another node. The call is made, and sent, when it is first read. `onEnd` gets the name of the
 * node that runs it, if there is one.
 */
export type SendStream = (
  context: Context,
  makeCall: () => OutgoingCall,
  onEnd?: (node: string | undefined, failure?: { readonly error: unknown }) => void,
) => AsyncGenerator<unknown, unknown, undefined>;

/** Sends calls to other nodes. */
export interface Remote {
  readonly call: SendCall;
  readonly stream: SendStream;
}

/** One call of a procedure, reported to observers when it has ended. */
export interface ObservedCall {
  readonly fqn: string;
  readonly version: string;
  /** On this node, or on another. */
  readonly where: "local" | "remote";
  /** The other node's configured name, if any. */
  readonly node?: string;
  readonly ms: number;
  readonly error?: unknown;
}

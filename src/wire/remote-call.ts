import type { Args } from "../call.ts";
import type { Context } from "../context.ts";
import type { Clock, Transport } from "../ports.ts";
import type { ClassSource } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";

/** What a procedure elsewhere returned, and the name of the node that ran it, if it has one. */
export interface Answer {
  readonly value: unknown;
  readonly node?: string;
}

export interface OutgoingCall {
  readonly fqn: string;
  readonly version: string;
  readonly args: Args;
  readonly context: Context;
}

export interface RemoteOptions {
  readonly transport: Transport;
  /** Address of the gateway, node or page's origin. */
  readonly base: string;
  readonly trustKey?: string | undefined;
  readonly classes: ClassSource;
  readonly limits: Limits;
  readonly clock: Clock;
}

/** Sends calls away and gives back what came of them: the value, or the error as it was thrown there. */
export function createRemote(options: RemoteOptions): (call: OutgoingCall) => Promise<Answer> {
  throw new Error(String(options));
}

/** The name of the node whose error `thrown` is, when it came from elsewhere. */
export function ranOn(thrown: unknown): string | undefined {
  throw new Error(String(thrown));
}

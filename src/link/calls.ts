// What a link and its calls know of each other.

import type { Abort } from "../base/aborts.ts";
import type { AbortNotice, CallFrom, Clock, HttpResponse, OutgoingRequest } from "../base/ports.ts";
import type { ReceivedBody } from "./bodies.ts";
import type { Takes } from "./directions.ts";
import type { CallHead } from "./heads.ts";

/** A call that goes over a link. */
export interface LinkCall extends CallHead {
  readonly from: CallFrom;
  readonly body: OutgoingRequest["body"] | undefined;
  readonly signal: AbortNotice | undefined;
}

/** A call that came over a link. */
export interface ArrivedCall extends CallHead {
  /** What the frame says: nothing in the head can change it. */
  readonly from: CallFrom;
  /** All of it if it came with the head. */
  readonly body: Uint8Array | ReceivedBody;
  readonly departure: Abort;
  /** Counts bytes of the body that are collected. Returns false if there is no room for them. */
  keeps(bytes: number): boolean;
  /** Ends it with an error when this service can't wait any longer. */
  cutter: { cut(reason: Error): void } | undefined;
}

export interface LinkOptions {
  /** What errors call the other end. */
  readonly name: string;
  /** Who dialled has the odd streams. */
  readonly isDialer: boolean;
  /** How many calls this end takes at once. */
  readonly mostCalls: number;
  /** Which requests it takes. Any other one ends the link. */
  readonly takes: Takes;
  readonly clock: Clock;
  /** Runs this at the end of the turn of the event loop, together with what else happens in it. */
  readonly soon: (run: () => void) => void;
  /** Answers a call. Rejects only with faults. */
  readonly handle: (call: ArrivedCall) => Promise<HttpResponse>;
  /** Gets errors of a handler, and why its answer can't be written: both are mistakes. */
  readonly onFault: (fault: unknown) => void;
  /** Gets why a call failed whose answer HTTP can't carry: a mistake of the other end. */
  readonly onBadAnswer: (error: Error) => void;
  /** The other end takes no more calls. Those that run go on. */
  readonly onDraining: () => void;
  /** The other end has said how many calls it takes. */
  readonly onCredit?: () => void;
  /** Why the link is over: once. */
  readonly onClose: (cause: unknown) => void;
}

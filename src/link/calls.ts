// The interface between a link and its calls.

import type { Abort } from "../base/aborts.ts";
import type { AbortNotice, CallFrom, Clock, HttpResponse, OutgoingRequest } from "../base/ports.ts";
import type { ReceivedBody } from "./bodies.ts";
import type { Takes } from "./directions.ts";
import type { CallHead } from "./heads.ts";

/** A call to send. */
export interface LinkCall extends CallHead {
  readonly from: CallFrom;
  readonly body: OutgoingRequest["body"] | undefined;
  readonly signal: AbortNotice | undefined;
}

/** A call that came over a link. */
export interface ArrivedCall extends CallHead {
  /** From the kind of the frame: nothing in the head can change it. */
  readonly from: CallFrom;
  /** Bytes if all of the body came with the head. */
  readonly body: Uint8Array | ReceivedBody;
  readonly departure: Abort;
  /** Counts bytes of the body that are collected. Returns false if there is no room for them. */
  keeps(bytes: number): boolean;
  /** Ends the call with an error when this service can't wait for it any longer. */
  cutter: { cut(reason: Error): void } | undefined;
}

export interface LinkOptions {
  /** The other end's name in errors. */
  readonly name: string;
  /** The dialer has the odd streams. */
  readonly isDialer: boolean;
  /** How many calls this end takes at once. */
  readonly mostCalls: number;
  /** Which requests this end takes. Any other request ends the link. */
  readonly takes: Takes;
  readonly clock: Clock;
  /** Runs a function at the end of the current turn of the event loop. */
  readonly soon: (run: () => void) => void;
  /** Answers a call. Rejects only with faults. */
  readonly handle: (call: ArrivedCall) => Promise<HttpResponse>;
  /** Gets errors of a handler, and of writing its answer: both are bugs. */
  readonly onFault: (fault: unknown) => void;
  /** Gets the error of a call whose answer HTTP can't carry: a bug at the other end. */
  readonly onBadAnswer: (error: Error) => void;
  /** The other end takes no more calls. Running calls go on. */
  readonly onDraining: () => void;
  /** The other end has said how many calls it takes. */
  readonly onCredit?: () => void;
  /** Called once, with the reason, when the link is over. */
  readonly onClose: (cause: unknown) => void;
}

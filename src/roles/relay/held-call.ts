// A call that a gateway or proxy may end before its caller's time is over.

import { Abort, abortWith } from "../../base/aborts.ts";
import { DeadlineExceeded } from "../../base/errors.ts";
import { type Clock, TransportError } from "../../base/ports.ts";
import type { IncomingCall } from "../../wire/incoming-call.ts";
import type { Member } from "../members/members.ts";
import { addEnding, type Ending, removeEnding } from "../members/vitals.ts";
import type { ForwardedRequest } from "./forward.ts";

/**
 * A node ends a call that exceeds the time limit of its procedure. It answers within this many ms
 * more, unless it hangs: its time begins when it has read the arguments.
 */
const answerMs = 500;
/** A slow network brings this much of a body in a millisecond. */
const bytesPerMs = 1_000;

/** Ends the request when the caller leaves, when its member is out of rotation, or after a time. */
export class HeldCall implements Ending {
  readonly fqn: string;
  readonly abort: Abort = new Abort();
  /** Why it ended, unless its caller has left. */
  reason: TransportError | DeadlineExceeded | undefined;
  at = -1;
  #member: Pick<Member, "url" | "vitals"> | undefined;
  #cancel: (() => void) | undefined;

  constructor({ departure, fqn }: Pick<IncomingCall, "departure" | "fqn">) {
    this.fqn = fqn;
    abortWith(this.abort, departure);
  }

  /** Ends the call when the member is taken out of rotation and another one can take the call. */
  endWith(member: Pick<Member, "url" | "vitals">): void {
    this.#member = member;
    addEnding(member.vitals, this);
  }

  /** Ends the call if its node doesn't keep the time limit of the procedure. */
  endAfter(timeoutMs: number, { body }: ForwardedRequest, clock: Clock): void {
    const transferMs = body instanceof Uint8Array ? body.length / bytesPerMs : 0;
    this.#cancel = clock.after(timeoutMs + answerMs + transferMs, () =>
      this.#end(new DeadlineExceeded(`'${this.fqn}' did not answer within its ${timeoutMs} ms`)),
    );
  }

  end(): void {
    this.#end(new TransportError(`${this.#member?.url ?? "the service"} gives no answer`, true));
  }

  #end(reason: TransportError | DeadlineExceeded): void {
    this.reason = reason;
    this.abort.abort(reason);
  }

  /** It has an answer. The caller may still leave while the answer's body comes. */
  leave(): void {
    this.#cancel?.();
    if (this.#member !== undefined) removeEnding(this.#member.vitals, this);
  }
}

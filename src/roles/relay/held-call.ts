// A call with a time limit of its procedure, which a gateway or proxy ends if its node doesn't.

import { Abort, abortWith } from "../../base/aborts.ts";
import { DeadlineExceeded } from "../../base/errors.ts";
import type { Clock } from "../../base/ports.ts";
import type { Exchange } from "../../wire/exchange.ts";
import type { ForwardedRequest } from "./forward.ts";

/**
 * A node ends a call that exceeds the time limit of its procedure. It answers within this many ms
 * more, unless it hangs: its time begins when it has read the arguments.
 */
const answerMs = 500;
/** A slow network brings this much of a body in a millisecond. */
const bytesPerMs = 1_000;

/** Ends the request when the caller leaves, or after a time. */
export class HeldCall {
  readonly abort: Abort = new Abort();
  /** Why it ended, unless its caller has left. */
  reason: DeadlineExceeded | undefined;
  readonly #cancel: () => void;

  constructor(
    { departure, fqn }: Pick<Exchange, "departure" | "fqn">,
    timeoutMs: number,
    { body }: ForwardedRequest,
    clock: Clock,
  ) {
    abortWith(this.abort, departure);
    const transferMs = body instanceof Uint8Array ? body.length / bytesPerMs : 0;
    this.#cancel = clock.after(timeoutMs + answerMs + transferMs, () => {
      this.reason = new DeadlineExceeded(`'${fqn}' did not answer within its ${timeoutMs} ms`);
      this.abort.abort(this.reason);
    });
  }

  /** It has an answer. The caller may still leave while the answer's body comes. */
  leave(): void {
    this.#cancel();
  }
}

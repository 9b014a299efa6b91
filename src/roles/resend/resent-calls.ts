// Counts and logs the calls that a gateway sends again, to another member, and those that others send
// to another gateway.

import type { Clock, HeaderFields, Log } from "../../base/ports.ts";
import { requestIdOf } from "../../http/tracing/request-ids.ts";
import { traceIdOf } from "../../http/tracing/trace-context.ts";
import { RareLines } from "../common/rare-lines.ts";

/**
 * Why a call is sent again:
 * - `unsent`: it couldn't be sent;
 * - `refused`: the member refused it before it began;
 * - `build`: the member has another build, which doesn't have it or takes other arguments;
 * - `unanswered`: it was sent, got no answer, and may run twice.
 */
export type ResendReason = "unsent" | "refused" | "build" | "unanswered";

const why: Readonly<Record<ResendReason, string>> = {
  unsent: "couldn't be sent",
  refused: "refused it before it began",
  build: "has another build, and refused it before it began",
  unanswered: "gave no answer",
};

export class ResentCalls {
  readonly counts: Record<ResendReason, number> = {
    unsent: 0,
    refused: 0,
    build: 0,
    unanswered: 0,
  };
  readonly #log: Log;
  /** When a node goes away, all calls to it are sent again. */
  readonly #lines: RareLines;

  constructor({ log, clock }: { readonly log: Log; readonly clock: Clock }) {
    this.#log = log;
    this.#lines = new RareLines(clock);
  }

  /** A call goes to another service, as the one at `from` didn't take it. */
  add(
    { fqn, headers }: { readonly fqn: string; readonly headers: HeaderFields },
    from: string,
    reason: ResendReason,
  ): void {
    this.counts[reason]++;
    const unlogged = this.#lines.next();
    if (unlogged === undefined) return;
    const more = unlogged === 0 ? "" : `; ${unlogged} more calls since the last such line`;
    const story = reason === "unsent" ? `${why.unsent} to ${from}` : `${from} ${why[reason]}`;
    this.#log.info(`sent '${fqn}' again: ${story}${more}`, {
      event: "retried",
      request: requestIdOf(headers),
      trace: traceIdOf(headers),
      procedure: fqn,
      service: from,
    });
  }
}

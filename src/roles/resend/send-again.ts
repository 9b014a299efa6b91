// Sends a call to one of several services, and to another one if that is safe: a gateway to its members,
// nodes and proxies to their gateways. The outcome decides. A call that wasn't sent, or that a service refused before
// it ran, can't have run; a call that was sent and has no answer may have run.

import {
  type AbortNotice,
  type HeaderFields,
  type Host,
  type PeerResponse,
  TransportError,
  UnsentError,
  unsentOf,
} from "../../base/ports.ts";
import { discard } from "../../http/bodies.ts";
import { type NotStartedReason, notStartedReason } from "../../http/relay-headers.ts";
import { backOff, ResendBudget } from "./resend-budget.ts";
import { type ResendReason, ResentCalls } from "./resent-calls.ts";
import { mostTried } from "../common/limits.ts";

/** A service that may take a call. */
export interface Candidate {
  /** Its name in logs and errors. */
  readonly url: string;
  /** Calls that were sent to it and aren't over. */
  inFlight: number;
}

/** A call, and the services that may take it. */
export interface Tries<Service extends Candidate> {
  /** Its name in the log. */
  readonly fqn: string;
  readonly headers: HeaderFields;
  readonly caller: AbortNotice | undefined;
  /** Whether parts of its body have left, which can't be sent again. */
  readonly hasBegun: () => boolean;
  /** The next service in turn that hasn't been tried. */
  next(tried: readonly Service[]): Service | undefined;
  send(service: Service): Promise<PeerResponse>;
  /** Called when a service has answered. */
  answered?(service: Service, answer: PeerResponse): void;
  /** Called when sending has failed. May return a better error than the one that was thrown. */
  failed?(service: Service, thrown: unknown): unknown;
  /** Whether the call may run twice. */
  mayRepeat(service: Service): boolean | Promise<boolean>;
  /** Whether the service that gave no answer may get the call again, if there is no other. */
  readonly mayReturn?: boolean;
  /** Called when a service has refused the call before it ran. */
  refused(service: Service, reason: NotStartedReason): void;
  /** A service of another build, if the answer calls for one. */
  unlike?(answer: PeerResponse, tried: readonly Service[]): Service | undefined;
}

export class Resending<Service extends Candidate> {
  readonly #clock: Host["clock"];
  readonly #budget: ResendBudget;
  readonly #resent: ResentCalls;

  /** `all` returns the services that calls may go to. */
  constructor(host: Pick<Host, "clock" | "log">, all: () => readonly Service[]) {
    this.#clock = host.clock;
    this.#resent = new ResentCalls(host);
    this.#budget = new ResendBudget(() =>
      all().reduce((most, { inFlight }) => Math.max(most, inFlight), 0),
    );
  }

  /** Calls that were sent again, by the reason. */
  get counts(): ResentCalls["counts"] {
    return this.#resent.counts;
  }

  /**
   * Resolves with an answer, which may be the refusal of the last service that was tried. Rejects without an answer;
   * if the call may have run, the error says so.
   */
  send(tries: Tries<Service>): Promise<PeerResponse> {
    this.#budget.called(this.#clock.now());
    const first = tries.next([]);
    if (first === undefined)
      return Promise.reject(new UnsentError("there is no service to send it to", "refused"));
    // Not async: nearly all calls end here, and each promise costs them.
    return attempt(tries, first).then(
      (answer) => {
        first.inFlight--;
        if (answer.status >= 400) return this.#sendAgain(tries, first, { answer });
        tries.answered?.(first, answer);
        return answer;
      },
      (failure: unknown) => {
        first.inFlight--;
        return this.#sendAgain(tries, first, { failure });
      },
    );
  }

  /** Decides after the outcome of each attempt whether there is another one. */
  async #sendAgain(tries: Tries<Service>, first: Service, ofFirst: Outcome): Promise<PeerResponse> {
    const tried = [first];
    let service = first;
    let outcome = ofFirst;
    let isMismatched = false;
    /** A call that may have cost work is sent again only once. */
    let wasSentAgain = false;
    let unanswered: unknown;
    for (;;) {
      let following: Service | undefined;
      let why: ResendReason;
      if ("answer" in outcome) {
        const { answer } = outcome;
        tries.answered?.(service, answer);
        if (tries.hasBegun()) return answer;
        const other = isMismatched ? undefined : tries.unlike?.(answer, tried);
        const reason = notStartedReason(answer);
        if (other !== undefined) isMismatched = true;
        else if (reason === undefined) return answer;
        else tries.refused(service, reason);
        following = other ?? followingOf(tries, tried);
        if (following === undefined) return answer;
        if (other === undefined && reason === "overload") {
          if (wasSentAgain || !this.#mayCostMore()) return answer;
          wasSentAgain = true;
        }
        discard(answer.body);
        why = other === undefined ? "refused" : "build";
      } else {
        const { failure } = outcome;
        const lost = tries.failed === undefined ? failure : tries.failed(service, failure);
        const isLost = lost instanceof TransportError && tries.caller?.aborted !== true;
        if (!isLost || tries.hasBegun()) throw lost;
        why = unsentOf(lost) === undefined ? "unanswered" : "unsent";
        if (why === "unanswered") unanswered = lost;
        following = followingOf(tries, tried);
        if (why === "unanswered" && tries.mayReturn === true) following ??= service;
        if (following === undefined) throw unanswered ?? lost;
        if (why === "unanswered") {
          if (wasSentAgain || !(await tries.mayRepeat(service)) || !this.#mayCostMore()) throw lost;
          wasSentAgain = true;
        }
      }
      this.#resent.add(tries, service.url, why);
      if (tried.length > 1) await backOff(this.#clock, tries.caller);
      service = following;
      tried.push(service);
      outcome = await outcomeOf(tries, service);
    }
  }

  #mayCostMore(): boolean {
    return this.#budget.take(this.#clock.now());
  }
}

/** The outcome of an attempt. */
type Outcome = { readonly answer: PeerResponse } | { readonly failure: unknown };

/** Sends the call to a service, whose `inFlight` counts it until it has an outcome. Never throws. */
function attempt<Service extends Candidate>(
  tries: Tries<Service>,
  service: Service,
): Promise<PeerResponse> {
  service.inFlight++;
  try {
    return tries.send(service);
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

async function outcomeOf<Service extends Candidate>(
  tries: Tries<Service>,
  service: Service,
): Promise<Outcome> {
  try {
    return { answer: await attempt(tries, service) };
  } catch (failure) {
    return { failure };
  } finally {
    service.inFlight--;
  }
}

/** The next service to try, unless the call has been sent to the most that it may be sent to. */
function followingOf<Service extends Candidate>(
  tries: Tries<Service>,
  tried: readonly Service[],
): Service | undefined {
  return tried.length < mostTried ? tries.next(tried) : undefined;
}

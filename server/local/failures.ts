// Network failures that a test asks for, as a wrapper around `send`.

import { Abort, abortWith } from "../../src/base/aborts.ts";
import type { AbortNotice } from "../../src/base/ports.ts";
import {
  type Clock,
  type OutgoingRequest,
  type Peer,
  type PeerResponse,
  TransportError,
} from "../../src/base/ports.ts";
import { headers, mediaTypes, rpcPath } from "../../src/base/protocol.ts";
import { withoutVersion } from "../../src/base/version.ts";
import { collected } from "../../src/http/bodies.ts";
import { decodeSegment, pathOf, targetOf } from "../../src/http/router.ts";
import { closedConnection, type Service } from "./service.ts";

/**
 * The fate of requests on their way to a service:
 * - `"refuse"`: nothing listens there, the connection is refused;
 * - `"silence"`: they arrive, and no answer ever comes;
 * - `"lose"`: they are answered, and the answer is lost on its way;
 * - `{ status }`: a server in front of the service answers instead of it;
 * - `{ slow }`: they arrive later by that many milliseconds of the cluster's clock.
 */
export type Failure =
  | "refuse"
  | "silence"
  | "lose"
  | { readonly status: number; readonly body?: string }
  | { readonly slow: number };

/** Which requests fail. */
export interface FailOptions {
  /** Only calls of this procedure [every request, health checks too]. */
  readonly procedure?: string;
  /**
   * Only requests sent by this service, the page or the test [every sender]. The gateway is the sender of calls
   * that it forwards.
   */
  readonly from?: string;
  /** How many requests fail [all]. */
  readonly times?: number;
}

export interface FailureOptions {
  readonly clock: Clock;
  readonly serviceAt: (origin: string) => Service | undefined;
}

interface Rule {
  readonly to: string;
  readonly failure: Failure;
  readonly options: FailOptions;
  left: number;
}

export class Failures {
  readonly #options: FailureOptions;
  readonly #rules = new Set<Rule>();

  constructor(options: FailureOptions) {
    this.#options = options;
  }

  /** Makes requests to a service fail until the returned function is called. */
  add(to: string, failure: Failure, options: FailOptions = {}): () => void {
    check(failure);
    const rule: Rule = { to, failure, options, left: options.times ?? Infinity };
    this.#rules.add(rule);
    return () => void this.#rules.delete(rule);
  }

  /** Wraps the `send` of the service named `from`, to the service whose origin `to` returns. */
  wrap(send: Peer["send"], from: string, to: (request: OutgoingRequest) => string): Peer["send"] {
    return async (request) => await this.#send(send, from, to(request), request);
  }

  async #send(
    send: Peer["send"],
    from: string,
    origin: string,
    request: OutgoingRequest,
  ): Promise<PeerResponse> {
    const { clock, serviceAt } = this.#options;
    const failures = this.#take(from, serviceAt(origin)?.name, request);
    for (const failure of failures)
      if (typeof failure === "object" && "slow" in failure)
        await sleep(clock, failure.slow, request.signal);
    for (const failure of failures) {
      if (failure === "refuse") throw new TransportError(`${origin} refused the connection`, false);
      if (failure === "silence") return await aborted(request.signal, serviceAt(origin)?.ended);
      if (failure === "lose") {
        await collected(send(request));
        throw closedConnection(origin);
      }
      if ("status" in failure) return answerOf(failure);
    }
    return await send(request);
  }

  /** The failures that apply to a request, which uses them up. */
  #take(from: string, to: string | undefined, { url }: OutgoingRequest): readonly Failure[] {
    const path = pathOf(targetOf(url));
    const fqn = path.startsWith(rpcPath)
      ? withoutVersion(decodeSegment(path.slice(rpcPath.length)))
      : undefined;
    const rules = [...this.#rules].filter(
      ({ to: name, options, left }) =>
        name === to &&
        left > 0 &&
        (options.from === undefined || options.from === from) &&
        (options.procedure === undefined || options.procedure === fqn),
    );
    for (const rule of rules) rule.left--;
    return rules.map(({ failure }) => failure);
  }
}

function check(failure: Failure): void {
  const isKnown =
    failure === "refuse" ||
    failure === "silence" ||
    failure === "lose" ||
    (typeof failure === "object" &&
      failure !== null &&
      ("status" in failure || ("slow" in failure && failure.slow >= 0)));
  if (!isKnown)
    throw new TypeError(
      `${JSON.stringify(failure)} is not a failure: use "refuse", "silence", "lose", { status: 503 }, or { slow: 250 } (milliseconds)`,
    );
}

function answerOf({
  status,
  body = "",
}: {
  readonly status: number;
  readonly body?: string;
}): PeerResponse {
  return {
    status,
    headers: { "content-type": mediaTypes.text, [headers.dataType]: "string" },
    body: new TextEncoder().encode(body),
  };
}

/** Rejects when one of the signals is aborted. */
function aborted(...notices: readonly (AbortNotice | undefined)[]): Promise<never> {
  const combined = new Abort();
  for (const notice of notices) if (notice !== undefined) abortWith(combined, notice);
  return new Promise((_, reject) => {
    const end = (): void => reject(combined.reason);
    if (combined.aborted) end();
    combined.addEventListener("abort", end);
  });
}

function sleep(clock: Clock, ms: number, signal: AbortNotice | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    signal?.addEventListener("abort", abort, { once: true });
  });
}

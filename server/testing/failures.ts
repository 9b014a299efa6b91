// The network of a test cluster: a network in memory on whose way things go wrong when a test says so.

import { headers, mediaTypes, rpcPath } from "../../src/protocol.ts";
import {
  type Clock,
  type IncomingResponse,
  type OutgoingRequest,
  type Transport,
  TransportError,
} from "../../src/ports.ts";
import type { MemoryNetwork } from "../../src/roles/memory-network.ts";
import { decodeSegment, pathOf } from "../../src/router.ts";
import { type Restore, restoring } from "./fakes.ts";

/**
 * What happens to requests on their way to a place:
 * - `"refuse"`: nothing listens there, the connection is refused;
 * - `"silence"`: they arrive, and no answer ever comes;
 * - `"lose"`: they are answered, and the answer is lost on its way;
 * - `{ status }`: something in front of the place answers in its stead;
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
  /** Only calls of this procedure [every request, those for the place's health too]. */
  readonly procedure?: string;
  /** Only what this place sends [whoever sends]. What a gateway passes on, the gateway sends. */
  readonly from?: string;
  /** How many requests it meets [all]. */
  readonly times?: number;
}

interface Standing {
  readonly to: string;
  readonly failure: Failure;
  readonly options: FailOptions;
  left: number;
}

export interface FailingNetwork {
  readonly roles: MemoryNetwork["roles"];
  readonly names: MemoryNetwork["names"];
  /** How one place sends. */
  transport(from: string): Transport;
  fail(to: string, failure: Failure, options?: FailOptions): Restore;
  /** Cuts every connection to a place, as the end of its process does. */
  cut(to: string): void;
  close(): Promise<void>;
}

export function createFailingNetwork(
  network: MemoryNetwork,
  parts: {
    readonly clock: Clock;
    /** Address → name of the place. */
    readonly nameOf: (origin: string) => string;
    /** What has to be over before a request is sent. */
    readonly ready: (from: string) => Promise<void>;
  },
): FailingNetwork {
  const standing: Standing[] = [];
  const open = new Map<string, Set<(error: Error) => void>>();

  const met = (from: string, to: string, request: OutgoingRequest): readonly Failure[] => {
    const path = pathOf(request.url.slice(request.url.indexOf("/", request.url.indexOf("//") + 2)));
    const fqn = path.startsWith(rpcPath) ? decodeSegment(path.slice(rpcPath.length)) : undefined;
    const applies = ({ to: place, options, left }: Standing): boolean =>
      place === to &&
      left > 0 &&
      (options.from === undefined || options.from === from) &&
      (options.procedure === undefined || options.procedure === fqn);
    return standing.filter(applies).map((one) => {
      one.left--;
      return one.failure;
    });
  };

  /** Until it is answered, the connection may be cut. */
  const connected = async (
    to: string,
    origin: string,
    answer: Promise<IncomingResponse>,
  ): Promise<IncomingResponse> => {
    const cuts = open.get(to) ?? new Set();
    open.set(to, cuts);
    let cut: (error: Error) => void = () => {};
    const ended = new Promise<never>((_, reject) => (cut = reject));
    cuts.add(cut);
    try {
      return await Promise.race([answer, ended]);
    } finally {
      cuts.delete(cut);
      // It is over for the one who asked; what becomes of it there, nobody hears.
      answer.catch(() => {});
    }
  };

  const closed = (origin: string): TransportError =>
    new TransportError(`${origin} closed the connection before it answered`, true);

  const send = async (from: string, request: OutgoingRequest): Promise<IncomingResponse> => {
    await parts.ready(from);
    request.signal?.throwIfAborted();
    const { origin } = new URL(request.url);
    const to = parts.nameOf(origin);
    const failures = met(from, to, request);
    for (const failure of failures)
      if (typeof failure === "object" && "slow" in failure)
        await passing(parts.clock, failure.slow, request.signal);
    for (const failure of failures) {
      if (failure === "refuse") throw new TransportError(`${origin} refused the connection`, false);
      if (failure === "silence") return await connected(to, origin, unanswered(request.signal));
      if (failure === "lose") {
        await network.send(request);
        throw closed(origin);
      }
      if ("status" in failure) return answerOf(failure);
    }
    return await connected(to, origin, network.send(request));
  };

  return {
    roles: network.roles,
    names: network.names,
    transport: (from) => ({
      send: async (request) => await send(from, request),
      close: async () => {},
    }),
    fail(to, failure, options = {}) {
      check(failure);
      const one: Standing = { to, failure, options, left: options.times ?? Infinity };
      standing.push(one);
      return restoring(() => {
        const at = standing.indexOf(one);
        if (at >= 0) standing.splice(at, 1);
      });
    },
    cut(to) {
      for (const cut of open.get(to) ?? []) cut(closed(`http://${to}`));
    },
    close: async () => await network.close(),
  };
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
      `${JSON.stringify(failure)} is no failure: there is "refuse", "silence", "lose", { status: 503 }, and { slow: 250 } (milliseconds)`,
    );
}

function answerOf({
  status,
  body = "",
}: {
  readonly status: number;
  readonly body?: string;
}): IncomingResponse {
  return {
    status,
    headers: { "content-type": mediaTypes.text, [headers.dataType]: "string" },
    body: new TextEncoder().encode(body),
  };
}

function unanswered(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) =>
    signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
  );
}

function passing(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    signal?.addEventListener("abort", abort, { once: true });
  });
}

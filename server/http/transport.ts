// Requests to other services over kept-alive connections. A request takes a seventh of the time of
// `fetch`.

import { lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { Agent as HttpAgent, request as sendHttp } from "node:http";
import type { Readable } from "node:stream";
import type { Agent } from "undici";
import {
  type AddressRule,
  isLocalFailure,
  type OutgoingRequest,
  type PeerResponse,
  type Transport,
  UnsentError,
} from "../../src/base/ports.ts";
import { chunksOf } from "../../src/http/bodies.ts";
import { defaultLimits } from "../../src/codec/values/limits.ts";
import { wireMargin } from "../../src/wire/request-head.ts";
import { CallQueue } from "./outgoing/call-queue.ts";
import { Exchange, type ExchangeParts } from "./outgoing/exchange.ts";
import { type Connecting, openQuick } from "./outgoing/quick-agent.ts";
import { type Sender, sendRequest } from "./outgoing/plain-request.ts";
import { type Target, targetOf } from "./outgoing/target.ts";
import type { HeldMemory } from "./held-memory.ts";

export interface TransportOptions {
  /**
   * Calls that may be open at once [10000], three quarters of them to one service. More are
   * refused, never queued.
   */
  readonly connections?: number;
  /** Connections to one service that may be opening at once [128]. */
  readonly opening?: number;
  /** How long calls wait for a service that accepts no connection, in ms [1250]. */
  readonly waitMs?: number;
  /** After how many ms an address that doesn't answer counts as silent [1250]. */
  readonly connectMs?: number;
  /**
   * Bytes of an answer that is read as a whole [64 MiB]: another service must not be able to fill
   * our memory either.
   */
  readonly answerBytes?: number;
  /** Counts the bytes of answers while they arrive. */
  readonly memory?: HeldMemory;
  /** Certificate authorities of https addresses (PEM) [those that Node trusts]. */
  readonly authorities?: readonly string[] | undefined;
  /**
   * Called with the reason if this host has no connection for a request; then not again until 10 s
   * without a shortage.
   */
  readonly onShortage?: (reason: string) => void;
  /** After how many requests undici is loaded, which sends them faster [1000]. */
  readonly quickAfter?: number | undefined;
  /** Finds the addresses of host names [the system's lookup]. */
  readonly lookup?: LookupFunction;
}

export interface SocketTransport extends Transport {
  guard(rule: AddressRule): void;
}

/**
 * Connections to one service for control requests: a gateway sends a member two at once, a starting
 * node a few more.
 */
const controlConnections = 8;

/**
 * A shortage after this many ms without one is reported again: some requests succeed while it
 * lasts.
 */
const quietMs = 10_000;

/**
 * A packet that is lost, or that a full backlog drops, is sent again after a second: such connections
 * were open after 1,004 to 1,056 ms. With a limit of a second, two of them would take a healthy
 * member out of rotation.
 */
const silentMs = 1_250;

/** How long an idle connection is kept for the next streamed request; undici has the same. */
const keptMs = 4_000;

/** How many requests a service sends before it loads undici: see docs/decisions/dependencies.md. */
const fewRequests = 1_000;

/** Sends requests to addresses of one scheme by node:http or node:https. */
interface Senders {
  readonly calls: Sender;
  /** Behind calls, a health check would take a busy service for a dead one. */
  readonly control: Sender;
}

/**
 * Redirects are returned as answers: following one would send headers to an address of the other
 * side's choosing.
 */
export function createTransport(options: TransportOptions = {}): SocketTransport {
  const { connections = defaultLimits.maxConnections, opening = 128, waitMs = silentMs } = options;
  const { answerBytes = 64 * 1024 * 1024, memory, quickAfter = fewRequests } = options;
  const queue = new CallQueue({ total: connections, opening, waitMs });
  let closed = false;
  let rule: AddressRule = () => undefined;
  const connecting = {
    lookup: guarded(options.lookup ?? systemLookup, (host, address) => rule(host, address)),
    ...(options.authorities === undefined ? {} : { ca: [...options.authorities] }),
  };
  const connectMs = options.connectMs ?? silentMs;
  const opened = new Map<string, Promise<Senders>>();
  const sendersOf = (origin: string): Promise<Senders> => {
    const scheme = origin.startsWith("https:") ? "https" : "http";
    let senders = opened.get(scheme);
    if (senders === undefined) {
      senders = openSenders(scheme, { connectMs, connecting });
      opened.set(scheme, senders);
    }
    return senders;
  };
  let sent = 0;
  let loading: Promise<void> | undefined;
  let quick: Agent | undefined;
  const load = async (): Promise<void> => {
    try {
      const agent = await openQuick({ connectMs, connecting }, maxHeaderSize);
      if (closed) await agent.destroy();
      else quick = agent;
    } catch (error) {
      // Calls go on as before.
      process.emitWarning(error as Error);
    }
  };
  let lastShortage = -Infinity;
  const reportShortage = (reason: string): void => {
    const now = performance.now();
    if (now - lastShortage >= quietMs) options.onShortage?.(reason);
    lastShortage = now;
  };
  return {
    guard(newRule) {
      rule = newRule;
    },
    async send(request) {
      if (closed) throw new UnsentError("This service is stopping", "local");
      const { body, control, signal } = request;
      if (loading === undefined && !control && sent++ >= quickAfter) await (loading = load());
      const target = targetOf(request.url);
      const agent = quick;
      const isPlain = agent === undefined || control === true || isStream(body);
      // Before it has a slot: a request with one must be sent.
      const plain = isPlain ? await sendersOf(target.origin) : undefined;
      signal?.throwIfAborted();
      try {
        if (control && plain)
          return await sendPlainly(plain.control, target, { request, answerBytes });
        const entering = queue.enter(target.origin, signal);
        const slot = entering instanceof Promise ? await entering : entering;
        const parts = { request, answerBytes, slot, memory };
        return await (plain === undefined
          ? dispatch(agent!, target, parts)
          : sendPlainly(plain.calls, target, parts));
      } catch (error) {
        if (isLocalFailure(error)) reportShortage((error as Error).message);
        throw error;
      }
    },
    async close() {
      closed = true;
      for (const { calls, control } of await Promise.all(opened.values())) {
        calls.agent.destroy();
        control.agent.destroy();
      }
      await quick?.destroy();
      // Requests in flight have failed when this resolves: sockets report it one turn later.
      await new Promise((done) => setImmediate(done));
    },
  };
}

/** An answer has settings of inner calls besides the headers that a service would accept. */
const maxHeaderSize = defaultLimits.headerBytes + wireMargin.bytes;

async function openSenders(
  scheme: string,
  { connectMs, connecting }: Connecting,
): Promise<Senders> {
  // Most services use no TLS between them, and loading it takes time.
  const { Agent: SchemeAgent, request } =
    scheme === "https" ? await import("node:https") : { Agent: HttpAgent, request: sendHttp };
  const kept = { keepAlive: true, timeout: keptMs, ...connecting };
  const common = { connectMs, maxHeaderSize, request };
  return {
    calls: { ...common, agent: new SchemeAgent(kept) },
    control: { ...common, agent: new SchemeAgent({ ...kept, maxSockets: controlConnections }) },
  };
}

/**
 * Checks the addresses that are connected to: a name may resolve differently than it did before.
 */
function guarded(lookup: LookupFunction, rule: AddressRule): LookupFunction {
  return (host, options, callback) =>
    lookup(host, { ...options, all: true }, (error, found) => {
      const addresses =
        typeof found === "string"
          ? [{ address: found, family: found.includes(":") ? 6 : 4 }]
          : found;
      const refused =
        error === null
          ? addresses
              .map(({ address }) => rule(host, address))
              .find((reason) => reason !== undefined)
          : undefined;
      const [first] = addresses ?? [];
      if (error !== null || first === undefined)
        callback(error ?? new Error(`${host} has no address`), "");
      else if (refused !== undefined) callback(new Error(refused), "");
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
}

type DispatchParts = Omit<ExchangeParts, "origin">;

function dispatch(
  agent: Agent,
  { origin, path }: Target,
  parts: DispatchParts,
): Promise<PeerResponse> {
  const exchange = new Exchange({ origin, ...parts });
  if (exchange.isOver) return exchange.response;
  const { method, body = null } = parts.request;
  const headers = headersOf(parts.request);
  // undici takes any iterable, which its types don't say.
  const sent = body instanceof Blob ? (uploadOf(exchange, body) as unknown as Readable) : body;
  agent.dispatch({ origin, path, method, headers, body: sent as Buffer }, exchange);
  return exchange.response;
}

function sendPlainly(
  sender: Sender,
  { origin, path }: Target,
  parts: DispatchParts,
): Promise<PeerResponse> {
  const exchange = new Exchange({ origin, ...parts });
  if (exchange.isOver) return exchange.response;
  const { method, body } = parts.request;
  const headers = headersOf(parts.request);
  const sent =
    body instanceof Blob || isStream(body) ? uploadOf(exchange, body) : (body ?? undefined);
  sendRequest(sender, { origin, path, method, headers, body: sent }, exchange);
  return exchange.response;
}

function uploadOf(
  exchange: Exchange,
  body: Blob | AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  return exchange.upload(chunksOf(body));
}

function headersOf({ body, headers }: OutgoingRequest): OutgoingRequest["headers"] {
  return body instanceof Blob
    ? Object.assign({}, headers, { "content-length": String(body.size) })
    : headers;
}

/** Whether a body may still be on its way. The bytes of a Blob are here. */
function isStream(body: OutgoingRequest["body"] | null): body is AsyncIterable<Uint8Array> {
  return (
    body !== undefined &&
    body !== null &&
    typeof body === "object" &&
    !(body instanceof Uint8Array) &&
    !(body instanceof Blob)
  );
}

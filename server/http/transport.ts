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
import { sendStreamed, type StreamAgent } from "./outgoing/streamed-request.ts";
import type { HeldMemory } from "./held-memory.ts";

export interface TransportOptions {
  /**
   * Calls that may be open at once [10000], three quarters of them to one service. More are
   * refused, never queued.
   */
  readonly connections?: number;
  /** Connections to one service that may be opening at once [128]. */
  readonly opening?: number;
  /** How long calls wait for a service that accepts no connection, in ms [1000]. */
  readonly waitMs?: number;
  /** After how many ms an address that doesn't answer counts as silent [3000]. */
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
  /** Finds the addresses of host names [the system's lookup]. */
  readonly lookup?: LookupFunction;
}

export interface SocketTransport extends Transport {
  /** Loads what the first request needs, so that no caller has to wait for it. */
  load(): Promise<void>;
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

/** How long an idle connection is kept for the next streamed request; undici has the same. */
const keptMs = 4_000;

interface Agents {
  readonly calls: Agent;
  readonly control: Agent;
  /** For requests with a streamed body; those to https addresses have an agent of their own. */
  readonly streamed: StreamAgent;
  readonly streamedTls: StreamAgent;
}

/**
 * Redirects are returned as answers: following one would send headers to an address of the other
 * side's choosing.
 */
export function createTransport(options: TransportOptions = {}): SocketTransport {
  const { connections = defaultLimits.maxConnections, opening = 128, waitMs = 1_000 } = options;
  const { answerBytes = 64 * 1024 * 1024, memory } = options;
  const queue = new CallQueue({ total: connections, opening, waitMs });
  let opened: Promise<Agents> | undefined;
  let loaded: Agents | undefined;
  let closed = false;
  let rule: AddressRule = () => undefined;
  let lastShortage = -Infinity;
  const reportShortage = (reason: string): void => {
    const now = performance.now();
    if (now - lastShortage >= quietMs) options.onShortage?.(reason);
    lastShortage = now;
  };
  const open = (): Promise<Agents> =>
    (opened ??= openAgents(options, (host, address) => rule(host, address)));
  return {
    async load() {
      await open();
    },
    guard(newRule) {
      rule = newRule;
    },
    async send(request) {
      if (closed) throw new UnsentError("This service is stopping", "local");
      const agents = loaded ?? (loaded = await open());
      request.signal?.throwIfAborted();
      const target = targetOf(request.url);
      try {
        if (request.control)
          return await dispatch(agents.control, target, { request, answerBytes });
        const entering = queue.enter(target.origin, request.signal);
        const slot = entering instanceof Promise ? await entering : entering;
        const parts = { request, answerBytes, slot, memory };
        return await (isStream(request.body)
          ? stream(agents, target, request.body, parts)
          : dispatch(agents.calls, target, parts));
      } catch (error) {
        if (isLocalFailure(error)) reportShortage((error as Error).message);
        throw error;
      }
    },
    async close() {
      closed = true;
      const agents = await opened;
      agents?.streamed.agent.destroy();
      agents?.streamedTls.agent.destroy();
      await Promise.all([agents?.calls.destroy(), agents?.control.destroy()]);
    },
  };
}

/**
 * Control requests have an agent of their own: behind calls, a health check would take a busy
 * service for a dead one.
 */
async function openAgents(options: TransportOptions, rule: AddressRule): Promise<Agents> {
  const { connectMs = 3_000, authorities, lookup = systemLookup } = options;
  // Loaded with the first request: some roles never send one.
  const [{ Agent }, https] = await Promise.all([import("undici"), import("node:https")]);
  const connecting = {
    lookup: guarded(lookup, rule),
    ...(authorities === undefined ? {} : { ca: [...authorities] }),
  };
  // An answer has settings of inner calls besides the headers that a service would accept.
  const maxHeaderSize = defaultLimits.headerBytes + wireMargin.bytes;
  const settings: Agent.Options = {
    pipelining: 1,
    connect: { timeout: connectMs, ...connecting },
    maxHeaderSize,
    // Every request has a signal for this; undici's default of 5 minutes would cut longer calls.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const kept = { keepAlive: true, timeout: keptMs, ...connecting };
  const streaming = { connectMs, maxHeaderSize };
  // An agent keeps a pool per origin and drops it with its last connection, as members come and go.
  // Pools for calls are unbounded: in a full one calls would wait where nothing can end the wait.
  return {
    calls: new Agent(settings),
    control: new Agent({ ...settings, connections: controlConnections }),
    streamed: { ...streaming, request: sendHttp, agent: new HttpAgent(kept) },
    streamedTls: { ...streaming, request: https.request, agent: new https.Agent(kept) },
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

interface Target {
  readonly origin: string;
  readonly path: string;
}

function targetOf(url: string): Target {
  // The path is sent as it was written. `URL` would resolve `/rpc/../nodes`, from an outsider and
  // forwarded with the trust key, to another endpoint.
  const end = url.indexOf("/", url.indexOf("//") + 2);
  return {
    origin: originOf(end < 0 ? url : url.slice(0, end)),
    path: end < 0 ? "/" : url.slice(end),
  };
}

const origins = new Map<string, string>();
/** Members come and go, so the map of origins begins anew now and then. */
const mostOrigins = 1_000;

/** The origin of a service's address, which nearly every call needs and few addresses have. */
function originOf(base: string): string {
  let origin = origins.get(base);
  if (origin === undefined) {
    if (origins.size >= mostOrigins) origins.clear();
    origins.set(base, (origin = new URL(base).origin));
  }
  return origin;
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
  const isBlob = body instanceof Blob;
  const length = isBlob && { "content-length": String(body.size) };
  const headers = isBlob ? { ...parts.request.headers, ...length } : parts.request.headers;
  // undici takes any iterable, which its types don't say.
  const sent =
    isBlob || isStream(body) ? (exchange.upload(chunksOf(body)) as unknown as Readable) : body;
  agent.dispatch({ origin, path, method, headers, body: sent }, exchange);
  return exchange.response;
}

function stream(
  agents: Agents,
  { origin, path }: Target,
  body: AsyncIterable<Uint8Array>,
  parts: DispatchParts,
): Promise<PeerResponse> {
  const exchange = new Exchange({ origin, ...parts });
  if (exchange.isOver) return exchange.response;
  const { method, headers } = parts.request;
  const agent = origin.startsWith("https:") ? agents.streamedTls : agents.streamed;
  sendStreamed(agent, { origin, path, method, headers, body: exchange.upload(body) }, exchange);
  return exchange.response;
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

// Requests to other services: kept connections, answers collected. Measured against `fetch`: a seventh of the time.

import { lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import type { Agent, Dispatcher } from "undici";
import { noRoom } from "../src/errors.ts";
import {
  type AddressRule,
  type IncomingResponse,
  isLocalFailure,
  type OutgoingRequest,
  type Transport,
  UnsentError,
} from "../src/ports.ts";
import { defaultLimits } from "../src/serializer/limits.ts";
import { CallQueue, type Place } from "./call-queue.ts";
import { chunkBytes, type HeldMemory } from "./held-memory.ts";
import { transportFailure } from "./transport-failure.ts";

export interface TransportOptions {
  /** Calls that may be open at once [10000]; of one service three quarters of them. More are refused at once, never queued. */
  readonly connections?: number;
  /** Connections to one service that may be opening at once [128]. */
  readonly opening?: number;
  /** Ms after which calls give up waiting for a service that takes no connection [1000]. */
  readonly patience?: number;
  /** Ms until an address that doesn't answer counts as silent [3000]. */
  readonly connectTime?: number;
  /** Bytes of an answer [64 MiB]: another service must not be able to fill our memory either. */
  readonly answer?: number;
  /** Where the bytes of answers count while they come. Left out: nowhere. */
  readonly memory?: HeldMemory;
  /** Who may have signed the certificates of https addresses (PEM). Left out: those whom Node trusts. */
  readonly authorities?: readonly string[] | undefined;
  /** Told why this host has no connection for a request: once, until there has been one for 10 s. */
  readonly onShortage?: (why: string) => void;
  /** Finds the addresses of host names [the system's own way]. */
  readonly lookup?: LookupFunction;
}

export interface SocketTransport extends Transport {
  /** Loads what the first request needs, so that no caller waits for that. */
  load(): Promise<void>;
  guard(rule: AddressRule): void;
}

/** Connections to one service for control requests: a gateway asks a member two things at once, and a node starts with a few more. */
const controlConnections = 8;

/** Ms without a shortage after which the next one is told: while it lasts, some requests get through. */
const quietMs = 10_000;

interface Agents {
  readonly calls: Agent;
  readonly control: Agent;
}

/** §4.1 from the sending side. Redirects are answers like any other: following one would carry headers to an address of the other's choosing. */
export function createTransport(options: TransportOptions = {}): SocketTransport {
  const { connections = defaultLimits.connections, opening = 128, patience = 1_000 } = options;
  const queue = new CallQueue({ total: connections, opening, patience });
  let opened: Promise<Agents> | undefined;
  let closed = false;
  let rule: AddressRule = () => undefined;
  let lastShortage = -Infinity;
  const tellShortage = (why: string): void => {
    const now = performance.now();
    if (now - lastShortage >= quietMs) options.onShortage?.(why);
    lastShortage = now;
  };
  const open = (): Promise<Agents> =>
    (opened ??= openAgents(options, (host, address) => rule(host, address)));
  return {
    async load() {
      await open();
    },
    guard(given) {
      rule = given;
    },
    async send(request) {
      if (closed) throw new UnsentError("This service is stopping", "local");
      const { calls, control } = await open();
      request.signal?.throwIfAborted();
      const target = targetOf(request.url);
      try {
        if (request.control) return await dispatch(control, target, request, {});
        const place = await queue.enter(target.origin, request.signal);
        return await dispatch(calls, target, request, { place, memory: options.memory });
      } catch (error) {
        if (isLocalFailure(error)) tellShortage((error as Error).message);
        throw error;
      }
    },
    async close() {
      closed = true;
      const agents = await opened;
      await Promise.all([agents?.calls.destroy(), agents?.control.destroy()]);
    },
  };
}

/** Two of them: a health check that waits behind calls would take a service that is only busy for one that is away. */
async function openAgents(options: TransportOptions, rule: AddressRule): Promise<Agents> {
  const {
    connectTime = 3_000,
    answer = 64 * 1024 * 1024,
    authorities,
    lookup = systemLookup,
  } = options;
  // Loaded with the first request: a role that sends none starts without it.
  const { Agent } = await import("undici");
  const settings: Agent.Options = {
    pipelining: 1,
    connect: {
      timeout: connectTime,
      lookup: guarded(lookup, rule),
      ...(authorities === undefined ? {} : { ca: [...authorities] }),
    },
    maxResponseSize: answer,
    // Every request has a signal for that; undici's own 5 minutes would cut a call that may take longer.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  // An agent keeps a pool for each origin, and lets an origin go with its last connection: members come and go on many ports.
  // For calls the queue is the only bound: a pool that is full would keep them waiting where nobody can end it.
  return {
    calls: new Agent(settings),
    control: new Agent({ ...settings, connections: controlConnections }),
  };
}

/** Judges what is really connected to: a name may resolve to something else than when it was last asked. */
function guarded(lookup: LookupFunction, rule: AddressRule): LookupFunction {
  return (host, options, callback) =>
    lookup(host, { ...options, all: true }, (error, found) => {
      const addresses =
        typeof found === "string"
          ? [{ address: found, family: found.includes(":") ? 6 : 4 }]
          : found;
      const refused =
        error === null
          ? addresses.map(({ address }) => rule(host, address)).find((one) => one !== undefined)
          : undefined;
      const [first] = addresses ?? [];
      if (error !== null || first === undefined)
        callback(error ?? new Error(`no address of ${host} is known`), "");
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
  // The path goes out as it was written. `URL` would lead `/rpc/../nodes`, of an outsider and passed on with the trust key, to another door.
  const end = url.indexOf("/", url.indexOf("//") + 2);
  const { origin } = new URL(end < 0 ? url : url.slice(0, end));
  return { origin, path: end < 0 ? "/" : url.slice(end) };
}

interface Charged {
  readonly place?: Place;
  readonly memory?: HeldMemory | undefined;
}

function dispatch(
  agent: Agent,
  { origin, path }: Target,
  request: OutgoingRequest,
  { place, memory }: Charged,
): Promise<IncomingResponse> {
  const { signal } = request;
  return new Promise((resolve, reject) => {
    let sent = false;
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    let headers: IncomingResponse["headers"] = {};
    const chunks: Buffer[] = [];
    let size = 0;
    const fail = (reason: Error): void => {
      // First: the controller tells of an error of the connection. Waiting for one, there is no controller yet.
      reject(reason);
      controller?.abort(reason);
    };
    const abort = (): void => fail(signal?.reason as Error);
    const holder = memory?.holder({
      progress: () => size,
      isUntaken: () => false,
      cut: () => fail(noRoom()),
    });
    const end = (): void => {
      signal?.removeEventListener("abort", abort);
      holder?.close();
      place?.ended();
    };
    // It may have ended while it waited.
    if (signal?.aborted === true) return (end(), abort());
    signal?.addEventListener("abort", abort, { once: true });
    agent.dispatch(
      {
        origin,
        path,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
      },
      {
        onRequestStart(given) {
          controller = given;
          place?.started();
          if (signal?.aborted === true) return given.abort(signal.reason as Error);
          // From here bytes may be on their way: whatever fails now, the call may have been run (R11).
          sent = true;
        },
        onResponseStart(_, code, fields) {
          // 1xx come before the answer, and are none.
          if (code < 200) return;
          status = code;
          headers = fields;
        },
        onResponseData(_, chunk) {
          const held = chunk.length + chunkBytes;
          if (memory?.fits(held) === false) return fail(noRoom());
          size += held;
          holder?.take(held);
          chunks.push(chunk);
        },
        onResponseEnd() {
          end();
          resolve({
            status,
            headers,
            body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks),
          });
        },
        onResponseError(_, error) {
          end();
          reject(transportFailure(error, origin, sent));
        },
      },
    );
  });
}

// Links that this service dials: an HTTP/1.1 request for an upgrade, and then the socket itself. If something on
// the way doesn't pass on such an upgrade, a WebSocket.

import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { Socket } from "node:net";

import {
  type Channel,
  type LinkDialing,
  type LinkRefusal,
  NoLinkThere,
} from "../../../src/base/ports/links.ts";
import { transportFailure } from "../connection/transport-failure.ts";
import type { Host, HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import { HeldSocket } from "../connection/caller-connection.ts";
import { allRead, type Heartbeat } from "../../host/event-loop.ts";
import { HeldMemory } from "../../host/held-memory.ts";
import { connectionOf } from "./socket-channel.ts";
import { type DialedUpgrade, linkPath, toSocket, toWebSocket } from "./upgrades.ts";
import { dialAnswerMs } from "../connection/times.ts";
import { mostHandshakeBytes } from "../../../src/link/limits.ts";

export interface LinkHostOptions {
  /** Certificate authorities, beside those that Node knows. */
  readonly authorities?: readonly string[] | undefined;
  /** Counts the bytes that links hold. */
  readonly memory?: HeldMemory;
  /** Tells whether requests have waited because the event loop was late. */
  readonly heartbeat?: Pick<Heartbeat, "lateSince" | "foundWaiting"> | undefined;
}

export function createLinkHost(options: LinkHostOptions = {}): Host["links"] {
  const { authorities, memory = new HeldMemory(), heartbeat } = options;
  return {
    soon: (run) => void setImmediate(run),
    dial: (base, address, dialing) => dial(base, address, dialing, authorities, memory),
    ...(heartbeat !== undefined && { around: (handle) => unlessLeft(handle, heartbeat) }),
  };
}

/** Doesn't run calls whose callers have left while this process was busy and read nothing. */
function unlessLeft(
  handle: (request: HttpRequest) => Promise<HttpResponse>,
  heartbeat: NonNullable<LinkHostOptions["heartbeat"]>,
): typeof handle {
  return (request) => {
    const { lateSince } = heartbeat;
    if (lateSince === undefined) return handle(request);
    request.waitedMs = performance.now() - lateSince;
    return allRead().then(() => {
      if (request.departure?.aborted !== true) return handle(request);
      heartbeat.foundWaiting();
      // The caller has left, so this isn't sent.
      return { status: 503, headers: {} };
    });
  };
}

/** Asks for a link until there is one, over one connection as long as the other end keeps it. */
async function dial(
  base: string,
  address: string | undefined,
  dialing: LinkDialing,
  authorities: readonly string[] | undefined,
  memory: HeldMemory,
): Promise<Channel> {
  const { protocol: scheme, hostname: bracketed, port, host } = new URL(base);
  const hostname = bracketed.replace(/^\[|\]$/g, "");
  const isTls = scheme === "https:";
  const agent = new (isTls ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 1 });
  // A limit for the whole dial: a timeout of the socket begins again with each byte.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), dialAnswerMs);
  const options = {
    hostname: address ?? hostname,
    // The certificate is for the name, not for the address.
    servername: address === undefined ? undefined : hostname,
    port,
    path: linkPath,
    agent,
    signal: late.signal,
    ...(authorities === undefined ? {} : { ca: [...authorities] }),
  };
  /** Resolves with a channel, or with the answer if it wasn't a refusal by a service. */
  const askedFor = async (upgrade: DialedUpgrade): Promise<Channel | string> => {
    const asking = Object.assign({}, options, { headers: { host, ...upgrade.fields } });
    for (;;) {
      const request = (isTls ? requestHttps : requestHttp)(asking);
      const answer = await ask(request, base, (socket) =>
        dialing.fields(connectionOf(socket, upgrade.way)),
      );
      if ("socket" in answer) {
        const { socket, head } = answer;
        if (upgrade.isGranted(answer.headers))
          return upgrade.open(socket, head, memory, memory.holder(new HeldSocket(socket)));
        socket.destroy();
        return `101 for '${answer.headers.upgrade}'`;
      }
      try {
        dialing.refused(answer);
      } catch (error) {
        if (!(error instanceof NoLinkThere)) throw error;
        return String(answer.status);
      }
    }
  };
  try {
    const first = await askedFor(toSocket);
    if (typeof first !== "string") return first;
    const second = await askedFor(toWebSocket());
    if (typeof second !== "string") return second;
    // A 5xx has other reasons than a blocked upgrade.
    const advice = [first, second].every((status) => status.startsWith("5")) ? "" : upgradeAdvice;
    throw new NoLinkThere(
      `${new URL(linkPath, base).href} answered ${first} when asked for a link, and ${second} when asked for one over a WebSocket${advice}`,
    );
  } catch (error) {
    throw late.signal.aborted
      ? new Error(`${base} doesn't answer within ${dialAnswerMs} ms when asked for a link`)
      : error;
  } finally {
    clearTimeout(timer);
    // This leaves the socket of a link alone, which isn't the agent's any more.
    agent.destroy();
  }
}

/** The way out if something on the way doesn't pass upgrades on. */
const upgradeAdvice =
  ": let upgrades pass there, at least to WebSockets, with the header fields 'Connection', 'Upgrade' and 'Sec-WebSocket-*'";

interface UpgradedSocket {
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  readonly head: Buffer;
}

/** Sends one request for a link. Resolves with the upgraded socket, or with another answer. */
function ask(
  request: ClientRequest,
  base: string,
  fieldsOver: (socket: Socket) => Readonly<Record<string, string>>,
): Promise<UpgradedSocket | LinkRefusal> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(transportFailure(error, base, "waiting"));
    const send = (socket: Socket): void => {
      try {
        for (const field of Object.entries(fieldsOver(socket))) request.setHeader(...field);
        request.end();
      } catch (error) {
        reject(error);
        request.destroy();
      }
    };
    request.on("socket", (socket: Socket & { readonly secureConnecting?: boolean }) => {
      // The TLS secret for the proof isn't known before.
      if (socket.secureConnecting === true) socket.once("secureConnect", () => send(socket));
      else send(socket);
    });
    request.on("upgrade", ({ headers }, socket: Socket, head: Buffer) =>
      resolve({ headers, socket, head }),
    );
    request.on("response", (answer) => {
      const { statusCode: status = 0, headers } = answer;
      textOf(answer).then((body) => resolve({ status, headers, body }), fail);
    });
    request.on("error", fail);
  });
}

/** The text of an answer, which is short if it is one of ours. */
async function textOf(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of answer.setEncoding("utf8")) {
    text += String(part);
    if (text.length > mostHandshakeBytes) break;
  }
  return text;
}

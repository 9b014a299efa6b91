// Links that this service dials: an HTTP/1.1 request for an upgrade, and then the socket itself.

import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";

import { type DialledChannel, NoLinkThere } from "../../../src/base/ports/links.ts";
import { transportFailure } from "../outgoing/transport-failure.ts";
import type { Host, HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import { HeldSocket } from "../caller-connection.ts";
import { allRead, type Heartbeat } from "../event-loop.ts";
import { HeldMemory } from "../held-memory.ts";
import { connectionOf, linkPath, linkProtocol, SocketChannel } from "./socket-channel.ts";

/** For the other end to answer the request. */
const answerMs = 5_000;

export interface LinkHostOptions {
  /** Of certificates, beside those that Node knows. */
  readonly authorities?: readonly string[] | undefined;
  /** Counts what links hold. */
  readonly memory?: HeldMemory;
  /** Knows whether requests have waited because the event loop is late. */
  readonly heartbeat?: Pick<Heartbeat, "lateSince" | "foundWaiting"> | undefined;
}

export function createLinkHost(options: LinkHostOptions = {}): NonNullable<Host["links"]> {
  const { authorities, memory = new HeldMemory(), heartbeat } = options;
  return {
    soon: (run) => void setImmediate(run),
    dial: (base, address) => dial(base, address, authorities, memory),
    ...(heartbeat !== undefined && { around: (handle) => unlessLeft(handle, heartbeat) }),
  };
}

/** While this process read nothing, callers may have left: then their calls don't run. */
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
      // Nobody gets it.
      return { status: 503, headers: {} };
    });
  };
}

function dial(
  base: string,
  address: string | undefined,
  authorities: readonly string[] | undefined,
  memory: HeldMemory,
): Promise<DialledChannel> {
  const { protocol: scheme, hostname: bracketed, port, host } = new URL(base);
  const hostname = bracketed.replace(/^\[|\]$/g, "");
  const send = scheme === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send({
      hostname: address ?? hostname,
      // The certificate is one of the name.
      servername: address === undefined ? undefined : hostname,
      port,
      path: linkPath,
      headers: { host, connection: "upgrade", upgrade: linkProtocol },
      agent: false,
      ...(authorities === undefined ? {} : { ca: [...authorities] }),
    });
    // Of all of it: a timeout of the socket begins again with each byte.
    const timer = setTimeout(() => {
      reject(new Error(`${base} doesn't answer within ${answerMs} ms when asked for a link`));
      request.destroy();
    }, answerMs);
    request.on("upgrade", (answer, socket: Socket, head: Buffer) => {
      clearTimeout(timer);
      if (answer.headers.upgrade !== linkProtocol) {
        socket.destroy();
        return reject(new NoLinkThere(`${base} upgraded to ${answer.headers.upgrade}`));
      }
      const holder = memory.holder(new HeldSocket(socket));
      resolve({
        channel: new SocketChannel(socket, head, memory, holder),
        connection: connectionOf(socket, host),
      });
    });
    request.on("response", (answer) => {
      clearTimeout(timer);
      answer.destroy();
      reject(new NoLinkThere(`it answered ${answer.statusCode} when asked for a link`));
    });
    request.on("error", (error) => {
      clearTimeout(timer);
      reject(transportFailure(error, base, "waiting"));
    });
    request.end();
  });
}

// The two ways to carry a link over an HTTP/1.1 connection: its socket after an upgrade, or a WebSocket.

import { createHash, randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";

import type { Channel, LinkConnection } from "../../../src/base/ports/links.ts";
import { paths } from "../../../src/base/protocol.ts";
import type { HeldMemory, Holder } from "../../host/held-memory.ts";
import { SocketChannel } from "./socket-channel.ts";
import { WebSocketChannel } from "./web-socket-channel.ts";

/** The path of links. */
export const linkPath: string = paths.link;
export const linkProtocol = "seamline-link";
/** The subprotocol of WebSockets that carry a link. */
export const webSocketProtocol = "seamline-link.1";

export interface Upgrade {
  readonly way: LinkConnection["way"];
  /** Fields of the dialer's request, or of the acceptor's answer. */
  readonly fields: Readonly<Record<string, string>>;
  readonly open: (socket: Socket, head: Buffer, memory: HeldMemory, holder: Holder) => Channel;
}

export interface DialedUpgrade extends Upgrade {
  /** Whether a 101 with these fields grants it. */
  readonly isGranted: (headers: IncomingHttpHeaders) => boolean;
}

export const toSocket: DialedUpgrade = {
  way: "socket",
  fields: { connection: "upgrade", upgrade: linkProtocol },
  isGranted: ({ upgrade }) => upgrade === linkProtocol,
  open: (...parts) => new SocketChannel(...parts),
};

/**
 * Asked for by `node:http` as well: a platform's own `WebSocket` can't send a proof, call one address of a
 * name, trust an authority of the configuration, or tell one TLS connection from another.
 */
export function toWebSocket(): DialedUpgrade {
  const key = randomBytes(16).toString("base64");
  return {
    way: "websocket",
    fields: {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": key,
      "sec-websocket-protocol": webSocketProtocol,
    },
    isGranted: (headers) =>
      headers.upgrade?.toLowerCase() === "websocket" &&
      headers["sec-websocket-accept"] === acceptOf(key) &&
      headers["sec-websocket-protocol"] === webSocketProtocol &&
      headers["sec-websocket-extensions"] === undefined,
    open: (...parts) => new WebSocketChannel(...parts, true),
  };
}

/** The upgrade that a request asks for. */
export function upgradeOf(headers: IncomingHttpHeaders): Upgrade | undefined {
  const { upgrade, "sec-websocket-key": key } = headers;
  if (upgrade === linkProtocol) return key === undefined ? toSocket : undefined;
  if (
    upgrade?.toLowerCase() !== "websocket" ||
    headers["sec-websocket-version"] !== "13" ||
    headers["sec-websocket-protocol"] !== webSocketProtocol ||
    // 16 bytes
    key === undefined ||
    !/^[\w+/]{22}==$/.test(key)
  )
    return undefined;
  return {
    way: "websocket",
    fields: {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-accept": acceptOf(key),
      "sec-websocket-protocol": webSocketProtocol,
    },
    open: (...parts) => new WebSocketChannel(...parts, false),
  };
}

/** Proves that the other end speaks WebSocket (RFC 6455, 4.2.2). */
function acceptOf(key: string): string {
  return createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}

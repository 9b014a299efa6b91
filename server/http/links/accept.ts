// Links that others dial: who gets one, and what becomes of its socket when the service stops.

import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

import type { DialledChannel } from "../../../src/base/ports/links.ts";
import type { CallerConnection } from "../caller-connection.ts";
import { connectionOf, linkPath, linkProtocol, SocketChannel } from "./socket-channel.ts";

/** So many may be showing the key at the same time. */
export const mostUnproven = 100;

/** Whether a request is for this. Whatever else it asks for, it is answered by {@link LinkSockets}. */
export function asksForLink({ url = "", headers }: IncomingMessage): boolean {
  return url.split("?", 1)[0] === linkPath || headers.upgrade?.toLowerCase() === linkProtocol;
}

export class LinkSockets {
  readonly #onLink: (dialled: DialledChannel) => void;
  readonly #channels = new Set<SocketChannel>();

  constructor(onLink: (dialled: DialledChannel) => void) {
    this.#onLink = onLink;
  }

  /** Their sockets count as connections. */
  get size(): number {
    return this.#channels.size;
  }

  /** Answers a request for an upgrade. Returns whether its socket is a link's now. */
  accept(
    message: IncomingMessage,
    socket: Socket,
    head: Buffer,
    { memory, holder, isSpare }: Pick<CallerConnection, "memory" | "holder" | "isSpare">,
    isClosing: boolean,
  ): boolean {
    if (!isOfService(message))
      return refuse(socket, 403, "Links are for the services of this deployment");
    // Any answer would say that there are no links here, and make the other service use HTTP.
    if (isClosing || isSpare || this.#unproven() >= mostUnproven) {
      socket.destroy();
      return false;
    }
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${linkProtocol}\r\n\r\n`,
    );
    const channel = new SocketChannel(socket, head, memory, holder);
    this.#channels.add(channel);
    socket.once("close", () => this.#channels.delete(channel));
    const { host = "" } = message.headers;
    this.#onLink({ channel, connection: connectionOf(socket, host) });
    return true;
  }

  /** Ends those that have shown no key yet. The others are their role's. */
  close(): void {
    for (const channel of this.#channels) if (!channel.isProven) channel.close();
  }

  /** Asked only when a service dials. */
  #unproven(): number {
    let count = 0;
    for (const { isProven } of this.#channels) if (!isProven) count++;
    return count;
  }
}

/** A page's request always says where the page is from, and a WebSocket's can be nothing else. */
function isOfService({ method, url, headers }: IncomingMessage): boolean {
  return (
    method === "GET" &&
    url === linkPath &&
    headers.upgrade === linkProtocol &&
    headers.host !== undefined &&
    headers.origin === undefined &&
    headers["sec-websocket-key"] === undefined &&
    headers["sec-fetch-site"] === undefined
  );
}

function refuse(socket: Socket, status: 403, why: string): false {
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: text/plain\r\ncontent-length: ${why.length}\r\nconnection: close\r\n\r\n${why}`,
  );
  return false;
}

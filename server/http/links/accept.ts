// Links that others dial: who gets one, and what becomes of the socket of those who don't.

import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

import type { LinkAnswer, LinkRefusal, LinkUpgrade } from "../../../src/base/ports/links.ts";
import type { CallerConnection } from "../connection/caller-connection.ts";
import { connectionOf } from "./socket-channel.ts";
import { linkPath, linkProtocol, upgradeOf } from "./upgrades.ts";

/** Whether a request is for this. Whatever else it asks for, it is answered by {@link LinkSockets}. */
export function asksForLink({ url = "", headers }: IncomingMessage): boolean {
  return url.split("?", 1)[0] === linkPath || headers.upgrade?.toLowerCase() === linkProtocol;
}

export class LinkSockets {
  readonly #accept: (upgrade: LinkUpgrade) => LinkAnswer;
  readonly #keepsHttp: boolean;
  readonly #sockets = new Set<Socket>();

  /** `keepsHttp`: after a challenge, the next request may come over the same connection. */
  constructor(
    accept: (upgrade: LinkUpgrade) => LinkAnswer,
    { keepsHttp }: { readonly keepsHttp: boolean } = { keepsHttp: true },
  ) {
    this.#accept = accept;
    this.#keepsHttp = keepsHttp;
  }

  /** They count as connections. */
  get size(): number {
    return this.#sockets.size;
  }

  /**
   * Answers a request for a link. Returns what its socket is from now on: a link, `http` as before, or
   * closed.
   */
  answer(
    message: IncomingMessage,
    socket: Socket,
    head: Buffer,
    { memory, holder, isSpare }: Pick<CallerConnection, "memory" | "holder" | "isSpare">,
    isClosing: boolean,
  ): "link" | "http" | "closed" {
    const upgrade = isOfService(message) ? upgradeOf(message.headers) : undefined;
    if (upgrade === undefined)
      return refuse(socket, 403, {}, "Links are for the services of this deployment");
    const { headers } = message;
    const { remoteAddress: from } = socket;
    const isFull = isClosing || isSpare;
    const answer = isFull
      ? undefined
      : this.#accept(Object.assign(connectionOf(socket, upgrade.way), { headers, from }));
    // Any answer would say that there are no links here, and make the other service use HTTP.
    if (answer === undefined) {
      socket.destroy();
      return "closed";
    }
    if (!("open" in answer)) {
      const { status, body } = answer;
      return refuse(socket, status, answer.headers, body, status === 401 && this.#keepsHttp);
    }
    socket.write(headOf(101, upgrade.fields));
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    answer.open(upgrade.open(socket, head, memory, holder));
    return "link";
  }
}

/** A page's request always says where the page is from, also one for a WebSocket. */
function isOfService({ method, url, headers }: IncomingMessage): boolean {
  return (
    method === "GET" &&
    url === linkPath &&
    // What follows the head would be a body for those who don't upgrade, and the next request for us.
    headers["content-length"] === undefined &&
    headers["transfer-encoding"] === undefined &&
    headers.origin === undefined &&
    headers.cookie === undefined &&
    headers["sec-fetch-site"] === undefined
  );
}

function refuse(
  socket: Socket,
  status: number,
  headers: LinkRefusal["headers"],
  body: string,
  isHttp = false,
): "http" | "closed" {
  const own = {
    "content-type": "text/plain; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    connection: isHttp ? "keep-alive" : "close",
  };
  const head = headOf(status, Object.assign({}, headers, own));
  socket.write(`${head}${body}`);
  if (isHttp) return "http";
  // It needn't be read, nor end at the other side.
  socket.destroySoon();
  return "closed";
}

function headOf(status: number, fields: LinkRefusal["headers"]): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (const [name, value] of Object.entries(fields)) head += `${name}: ${String(value)}\r\n`;
  return `${head}\r\n`;
}

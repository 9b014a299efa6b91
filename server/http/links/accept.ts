// Links that other services dial: accepts or refuses their requests, and closes the sockets of refused ones.

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

import type { LinkAnswer, LinkUpgrade } from "../../../src/base/ports/links.ts";
import type { CallerConnection } from "../connection/caller-connection.ts";
import { headOf, refuseUpgrade } from "../connection/refuse-upgrade.ts";
import { connectionOf } from "./socket-channel.ts";
import { linkPath, linkProtocol, upgradeOf } from "./upgrades.ts";

/** Whether a request is for a link. If so, {@link LinkSockets} answers it, even if it is invalid. */
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
   * Answers a request for a link. Returns the new state of its socket: a link, `http` as before, or closed.
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
      return refuseUpgrade(socket, 403, {}, "Links are for the services of this deployment");
    const { headers } = message;
    const { remoteAddress: from } = socket;
    const isFull = isClosing || isSpare;
    const answer = isFull
      ? undefined
      : this.#accept(Object.assign(connectionOf(socket, upgrade.way), { headers, from }));
    // Not an answer: that would say that there are no links here at all.
    if (answer === undefined) {
      socket.destroy();
      return "closed";
    }
    if (!("open" in answer)) {
      const { status, body } = answer;
      return refuseUpgrade(socket, status, answer.headers, body, status === 401 && this.#keepsHttp);
    }
    socket.write(headOf(101, upgrade.fields));
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    answer.open(upgrade.open(socket, head, memory, holder));
    return "link";
  }
}

/** Whether a service made the request: a page's always has its origin, even for a WebSocket. */
function isOfService({ method, url, headers }: IncomingMessage): boolean {
  return (
    method === "GET" &&
    url === linkPath &&
    // Bytes after the head would be a body to anything that doesn't upgrade, and the next request to us.
    headers["content-length"] === undefined &&
    headers["transfer-encoding"] === undefined &&
    headers.origin === undefined &&
    headers.cookie === undefined &&
    headers["sec-fetch-site"] === undefined
  );
}

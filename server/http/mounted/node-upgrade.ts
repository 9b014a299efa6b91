// Links that pages and other services open to a service in a server that isn't ours.

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

import { defaultLimits } from "../../../src/base/limits.ts";
import { HeldSocket } from "../connection/caller-connection.ts";
import type { HeldMemory } from "../../host/held-memory.ts";
import { asksForLink, LinkSockets } from "../links/accept.ts";
import type { PageLinks } from "../page-links/page-links.ts";
import type { MountedRole } from "./mounted-service.ts";

/** A request for an upgrade, as a server hands it over: returns whether it was for the service. */
export type AnswerUpgrade = (message: IncomingMessage, socket: Duplex, head: Buffer) => boolean;

/** `isClosing` says whether the service is about to stop: then nothing gets a link any more. */
export function upgradesOf(
  { accept }: Pick<MountedRole, "accept">,
  memory: HeldMemory,
  isClosing: () => boolean,
  pageLinks: PageLinks | undefined,
): AnswerUpgrade {
  // Only its server could read the next request of a connection.
  const links = new LinkSockets(accept ?? (() => undefined), { keepsHttp: false });
  return (message, stream, head) => {
    // Those of HTTP/2 have no upgrades.
    const socket = stream as Socket;
    if (pageLinks?.asks(message) === true) {
      answerPage(pageLinks, message, socket, head, memory);
      return true;
    }
    if (!asksForLink(message)) return false;
    // Node takes its own listener off.
    socket.on("error", () => {});
    const holder = memory.holder(new HeldSocket(socket));
    const is = links.answer(message, socket, head, { memory, holder, isSpare: false }, isClosing());
    if (is !== "link") holder.close();
    return true;
  };
}

/** Answers a page that asks for a link. */
export function answerPage(
  pageLinks: PageLinks,
  message: IncomingMessage,
  socket: Socket,
  head: Buffer,
  memory: HeldMemory,
): void {
  const holder = memory.holder(new HeldSocket(socket), defaultLimits.requestTimeoutMs);
  socket.once("close", () => holder.close());
  pageLinks.answer(message, socket, head, { holder, isSpare: false });
}

// Links that other services dial to a service in a server that isn't ours.

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

import { HeldSocket } from "../connection/caller-connection.ts";
import type { HeldMemory } from "../../host/held-memory.ts";
import { asksForLink, LinkSockets } from "../links/accept.ts";
import type { MountedRole } from "./mounted-service.ts";

/** A request for an upgrade, as a server hands it over: returns whether it was for the service. */
export type AnswerUpgrade = (message: IncomingMessage, socket: Duplex, head: Buffer) => boolean;

/** `isClosing` says whether the service is about to stop: then nothing gets a link any more. */
export function upgradesOf(
  { accept }: Pick<MountedRole, "accept">,
  memory: HeldMemory,
  isClosing: () => boolean,
): AnswerUpgrade {
  // Only its server could read the next request of a connection.
  const links = new LinkSockets(accept ?? (() => undefined), { keepsHttp: false });
  return (message, stream, head) => {
    if (!asksForLink(message)) return false;
    // Those of HTTP/2 have no upgrades.
    const socket = stream as Socket;
    // Node takes its own listener off.
    socket.on("error", () => {});
    const holder = memory.holder(new HeldSocket(socket));
    const is = links.answer(message, socket, head, { memory, holder, isSpare: false }, isClosing());
    if (is !== "link") holder.close();
    return true;
  };
}

// A node's announcement to its gateway. A short list goes with the announcement itself. Instead of a long list it has
// the digest, and the list follows only if the gateway doesn't have it.

import type { Host, IncomingResponse } from "../../base/ports.ts";
import { listsPath, paths } from "../../base/protocol.ts";
import type { MemberDetails } from "./member-details.ts";
import { type Announced, textOfList } from "./member-list.ts";
import { everyMs, patienceMs } from "../common/times.ts";
import { longestJoin } from "../common/limits.ts";

/** Sends a request to the gateway, within the time that it has. */
export type SendToGateway = (
  method: "POST" | "PUT" | "DELETE",
  path: string,
  body?: string | Uint8Array,
) => Promise<IncomingResponse>;

export interface Announcement {
  /** Announces the node at `url`, and resolves to the gateway's answer. */
  join(url: string): Promise<IncomingResponse>;
  /** The node offers something else now. */
  changed(): void;
}

/** A list by its digest, with the member's name and build: the rest is in the list. */
interface NamedList {
  readonly digest: string;
  readonly name?: string;
  readonly revision?: string;
}

export function createAnnouncement(
  host: Pick<Host, "clock" | "digest">,
  send: SendToGateway,
  offered: () => Announced,
  about: () => MemberDetails | undefined = () => undefined,
): Announcement {
  const encoder = new TextEncoder();
  /** Cleared if the gateway finds the details too large. */
  let sendsDetails = true;
  /** A list that is too long to go with the announcement, without its text, which would take memory. */
  let announced: NamedList | undefined;

  const details = (): MemberDetails | undefined => (sendsDetails ? about() : undefined);

  /** The text of the list, of which only the digest is kept. */
  const listText = (): { readonly text: Uint8Array; readonly named: NamedList } => {
    const node = details();
    const own = offered();
    const text = encoder.encode(textOfList(own, node));
    announced = {
      digest: host.digest(text),
      ...(node?.name !== undefined && { name: node.name }),
      ...(own.revision !== undefined && { revision: own.revision }),
    };
    return { text, named: announced };
  };

  /** Joining matters more than the details: `again` tries without them. */
  const withoutDetails = async (
    answer: IncomingResponse,
    again: () => Promise<IncomingResponse>,
  ): Promise<IncomingResponse> => {
    if (answer.status !== 413 || details() === undefined) return answer;
    sendsDetails = false;
    announced = undefined;
    return await again();
  };

  const textOfJoin = (url: string): string => {
    const node = details();
    return JSON.stringify({ url, ...offered(), ...(node !== undefined && { node }) });
  };

  const joinByDigest = async (url: string, named: NamedList): Promise<IncomingResponse> => {
    const end = host.clock.now() + patienceMs.sender;
    for (;;) {
      // It has changed while the list was sent, or while another member sent it.
      if (announced !== named) return await join(url);
      const answer = await send("POST", paths.nodes, JSON.stringify({ url, ...named }));
      const isComing = answer.status === 409 && answer.headers["retry-after"] !== undefined;
      if (!isComing || host.clock.now() >= end) return answer;
      const ms = Math.round(everyMs.list * (0.5 + Math.random()));
      await new Promise<void>((resolve) => void host.clock.after(ms, resolve));
    }
  };

  const join = async (url: string): Promise<IncomingResponse> => {
    if (announced === undefined) {
      const text = textOfJoin(url);
      if (text.length <= longestJoin)
        return await withoutDetails(await send("POST", paths.nodes, text), () => join(url));
    }
    const answer = await joinByDigest(url, announced ?? listText().named);
    if (answer.status !== 409) return answer;
    const { text, named } = listText();
    const sent = await send("PUT", `${listsPath}/${named.digest}`, text);
    return sent.status === 201
      ? await joinByDigest(url, named)
      : await withoutDetails(sent, () => join(url));
  };

  return {
    join,
    changed() {
      announced = undefined;
    },
  };
}

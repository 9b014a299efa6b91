// The lists that a gateway holds, by digest. A list stays while members share it. One that was
// uploaded and that no member has joined with yet stays for a while.

import { BadRequest, NodeNotAvailable } from "../../base/errors.ts";
import type { Host } from "../../base/ports.ts";
import { listOf, type MemberList, type Offered, readList, textOfList } from "./member-list.ts";
import { keptMs, patienceMs } from "../common/times.ts";
import { maxExpected, maxUploads } from "../common/limits.ts";

export interface Lists {
  /** The list, if members have it or it has been uploaded. */
  find(digest: string): MemberList | undefined;
  /**
   * Takes a list that a member sends: `read` resolves to its text. Rejects if the list doesn't match its digest, or
   * if `read` does.
   */
  receive(digest: string, read: () => Uint8Array | Promise<Uint8Array>): Promise<void>;
  /**
   * Whether a member should send the list. While one does, or was just told to, the others needn't:
   * a gateway that restarts would get a long list from each of a thousand members.
   */
  shouldSend(digest: string): boolean;
  /** The list that a member sent when it joined. */
  of(offered: Offered): MemberList;
  /** One more member has the list. Returns it as the other members have it. */
  share(list: MemberList): MemberList;
  /** One member less has it. A list that no member has is forgotten. */
  release(list: MemberList): void;
}

/** Without `keepsDetails`, the lists' details for the console are dropped. */
export function createLists(
  host: Pick<Host, "clock" | "digest">,
  { keepsDetails = false }: { readonly keepsDetails?: boolean } = {},
): Lists {
  /** With the number of members that have each. */
  const shared = new Map<string, { readonly list: MemberList; members: number }>();
  /** Complete ones that no member has joined with, and how to keep them. */
  const unused = new Map<string, { readonly list: MemberList; readonly keep: () => void }>();
  /** On their way. */
  const coming = new Map<string, Promise<void>>();
  /** Until when each list that members were told to send is expected to come. */
  const expected = new Map<string, number>();
  const encoder = new TextEncoder();

  const expectSoon = (digest: string): void => {
    const now = host.clock.now();
    if (expected.size >= maxExpected)
      for (const [key, until] of expected) if (until <= now) expected.delete(key);
    if (expected.size < maxExpected) expected.set(digest, now + patienceMs.list);
  };

  const find = (digest: string): MemberList | undefined =>
    shared.get(digest)?.list ?? unused.get(digest)?.list;

  const receive = async (
    digest: string,
    read: () => Uint8Array | Promise<Uint8Array>,
  ): Promise<void> => {
    const text = await read();
    const actual = host.digest(text);
    if (actual !== digest)
      throw new BadRequest(
        `The list doesn't fit its digest ${digest}: the SHA-256 of these ${text.length} bytes is ${actual}`,
      );
    const list = readList(text, digest);
    // A member may have joined with it meanwhile.
    if (find(digest) !== undefined) return;
    unused.set(digest, {
      list: keepsDetails ? list : { ...list, details: undefined },
      keep: host.clock.after(keptMs.list, () => unused.delete(digest)),
    });
  };

  return {
    find,
    async receive(digest, read) {
      if (find(digest) !== undefined) return;
      const before = coming.get(digest);
      if (before !== undefined) return await before;
      if (coming.size + unused.size >= maxUploads)
        throw new NodeNotAvailable(
          "This gateway is receiving as many lists as it can hold: send the list again in a moment",
        );
      const receiving = receive(digest, read).finally(() => {
        coming.delete(digest);
        expected.delete(digest);
      });
      coming.set(digest, receiving);
      await receiving;
    },
    shouldSend(digest) {
      if (coming.has(digest) || (expected.get(digest) ?? -Infinity) > host.clock.now())
        return false;
      expectSoon(digest);
      return true;
    },
    of(offered) {
      const digest = host.digest(encoder.encode(textOfList(offered)));
      return find(digest) ?? listOf(offered, digest);
    },
    share(list) {
      const { digest } = list;
      let entry = shared.get(digest);
      if (entry === undefined) shared.set(digest, (entry = { list, members: 0 }));
      entry.members++;
      unused.get(digest)?.keep();
      unused.delete(digest);
      return entry.list;
    },
    release({ digest }) {
      const entry = shared.get(digest);
      if (entry !== undefined && --entry.members === 0) shared.delete(digest);
    },
  };
}

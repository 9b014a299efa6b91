// A node's own entry in the directory, kept up to date while the node runs.

import type { Host } from "../../base/ports.ts";
import { defaultHealthIntervalMs } from "../../base/protocol.ts";
import type { MemberDetails } from "../members/member-details.ts";
import { type Offered, textOfList } from "../members/member-list.ts";
import type { Directory } from "./directory.ts";

export interface AnnouncedNode {
  readonly host: Pick<Host, "clock" | "digest">;
  readonly directory: Directory;
  readonly offered: () => Offered;
  readonly about: () => MemberDetails | undefined;
  readonly isHealthy: () => Promise<boolean>;
}

export interface NodeAnnouncement {
  /** Announces this node, which listens at `url`. */
  begin(url: string): Promise<void>;
  /** Announces changes of the node's procedures and routes. */
  changed(): Promise<void>;
  stop(): void;
}

const encoder = new TextEncoder();

export function createNodeAnnouncement(node: AnnouncedNode): NodeAnnouncement {
  const { host, directory, offered, about, isHealthy } = node;
  let listens: string | undefined;
  let toldHealth: boolean | undefined;
  let isStopped = false;
  let cancel = (): void => {};

  const announce = async (url: string): Promise<void> => {
    const details = about();
    const text = (): Uint8Array => encoder.encode(textOfList(offered(), details));
    const now = text();
    toldHealth = await isHealthy();
    await directory.announceMember({
      url,
      ...(details?.name !== undefined && { name: details.name }),
      isHealthy: toldHealth,
      list: { digest: host.digest(now), bytes: now.length },
      text,
    });
  };

  const watchHealth = (url: string): void => {
    if (isStopped) return;
    cancel = host.clock.after(defaultHealthIntervalMs, async () => {
      const current = await isHealthy();
      if (!isStopped && current !== toldHealth) await announce(url);
      watchHealth(url);
    });
  };

  return {
    async begin(url) {
      listens = url;
      await announce(url);
      watchHealth(url);
    },
    async changed() {
      if (listens !== undefined && !isStopped) await announce(listens);
    },
    stop() {
      isStopped = true;
      cancel();
    },
  };
}

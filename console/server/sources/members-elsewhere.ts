// Nodes that stand in the directory and have not joined this gateway: they have joined others, or can't reach
// this one.

import type { MemberState } from "../../console-state.ts";
import type { Directory, DirectoryMember, Member } from "../../../src/roles/pipeline/observer.ts";

export class MembersElsewhere {
  readonly #directory: Pick<Directory, "watchMembers" | "listOf">;
  #all: () => readonly DirectoryMember[] = () => [];
  /** Segments by the digest of their list. */
  readonly #segments = new Map<string, readonly string[]>();
  /** Members whose lists can't be read yet, by digest. */
  readonly #unread = new Map<string, DirectoryMember>();

  constructor(directory: Pick<Directory, "watchMembers" | "listOf">) {
    this.#directory = directory;
  }

  /** Reads the directory until the returned function is called. */
  watch(): () => void {
    return this.#directory.watchMembers((member, all) => {
      this.#all = all;
      if (member !== undefined) void this.#readSegments(member);
      for (const unread of this.#unread.values()) void this.#readSegments(unread);
    });
  }

  without(joined: readonly Member[]): readonly MemberState[] {
    const here = new Set(joined.map(({ via }) => via.instance));
    return this.#all()
      .filter(({ instance }) => !here.has(instance))
      .map(({ instance, url, name, isHealthy, list }): MemberState => {
        const segments = this.#segments.get(list.digest);
        return {
          id: instance,
          url,
          ...(name === undefined ? {} : { name }),
          ...(segments === undefined ? {} : { segments }),
          state: isHealthy ? "ready" : "out",
          isElsewhere: true,
        };
      });
  }

  async #readSegments(member: DirectoryMember): Promise<void> {
    const { digest } = member.list;
    if (this.#segments.has(digest)) return;
    try {
      const { details } = await this.#directory.listOf(member);
      this.#unread.delete(digest);
      if (this.#segments.size >= 100) this.#segments.clear();
      if (details !== undefined) this.#segments.set(digest, details.segments);
    } catch {
      // The list is on its way, or the directory is away: the next change of a member asks again.
      if (this.#unread.size < 16) this.#unread.set(digest, member);
    }
  }
}

// Which procedures a gateway's callers may send again, to another gateway, when they get no answer.

import type { MemberList } from "../members/member-list.ts";
import type { Members } from "../members/members.ts";

/** Names that each member which has them declares idempotent. They are computed when members change. */
export function repeatableNames(members: Pick<Members, "all">): () => readonly string[] {
  let lists: readonly MemberList[] = [];
  let names: readonly string[] = [];
  return () => {
    const current = [...new Set(members.all().map(({ list }) => list))];
    if (current.length === lists.length && current.every((list) => lists.includes(list)))
      return names;
    const idempotent = new Set(current.flatMap((list) => [...list.idempotent]));
    for (const list of current)
      for (const fqn of list.procedures) if (!list.idempotent.has(fqn)) idempotent.delete(fqn);
    lists = current;
    names = [...idempotent].toSorted();
    return names;
  };
}

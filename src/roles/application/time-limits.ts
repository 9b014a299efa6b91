// Which procedures of a node have time limits of their own. Services in front of it wait no longer,
// even if the node hangs.

import { isCallable } from "../../base/access.ts";
import type { Registration } from "../../runtime/registry.ts";

/** The limits in ms of procedures that others may call, by FQN: of every version, or of none. */
export function timeLimits(
  registrations: readonly Registration[],
): Readonly<Record<string, number>> {
  const longest = new Map<string, number>();
  for (const { access, record, timeoutMs = Infinity } of registrations)
    if (isCallable(access))
      longest.set(record.fqn, Math.max(timeoutMs, longest.get(record.fqn) ?? 0));
  return Object.fromEntries([...longest].filter(([, ms]) => ms < Infinity));
}

// A host that can't open connections itself: said once, and nobody else is blamed for it.

import { type Host, TransportError } from "../ports.ts";

/** Ms without a failure after which the next one is told again: under load a few requests get through in between. */
const quietMs = 10_000;

/** Tells of a failure that is this host's own, and returns whether it is one; `what` can't be done because of it. */
export function createShortageLog(host: Pick<Host, "clock" | "log">, what: string): (thrown: unknown) => boolean {
  let last = -Infinity;
  return (thrown) => {
    if (!(thrown instanceof TransportError) || thrown.unsent !== "local") return false;
    const now = host.clock.now();
    if (now - last >= quietMs) host.log.warn(`${what}: ${thrown.message}`);
    last = now;
    return true;
  };
}

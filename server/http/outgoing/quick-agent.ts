// undici, which sends requests faster than node:http. Services that send many load it.

import type { LookupFunction } from "node:net";
import type { Agent } from "undici";

/** How connections to other services are opened. */
export interface Connecting {
  /** After how many ms an address that doesn't answer counts as silent. */
  readonly connectMs: number;
  readonly connecting: { readonly lookup: LookupFunction; readonly ca?: string[] };
}

/**
 * How long an idle connection is kept at most. If the other side closes it first, a call may be lost
 * that was just written to it, and nobody knows whether it has run.
 */
const longestIdleMs = 50_000;

export async function openQuick(
  { connectMs, connecting }: Connecting,
  maxHeaderSize: number,
): Promise<Agent> {
  const { Agent: QuickAgent, buildConnector, errors } = await import("undici");
  // undici looks at its own times every half second: too coarse, but it closes the socket.
  const open = buildConnector({ timeout: 2 * connectMs, ...connecting });
  // An agent keeps a pool per origin and drops it with its last connection, as members come and go.
  // Pools for calls are unbounded: in a full one calls would wait where nothing can end the wait.
  return new QuickAgent({
    pipelining: 1,
    connect(options, callback) {
      let isOver = false;
      const cancel = whenUnconnected(connectMs, () => {
        isOver = true;
        callback(new errors.ConnectTimeoutError("no connection in time"), null);
      });
      open(options, (...result) => {
        cancel();
        if (!isOver) callback(...result);
        else if (result[0] === null) result[1].destroy();
      });
    },
    maxHeaderSize,
    // A service says that it keeps idle connections for 65 s, and undici would use them until 2 s
    // before. Its clock may be a second late.
    keepAliveMaxTimeout: longestIdleMs,
    // Every request has a signal for this; undici's default of 5 minutes would cut longer calls.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/**
 * Calls `fail` after `ms`, and one turn later: if this process stood still, a connection that was
 * accepted meanwhile is only seen then. The returned function cancels it.
 */
export function whenUnconnected(ms: number, fail: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => (immediate = setImmediate(fail)), ms);
  return () => {
    clearTimeout(timer);
    if (immediate !== undefined) clearImmediate(immediate);
  };
}

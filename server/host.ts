// What Node lends to the core: one object with every port (src/ports.ts).

import { AsyncLocalStorage } from "node:async_hooks";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Context } from "../src/context.ts";
import type {
  Clock,
  ContextCarrier,
  Host,
  Log,
  MemoryBudget,
  Names,
  Transport,
} from "../src/ports.ts";
import { createLog } from "./log.ts";
import { systemNames } from "./names.ts";
import { createTransport } from "./transport.ts";

/** Monotonic: a wall clock that jumps changes nothing (R17). Timers don't keep the process alive. */
export const nodeClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Carries the context of the running call through every `await` of it (decisions §5, `this`). */
export function createCarrier(): ContextCarrier {
  const storage = new AsyncLocalStorage<Context>();
  return { run: (context, act) => storage.run(context, act), current: () => storage.getStore() };
}

/** Compares in a time that tells nothing of where two secrets differ, nor of their lengths. */
export function equalSecrets(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

/** HMAC-SHA-256 in base64url. */
export function sign(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}

function digest(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** For a host that listens nowhere: what it holds is its own. */
export const unbounded: MemoryBudget = { hasRoom: () => true };

/** The ports of this process; what `parts` gives takes the place of Node's own. */
export function nodeHost(
  parts: {
    readonly log?: Log;
    readonly transport?: Transport;
    readonly names?: Names;
    readonly clock?: Clock;
    readonly memory?: MemoryBudget;
  } = {},
): Host {
  return {
    transport: parts.transport ?? createTransport(),
    names: parts.names ?? systemNames,
    memory: parts.memory ?? unbounded,
    clock: parts.clock ?? nodeClock,
    carrier: createCarrier(),
    log: parts.log ?? createLog(),
    equalSecrets,
    sign,
  };
}

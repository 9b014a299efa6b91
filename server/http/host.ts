// Implements the core's ports (src/base/ports.ts) with Node.

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type {
  Clock,
  EventLoop,
  Host,
  Log,
  MemoryBudget,
  Names,
  Transport,
} from "../../src/base/ports.ts";
import { createLog } from "../base/log.ts";
import { createCarrier } from "./carrier.ts";
import { createEventLoop } from "./event-loop.ts";
import { systemNames } from "./names.ts";
import { createTransport } from "./transport.ts";

/** Monotonic, so changes of the wall clock don't matter. Timers don't keep the process alive. */
export const nodeClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Compares in constant time. Hashing hides the lengths too. */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(hashed(left), hashed(right));
}

/** HMAC-SHA-256 in base64url. */
export function sign(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}

/** SHA-256 in lower-case hex. */
export function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function hashed(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** For a host that doesn't listen, whose memory isn't filled by callers. */
export const unbounded: MemoryBudget = { hasRoom: () => true };

/** For services in memory, which share an event loop with their test or their developer's tools. */
export const prompt: EventLoop = {
  watch() {},
  unwatch() {},
  delay: () => 0,
  isBusy: () => false,
  turn: (next) => void setImmediate(next),
};

/** The ports of this process. `parts` replace Node's own. */
export function nodeHost(
  parts: {
    readonly log?: Log;
    readonly transport?: Transport;
    readonly names?: Names;
    readonly clock?: Clock;
    readonly memory?: MemoryBudget;
    readonly loop?: EventLoop;
  } = {},
): Host {
  return {
    transport: parts.transport ?? createTransport(),
    names: parts.names ?? systemNames,
    memory: parts.memory ?? unbounded,
    clock: parts.clock ?? nodeClock,
    loop: parts.loop ?? createEventLoop(),
    carrier: createCarrier(),
    log: parts.log ?? createLog(),
    equalSecrets,
    sign,
    digest,
  };
}

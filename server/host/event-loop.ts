// How late the event loop of this process is, and since when it may have read nothing.

import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";

import type { EventLoop, Log } from "../../src/base/ports.ts";
import {
  beatMs,
  blockedMs,
  catchUpMs,
  lateBeatMs,
  longCallMs,
  longTurnMs,
  lookMs,
  memoryMs,
  resolutionMs,
} from "./times.ts";

const withoutPause = 0.97;

/** Node's own timing of the event loop. */
interface LoopTiming {
  readonly uvMetricsInfo?: { readonly loopCount: number };
}

/** Resolves once the process has read all that had come. */
export async function allRead(): Promise<void> {
  // This turn reads requests, the next one ends of connections.
  for (const _ of [1, 2]) await new Promise((resolve) => setImmediate(resolve));
}

/** Costs a timer of Node's own while it is watched. */
export function createEventLoop(): EventLoop {
  let histogram: IntervalHistogram | undefined;
  let looks: NodeJS.Timeout | undefined;
  let looked = 0;
  let wasBusy = -Infinity;
  let used = performance.eventLoopUtilization();
  let turns = 0;
  let calls = 0;
  let usage = process.cpuUsage();
  const look = (): void => {
    looked = performance.now();
    const { utilization } = performance.eventLoopUtilization(used);
    // Bun and Deno don't count turns: then only the time of calls tells.
    const { loopCount = Infinity } = (performance.nodeTiming as LoopTiming).uvMetricsInfo ?? {};
    // Without the time that other processes had the processor: only the calls can make the loop busy.
    const { user, system } = process.cpuUsage(usage);
    const ms = (user + system) / 1_000;
    const isLong = ms >= longTurnMs * (loopCount - turns) || ms >= longCallMs * calls;
    if (utilization >= withoutPause && isLong) wasBusy = looked;
    calls = 0;
    used = performance.eventLoopUtilization();
    turns = loopCount;
    usage = process.cpuUsage();
  };
  let since = performance.now();
  let cpu = process.cpuUsage();
  const startPeriod = (): void => {
    since = performance.now();
    cpu = process.cpuUsage();
  };
  return {
    watch() {
      startPeriod();
      histogram ??= monitorEventLoopDelay({ resolution: resolutionMs });
      histogram.reset();
      histogram.enable();
      look();
      wasBusy = -Infinity;
      looks ??= setInterval(look, lookMs).unref();
    },
    unwatch() {
      histogram?.disable();
      clearInterval(looks);
      looks = undefined;
      wasBusy = -Infinity;
    },
    isBusy() {
      calls++;
      return looked - wasBusy < memoryMs;
    },
    turn(next) {
      setImmediate(next);
    },
    delay() {
      if (histogram === undefined) return 0;
      const elapsed = performance.now() - since;
      // It measures from tick to tick. Without any, one long computation is just over.
      const between = histogram.count === 0 ? elapsed : histogram.percentile(90) / 1e6;
      const late = between - resolutionMs;
      histogram.reset();
      // Fewer calls wouldn't help while other processes have the processor, or this one is stopped.
      const { user, system } = process.cpuUsage(cpu);
      const share = elapsed > 0 ? Math.min(1, (user + system) / 1_000 / elapsed) : 0;
      startPeriod();
      return Math.max(0, late * share);
    },
  };
}

/**
 * Gets a line for the log once the event loop runs again, and for how much of the time, from 0 to 1,
 * the process computed.
 */
export type OnBlocked = (line: string, share: number) => void;

/**
 * Logs that the application's code has blocked the event loop. Not in development, where machines sleep and build
 * meanwhile, which isn't a mistake of the application.
 */
export function logComputations(log: Pick<Log, "warn">): OnBlocked {
  return (line, share) => {
    if (share > 0.5) log.warn(line);
  };
}

/** Notices that the process was stopped, or computed without a pause. */
export class Heartbeat {
  readonly #timer: NodeJS.Timeout;
  readonly #onBlocked: OnBlocked | undefined;
  #last = performance.now();
  #cpu = process.cpuUsage();
  #lateSince: number | undefined;
  #caughtUp = 0;

  constructor(onBlocked?: OnBlocked) {
    this.#onBlocked = onBlocked;
    this.#timer = setInterval(() => this.#beat(), beatMs).unref();
  }

  /**
   * Since when a request that is read now may have waited, if the event loop is late, or was a
   * moment ago: not all that came meanwhile is read yet.
   */
  get lateSince(): number | undefined {
    // In each turn, timers run after the requests that were read.
    return performance.now() - this.#last >= beatMs + lateBeatMs ? this.#last : this.#lateSince;
  }

  /** A request that had waited was read: there may be more. */
  foundWaiting(): void {
    this.#caughtUp = performance.now() + catchUpMs;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const now = performance.now();
    const late = now - this.#last - beatMs;
    if (late >= lateBeatMs) {
      this.#lateSince = this.#last;
      this.#caughtUp = now + catchUpMs;
    } else if (now >= this.#caughtUp) this.#lateSince = undefined;
    this.#last = now;
    const cpu = process.cpuUsage(this.#cpu);
    this.#cpu = process.cpuUsage();
    if (late < blockedMs) return;
    // The share tells a loop in the application from a stopped process or a busy machine.
    const busy = Math.min(late, (cpu.user + cpu.system) / 1_000);
    this.#onBlocked?.(
      `the event loop was blocked for ${seconds(late)}, and nothing was answered; this process computed for ${seconds(busy)} of that time`,
      busy / late,
    );
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

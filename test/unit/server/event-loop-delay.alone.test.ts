import { afterEach, describe, expect, it, vi } from "vitest";

import { createEventLoop, Heartbeat } from "../../../server/host/event-loop.ts";
import type { EventLoop } from "../../../src/base/ports.ts";

const histogram = vi.hoisted(() => ({
  count: 0,
  p90: 0,
  isOn: false,
  enable() {
    this.isOn = true;
  },
  disable() {
    this.isOn = false;
  },
  reset() {
    this.count = 0;
  },
  percentile(share: number) {
    return share === 90 ? this.p90 : NaN;
  },
}));
vi.mock("node:perf_hooks", () => ({ monitorEventLoopDelay: () => histogram }));

/** Hands of the clock, and of the processor time that this process had, in ms. */
const hands = { now: 0, busy: 0 };

function fakeTime(): void {
  vi.spyOn(performance, "now").mockImplementation(() => hands.now);
  vi.spyOn(process, "cpuUsage").mockImplementation((before) => ({
    user: hands.busy * 800 - (before?.user ?? 0),
    system: hands.busy * 200 - (before?.system ?? 0),
  }));
}

let loops: EventLoop[] = [];
function opened(): EventLoop {
  const loop = createEventLoop();
  loops.push(loop);
  return loop;
}

afterEach(() => {
  for (const loop of loops) loop.unwatch();
  loops = [];
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("the delay of the event loop", () => {
  /** A second in which nine of ten ticks came after at most `tickMs`, with `busy` ms of processor. */
  function second(tickMs: number, busy: number): void {
    hands.now += 1_000;
    hands.busy += busy;
    histogram.count = Math.ceil(1_000 / tickMs);
    histogram.p90 = tickMs * 1e6;
  }

  it("is what ticks are late, if this process had the processor all the time", () => {
    fakeTime();
    const loop = opened();
    loop.watch();
    second(320, 1_000);
    expect(loop.delay()).toBe(300);
    second(21, 50);
    expect(loop.delay()).toBeLessThan(1);
  });

  it("is small while others have the processor, or the process is stopped: fewer calls would change nothing", () => {
    fakeTime();
    const loop = opened();
    loop.watch();
    second(420, 100);
    expect(loop.delay()).toBe(40);
    second(1_000, 2);
    expect(loop.delay()).toBeLessThan(3);
    // A process that computes in the share that it gets is late.
    second(520, 500);
    expect(loop.delay()).toBe(250);
  });

  it("counts no more than the time for processor time of several threads", () => {
    fakeTime();
    const loop = opened();
    loop.watch();
    second(220, 3_000);
    expect(loop.delay()).toBe(200);
  });

  it("is 0 while nobody watches, and forgets what was before it is watched again", () => {
    fakeTime();
    const loop = opened();
    expect(loop.delay()).toBe(0);
    loop.watch();
    expect(histogram.isOn).toBe(true);
    second(500, 1_000);
    loop.unwatch();
    expect(histogram.isOn).toBe(false);
    loop.watch();
    expect(loop.delay()).toBe(0);
    // The processor time of others in the meantime doesn't count either.
    second(120, 1_000);
    expect(loop.delay()).toBe(100);
  });

  it("is the whole time if no tick came, as in one long computation", () => {
    fakeTime();
    const loop = opened();
    loop.watch();
    second(120, 1_000);
    expect(loop.delay()).toBe(100);
    hands.now += 1_020;
    hands.busy += 1_020;
    expect(loop.delay()).toBe(1_000);
    expect(loop.delay()).toBe(0);
  });
});

describe("the heartbeat", () => {
  /** Passes 200 ms at a time, as the heart beats. */
  function beat(ms: number, busy = 0): void {
    hands.now += ms;
    hands.busy += busy;
    vi.advanceTimersByTime(200);
  }

  it("tells in the log for how long nothing was answered, and how much of it this process computed", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    fakeTime();
    const lines: string[] = [];
    const heartbeat = new Heartbeat((line) => lines.push(line));
    for (let beats = 0; beats < 10; beats++) beat(200);
    beat(1_100);
    expect(lines).toEqual([]);
    beat(3_200, 2_000);
    expect(lines).toEqual([
      "the event loop was blocked for 3.0 s, and nothing was answered; this process computed for 2.0 s of that time",
    ]);
    heartbeat.stop();
    beat(5_000);
    expect(lines).toHaveLength(1);
  });

  it("knows since when requests may have waited, until a second after what came meanwhile was read", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    fakeTime();
    const heartbeat = new Heartbeat();
    beat(200);
    expect(heartbeat.lateSince).toBeUndefined();
    const last = hands.now;
    hands.now += 700;
    // Requests of the same turn are read before the next beat.
    expect(heartbeat.lateSince).toBe(last);
    beat(0);
    expect(heartbeat.lateSince).toBe(last);
    for (let beats = 0; beats < 4; beats++) beat(200);
    expect(heartbeat.lateSince).toBe(last);
    beat(200);
    expect(heartbeat.lateSince).toBeUndefined();
    heartbeat.stop();
  });
});

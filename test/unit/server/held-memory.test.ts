import { describe, expect, it } from "vitest";

import { defaultHeldBytes, HeldMemory } from "../../../server/host/held-memory.ts";
import type { HeldFor } from "../../../src/base/ports.ts";

/** A memory with a manual clock, and connections by name. */
function create(limit: number) {
  let now = 0;
  const memory = new HeldMemory(limit, () => now);
  const cut: string[] = [];
  const open = (name: string, untakenMs?: number) => {
    const state = { progress: 0, untaken: false };
    const of: HeldFor = {
      progress: () => state.progress,
      isUntaken: () => state.untaken,
      cut: () => cut.push(name),
    };
    return Object.assign(memory.holder(of, untakenMs), { state });
  };
  return {
    memory,
    cut,
    open,
    pass: (ms: number) => {
      now += ms;
      return now;
    },
  };
}

describe("held memory", () => {
  it("refuses new calls in its last eighth, and bytes of running calls once it is full", () => {
    const { memory, open } = create(800);
    const holder = open("one");
    holder.take(699);
    expect([memory.hasRoom(), memory.fits(101), memory.fits(102)]).toEqual([true, true, false]);
    holder.take(1);
    expect([memory.bytes, memory.hasRoom(), memory.fits(100)]).toEqual([700, false, true]);
    holder.give(700);
    expect([memory.bytes, memory.hasRoom(), memory.fits(800)]).toEqual([0, true, true]);
  });

  it("cuts connections that have stalled for two seconds, the largest first, until there is room", () => {
    const { memory, open, cut, pass } = create(800);
    for (const [name, bytes] of [
      ["small", 100],
      ["large", 300],
      ["middle", 200],
    ] as const)
      open(name).take(bytes);
    const moving = open("moving");
    moving.take(150);
    pass(1_900);
    expect([memory.hasRoom(), cut]).toEqual([false, []]);
    moving.state.progress++;
    moving.check(pass(200));
    expect([memory.hasRoom(), cut]).toEqual([true, ["large"]]);
    expect(memory.bytes).toBe(450);
    expect([memory.fits(300), cut]).toEqual([true, ["large"]]);
    expect([memory.fits(500), cut]).toEqual([true, ["large", "middle", "small"]]);
    // A connection that makes progress is never cut.
    expect([memory.fits(700), memory.bytes, cut]).toEqual([
      false,
      150,
      ["large", "middle", "small"],
    ]);
  });

  it("isn't searched again for every call while it is full", () => {
    const { memory, open, cut, pass } = create(100);
    const holder = open("one");
    holder.take(100);
    let looked = 0;
    Object.defineProperty(holder, "moved", { get: () => (looked++, 0) });
    pass(1_000);
    for (let at = 0; at < 1_000; at++) memory.hasRoom();
    expect([looked, cut]).toEqual([1, []]);
  });

  it("drops everything that a closed connection held, and ignores later releases", () => {
    const { memory, open } = create(100);
    const holder = open("one");
    holder.take(60);
    holder.close();
    holder.give(60);
    holder.take(10);
    expect(memory.bytes).toBe(0);
    const cutHolder = open("other");
    cutHolder.take(70);
    cutHolder.cut();
    cutHolder.give(70);
    expect(memory.bytes).toBe(0);
  });

  it("is limited to a quarter of the process's memory by default", () => {
    expect(defaultHeldBytes()).toBeGreaterThan(16 * 1024 * 1024);
    expect(new HeldMemory().limit).toBe(defaultHeldBytes());
  });
});

describe("an answer that the caller doesn't read", () => {
  it("is cut after the time limit, and a single step doesn't count as progress", () => {
    const { open, cut, pass } = create(1_000);
    const holder = open("one", 30_000);
    holder.take(10);
    holder.state.untaken = true;
    holder.check(pass(28_000));
    holder.state.progress++;
    holder.check(pass(1_000));
    expect(cut).toEqual([]);
    holder.check(pass(1_000));
    expect(cut).toEqual(["one"]);
  });

  it("isn't cut while the caller keeps reading", () => {
    const { open, cut, pass } = create(1_000);
    const holder = open("one", 30_000);
    holder.take(10);
    holder.state.untaken = true;
    for (let time = 0; time < 100; time++) {
      holder.state.progress++;
      holder.check(pass(14_000));
    }
    expect(cut).toEqual([]);
    holder.check(pass(15_900));
    expect(cut).toEqual([]);
    holder.check(pass(100));
    expect(cut).toEqual(["one"]);
  });

  it("isn't cut while the caller still waits for it", () => {
    const { open, cut, pass } = create(1_000);
    const holder = open("one", 30_000);
    holder.take(10);
    holder.check(pass(100_000));
    expect(cut).toEqual([]);
    holder.state.progress++;
    holder.state.untaken = true;
    holder.check(pass(500));
    holder.check(pass(29_400));
    expect(cut).toEqual([]);
    holder.check(pass(100));
    expect(cut).toEqual(["one"]);
  });
});

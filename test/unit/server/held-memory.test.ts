import { describe, expect, it } from "vitest";

import { defaultHeldBytes, type HeldFor, HeldMemory } from "../../../server/held-memory.ts";

/** A memory whose clock stands still until it is moved, and connections by their names. */
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

describe("memory that callers make a service hold", () => {
  it("is full for new calls when the last eighth is begun, and for what they hold when nothing is left", () => {
    const { memory, open } = create(800);
    const one = open("one");
    one.take(699);
    expect([memory.hasRoom(), memory.fits(101), memory.fits(102)]).toEqual([true, true, false]);
    one.take(1);
    expect([memory.bytes, memory.hasRoom(), memory.fits(100)]).toEqual([700, false, true]);
    one.give(700);
    expect([memory.bytes, memory.hasRoom(), memory.fits(800)]).toEqual([0, true, true]);
  });

  it("is made free by cutting what has stood still for two seconds, the largest first, and no more than needed", () => {
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
    moving.look(pass(200));
    expect([memory.hasRoom(), cut]).toEqual([true, ["large"]]);
    expect(memory.bytes).toBe(450);
    expect([memory.fits(300), cut]).toEqual([true, ["large"]]);
    expect([memory.fits(500), cut]).toEqual([true, ["large", "middle", "small"]]);
    // What moves is never cut for others.
    expect([memory.fits(700), memory.bytes, cut]).toEqual([
      false,
      150,
      ["large", "middle", "small"],
    ]);
  });

  it("isn't searched again for each call that finds it full", () => {
    const { memory, open, cut, pass } = create(100);
    const one = open("one");
    one.take(100);
    let looked = 0;
    Object.defineProperty(one, "moved", { get: () => (looked++, 0) });
    pass(1_000);
    for (let at = 0; at < 1_000; at++) memory.hasRoom();
    expect([looked, cut]).toEqual([1, []]);
  });

  it("forgets a connection that is over, whatever it held and whoever lets go of it later", () => {
    const { memory, open } = create(100);
    const one = open("one");
    one.take(60);
    one.close();
    one.give(60);
    one.take(10);
    expect(memory.bytes).toBe(0);
    const other = open("other");
    other.take(70);
    other.cut();
    other.give(70);
    expect(memory.bytes).toBe(0);
  });

  it("is by default a quarter of what this process may use", () => {
    expect(defaultHeldBytes()).toBeGreaterThan(16 * 1024 * 1024);
    expect(new HeldMemory().limit).toBe(defaultHeldBytes());
  });
});

describe("an answer that nobody takes", () => {
  it("is cut when the caller has taken nothing of it for as long as promised, and a single move is none", () => {
    const { open, cut, pass } = create(1_000);
    const one = open("one", 30_000);
    one.take(10);
    one.state.untaken = true;
    one.look(pass(28_000));
    one.state.progress++;
    one.look(pass(1_000));
    expect(cut).toEqual([]);
    one.look(pass(1_000));
    expect(cut).toEqual(["one"]);
  });

  it("isn't cut as long as the caller goes on taking", () => {
    const { open, cut, pass } = create(1_000);
    const one = open("one", 30_000);
    one.take(10);
    one.state.untaken = true;
    for (let time = 0; time < 100; time++) {
      one.state.progress++;
      one.look(pass(14_000));
    }
    expect(cut).toEqual([]);
    one.look(pass(15_900));
    expect(cut).toEqual([]);
    one.look(pass(100));
    expect(cut).toEqual(["one"]);
  });

  it("isn't meant by that while the caller waits for one", () => {
    const { open, cut, pass } = create(1_000);
    const one = open("one", 30_000);
    one.take(10);
    one.look(pass(100_000));
    expect(cut).toEqual([]);
    one.state.progress++;
    one.state.untaken = true;
    one.look(pass(500));
    one.look(pass(29_400));
    expect(cut).toEqual([]);
    one.look(pass(100));
    expect(cut).toEqual(["one"]);
  });
});

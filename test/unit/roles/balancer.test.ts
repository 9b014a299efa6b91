import { describe, expect, it } from "vitest";

import { createBalancer, type Memory } from "../../../src/roles/members/balancer.ts";
import { createMembers } from "../../../src/roles/members/members.ts";
import { TestClock } from "../../_cluster.ts";

const small: Memory = { names: 4, characters: 40 };

describe("a name that its last holder has left", () => {
  it("is distinguished from one that never had a holder", () => {
    const balancer = createBalancer<string>();
    balancer.add("a", ["shop/stock"]);
    expect([balancer.of("shop/stock")?.size, balancer.hasLeft("shop/stock")]).toEqual([1, false]);
    balancer.remove("a", ["shop/stock"]);
    expect([
      balancer.of("shop/stock"),
      balancer.hasLeft("shop/stock"),
      balancer.hasLeft("shop/never"),
    ]).toEqual([undefined, true, false]);
    balancer.add("b", ["shop/stock"]);
    expect([balancer.of("shop/stock")?.next(() => true), balancer.hasLeft("shop/stock")]).toEqual([
      "b",
      false,
    ]);
  });

  const leave = (
    balancer: ReturnType<typeof createBalancer<string>>,
    ...names: readonly string[]
  ): void => {
    for (const name of names) {
      balancer.add("one", [name]);
      balancer.remove("one", [name]);
    }
  };

  it("is forgotten after more names than the limit have lost their holders", () => {
    const balancer = createBalancer<string>(small);
    leave(balancer, "a", "b", "c", "d", "e");
    expect(["a", "b", "c", "d", "e"].map((name) => balancer.hasLeft(name))).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  it("stays remembered while callers ask for it", () => {
    const balancer = createBalancer<string>(small);
    leave(balancer, "shop/stock");
    for (let count = 0; count < 100; count++) {
      leave(balancer, `junk${count}`);
      expect(balancer.hasLeft("shop/stock")).toBe(true);
    }
    expect(balancer.hasLeft("junk0")).toBe(false);
  });

  it("counts with its length towards the limit of characters", () => {
    const balancer = createBalancer<string>(small);
    const names = ["a", "b".repeat(15), "c".repeat(15), "d".repeat(15)];
    leave(balancer, ...names);
    expect(names.map((name) => balancer.hasLeft(name))).toEqual([false, false, true, true]);
  });

  it("is not reported while another holder stays", () => {
    const balancer = createBalancer<string>();
    balancer.add("a", ["shop/stock"]);
    balancer.add("b", ["shop/stock"]);
    balancer.remove("a", ["shop/stock"]);
    expect([balancer.of("shop/stock")?.size, balancer.hasLeft("shop/stock")]).toEqual([1, false]);
  });
});

describe("members that join with ever new names", () => {
  it("leave only the latest names in memory", () => {
    const clock = new TestClock();
    let ids = 0;
    const members = createMembers(clock, 15_000, () => `m${++ids}`);
    const leftAfter = (joins: number): number => {
      for (let count = 0; count < joins; count++) {
        const names = Array.from(
          { length: 100 },
          (_, index) => `junk/${ids}/${index}/${"x".repeat(100)}`,
        );
        members.leave(members.join({ url: `http://10.0.0.1:${count}`, procedures: names }).id);
      }
      return clock.waiting + members.all().length;
    };
    expect(leftAfter(1_000)).toBe(0);
    // 100,000 names of over 100 characters: half of 8 Mi characters are remembered at least.
    expect(members.holders(`junk/0/0/${"x".repeat(100)}`).kind).toBe("never");
    expect(members.holders(`junk/${ids - 1}/99/${"x".repeat(100)}`).kind).toBe("gone");
  });
});

import { describe, expect, it } from "vitest";

import { createBalancer, type Memory } from "../../../src/roles/members/balancer.ts";
import { digest } from "../../../server/http/host.ts";
import { createLists } from "../../../src/roles/members/lists.ts";
import { createMembers } from "../../../src/roles/members/members.ts";
import { TestClock } from "../../_cluster.ts";
import { fakePeer } from "../../_fake-peer.ts";
import { Random } from "../../../lab/fuzz/random.ts";

const small: Memory = { names: 4, characters: 40 };

const listOf = (...names: string[]) => ({ names });
type List = ReturnType<typeof listOf>;

/** Holders are numbers, in the order of their joining. */
function balancerOf(memory?: Memory) {
  const balancer = createBalancer<{ readonly order: number }>(memory);
  return {
    ...balancer,
    join: (order: number, list: List) => balancer.add({ order }, list, () => list.names),
    leave: (order: number, list: List) => balancer.remove({ order }, list, () => list.names),
    turns: (name: string, count: number) =>
      Array.from({ length: count }, () => balancer.of(name)?.next(() => true)?.order),
  };
}

describe("a name that its last holder has left", () => {
  const list = listOf("shop/stock");

  it("is distinguished from one that never had a holder", () => {
    const balancer = balancerOf();
    balancer.join(1, list);
    expect([
      balancer.of("shop/stock")?.group.holders.length,
      balancer.hasLeft("shop/stock"),
    ]).toEqual([1, false]);
    balancer.leave(1, list);
    expect([
      balancer.of("shop/stock"),
      balancer.hasLeft("shop/stock"),
      balancer.hasLeft("shop/never"),
    ]).toEqual([undefined, true, false]);
    balancer.join(2, list);
    expect([balancer.turns("shop/stock", 1), balancer.hasLeft("shop/stock")]).toEqual([[2], false]);
  });

  const leave = (balancer: ReturnType<typeof balancerOf>, ...names: readonly string[]): void => {
    for (const name of names) {
      const alone = listOf(name);
      balancer.join(1, alone);
      balancer.leave(1, alone);
    }
  };

  it("is forgotten after more names than the limit have lost their holders", () => {
    const balancer = balancerOf(small);
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
    const balancer = balancerOf(small);
    leave(balancer, "shop/stock");
    for (let count = 0; count < 100; count++) {
      leave(balancer, `junk${count}`);
      expect(balancer.hasLeft("shop/stock")).toBe(true);
    }
    expect(balancer.hasLeft("junk0")).toBe(false);
  });

  it("counts with its length towards the limit of characters", () => {
    const balancer = balancerOf(small);
    const names = ["a", "b".repeat(15), "c".repeat(15), "d".repeat(15)];
    leave(balancer, ...names);
    expect(names.map((name) => balancer.hasLeft(name))).toEqual([false, false, true, true]);
  });

  it("is not reported while another holder stays", () => {
    const balancer = balancerOf();
    balancer.join(1, list);
    balancer.join(2, list);
    balancer.leave(1, list);
    expect([
      balancer.of("shop/stock")?.group.holders.length,
      balancer.hasLeft("shop/stock"),
    ]).toEqual([1, false]);
  });
});

describe("names that are in several lists", () => {
  it("have the holders of all of them in the order of their joining, each name with its own turn", () => {
    const balancer = balancerOf();
    const [first, second] = [listOf("a", "b"), listOf("b", "c")];
    balancer.join(1, first);
    balancer.join(2, second);
    balancer.join(3, first);
    expect(balancer.turns("a", 3)).toEqual([1, 3, 1]);
    expect(balancer.turns("b", 4)).toEqual([1, 2, 3, 1]);
    expect(balancer.turns("c", 2)).toEqual([2, 2]);
    // A member that leaves doesn't change the turns of others.
    balancer.leave(1, first);
    expect(balancer.turns("b", 3)).toEqual([2, 3, 2]);
    balancer.leave(2, second);
    expect([balancer.turns("b", 2), balancer.of("c"), balancer.hasLeft("c")]).toEqual([
      [3, 3],
      undefined,
      true,
    ]);
    balancer.leave(3, first);
    for (const name of ["a", "b", "c"])
      expect([balancer.of(name), balancer.hasLeft(name)]).toEqual([undefined, true]);
  });

  it("may be named twice by one of them", () => {
    const balancer = balancerOf();
    const [twice, once] = [listOf("a", "a"), listOf("a")];
    balancer.join(1, twice);
    balancer.join(2, once);
    expect(balancer.turns("a", 3)).toEqual([1, 2, 1]);
    balancer.leave(1, twice);
    expect(balancer.turns("a", 2)).toEqual([2, 2]);
    balancer.leave(2, once);
    expect(balancer.of("a")).toBeUndefined();
  });

  it("have the holders that a table of each name by itself would have, through 2,000 joins and leaves", () => {
    const balancer = balancerOf();
    const random = new Random(7);
    const names = Array.from({ length: 12 }, (_, at) => `n${at}`);
    const lists = Array.from({ length: 8 }, () =>
      listOf(...names.filter(() => random.below(10) < 4)),
    );
    const members = new Map<number, List>();
    for (let step = 1; step <= 2_000; step++) {
      const [oldest] = members.keys();
      if (members.size > 0 && random.once(2)) {
        const order = random.once(2) ? (oldest ?? 0) : random.pick([...members.keys()]);
        balancer.leave(order, members.get(order) ?? listOf());
        members.delete(order);
      } else {
        const list = random.pick(lists);
        members.set(step, list);
        balancer.join(step, list);
      }
      const name = random.pick(names);
      const holders = [...members].flatMap(([order, list]) =>
        list.names.includes(name) ? [order] : [],
      );
      expect(balancer.turns(name, holders.length).toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual(
        holders,
      );
      expect(balancer.of(name)?.group.holders.length ?? 0).toBe(holders.length);
    }
  });
});

describe("members that join with ever new names", () => {
  it("leave only the latest names in memory", () => {
    const clock = new TestClock();
    let ids = 0;
    const lists = createLists({ clock, digest });
    const members = createMembers(() => `m${++ids}`, lists);
    const leftAfter = (joins: number): number => {
      for (let count = 0; count < joins; count++) {
        const names = Array.from(
          { length: 100 },
          (_, index) => `junk/${ids}/${index}/${"x".repeat(100)}`,
        );
        const list = lists.of({ procedures: names });
        const via = fakePeer(String(count));
        members.join({ url: `http://10.0.0.1:${count}`, list, via });
        members.leave(via);
        expect(lists.find(list.digest)).toBeUndefined();
      }
      return clock.waiting + members.all().length;
    };
    expect(leftAfter(1_000)).toBe(0);
    // 100,000 names of over 100 characters: half of 8 Mi characters are remembered at least.
    expect(members.holders(`junk/0/0/${"x".repeat(100)}`).kind).toBe("never");
    expect(members.holders(`junk/${ids - 1}/99/${"x".repeat(100)}`).kind).toBe("gone");
  });
});

import { describe, expect, it } from "vitest";

import { ask } from "../_cluster.ts";
import { type FakeMember, notBegun } from "../_fake-member.ts";
import { gatewayWith } from "./_members.ts";

/** How many calls each of them got. */
const callsOf = (members: readonly FakeMember[]): number[] =>
  members.map(({ calls }) => calls.length);

describe("a gateway whose member takes no call", () => {
  it.each(["leaving", "starting"] as const)(
    "again-1: a call that wasn't sent, or that a leaving member refused, goes to the next member: %s",
    async (reason) => {
      const { call, members, clock } = await gatewayWith(["a", "b", "c"]);
      members[0]!.behave = () => notBegun(reason);
      members[1]!.die();
      const first = call("shop/order");
      await clock.pass(50);
      expect(await first).toBe("200 c");
      for (let calls = 1; calls < 30; calls++) expect(await call("shop/order")).toBe("200 c");
      // The first has said that it is no member any more, and nothing listens at the second.
      expect(callsOf(members)).toEqual([1, 0, 30]);
    },
  );

  it("again-2: a call goes to three members at most, to the third one after 20 to 50 ms", async () => {
    const { call, members, clock } = await gatewayWith(["a", "b", "c", "d"]);
    for (const member of members) member.behave = () => notBegun("leaving");
    const answer = call("shop/order");
    await clock.pass(19);
    expect(callsOf(members)).toEqual([1, 1, 0, 0]);
    await clock.pass(31);
    expect(await answer).toBe("503 NodeNotAvailable");
    expect(callsOf(members)).toEqual([1, 1, 1, 0]);
  });

  it("again-3: a call that was sent and has no answer is sent again only if its procedure is idempotent", async () => {
    const { call, members } = await gatewayWith(["a", "b"]);
    members[0]!.behave = () => "break";
    expect(await call("shop/order")).toBe("502 BadGateway");
    expect(members[1]!.calls).toHaveLength(0);
    expect(await call("shop/stock")).toBe("200 b");
    expect(callsOf(members)).toEqual([2, 1]);
  });

  it("again-4: a call that was sent is sent again once", async () => {
    const { call, members } = await gatewayWith(["a", "b", "c"]);
    for (const member of members) member.behave = () => "break";
    expect(await call("shop/stock")).toBe("502 BadGateway");
    expect(callsOf(members)).toEqual([1, 1, 0]);
  });

  it("again-5: a call that a member refuses because it has too much to do is sent again once, whatever its procedure", async () => {
    const { call, members } = await gatewayWith(["a", "b", "c"]);
    members[0]!.behave = () => notBegun("overload");
    expect(await call("shop/order")).toBe("200 b");
    for (const member of members) member.behave = () => notBegun("overload");
    expect(await call("shop/order")).toBe("503 NodeNotAvailable");
    expect(callsOf(members)).toEqual([2, 1, 1]);
  });

  it.each([500, 502, 503, 504])(
    "again-6: an answer is never asked for again: %i",
    async (status) => {
      const { call, members } = await gatewayWith(["a", "b"]);
      members[0]!.behave = () => ({ status, body: "from a" });
      expect(await call("shop/stock")).toBe(`${status} from a`);
      expect(members[1]!.calls).toHaveLength(0);
    },
  );

  it("again-7: a gateway sends one call in five again, and 20 at once after a quiet time", async () => {
    const { call, members, clock } = await gatewayWith(["a", "b"]);
    for (const member of members) member.behave = () => notBegun("overload");
    const sent = (): number => callsOf(members).reduce((sum, calls) => sum + calls, 0);
    for (let calls = 0; calls < 20; calls++) await call("shop/order");
    // 20 calls, and 20 that were sent again. In the meantime, 20 calls have earned four more.
    expect(sent()).toBe(40);
    for (let calls = 0; calls < 100; calls++) await call("shop/order");
    expect(sent() - 40).toBeGreaterThanOrEqual(100 + 20);
    expect(sent() - 40).toBeLessThanOrEqual(100 + 25);
    await clock.pass(60_000);
    expect(await call("shop/order")).toBe("503 NodeNotAvailable");
  });

  it("a caller reads nothing of a member's refusal (again-5)", async () => {
    const { gateway, members } = await gatewayWith(["a"]);
    members[0]!.behave = () => notBegun("overload");
    const answer = await ask(gateway, "GET", "/rpc/shop/order");
    expect(answer).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
      text: "The nodes with 'shop/order' have as many calls as they can take; try again",
    });
    expect(answer.headers).not.toHaveProperty("x-svc-not-started");
    expect(answer.text).not.toContain("not now");
  });

  it("a join whose list of idempotent procedures isn't one is refused by name (again-3)", async () => {
    const { members } = await gatewayWith(["a"]);
    const announce = async (more: object) =>
      await members[0]!.announce({ procedures: ["a"], ...more });
    expect(await announce({ idempotent: [1] })).toMatchObject({
      status: 400,
      text: expect.stringContaining("'idempotent' is not a list of FQNs") as unknown,
    });
    expect((await announce({ idempotent: ["a"] })).status).toBe(201);
  });
});

// Members whose processes hang: nothing comes over their links any more, not even that they live.

import { describe, expect, it } from "vitest";

import { gatewayWith, lost } from "./_members.ts";

describe("a member of a gateway that falls silent", () => {
  it("silent-1: a member that has been silent for 300 ms with a call is asked whether it is alive, and gets no new calls after 300 ms more", async () => {
    const { call, members, clock } = await gatewayWith(["a", "b"]);
    const [a] = members;
    a!.behave = () => undefined;
    void call("shop/order");
    await clock.pass(250);
    expect(a!.pings).toBe(0);
    a!.isSilent = true;
    // It was asked how it is, and has answered, within the first 250.
    await clock.pass(300);
    expect(a!.pings).toBe(1);
    await clock.pass(350);
    for (let calls = 0; calls < 4; calls++) expect(await call("shop/order")).toBe("200 b");
    expect(a!.calls).toHaveLength(1);
  });

  it("silent-2: a member that leaves two questions in a row unanswered is out within 2.5 s of the first silent call", async () => {
    const { call, members, clock, log, gateway } = await gatewayWith(["a", "b"]);
    members[0]!.isSilent = true;
    const held = call("shop/order");
    await clock.pass(1_800);
    expect(lost(log.lines, "http://a")).toBe(0);
    await clock.pass(700);
    expect(lost(log.lines, "http://a")).toBe(1);
    expect(gateway.describe().members).toEqual(["http://b"]);
    expect(members[0]!.isClosed).toBe(true);
    // It was sent, and may have run.
    expect(await held).toBe("502 BadGateway");
  });

  it("silent-3: idempotent calls that a silent member holds go to another one when it is out", async () => {
    const { call, members, clock } = await gatewayWith(["a", "b"]);
    members[0]!.isSilent = true;
    const answer = call("shop/stock");
    await clock.pass(2_500);
    expect(await answer).toBe("200 b");
  });

  it("a member that hung, and was out, takes calls again once it has dialled and joined (silent-2)", async () => {
    const { call, members, clock } = await gatewayWith(["a", "b"]);
    const [a] = members;
    a!.isSilent = true;
    void call("shop/order");
    await clock.pass(2_500);
    a!.isSilent = false;
    await a!.dial();
    await a!.join({ procedures: ["shop/order", "shop/stock"] });
    expect([await call("shop/order"), await call("shop/order")].toSorted()).toEqual([
      "200 a",
      "200 b",
    ]);
  });

  it("a member that hung for less than a second takes calls again at once, and keeps those that it holds (silent-1)", async () => {
    const { call, members, clock, log } = await gatewayWith(["a", "b"]);
    const [a] = members;
    a!.behave = () => undefined;
    const held = call("shop/order");
    await clock.pass(0);
    a!.isSilent = true;
    await clock.pass(900);
    expect(await call("shop/order")).toBe("200 b");
    a!.isSilent = false;
    await clock.pass(500);
    a!.release("/rpc/shop/order", { status: 200, body: "a" });
    expect(await held).toBe("200 a");
    a!.behave = () => ({ status: 200, body: "a" });
    expect([await call("shop/order"), await call("shop/order")].toSorted()).toEqual([
      "200 a",
      "200 b",
    ]);
    expect(lost(log.lines, "http://a")).toBe(0);
  });

  it("silent-5: a slow procedure takes no member out of rotation", async () => {
    const { call, members, clock, log } = await gatewayWith(["a"]);
    const [a] = members;
    a!.behave = async () => {
      await clock.sleep(20_000);
      return { status: 200, body: "a" };
    };
    const slow = call("shop/order");
    await clock.pass(19_000);
    a!.behave = () => ({ status: 200, body: "meanwhile" });
    expect(await call("shop/order")).toBe("200 meanwhile");
    await clock.pass(1_000);
    expect(await slow).toBe("200 a");
    // It was asked again and again.
    expect(a!.pings + a!.asked.length).toBeGreaterThan(10);
    expect(log.lines.filter((line) => line.startsWith("warning:"))).toEqual([]);
  });

  it("silent-6: if all members seem dead, or more than half of them, calls are still tried", async () => {
    const { call, members, clock } = await gatewayWith(["a", "b", "c"]);
    for (const member of members) member.isSilent = true;
    const held = [call("shop/order"), call("shop/order"), call("shop/order")];
    await clock.pass(800);
    // All of them stand still, as after a pause of the machine, and wake up again.
    const tried = call("shop/order");
    await clock.pass(200);
    for (const member of members) member.isSilent = false;
    await clock.pass(500);
    expect(await tried).toMatch(/^200 [abc]$/);
    expect((await Promise.all(held)).toSorted()).toEqual(["200 a", "200 b", "200 c"]);
  });

  it("silent-7: a member whose application says that it is unhealthy gets no calls, even if it is the last one", async () => {
    const { call, members, clock } = await gatewayWith(["a", "b"]);
    for (const member of members) member.isHealthy = false;
    await clock.pass(1_000);
    expect(await call("shop/order")).toBe("503 NodeNotAvailable");
    members[1]!.isHealthy = true;
    await clock.pass(1_000);
    for (let calls = 0; calls < 3; calls++) expect(await call("shop/order")).toBe("200 b");
  });

  it("an unhealthy process that joins again stays unhealthy, and a new one starts anew (silent-7)", async () => {
    const { call, members, join, clock } = await gatewayWith(["a"]);
    const [a] = members;
    a!.isHealthy = false;
    await clock.pass(1_000);
    await a!.join({ procedures: ["shop/order"] });
    expect(await call("shop/order")).toBe("503 NodeNotAvailable");
    a!.die();
    await join("a2");
    expect(await call("shop/order")).toBe("200 a2");
  });

  it.each([500, 502, 503, 504])(
    "silent-4: errors of procedures take no member out of rotation: %i",
    async (status) => {
      const { call, members } = await gatewayWith(["a", "b"]);
      members[0]!.behave = () => ({ status, body: "from a" });
      for (let calls = 0; calls < 8; calls++) await call("shop/order");
      expect(members[0]!.calls).toHaveLength(4);
    },
  );
});

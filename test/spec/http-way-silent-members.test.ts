// Members over HTTP that fall silent: the gateway asks whether they are alive.

import { describe, expect, it } from "vitest";

import { TransportError } from "../../src/base/ports.ts";
import { ask } from "../_cluster.ts";
import { gatewayWith, outOf, trusted } from "./_http-way-members.ts";

describe("a member of a gateway that falls silent", () => {
  it("a member that has been silent for 300 ms with a call is asked whether it is alive, and gets no new calls after 300 ms more (silent-1)", async () => {
    const { call, members, clock } = await gatewayWith(["a", "b"]);
    members[0]!.does = "silent";
    void call("shop/order");
    await clock.pass(250);
    expect(members[0]!.probes).toBe(0);
    await clock.pass(200);
    expect(members[0]!.probes).toBe(1);
    await clock.pass(350);
    for (let calls = 0; calls < 4; calls++) expect(await call("shop/order")).toBe("200 b");
    expect(members[0]!.calls).toBe(1);
  });

  it("a member that leaves two questions in a row unanswered is out within 2.5 s of the first silent call (silent-2)", async () => {
    const { call, members, clock, log } = await gatewayWith(["a", "b"]);
    members[0]!.does = "silent";
    void call("shop/order");
    await clock.pass(2_200);
    expect(outOf(log.lines, "http://a")).toBe(0);
    await clock.pass(300);
    expect(outOf(log.lines, "http://a")).toBe(1);
  });

  it("idempotent calls that a silent member holds go to another one when it is out (silent-3)", async () => {
    const { call, members, clock } = await gatewayWith(["a", "b"]);
    members[0]!.does = "silent";
    const answer = call("shop/stock");
    await clock.pass(2_500);
    expect(await answer).toBe("200 b");
  });

  it("idempotent calls stay with a silent member while no other member is alive (silent-3)", async () => {
    const { call, clock, network, log } = await gatewayWith(["a", "b"]);
    let wake = (): void => {};
    const awake = new Promise<void>((resolve) => (wake = resolve));
    for (const url of ["http://a", "http://b"]) {
      const { handle } = network.roles.get(url)!;
      network.roles.get(url)!.handle = async (request) => {
        await awake;
        return await handle(request);
      };
    }
    const calls = [call("shop/stock"), call("shop/stock"), call("shop/stock"), call("shop/stock")];
    await clock.pass(12_000);
    expect(outOf(log.lines, "http://a") + outOf(log.lines, "http://b")).toBe(2);
    wake();
    const answers = new Set(await Promise.all(calls));
    expect([...answers].every((answer) => answer.startsWith("200"))).toBe(true);
  });

  it("silent-4: a member that is out is asked again after 1, 2, 4 … 30 s, and is back with its first answer", async () => {
    const { call, members, clock, log } = await gatewayWith(["a", "b"]);
    const [a] = members;
    a!.does = "silent";
    void call("shop/order");
    await clock.pass(2_500);
    const asked: number[] = [];
    let probes = a!.probes;
    for (let seconds = 0.5; seconds <= 40; seconds += 0.5) {
      await clock.pass(500);
      if (a!.probes > probes) asked.push(seconds);
      ({ probes } = a!);
    }
    // Each question has 1 s, and the pause begins when it is over.
    expect(asked).toEqual([1, 4, 9, 18, 35]);
    a!.does = "answer";
    await clock.pass(31_000);
    expect(log.lines).toContain("http://a answers again");
    expect([await call("shop/order"), await call("shop/order")].toSorted()).toEqual([
      "200 a",
      "200 b",
    ]);
  });

  it("a question that fails after its time counts once: a machine that is off is asked as rarely as one that hangs (silent-4)", async () => {
    const { call, clock, network } = await gatewayWith(["a", "b"]);
    let probes = 0;
    network.roles.get("http://a")!.handle = async ({ target }) => {
      if (target === "/health/live") probes++;
      await clock.sleep(1_500);
      throw new TransportError("http://a did not accept the connection in time", false);
    };
    void call("shop/order");
    await clock.pass(3_500);
    const before = probes;
    await clock.pass(120_000);
    // After 2, 4, 8, 16 s, and then each 30 s.
    expect(probes - before).toBeLessThanOrEqual(7);
  });

  it("a question to a member that has left isn't left open (silent-5)", async () => {
    const { gateway, call, clock, network } = await gatewayWith(["a", "b"]);
    const signals: AbortSignal[] = [];
    network.roles.get("http://a")!.handle = async ({ target, signal }) => {
      if (target === "/health/live") signals.push(signal);
      return await new Promise(() => {});
    };
    void call("shop/order");
    await clock.pass(4_000);
    // The same process, at another address.
    const joining = { url: "http://a2", procedures: [], instance: "a" };
    await ask(gateway, "POST", "/nodes", trusted, JSON.stringify(joining));
    await clock.pass(5_000);
    expect(signals.map(({ aborted }) => aborted)).not.toContain(false);
  });

  it("silent-5: a question that was left unanswered counts when the member wakes up", async () => {
    const { members, clock, network, call, log } = await gatewayWith(["a", "b"]);
    let wake = (): void => {};
    const awake = new Promise<void>((resolve) => (wake = resolve));
    const { handle } = network.roles.get("http://a")!;
    network.roles.get("http://a")!.handle = async (request) => {
      await awake;
      return await handle(request);
    };
    const held = call("shop/order");
    await clock.pass(4_000);
    expect(outOf(log.lines, "http://a")).toBe(1);
    wake();
    expect(await held).toBe("200 a");
    expect(members[0]!.calls).toBe(1);
    expect([await call("shop/order"), await call("shop/order")].toSorted()).toEqual([
      "200 a",
      "200 b",
    ]);
  });

  it("if all members seem dead, or more than half of them, calls are still tried (silent-7)", async () => {
    const { call, network, clock } = await gatewayWith(["a", "b", "c"]);
    const all = new Map(network.roles);
    for (const name of ["a", "b", "c"]) network.roles.delete(`http://${name}`);
    const refused = call("shop/order");
    await clock.pass(50);
    expect(await refused).toBe("503 NodeNotAvailable");
    for (const [url, role] of all) network.roles.set(url, role);
    for (let calls = 0; calls < 3; calls++) expect(await call("shop/order")).toMatch(/^200 /);
    await clock.pass(1_000);
    const answers = new Set<string>();
    for (let calls = 0; calls < 6; calls++) answers.add(await call("shop/order"));
    expect([...answers].toSorted()).toEqual(["200 a", "200 b", "200 c"]);
  });

  it("a member whose application says that it is unhealthy gets no calls, even if it is the last one (silent-8)", async () => {
    const { call, members, clock } = await gatewayWith(["a", "b"]);
    for (const member of members) member.isHealthy = false;
    await clock.pass(5_000);
    expect(await call("shop/order")).toBe("503 NodeNotAvailable");
    members[1]!.isHealthy = true;
    await clock.pass(5_000);
    for (let calls = 0; calls < 3; calls++) expect(await call("shop/order")).toBe("200 b");
  });
});

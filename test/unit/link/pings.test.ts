// Whether a link notices that its other end is gone, and blames it for nothing else.

import { describe, expect, it, vi } from "vitest";

import type { Clock } from "../../../src/base/ports.ts";
import { settle } from "../../../server/testing/test-clock.ts";
import type { LinkCall } from "../../../src/link/calls.ts";
import { FrameWriter } from "../../../src/link/frame-writer.ts";
import { kinds } from "../../../src/link/frames.ts";
import { linked } from "./_pair.ts";

const call: LinkCall = {
  from: "service",
  method: "POST",
  target: "/rpc/add",
  headers: {},
  body: "",
  signal: undefined,
};
/** A call that never ends, on its way. */
async function waiting(handle = async () => await new Promise<never>(() => {})) {
  const pair = linked({ acceptor: handle });
  const answer = pair.dialer.send(call);
  answer.catch(() => {});
  await pair.clock.pass(0);
  return { ...pair, answer };
}

describe("with a call in flight, an end that is silent", () => {
  it("gets no new calls after 600 ms, and is out after 2 s", async () => {
    const { dialer, there, back, clock, closed, answer } = await waiting();
    // It is stopped: the bytes for it stay with its host.
    there.isHeld = back.isHeld = true;
    // Bytes that came before count for the first turn.
    await clock.pass(100);
    await clock.pass(500);
    expect(dialer.isSilent).toBe(false);
    await clock.pass(200);
    expect(dialer.isSilent).toBe(true);
    expect(closed).toEqual([]);
    await clock.pass(1_300);
    expect(closed[0]).toMatchObject({ message: "The other end is silent for 2000 ms" });
    await expect(answer).rejects.toMatchObject({ name: "TransportError", sent: true });
  });

  it("is asked after 300 ms and after 1 s", async () => {
    const { there, back, clock } = await waiting();
    there.isHeld = back.isHeld = true;
    const sent: number[] = [];
    for (let turn = 0; turn < 16; turn++) {
      const before = there.sent;
      await clock.pass(100);
      if (there.sent > before) sent.push(turn);
    }
    expect(sent).toEqual([3, 10]);
  });

  it("takes calls again as soon as something comes from it", async () => {
    const { dialer, there, back, clock, closed } = await waiting();
    there.isHeld = back.isHeld = true;
    await clock.pass(1_500);
    expect(dialer.isSilent).toBe(true);
    for (const wire of [there, back]) {
      wire.isHeld = false;
      wire.deliverSoon();
    }
    await vi.waitFor(() => expect(dialer.isSilent).toBe(false), 20_000);
    await clock.pass(10_000);
    expect(closed).toEqual([]);
  });

  it("that answers pings may take as long for a call as it likes", async () => {
    const { clock, closed } = await waiting();
    await clock.pass(60_000);
    expect(closed).toEqual([]);
  });

  it("isn't gone while its host takes what is sent", async () => {
    const { dialer, there, back, clock, closed } = await waiting();
    await clock.pass(100);
    back.isHeld = true;
    there.isSlow = true;
    void dialer.send({ ...call, body: "x".repeat(20_000) }).catch(() => {});
    for (let turn = 0; turn < 30; turn++) {
      there.deliverSoon();
      await clock.pass(100);
    }
    expect([dialer.isSilent, closed]).toEqual([false, []]);
    there.isHeld = true;
    await clock.pass(2_100);
    expect(closed.length).toBeGreaterThan(0);
  });
});

it("an end that runs calls of the other one doesn't end them because that one was busy for some seconds", async () => {
  const { acceptor, there, back, clock, closed } = linked({
    acceptor: async () => await new Promise<never>(() => {}),
  });
  await clock.pass(100);
  const writer = new FrameWriter();
  writer.addText(kinds.callService, 1, "GET\n/", 0, "");
  there.send(writer.take());
  await clock.pass(100);
  there.isHeld = back.isHeld = true;
  await clock.pass(10_000);
  expect([acceptor.running, acceptor.isSilent, closed]).toEqual([1, false, []]);
});

it("a caller that stood still for 3 s gets the answer to its call", async () => {
  let finish = (): void => {};
  const { acceptor, there, back, clock, closed } = linked({
    acceptor: async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return { status: 200, headers: {}, body: "well" };
    },
  });
  await clock.pass(100);
  const writer = new FrameWriter();
  writer.addText(kinds.callService, 1, "GET\n/", 0, "");
  there.send(writer.take());
  await vi.waitFor(() => expect(acceptor.running).toBe(1), 20_000);
  there.isHeld = back.isHeld = true;
  await clock.pass(3_000);
  let answer = "";
  back.onSend = (bytes) => (answer += new TextDecoder().decode(bytes));
  finish();
  await vi.waitFor(() => expect(answer).toContain("well"), 20_000);
  expect(closed).toEqual([]);
});

describe("an idle link", () => {
  it("costs a ping every 15 s", async () => {
    const { there, back, clock, closed } = linked({});
    await clock.pass(100);
    const before = [there.sent, back.sent];
    await clock.pass(150_000);
    expect(closed).toEqual([]);
    // A ping of 10 bytes, and its answer.
    const [pings, pongs] = [there.sent, back.sent].map((sent, at) => (sent - before[at]!) / 10);
    expect([pings === pongs, pings! > 8 && pings! <= 10]).toEqual([true, true]);
  });

  it("whose other end is gone is over within 18 s", async () => {
    const { there, back, clock, closed } = linked({});
    await clock.pass(100);
    there.isHeld = back.isHeld = true;
    await clock.pass(18_000);
    expect(closed.length).toBeGreaterThan(0);
  });

  it("that has ended leaves no timer", async () => {
    const { dialer, clock } = linked({});
    await clock.pass(100);
    expect(clock.waiting).toBeGreaterThan(0);
    dialer.close(new Error("over"));
    await clock.pass(0);
    await settle();
    expect(clock.waiting).toBe(0);
  });
});

it("an event loop that was blocked blames nobody: a turn is one, however late", async () => {
  let turn = (): void => {};
  const clock: Clock = {
    now: () => performance.now(),
    after(_, run) {
      turn = run;
      return () => {};
    },
  };
  const { dialer, closed } = linked(
    { acceptor: async () => await new Promise<never>(() => {}) },
    undefined,
    undefined,
    clock,
  );
  void dialer.send(call).catch(() => {});
  await settle();
  for (let blocked = 0; blocked < 30; blocked++) {
    // Each time, seconds are over: what is due runs once, and then what has come is read.
    turn();
    turn();
    await settle();
  }
  expect([dialer.isSilent, closed]).toEqual([false, []]);
});

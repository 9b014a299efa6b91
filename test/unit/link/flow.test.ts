// How many calls and how much of their bodies are on their way, and in which order.

import { describe, expect, it, vi } from "vitest";

import { settle } from "../../../server/testing/test-clock.ts";
import { Abort } from "../../../src/base/aborts.ts";
import type { HttpResponse } from "../../../src/base/ports.ts";
import { bytesOf, collected } from "../../../src/http/bodies.ts";
import type { ArrivedCall, LinkCall } from "../../../src/link/calls.ts";
import { FrameWriter } from "../../../src/link/frame-writer.ts";
import { FrameReader, type Kind, kinds } from "../../../src/link/frames.ts";
import { linked } from "./_pair.ts";
import { chunkBytes, windowBytes } from "../../../src/link/limits.ts";

const call = (more: Partial<LinkCall> = {}): LinkCall => ({
  from: "service",
  method: "POST",
  target: "/rpc/add",
  headers: {},
  body: "",
  signal: undefined,
  ...more,
});
const never = async (): Promise<HttpResponse> => await new Promise<never>(() => {});
const read = async ({ body }: ArrivedCall): Promise<HttpResponse> => {
  let size = 0;
  if (body instanceof Uint8Array) size = body.length;
  else for await (const part of body) size += part.length;
  return { status: 200, headers: {}, body: String(size) };
};
const quietly = (answer: Promise<unknown>): void => void answer.catch(() => {});

/** The frames that go over a wire. */
function framesOf(wire: { onSend: ((bytes: Uint8Array) => void) | undefined }) {
  const frames: [kind: Kind, stream: number, size: number][] = [];
  const reader = new FrameReader((kind, stream, { length }, _, cut) => {
    if (cut === "rest") frames.at(-1)![2] += length;
    else frames.push([kind, stream, length]);
  });
  wire.onSend = (bytes) => reader.push(bytes);
  return frames;
}

describe("credits for calls", () => {
  it("are 16 until the other end says how many it takes", async () => {
    const { dialer } = linked({ acceptor: never }, undefined, 1_000);
    for (let sent = 0; sent < 16; sent++) quietly(dialer.send(call()));
    expect(dialer.hasRoom).toBe(false);
    await settle();
    expect(dialer.hasRoom).toBe(true);
    for (let sent = 16; sent < 1_000; sent++) quietly(dialer.send(call()));
    expect(dialer.hasRoom).toBe(false);
    await expect(dialer.send(call())).rejects.toMatchObject({ unsent: "local" });
  });

  it("may become fewer, and those that are on their way by then still run", async () => {
    const { dialer, acceptor, closed } = linked({ acceptor: never }, undefined, 1_000);
    await settle();
    acceptor.allow(20);
    for (let sent = 0; sent < 500; sent++) quietly(dialer.send(call()));
    await settle();
    expect([dialer.hasRoom, acceptor.running, closed]).toEqual([false, 500, []]);
  });

  it("aren't taken by calls whose bodies are on their way, in either direction", async () => {
    let send = (): void => {};
    const held = new Promise<void>((resolve) => (send = resolve));
    async function* slowly(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(10);
      await held;
    }
    const { dialer, acceptor, closed } = linked(
      {
        acceptor: async (arrived) =>
          arrived.target === "/down"
            ? { status: 200, headers: {}, body: slowly() }
            : await read(arrived),
      },
      undefined,
      20,
    );
    await settle();
    const answers: Promise<{ readonly status: number }>[] = [];
    for (const more of [{ target: "/up", body: slowly }, { target: "/down" }]) {
      for (let sent = 0; sent < 15; sent++)
        answers.push(collected(dialer.send(call({ ...more, body: more.body?.() ?? "" }))));
      await settle();
    }
    expect([dialer.hasRoom, acceptor.running]).toEqual([true, 30]);
    expect((await dialer.send(call())).status).toBe(200);
    send();
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
    await settle();
    for (let sent = 0; sent < 20; sent++) quietly(dialer.send(call({ body: "1" })));
    expect([dialer.hasRoom, closed]).toEqual([false, []]);
  });

  it("who takes more than it has loses the link", async () => {
    const { there, acceptor, closed } = linked({ acceptor: never }, undefined, 20);
    await settle();
    const writer = new FrameWriter();
    for (let sent = 0; sent < 21; sent++)
      writer.addText(kinds.callService, 2 * sent + 1, "GET\n/", 0, "");
    there.send(writer.take());
    await settle();
    expect(acceptor.isClosed).toBe(true);
    expect(closed[0]).toMatchObject({
      message: "Call 41 exceeds the limit of 20 concurrent calls",
    });
  });

  it("are held by a cancelled call until it has ended", async () => {
    const ends: (() => void)[] = [];
    const { dialer, acceptor } = linked(
      {
        acceptor: async () => {
          await new Promise<void>((resolve) => ends.push(resolve));
          return { status: 200, headers: {}, body: "late" };
        },
      },
      undefined,
      30,
    );
    await settle();
    const leaving = new Abort();
    for (let sent = 0; sent < 30; sent++) quietly(dialer.send(call({ signal: leaving })));
    await settle();
    leaving.abort(new Error("enough"));
    await settle();
    expect([dialer.hasRoom, acceptor.running]).toEqual([false, 30]);
    for (const end of ends.splice(0, 10)) end();
    await settle();
    expect([dialer.calls, acceptor.running]).toEqual([20, 20]);
  });

  it("come back from a cancelled call that answers with a stream, which nobody reads", async () => {
    let end = (): void => {};
    let isDropped = false;
    const stream = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false as const, value: new Uint8Array(100_000) }),
        return: async () => ((isDropped = true), { done: true as const, value: undefined }),
      }),
    };
    const { dialer, acceptor } = linked({
      acceptor: async () => {
        await new Promise<void>((resolve) => (end = resolve));
        return { status: 200, headers: {}, body: stream };
      },
    });
    const leaving = new Abort();
    quietly(dialer.send(call({ signal: leaving })));
    await settle();
    leaving.abort(new Error("enough"));
    await settle();
    end();
    await settle();
    expect([isDropped, dialer.calls, acceptor.running]).toEqual([true, 0, 0]);
  });
});

describe("a body over 64 KiB", () => {
  const reads = (): { count: number; source: AsyncIterable<Uint8Array> } => {
    const counter = {
      count: 0,
      source: {
        async *[Symbol.asyncIterator]() {
          counter.count++;
          yield new Uint8Array(1_000);
        },
      },
    };
    return counter;
  };

  it("isn't opened before its receiver reads it, so that it can go elsewhere after a refusal", async () => {
    const refusing = linked({ acceptor: async () => ({ status: 503, headers: {}, body: "" }) });
    const taking = linked({ acceptor: read });
    const body = reads();
    expect((await refusing.dialer.send(call({ body: body.source }))).status).toBe(503);
    await settle();
    expect(body.count).toBe(0);
    const answer = await collected(taking.dialer.send(call({ body: body.source })));
    expect([new TextDecoder().decode(answer.body), body.count]).toEqual(["1000", 1]);
  });

  it("is sent unasked if it is here as a whole and fits the window, and waits if it is longer", async () => {
    const { dialer, there } = linked({
      acceptor: () => Promise.resolve({ status: 503, headers: {}, body: "full" }),
    });
    await settle();
    const frames = framesOf(there);
    const chunks = (): number => frames.filter(([kind]) => kind === kinds.chunk).length;
    expect(await dialer.send(call({ body: new Uint8Array(windowBytes) }))).toMatchObject({
      status: 503,
    });
    expect(chunks()).toBe(windowBytes / chunkBytes);
    expect(await dialer.send(call({ body: new Uint8Array(windowBytes + 1) }))).toMatchObject({
      status: 503,
    });
    expect(chunks()).toBe(windowBytes / chunkBytes);
  });

  it("that is whole, and longer than the window, arrives unchanged", async () => {
    const { dialer } = linked({
      acceptor: async ({ body }) => ({
        status: 200,
        headers: {},
        body: await bytesOf(body as AsyncIterable<Uint8Array>),
      }),
    });
    const body = Uint8Array.from({ length: 3 * windowBytes + 7 }, (_, at) => at % 251);
    const answer = await collected(dialer.send(call({ body })));
    // Element by element, a comparison takes seconds.
    expect(Buffer.compare(answer.body, body)).toBe(0);
  });

  it("whose source fails rejects its call with that error, and ends the call there", async () => {
    let arrived: ArrivedCall | undefined;
    const { dialer, acceptor, closed } = linked({
      acceptor: async (incoming) => await read((arrived = incoming)),
    });
    const source = (async function* () {
      yield new Uint8Array(1_000);
      throw new Error("the disk is gone");
    })();
    await expect(dialer.send(call({ body: source }))).rejects.toThrow("the disk is gone");
    await settle();
    expect([arrived!.departure.aborted, acceptor.running, closed]).toEqual([true, 0, []]);
  });

  it("of many small parts is bounded by their number too", async () => {
    let sent = 0;
    const source = (async function* () {
      for (;;) {
        sent++;
        yield new Uint8Array(1);
      }
    })();
    const { dialer } = linked({
      acceptor: async ({ body }) => {
        await (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().next();
        return await never();
      },
    });
    quietly(dialer.send(call({ body: source })));
    for (let turns = 0; turns < 200; turns++) await settle();
    expect(sent).toBeGreaterThan(500);
    expect(sent).toBeLessThan(1_100);
  });
});

describe("over a channel that is slow", () => {
  const endless = (): AsyncIterable<Uint8Array> => ({
    async *[Symbol.asyncIterator]() {
      for (;;) yield new Uint8Array(1_000_000);
    },
  });

  it("no more than 256 KiB of bodies wait in the channel, each body in its turn", async () => {
    const { dialer, there } = linked({ acceptor: read }, () => 4_096);
    await settle();
    const frames = framesOf(there);
    for (let sent = 0; sent < 4; sent++) quietly(dialer.send(call({ body: endless() })));
    let most = 0;
    for (let turns = 0; turns < 300; turns++) {
      await settle();
      most = Math.max(most, there.queued);
    }
    expect(most).toBeLessThanOrEqual(256 * 1024 + 1_000);
    expect(most).toBeGreaterThan(128 * 1024);
    const chunks = frames.filter(([kind]) => kind === kinds.chunk);
    expect(chunks.every(([, , size]) => size <= chunkBytes)).toBe(true);
    // The first one has the link for itself, until the others are asked for.
    const order = chunks.map(([, stream]) => stream).slice(8, 40);
    expect(order).toEqual(order.map((_, at) => order[at % 4]));
    expect(new Set(order).size).toBe(4);
  });

  it("no more than 1 MiB of bodies is on its way that the other end hasn't confirmed", async () => {
    const { dialer, there, back } = linked({ acceptor: read });
    await settle();
    for (let sent = 0; sent < 8; sent++) quietly(dialer.send(call({ body: endless() })));
    await settle();
    const frames = framesOf(there);
    back.isHeld = true;
    for (let turns = 0; turns < 100; turns++) await settle();
    const sizes = frames.filter(([kind]) => kind === kinds.chunk).map(([, , size]) => size);
    const sent = sizes.reduce((sum, size) => sum + size, 0);
    expect(sent).toBeGreaterThan(512 * 1024);
    expect(sent).toBeLessThanOrEqual(1024 * 1024);
  });

  it("calls go before bodies that wait, and control before calls that wait", async () => {
    const { dialer, there, back } = linked({ acceptor: read }, () => 16_384, 1_000);
    await settle();
    for (let sent = 0; sent < 8; sent++) quietly(dialer.send(call({ body: endless() })));
    for (let turns = 0; turns < 20; turns++) await settle();
    there.isHeld = back.isHeld = true;
    for (let turns = 0; turns < 20; turns++) await settle();
    const frames = framesOf(there);
    quietly(dialer.send(call({ target: "/rpc/small" })));
    await settle();
    // It is in the channel already, before parts of bodies that fit.
    expect(frames[0]?.[0]).toBe(kinds.callService);
    expect(there.queued).toBeLessThanOrEqual(256 * 1024 + 1_000);
    // More calls than a channel should hold: they wait here, and a ping doesn't.
    for (let sent = 0; sent < 20; sent++)
      quietly(dialer.send(call({ body: new Uint8Array(chunkBytes) })));
    await settle();
    expect(there.queued).toBeLessThan(2 * 1024 * 1024);
    quietly(dialer.send(call({ target: "/rpc/late" })));
    await settle();
    frames.length = 0;
    void dialer.drain();
    dialer.allow(7);
    await settle();
    expect(frames.map(([kind]) => kind)).toContain(kinds.credit);
    expect(frames.map(([kind]) => kind)).not.toContain(kinds.callService);
  });
});

describe("writes", () => {
  it("are one in a turn, and at once when nothing else is in flight", async () => {
    const { dialer, there } = linked({ acceptor: async () => await never() }, undefined, 1_000);
    await settle();
    let writes = 0;
    there.onSend = () => writes++;
    quietly(dialer.send(call()));
    expect(writes).toBe(1);
    for (let sent = 0; sent < 63; sent++) quietly(dialer.send(call()));
    expect(writes).toBe(1);
    await settle();
    expect(writes).toBe(2);
  });

  it("are one for the answers to all calls of a read, of which sixteen at a time run until they wait", async () => {
    let running = 0;
    let most = 0;
    const { dialer, back } = linked(
      {
        acceptor: async ({ target }) => {
          if (target === "/waits") return await never();
          most = Math.max(most, ++running);
          for (let steps = 0; steps < 50; steps++) await Promise.resolve();
          running--;
          return { status: 204, headers: {} };
        },
      },
      undefined,
      1_000,
    );
    await settle();
    // So that the others go together.
    quietly(dialer.send(call({ target: "/waits" })));
    await settle();
    let writes = 0;
    back.onSend = () => writes++;
    await Promise.all(Array.from({ length: 100 }, () => dialer.send(call())));
    expect(most).toBe(16);
    expect(writes).toBe(1);
  });
});

describe("an end that leaves", () => {
  it("says which calls it hasn't taken: those may go elsewhere", async () => {
    const { dialer, acceptor, there } = linked({ acceptor: never });
    const taken = dialer.send(call());
    quietly(taken);
    await settle();
    there.isHeld = true;
    const late = dialer.send(call());
    quietly(late);
    acceptor.close(new Error("this service stops"));
    await expect(taken).rejects.toMatchObject({ name: "TransportError", sent: true });
    await expect(late).rejects.toMatchObject({ sent: false, unsent: "refused" });
  });

  it("knows when no more calls come", async () => {
    const { dialer, acceptor, there } = linked({ acceptor: never });
    await settle();
    there.isHeld = true;
    quietly(dialer.send(call()));
    let isOver = false;
    const drained = acceptor.drain().then(() => (isOver = true));
    await settle();
    expect(dialer.hasRoom).toBe(false);
    await expect(dialer.send(call())).rejects.toMatchObject({ sent: false });
    expect([isOver, acceptor.running]).toEqual([false, 0]);
    there.isHeld = false;
    there.deliverSoon();
    await drained;
    expect(acceptor.running).toBe(1);
  });

  it.each([
    ["the dialer", true],
    ["the acceptor", false],
  ])(
    "because of a call of an unknown kind, marked or not, names the calls before it: %s calls",
    async (_, isDialer) => {
      const ran: string[] = [];
      const handle = async ({ target }: ArrivedCall): Promise<HttpResponse> => {
        ran.push(target);
        return await new Promise<never>(() => {});
      };
      const { dialer, acceptor, there, back, closed } = linked({
        [isDialer ? "acceptor" : "dialer"]: handle,
      });
      const [caller, wire] = isDialer ? [dialer, there] : [acceptor, back];
      await settle();
      const outcomes = ["/first", "/second"].map((target) => caller.send(call({ target })));
      await vi.waitFor(() => expect(ran).toEqual(["/first", "/second"]), 20_000);
      // A later release has another kind of call, and doesn't mark it. This end has counted it, too.
      wire.onSend = (bytes) => {
        if (bytes[4] === kinds.callService) bytes[4] = 0x17;
      };
      outcomes.push(...["/third", "/fourth"].map((target) => caller.send(call({ target }))));
      const settled = await Promise.allSettled(outcomes);
      expect(
        settled.map((outcome) => outcome.status === "rejected" && outcome.reason),
      ).toMatchObject([{ sent: true }, { sent: true }, { sent: false }, { sent: false }]);
      expect(ran).toEqual(["/first", "/second"]);
      expect(closed[0]).toMatchObject({ message: "Unknown frame kind 23 that must be understood" });
    },
  );

  it("because of bytes that make no sense says so to the other end", async () => {
    const { there, closed } = linked({});
    await settle();
    there.send(new Uint8Array([0, 0, 0, 3, 1, 2, 3]));
    await vi.waitFor(() => expect(closed).toHaveLength(2), 20_000);
    expect(closed).toMatchObject([
      { message: "A frame of 3 bytes is too short" },
      { message: "The other end has ended the link: A frame of 3 bytes is too short" },
    ]);
  });
});

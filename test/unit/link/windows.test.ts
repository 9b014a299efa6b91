// How much of bodies is on its way over a distance.

import { describe, expect, it } from "vitest";

import { settle } from "../../../server/testing/test-clock.ts";
import type { HttpResponse } from "../../../src/base/ports.ts";
import type { ArrivedCall, LinkCall } from "../../../src/link/calls.ts";
import { linked } from "./_pair.ts";
import { windowBytes } from "../../../src/link/limits.ts";

const MiB = 1024 * 1024;
const chunk = new Uint8Array(65_536);
async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield chunk;
}
const upload = (): LinkCall => ({
  from: "service",
  method: "POST",
  target: "/upload",
  headers: {},
  body: endless(),
  signal: undefined,
});

/** Uploads of which `read` takes what it likes, over a distance of 50 ms there and back. */
async function faraway(
  read: (body: AsyncIterator<Uint8Array>) => Promise<HttpResponse>,
  uploads = 1,
) {
  const pair = linked({
    acceptor: async ({ body }: ArrivedCall) =>
      await read((body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()),
  });
  await settle();
  pair.there.delayMs = pair.back.delayMs = 25;
  for (let sent = 0; sent < uploads; sent++) pair.dialer.send(upload()).catch(() => {});
  const passed = async (ms: number): Promise<number> => {
    const before = pair.there.sent;
    await pair.clock.pass(ms);
    return pair.there.sent - before;
  };
  return { ...pair, passed };
}
const never = new Promise<never>(() => {});
async function all(body: AsyncIterator<Uint8Array>): Promise<never> {
  while ((await body.next()).done !== true);
  return await never;
}

describe("over a round trip of 50 ms", () => {
  it("a body that is read at once gets a window of 4 MiB, step by step", async () => {
    const { passed } = await faraway(all);
    // With 256 KiB in each round trip it would be 2.5 MiB.
    expect(await passed(500)).toBeGreaterThan(8 * MiB);
    const later = await passed(100);
    expect(later).toBeGreaterThan(7 * MiB);
    expect(later).toBeLessThan(9 * MiB);
  });

  it("a body whose reader is slower than the link keeps the window that it has", async () => {
    const { passed, clock } = await faraway(async (body) => {
      for (;;) {
        await body.next();
        await clock.sleep(20);
      }
    });
    await passed(2_000);
    const perSecond = (1_000 / 20) * chunk.length;
    expect((await passed(2_000)) / 2).toBeLessThan(perSecond * 1.1);
    const { passed: passedUnread } = await faraway(async (body) => {
      await body.next();
      return await never;
    });
    expect(await passedUnread(2_000)).toBeLessThan(windowBytes + 2 * chunk.length);
  });

  it("all bodies of a link together get 16 MiB, which count as held until they are over", async () => {
    const { passed, memory, shut } = await faraway(all, 6);
    await passed(600);
    const later = await passed(100);
    expect(later).toBeGreaterThan(28 * MiB);
    expect(later).toBeLessThan(2 * 18 * MiB);
    expect(memory.held).toBeGreaterThan(4 * MiB);
    shut();
    await passed(0);
    expect(memory.held).toBe(0);
  });

  it("a body has 64 KiB while memory is short, and gives back what its window had grown by", async () => {
    const { passed, memory } = await faraway(all);
    await passed(400);
    expect(memory.held).toBeGreaterThan(3 * MiB);
    memory.isShort = true;
    await passed(200);
    expect(memory.held).toBeLessThan(1 * MiB);
  });
});

it("no window grows where a round trip takes no longer than a window", async () => {
  const { dialer, there, memory, clock } = linked({
    acceptor: async ({ body }) => {
      for await (const part of body as AsyncIterable<Uint8Array>)
        await clock.sleep(part.length / 65_536);
      return await never;
    },
  });
  dialer.send(upload()).catch(() => {});
  await clock.pass(200);
  expect(there.sent).toBeGreaterThan(5 * MiB);
  expect(memory.held).toBeLessThan(MiB);
});

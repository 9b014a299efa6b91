import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";

import { Abort } from "../../../src/base/aborts.ts";
import type { PeerResponse } from "../../../src/base/ports.ts";
import { bytesOf, collected } from "../../../src/http/bodies.ts";
import type { ArrivedCall, LinkCall } from "../../../src/link/calls.ts";
import { linked } from "./_pair.ts";

const call = (more: Partial<LinkCall> = {}): LinkCall => ({
  from: "service",
  method: "POST",
  target: "/rpc/add",
  headers: {},
  body: "",
  signal: undefined,
  ...more,
});
const text = async (answer: PeerResponse | Promise<PeerResponse>): Promise<string> =>
  new TextDecoder().decode((await collected(answer)).body);
const bodyOf = async ({ body }: ArrivedCall): Promise<Uint8Array> =>
  body instanceof Uint8Array ? body : await bytesOf(body);
const echo = async (arrived: ArrivedCall) => ({
  status: 200,
  headers: { "x-target": arrived.target },
  body: await bodyOf(arrived),
});

async function* parts(...sizes: number[]): AsyncGenerator<Uint8Array> {
  for (const [at, size] of sizes.entries()) yield new Uint8Array(size).fill(at + 1);
}

describe("a link", () => {
  it("carries calls in both directions, with their heads and bodies", async () => {
    const { dialer, acceptor } = linked({ dialer: echo, acceptor: echo });
    for (const end of [dialer, acceptor]) {
      const answer = await end.send(call({ body: "schön", target: "/rpc/ä?x=1" }));
      expect(answer.status).toBe(200);
      expect(answer.headers).toEqual({ "x-target": "/rpc/ä?x=1" });
      expect(await text(answer)).toBe("schön");
    }
  });

  it("says whose call it is, by the frame and by nothing in it", async () => {
    const seen: string[] = [];
    const { dialer } = linked({
      acceptor: async ({ from }) => {
        seen.push(from);
        return { status: 204, headers: {} };
      },
    });
    for (const from of ["service", "trusted", "outside", "key"] as const)
      await dialer.send(call({ from, headers: { from: "key", "x-svc-trust-key": "?" } }));
    expect(seen).toEqual(["service", "trusted", "outside", "key"]);
  });

  it("a short body keeps nothing of the calls and answers that came with it", async () => {
    const kept: number[] = [];
    const { dialer } = linked({
      acceptor: async (arrived) => {
        const body = await bodyOf(arrived);
        kept.push(body.buffer.byteLength);
        return { status: 200, headers: {}, body };
      },
    });
    const calls = Array.from({ length: 10 }, () => dialer.send(call({ body: "short" })));
    for (const { body } of await Promise.all(calls))
      kept.push(body instanceof Uint8Array ? body.buffer.byteLength : 0);
    expect(kept).toEqual(Array.from({ length: 20 }, () => 5));
  });

  it("carries many calls at once, whatever their bodies and however bytes are cut", async () => {
    const size = fc.oneof(fc.nat(300), fc.nat(200_000), fc.constantFrom(65_535, 65_536, 65_537));
    const cuts = fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(size, { maxLength: 4 }), { maxLength: 6 }),
        cuts,
        async (bodies, cut) => {
          let turn = 0;
          const { dialer, acceptor, closed } = linked(
            { dialer: echo, acceptor: echo },
            () => cut[turn++ % cut.length]!,
          );
          await Promise.all(
            bodies.flatMap((sizes) =>
              [dialer, acceptor].map(async (end) => {
                const answer = await collected(end.send(call({ body: parts(...sizes) })));
                const expected = await bytesOf(parts(...sizes));
                expect(Buffer.compare(answer.body, expected)).toBe(0);
              }),
            ),
          );
          expect(closed).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each([
    ["text", "ü".repeat(60_000)],
    ["bytes", new Uint8Array(120_000)],
  ])("says how long a body of %s is that comes in parts", async (_, body) => {
    const { dialer } = linked({ acceptor: async () => ({ status: 200, headers: {}, body }) });
    const answer = await dialer.send(call());
    expect(answer.headers).toEqual({ "content-length": "120000" });
    expect(await bytesOf(answer.body as AsyncIterable<Uint8Array>)).toHaveLength(120_000);
  });

  it("sends a body only as fast as it is read, and no more than 256 KiB ahead", async () => {
    let produced = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        produced += 10_000;
        yield new Uint8Array(10_000);
      }
    }
    const { dialer } = linked({
      acceptor: async () => ({ status: 200, headers: {}, body: endless() }),
    });
    const answer = await dialer.send(call());
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(produced).toBeLessThanOrEqual(256 * 1024 + 20_000);
    const reader = (answer.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    for (let read = 0; read < 2_000_000;) read += (await reader.next()).value?.length ?? 0;
    expect(produced).toBeLessThanOrEqual(2_000_000 + 2 * 256 * 1024);
    await reader.return?.();
  });

  it("asks for nothing of a large body before its receiver reads it", async () => {
    let produced = 0;
    const { dialer } = linked({
      acceptor: async () => ({ status: 503, headers: {}, body: "no" }),
    });
    const source = (async function* () {
      produced++;
      yield new Uint8Array(1000);
    })();
    expect(await text(dialer.send(call({ body: source })))).toBe("no");
    expect(produced).toBe(0);
  });

  it("tells the other end that a caller has left, and waits for the end of the call to use its place", async () => {
    let arrived: ArrivedCall | undefined;
    let finish = (): void => {};
    const { dialer } = linked(
      {
        acceptor: async (incoming) => {
          arrived = incoming;
          void incoming.departure;
          await new Promise<void>((resolve) => (finish = resolve));
          return { status: 200, headers: {}, body: "late" };
        },
      },
      undefined,
      1,
    );
    const signal = new Abort();
    const answer = dialer.send(call({ signal }));
    answer.catch(() => {});
    await vi.waitFor(() => expect(arrived).toBeDefined(), 20_000);
    signal.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
    await vi.waitFor(() => expect(arrived?.departure.aborted).toBe(true), 20_000);
    expect(dialer.hasRoom).toBe(false);
    await expect(dialer.send(call())).rejects.toThrow("takes no more calls");
    finish();
    await vi.waitFor(() => expect(dialer.hasRoom).toBe(true), 20_000);
  });

  it("a reader that stops early ends the sender of the answer", async () => {
    let isEnded = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield new Uint8Array(1000);
      } finally {
        isEnded = true;
      }
    }
    const { dialer } = linked({
      acceptor: async () => ({ status: 200, headers: {}, body: endless() }),
    });
    const answer = await dialer.send(call());
    for await (const _ of answer.body as AsyncIterable<Uint8Array>) break;
    await vi.waitFor(() => expect(isEnded).toBe(true), 20_000);
    await vi.waitFor(async () => expect((await dialer.send(call())).status).toBe(200), 20_000);
  });

  it("an answer that breaks off rejects its reader, and the link goes on", async () => {
    async function* breaking(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(10);
      throw new Error("the disk is gone");
    }
    const { dialer, closed } = linked({
      acceptor: async ({ target }) => ({
        status: 200,
        headers: {},
        body: target === "/" ? breaking() : "well",
      }),
    });
    await expect(collected(dialer.send(call({ target: "/" })))).rejects.toThrow("broke off");
    expect(await text(dialer.send(call()))).toBe("well");
    expect(closed).toEqual([]);
  });

  it("calls that wait when the link breaks have no answer, and later ones aren't sent", async () => {
    const { dialer, shut } = linked({ acceptor: async () => await new Promise<never>(() => {}) });
    const waiting = dialer.send(call());
    waiting.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 5));
    shut();
    await expect(waiting).rejects.toMatchObject({ name: "TransportError", sent: true });
    await expect(dialer.send(call())).rejects.toMatchObject({ sent: false, unsent: "refused" });
  });

  it("after goAway the other end sends no more calls, and gets the answers of those it has sent", async () => {
    let finish = (): void => {};
    const { dialer, acceptor } = linked({
      acceptor: async () => {
        await new Promise<void>((resolve) => (finish = resolve));
        return { status: 200, headers: {}, body: "done" };
      },
    });
    const answer = dialer.send(call());
    await new Promise((resolve) => setTimeout(resolve, 5));
    void acceptor.drain();
    await vi.waitFor(() => expect(dialer.hasRoom).toBe(false), 20_000);
    await expect(dialer.send(call())).rejects.toMatchObject({ sent: false });
    finish();
    expect(await text(answer)).toBe("done");
  });
});

describe("bytes that follow no protocol", () => {
  it("random bytes end the link or mean nothing, and hold no memory", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 10 }),
        async (chunks) => {
          const { acceptor, there } = linked({ acceptor: echo });
          for (const chunk of chunks) there.send(chunk);
          await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
          void acceptor.hasRoom;
        },
      ),
      { numRuns: 300 },
    );
  });
});

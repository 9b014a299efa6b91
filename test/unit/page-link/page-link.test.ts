import { setImmediate as turn } from "node:timers/promises";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { settle } from "../../../server/testing/test-clock.ts";
import { Abort } from "../../../src/base/aborts.ts";
import type { ByteStream, HttpRequest, PeerResponse } from "../../../src/base/ports.ts";
import { answering, callOf, pair, type Wire } from "./_pair.ts";

const textOf = async ({ body }: PeerResponse): Promise<string> =>
  new TextDecoder().decode(body instanceof Uint8Array ? body : await body.bytes());
const readerOf = ({ body }: PeerResponse): AsyncIterator<Uint8Array> =>
  (body as ByteStream)[Symbol.asyncIterator]();
/** An answer that goes on until it is told to end. */
const endless = (ended: () => void) => async (request: HttpRequest) => ({
  status: 200,
  headers: {},
  body: (async function* () {
    try {
      yield Buffer.from("first");
      await new Promise<void>((end) => request.signal.addEventListener("abort", () => end()));
    } finally {
      ended();
    }
  })(),
});

describe("a stream over a page's link", () => {
  it("arrives with its status, the fields that a page reads, and its text", async () => {
    const { link, wires, fetched, cookies } = pair({
      handle: async () => ({
        ...answering("data: 1\n\n", "data: zwei €\n\n"),
        headers: {
          "content-type": "text/event-stream",
          "x-svc-data-type": "stream",
          "set-cookie": ["a=1"],
          "content-security-policy": "sandbox",
        },
      }),
    });
    const answer = await link.send(callOf("shop/search"));
    expect(answer).toMatchObject({
      status: 200,
      headers: { "content-type": "text/event-stream", "x-svc-data-type": "stream" },
    });
    expect(Object.keys(answer.headers)).toHaveLength(2);
    expect(await textOf(answer)).toBe("data: 1\n\ndata: zwei €\n\n");
    expect([wires.length, fetched]).toEqual([1, []]);
    // A link has no way to set it, and the service says so.
    expect(cookies()).toBe(1);
  });

  it("is a POST with the handshake's fields, and its own encoding", async () => {
    let seen: HttpRequest | undefined;
    let body: unknown;
    const { link } = pair({
      handle: async (request) => {
        seen = request;
        body = JSON.parse(new TextDecoder().decode(await request.readBody(100)));
        return answering();
      },
      handshake: {
        cookie: "session=1",
        "x-authenticated-user": "ann",
        connection: "Upgrade, x-hop",
        upgrade: "websocket",
        "x-hop": "1",
        "sec-websocket-key": "k",
        "accept-encoding": "gzip",
      },
    });
    await textOf(await link.send(callOf("shop/search?version=1.0.0", { body: '{"a":1}' })));
    expect(seen).toMatchObject({
      method: "POST",
      target: "/rpc/shop/search?version=1.0.0",
      scheme: "https",
      address: "192.0.2.1",
      cookiesAreSent: false,
    });
    expect(seen?.headers).toEqual({
      host: "shop.example",
      cookie: "session=1",
      "x-authenticated-user": "ann",
      "content-type": "application/json",
      "content-length": "7",
      accept: "text/event-stream",
      "x-svc-data-encoding": "serialized, superjson",
    });
    expect(body).toEqual({ a: 1 });
  });

  it("adds only the named fields, and none that the handshake has", async () => {
    let seen: HttpRequest["headers"] = {};
    const { link, fetched } = pair({
      handle: async ({ headers }) => {
        seen = headers;
        return answering();
      },
      names: ["x-tenant"],
      handshake: { authorization: "Basic proxy" },
    });
    const headers = { authorization: "Bearer page", "last-event-id": "7", "x-tenant": "t1" };
    await textOf(await link.send(callOf("a", { headers })));
    expect(seen).toMatchObject({
      authorization: "Basic proxy",
      "last-event-id": "7",
      "x-tenant": "t1",
    });
    await link.send(callOf("a", { headers: { "x-other": "1" } }));
    expect(fetched).toEqual(["'streamHeaders' has no 'x-other'"]);
  });

  it("that a service would refuse for a field is refused with 400 that names the key", async () => {
    const { link, wires } = pair({ handle: async () => answering() });
    await textOf(await link.send(callOf("a")));
    const wire = wires[0]!;
    wire.isTakenOver = true;
    const head = (more: object) =>
      JSON.stringify({
        target: "/rpc/a",
        encoding: "serialized",
        headers: {},
        body: "{}",
        ...more,
      });
    wire.send(`open 2 ${head({ headers: { "X-Authenticated-User": "root" } })}`);
    wire.send(`open 3 ${head({ target: "/svc/console" })}`);
    wire.send(`open 4 ${head({ target: "/rpc/a b" })}`);
    await settle();
    const answers = wire.toPage.filter((text) => /^(?:open|data) [234] /.test(text)).join("\n");
    expect(answers).toMatch(/open 2 \{"status":400/);
    expect(answers).toMatch(/data 2 .*'x-authenticated-user'.*'streamHeaders'/);
    expect(answers).toMatch(/open 3 \{"status":400/);
    expect(answers).toMatch(/open 4 \{"status":400/);
    expect(wire.closed).toBeUndefined();
  });

  it("that has files, or more than 16 KiB of arguments, is a fetch", async () => {
    const { link, wires, fetched } = pair({ handle: async () => answering() });
    await link.send(callOf("a", { body: new Blob(["file"]) }));
    await link.send(callOf("a", { body: "x".repeat(16_384) }));
    // 5,500 characters of three bytes.
    await link.send(callOf("a", { body: "€".repeat(5_500) }));
    expect(wires).toHaveLength(0);
    expect(fetched).toEqual([
      "its arguments hold files",
      "its arguments are large",
      "its arguments are large",
    ]);
  });

  it("with an error has its body", async () => {
    const { link } = pair({
      handle: async () => ({ status: 401, headers: {}, body: "Who are you?" }),
    });
    const answer = await link.send(callOf("a"));
    expect([answer.status, await textOf(answer)]).toEqual([401, "Who are you?"]);
  });

  it("without a body ends after its head", async () => {
    const { link } = pair({ handle: async () => ({ status: 204, headers: {} }) });
    const answer = await link.send(callOf("a"));
    expect([answer.status, await textOf(answer)]).toEqual([204, ""]);
  });

  it("that breaks is cut: the reader learns that it was sent", async () => {
    const { link, faults } = pair({
      handle: async () => ({
        status: 200,
        headers: {},
        body: (async function* () {
          yield Buffer.from("a");
          throw new Error("broken");
        })(),
      }),
    });
    const reader = readerOf(await link.send(callOf("a")));
    expect((await reader.next()).value).toEqual(new Uint8Array([97]));
    await expect(reader.next()).rejects.toMatchObject({ name: "TransportError", sent: true });
    expect(faults).toMatchObject([{ message: "broken" }]);
  });

  it("that isn't UTF-8 is cut, also in its last character", async () => {
    for (const bytes of [
      [0xff, 0xfe],
      [97, 0xe2, 0x82],
    ]) {
      const { link, faults } = pair({ handle: async () => answering(new Uint8Array(bytes)) });
      const answer = await link.send(callOf("a"));
      await expect(textOf(answer)).rejects.toMatchObject({ name: "TransportError" });
      expect(faults).toMatchObject([{ message: expect.stringContaining("UTF-8") as string }]);
    }
  });
});

describe("the end of a stream", () => {
  it("by a reader that stops reaches the generator, whose signal aborts before it is told to end", async () => {
    const order: string[] = [];
    const { link, wires } = pair({
      handle: async (request) => {
        request.signal.addEventListener("abort", () => order.push("abort"));
        return {
          status: 200,
          headers: {},
          body: {
            [Symbol.asyncIterator]: () => ({
              next: async () =>
                order.push("next") === 1
                  ? { value: Buffer.from("a"), done: false as const }
                  : await new Promise<never>(() => {}),
              return: async () => {
                order.push("return");
                return { value: undefined, done: true as const };
              },
            }),
          },
        };
      },
    });
    const reader = readerOf(await link.send(callOf("a")));
    await reader.next();
    await reader.return?.();
    await settle();
    expect(order).toEqual(["next", "next", "abort", "return"]);
    expect(wires[0]?.toService.at(-1)).toBe("cancel 1");
    expect(await reader.next()).toEqual({ value: undefined, done: true });
  });

  it("by its signal rejects with the reason, before and after the head", async () => {
    let ends = 0;
    const { link } = pair({ handle: endless(() => ends++) });
    const reason = new Error("not wanted");
    const abort = new Abort();
    const reader = readerOf(await link.send(callOf("a", { signal: abort })));
    await reader.next();
    const next = reader.next();
    abort.abort(reason);
    await expect(next).rejects.toBe(reason);
    await settle();
    expect(ends).toBe(1);
    const never = pair({ handle: async () => await new Promise<never>(() => {}) });
    const before = new Abort();
    const answer = never.link.send(callOf("a", { signal: before }));
    await settle();
    before.abort(reason);
    await expect(answer).rejects.toBe(reason);
    // Also while the WebSocket opens.
    const opening = pair({ handle: async () => answering(), later: () => {} });
    const soon = new Abort();
    const unsent = opening.link.send(callOf("a", { signal: soon }));
    soon.abort(reason);
    await expect(unsent).rejects.toBe(reason);
  });

  it("by a lost socket breaks all of them, and says that they were sent", async () => {
    const { link, wires } = pair({ handle: endless(() => {}) });
    const answers = await Promise.all([1, 2, 3].map(async () => await link.send(callOf("a"))));
    wires[0]!.cut();
    for (const answer of answers)
      await expect(textOf(answer)).rejects.toMatchObject({ name: "TransportError", sent: true });
  });

  it("by a lost socket ends them all at the service", async () => {
    let ends = 0;
    const { link, wires } = pair({ handle: endless(() => ends++) });
    await Promise.all([1, 2, 3].map(async () => await link.send(callOf("a"))));
    await settle();
    wires[0]!.cut();
    await settle();
    expect(ends).toBe(3);
  });

  it("keeps its place until the request is really over", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const { link, wires } = pair({
      handle: async () => {
        await held;
        return answering();
      },
      streamsPerLink: 1,
    });
    const abort = new Abort();
    const first = link.send(callOf("a", { signal: abort }));
    await settle();
    abort.abort(new Error("no"));
    await expect(first).rejects.toThrow("no");
    expect((await link.send(callOf("b"))).status).toBe(503);
    release();
    await settle();
    expect((await link.send(callOf("c"))).status).toBe(200);
    expect(wires).toHaveLength(1);
  });
});

describe("credits", () => {
  const chunk = "0123456789abcdef".repeat(1_024);

  it("let the service send 256 KiB ahead of a reader, of each stream", async () => {
    let produced = 0;
    const handle = async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        for (;;) {
          produced++;
          yield Buffer.from(chunk);
        }
      })(),
    });
    const { link, wires, memory } = pair({ handle });
    const reader = readerOf(await link.send(callOf("a")));
    for (let turns = 0; turns < 200; turns++) await turn();
    const data = (): number =>
      wires[0]!.toPage.filter((text) => text.startsWith("data 1 ")).join("").length;
    expect(data()).toBe(16 * (chunk.length + "data 1 ".length));
    expect(produced).toBe(17);
    // The chunk that waits, and its overhead.
    expect(memory.bytes).toBeGreaterThanOrEqual(chunk.length);
    expect(memory.bytes).toBeLessThan(2 * chunk.length);
    for (let reads = 0; reads < 5; reads++) await reader.next();
    for (let turns = 0; turns < 200; turns++) await turn();
    // The items that were taken have been read when the next is asked for.
    expect(wires[0]?.toService.at(-1)).toBe("credit 1 65536");
    expect(produced).toBe(21);
    await reader.return?.();
    await settle();
    expect(memory.bytes).toBe(0);
  });

  it("that a stream waits for hold up no other stream", async () => {
    const { link } = pair({
      handle: async ({ target }) =>
        target === "/rpc/slow" ? answering(chunk.repeat(100)) : answering("quick"),
    });
    await link.send(callOf("slow"));
    expect(await textOf(await link.send(callOf("quick")))).toBe("quick");
  });

  it("for more than was sent close the link", async () => {
    const { link, wires } = pair({ handle: endless(() => {}) });
    await link.send(callOf("a"));
    wires[0]!.send("credit 1 6");
    await settle();
    expect(wires[0]?.closed).toMatchObject({
      code: 1008,
      reason: "Stream 1 got more credit than text",
    });
  });

  it("that a service doesn't respect close the link", async () => {
    const { link, wires } = pair({ handle: endless(() => {}) });
    const answer = await link.send(callOf("a"));
    for (let parts = 0; parts < 5; parts++) wires[0]!.emit(`data 1 ${"x".repeat(60_000)}`);
    await settle();
    expect(wires[0]?.closed).toMatchObject({ by: "page", code: 4002 });
    await expect(textOf(answer)).rejects.toMatchObject({ name: "TransportError" });
  });

  it("are for whole characters, wherever chunks end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "grapheme", maxLength: 200 }),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 }),
        async (text, sizes) => {
          const bytes = new TextEncoder().encode(text);
          const parts: Uint8Array[] = [];
          for (let at = 0, turns = 0; at < bytes.length; turns++) {
            const end = at + sizes[turns % sizes.length]!;
            parts.push(bytes.subarray(at, end));
            at = end;
          }
          const { link } = pair({
            handle: async () => answering(...parts),
            later: (deliver) => queueMicrotask(deliver),
          });
          expect(await textOf(await link.send(callOf("a")))).toBe(text);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("thousands of messages", () => {
  it("of many streams, with readers of all speeds, arrive whole and in order, within the credit", async () => {
    const random = seeded(42);
    const expected = new Map<number, string>();
    const { link, wires } = pair({
      handle: async ({ target }) => {
        const id = Number(target.slice("/rpc/".length));
        const parts: string[] = [];
        for (let count = random(60); count > 0; count--)
          parts.push("aé€😀\n".repeat(random(4) === 0 ? random(8_000) : random(50)));
        expected.set(id, parts.join(""));
        return answering(...parts);
      },
      // Deliveries come late, in bunches, and keep their order.
      later: inBunches(random),
    });
    const sent = new Map<string, number>();
    const read = async (id: number): Promise<void> => {
      const answer = await link.send(callOf(String(id)));
      const stops = random(8) === 0;
      const decoder = new TextDecoder();
      let text = "";
      for await (const part of answer.body as ByteStream) {
        text += decoder.decode(part, { stream: true });
        for (let pause = random(4); pause > 0; pause--) await turn();
        if (!stops || text.length <= 5_000) continue;
        expect(expected.get(id)?.startsWith(text)).toBe(true);
        return;
      }
      expect(text === expected.get(id), `stream ${id}`).toBe(true);
    };
    for (let rounds = 0; rounds < 5; rounds++)
      await Promise.all(Array.from({ length: 60 }, async (_, at) => await read(rounds * 60 + at)));
    const wire = wires[0]!;
    expect(wires).toHaveLength(1);
    expect(wire.closed).toBeUndefined();
    expect(wire.toPage.length).toBeGreaterThan(5_000);
    for (const text of wire.toPage) {
      const [, id, data] = /^data (\d+) (.*)$/s.exec(text) ?? [];
      if (id === undefined) continue;
      expect(Buffer.byteLength(data!)).toBeLessThanOrEqual(16_384);
      sent.set(id, (sent.get(id) ?? 0) + Buffer.byteLength(data!));
    }
    for (const [id, bytes] of sent) {
      const credit = wire.toService
        .filter((text) => text.startsWith(`credit ${id} `))
        .reduce((sum, text) => sum + Number(text.split(" ")[2]), 262_144);
      expect(bytes).toBeLessThanOrEqual(credit);
    }
  });

  it("that make no sense close the link with a reason, and never do more", async () => {
    const kinds = ["open", "data", "credit", "cancel", "end", "ping", ""];
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc
            .tuple(
              fc.constantFrom(...kinds),
              fc.oneof(fc.nat(5), fc.string({ maxLength: 3 })),
              fc.oneof(fc.string(), fc.json(), fc.nat().map(String)),
            )
            .map((parts) => parts.join(" ")),
        ),
        async (text) => {
          let calls = 0;
          const { link, wires } = pair({
            handle: async () => {
              calls++;
              return answering("a");
            },
            later: (deliver) => queueMicrotask(deliver),
          });
          await textOf(await link.send(callOf("a")));
          wires[0]!.send(text);
          await turn();
          expect(calls).toBe(1);
          const { closed } = wires[0]!;
          // Of stream 1, which is over: the page can't know that yet.
          const isLate = /^(?:cancel 1|credit 1 [1-9]\d{0,6})$/.test(text);
          expect([closed?.code, closed?.by], text).toEqual(
            isLate ? [undefined, undefined] : [1008, "service"],
          );
          expect(Buffer.byteLength(closed?.reason ?? "")).toBeLessThanOrEqual(123);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("from a service that make no sense close the link, and its streams say that they were sent", async () => {
    for (const text of [
      "",
      "open",
      "data 2 x",
      "end 9",
      "hello 1",
      "open 1 {",
      "credit 1 5",
      "open 0 {}",
    ]) {
      const { link, wires } = pair({ handle: async () => await new Promise<never>(() => {}) });
      const answer = link.send(callOf("a"));
      await settle();
      wires[0]!.emit(text);
      await expect(answer, text).rejects.toMatchObject({ name: "TransportError", sent: true });
      expect(wires[0]?.closed, text).toMatchObject({ by: "page", code: 4002 });
    }
  });
});

describe("the heads of streams", () => {
  it("that no page sends close the link", async () => {
    const fit = { target: "/rpc/a", encoding: "serialized", headers: {}, body: "{}" };
    const heads = [
      "{",
      "[]",
      "null",
      JSON.stringify({ ...fit, more: 1 }),
      JSON.stringify({ ...fit, target: 1 }),
      JSON.stringify({ ...fit, body: undefined }),
      JSON.stringify({ ...fit, headers: { authorization: ["a"] } }),
      JSON.stringify({ ...fit, headers: { authorization: "a\r\nb: c" } }),
      JSON.stringify({ ...fit, encoding: "a\nb" }),
      JSON.stringify({ ...fit, body: "x".repeat(16_384) }),
    ];
    for (const head of heads) {
      const { link, wires } = pair({ handle: async () => answering() });
      await textOf(await link.send(callOf("a")));
      wires[0]!.send(`open 2 ${head}`);
      await settle();
      expect(wires[0]?.closed, head.slice(0, 80)).toMatchObject({
        code: 1008,
        reason: "The head of stream 2 isn't one",
      });
    }
  });

  it("of a stream that was opened before close the link", async () => {
    const { link, wires } = pair({ handle: async () => answering() });
    await textOf(await link.send(callOf("a")));
    wires[0]!.send(wires[0]!.toService[0]!);
    await settle();
    expect(wires[0]?.closed).toMatchObject({ reason: "Stream 1 was opened before" });
  });

  it("count with the handshake's fields to the limits of a head", async () => {
    const { link } = pair({
      handle: async () => answering(),
      handshake: { cookie: "a".repeat(10_000) },
    });
    const headers = { authorization: "b".repeat(7_000) };
    expect((await link.send(callOf("a", { headers }))).status).toBe(431);
  });
});

describe("the life of a link", () => {
  const quick = { handle: async () => answering("a") };

  it("begins with the first stream, and ends 30 s after the last one", async () => {
    const { link, wires, clock } = pair(quick);
    expect(wires).toHaveLength(0);
    await textOf(await link.send(callOf("a")));
    await clock.pass(29_000);
    await textOf(await link.send(callOf("a")));
    await clock.pass(29_000);
    expect(wires[0]?.closed).toBeUndefined();
    await clock.pass(2_000);
    expect(wires[0]?.closed).toMatchObject({ by: "page", code: 1000 });
    await textOf(await link.send(callOf("a")));
    expect(wires).toHaveLength(2);
  });

  it("is one for streams that begin while it opens", async () => {
    const { link, wires } = pair(quick);
    await Promise.all([1, 2, 3].map(async () => await textOf(await link.send(callOf("a")))));
    expect(wires).toHaveLength(1);
  });

  it("goes on for its streams when it is renewed, and the next stream opens another", async () => {
    const { link, wires } = pair({ handle: endless(() => {}) });
    const first = readerOf(await link.send(callOf("a")));
    link.renew();
    const second = readerOf(await link.send(callOf("a")));
    expect(wires).toHaveLength(2);
    expect((await first.next()).done).toBe(false);
    expect((await second.next()).done).toBe(false);
    expect(wires[0]?.closed).toBeUndefined();
    await first.return?.();
    await settle();
    expect(wires[0]?.closed).toBeUndefined();
  });

  it("that was renewed ends with its last stream", async () => {
    const { link, wires, clock } = pair({ handle: endless(() => {}) });
    const first = readerOf(await link.send(callOf("a")));
    link.renew();
    await first.return?.();
    await clock.pass(0);
    expect(wires[0]?.closed).toMatchObject({ by: "page", code: 1000 });
    const idle = pair(quick);
    await textOf(await idle.link.send(callOf("a")));
    idle.link.renew();
    await idle.clock.pass(0);
    expect(idle.wires[0]?.closed).toMatchObject({ by: "page", code: 1000 });
  });

  it("is renewed when it has been silent though a stream waited", async () => {
    const { link, wires, clock } = pair({ handle: async () => await new Promise(() => {}) });
    const leaving = new AbortController();
    const sent = link.send({ ...callOf("a"), signal: leaving.signal });
    for (let times = 0; times < 20; times++) await turn();
    await clock.pass(60_000);
    leaving.abort();
    await expect(sent).rejects.toThrow("aborted");
    void link.send(callOf("b")).catch(() => {});
    for (let times = 0; times < 20; times++) await turn();
    expect(wires).toHaveLength(2);
  });

  it("is told by a service that stops to end: the next stream opens another, and none is lost", async () => {
    const { link, wires, clock } = pair(quick);
    await textOf(await link.send(callOf("a")));
    // It is on its way when the service says that it stops.
    const crossing = link.send(callOf("a"));
    wires[0]!.service!.leave();
    expect(await textOf(await crossing)).toBe("a");
    await textOf(await link.send(callOf("a")));
    expect(wires).toHaveLength(2);
    await clock.pass(0);
    expect(wires[0]?.closed).toMatchObject({ by: "page", code: 1000 });
  });

  it("is closed by a service that stops if the page doesn't", async () => {
    const { link, wires, clock } = pair(quick);
    await textOf(await link.send(callOf("a")));
    const wire = wires[0]!;
    wire.isStuck = true;
    wire.service!.leave();
    await clock.pass(1_000);
    expect(wire.closed).toMatchObject({ by: "service", code: 1001 });
  });
});

describe("pings", () => {
  it("are sent each 15 s, and a page that doesn't answer is cut", async () => {
    let ends = 0;
    const { link, wires, clock } = pair({ handle: endless(() => ends++) });
    await link.send(callOf("a"));
    const wire = wires[0]!;
    await clock.pass(30_000);
    expect([wire.pings, wire.closed]).toEqual([2, undefined]);
    wire.answersPings = false;
    await clock.pass(15_000);
    expect([wire.pings, wire.closed]).toEqual([3, undefined]);
    await clock.pass(15_000);
    expect(wire.closed?.by).toBe("network");
    expect(ends).toBe(1);
  });

  it("keep a stream whose reader doesn't read", async () => {
    const { link, clock } = pair({ handle: async () => answering("x".repeat(400_000)) });
    const answer = await link.send(callOf("a"));
    await clock.pass(600_000);
    expect(await textOf(answer)).toHaveLength(400_000);
  });
});

describe("a link that can't be opened", () => {
  const quick = { handle: async () => answering("a") };

  it("as it is refused, makes streams fetches, for a minute", async () => {
    let isUp = false;
    const { link, wires, clock, fetched } = pair({ ...quick, takes: () => isUp });
    expect(await textOf(await link.send(callOf("a")))).toBe("fetched");
    isUp = true;
    expect(await textOf(await link.send(callOf("a")))).toBe("fetched");
    expect([wires.length, fetched]).toEqual([
      1,
      Array(2).fill("wss://shop.example/svc/page can't be opened"),
    ]);
    await clock.pass(60_000);
    expect(await textOf(await link.send(callOf("a")))).toBe("a");
  });

  it("is tried at once when it is renewed", async () => {
    let isUp = false;
    const { link } = pair({ ...quick, takes: () => isUp });
    await link.send(callOf("a"));
    isUp = true;
    link.renew();
    expect(await textOf(await link.send(callOf("a")))).toBe("a");
  });

  it("as nothing answers, is given up after 3 s", async () => {
    const { link, wires, clock } = pair({ ...quick, later: () => {} });
    const answer = link.send(callOf("a"));
    await clock.pass(2_999);
    expect(wires[0]?.closed).toBeUndefined();
    await clock.pass(1);
    expect(await textOf(await answer)).toBe("fetched");
  });

  it("as the page's policy forbids it, makes streams fetches", async () => {
    const { link, fetched } = pair({
      ...quick,
      parts: {
        open() {
          throw new Error("Refused to connect");
        },
      },
    });
    await link.send(callOf("a"));
    await link.send(callOf("a"));
    expect(fetched).toHaveLength(2);
  });

  it("as it is cut at once, makes the third stream a fetch", async () => {
    const { link, wires, fetched } = pair({ handle: endless(() => {}) });
    for (let tries = 0; tries < 2; tries++) {
      const answer = await link.send(callOf("a"));
      wires.at(-1)!.cut();
      await expect(textOf(answer)).rejects.toMatchObject({ sent: true });
    }
    expect(await textOf(await link.send(callOf("a")))).toBe("fetched");
    expect([wires.length, fetched.length]).toEqual([2, 1]);
  });

  it("as something else takes WebSockets there, makes streams fetches", async () => {
    const { link, wires } = pair({
      ...quick,
      later: (deliver) => void setImmediate(deliver),
      takes: () => true,
    });
    const answer = link.send(callOf("a"));
    await turn();
    wires[0]!.emit('{"hello":"world"}');
    await settle();
    await answer;
    const strange = pair({ ...quick, later: () => {} });
    const stream = strange.link.send(callOf("a"));
    await settle();
    await strange.clock.pass(3_000);
    expect(await textOf(await stream)).toBe("fetched");
  });

  it("as it is a service worker, makes streams fetches", async () => {
    const { link, wires } = pair({ ...quick, parts: { open: undefined } });
    expect(await textOf(await link.send(callOf("a")))).toBe("fetched");
    expect(wires).toHaveLength(0);
  });
});

describe("a page that reads nothing", () => {
  it("gets its messages read no more while many answers wait in its socket", async () => {
    let calls = 0;
    const { link, wires } = pair({
      handle: async () => {
        calls++;
        return answering();
      },
    });
    await textOf(await link.send(callOf("a")));
    const wire: Wire = wires[0]!;
    wire.isTakenOver = wire.isStuck = true;
    const head = JSON.stringify({ target: "/rpc/a", body: "x".repeat(1_000) });
    for (let id = 2; id < 20_000; id++) {
      wire.send(`open ${id} ${head}`);
      if (id % 100 === 0) await turn();
    }
    await settle();
    expect(wire.isPaused).toBe(true);
    expect(wire.queued).toBeLessThan(300_000);
    expect(calls).toBeLessThan(20_000);
    wire.unstick();
    // Some have run, others were too many at once. All have an answer.
    const answers = (): number => wire.toPage.filter((text) => /^end [1-9]/.test(text)).length;
    for (let turns = 0; answers() < 19_999 && turns < 20_000; turns++) await turn();
    expect(answers()).toBe(19_999);
    expect(wire.isPaused).toBe(false);
  });
});

/** Whole numbers below the given one, the same in each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function inBunches(random: (below: number) => number): (deliver: () => void) => void {
  const waiting: (() => void)[] = [];
  let isAwaited = false;
  const deliver = (): void => {
    isAwaited = false;
    for (const each of waiting.splice(0, 1 + random(30))) each();
    if (waiting.length > 0) wait();
  };
  const wait = (): void => {
    if (isAwaited) return;
    isAwaited = true;
    setImmediate(deliver);
  };
  return (each) => {
    waiting.push(each);
    wait();
  };
}

// Times of a request whose bodies stream: deadline and idle limit, on a clock that tests move.

import { describe, expect, it } from "vitest";

import { DeadlineExceeded, RequestTimeout } from "../../../src/base/errors.ts";
import type { HttpResponse } from "../../../src/base/ports.ts";
import { Movement } from "../../../src/roles/pipeline/movement.ts";
import { TestClock } from "../../_cluster.ts";

const idleTimeoutMs = 30_000;
const callTimeoutMs = 10_000;
const chunk = new Uint8Array([1]);

/** A body whose chunks come when the test says so. */
function pushed() {
  let take: (result: IteratorResult<Uint8Array>) => void = () => {};
  let isClosed = false;
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: async () => await new Promise((resolve) => (take = resolve)),
      return: async () => {
        isClosed = true;
        return { done: true, value: undefined };
      },
    }),
  };
  return {
    body,
    push: () => take({ done: false, value: chunk }),
    end: () => take({ done: true, value: undefined }),
    isClosed: () => isClosed,
  };
}

function started() {
  const clock = new TestClock();
  const expired: Error[] = [];
  const moving = {
    awaitBody() {},
    resume() {},
    expire: (error: Error) => void expired.push(error),
  };
  const movement = new Movement(clock, idleTimeoutMs, () => moving);
  const upload = pushed();
  const received = movement.received({ body: upload.body });
  const late = (): void =>
    moving.expire(movement.isReceiving ? new RequestTimeout() : new DeadlineExceeded());
  const run = async (act: () => Promise<HttpResponse>): Promise<HttpResponse> => {
    const end = movement.untilHead(callTimeoutMs, late);
    const failed = new Promise<never>((_, reject) => {
      moving.expire = (error) => {
        expired.push(error);
        reject(error);
      };
    });
    return await Promise.race([act(), failed]).finally(end);
  };
  return { clock, movement, upload, received, expired, run };
}

const never = async (): Promise<never> => await new Promise<never>(() => {});

describe("the times of a request for a route", () => {
  it("a route without an answer ends at its deadline", async () => {
    const { clock, expired, run } = started();
    const outcome = expect(run(never)).rejects.toThrow(DeadlineExceeded);
    await clock.pass(callTimeoutMs);
    await outcome;
    expect(expired).toHaveLength(1);
  });

  it("while the request's body moves, the deadline waits; then it counts from the last byte", async () => {
    const { clock, upload, received, expired, run } = started();
    const outcome = expect(
      run(async () => {
        for await (const _ of received) void _;
        return await never();
      }),
    ).rejects.toThrow(DeadlineExceeded);
    for (let at = 0; at < 5; at++) {
      await clock.pass(callTimeoutMs * 2);
      upload.push();
    }
    await clock.pass(0);
    upload.end();
    await clock.pass(callTimeoutMs - 1);
    expect(expired).toEqual([]);
    await clock.pass(1);
    await outcome;
  });

  it("a request's body that stands still for the idle limit is a RequestTimeout", async () => {
    const { clock, upload, received, run } = started();
    const outcome = expect(
      run(async () => {
        for await (const _ of received) void _;
        return await never();
      }),
    ).rejects.toThrow(RequestTimeout);
    await clock.pass(20_000);
    upload.push();
    await clock.pass(idleTimeoutMs);
    await outcome;
  });

  it("an answer goes on as long as bytes move in one direction, and breaks off when none does", async () => {
    const { clock, movement, upload, received, expired, run } = started();
    const download = pushed();
    const head = await run(async () => ({ status: 200, headers: {}, body: download.body }));
    const sent = movement.response(head).body as AsyncIterable<Uint8Array>;
    const reader = sent[Symbol.asyncIterator]();
    const upward = received[Symbol.asyncIterator]();
    const next = reader.next();
    const outcome = expect(next).rejects.toThrow("Nothing moved in either direction");
    for (let at = 0; at < 3; at++) {
      const arrived = upward.next();
      await clock.pass(idleTimeoutMs - 1);
      upload.push();
      await arrived;
    }
    expect(expired).toEqual([]);
    await clock.pass(idleTimeoutMs);
    await outcome;
    expect([expired.length, download.isClosed()]).toEqual([1, true]);
    await expect(reader.next()).rejects.toThrow("Nothing moved");
  });

  it("an answer whose reader leaves closes its source, and no timer is left", async () => {
    const { clock, movement, expired, run } = started();
    const download = pushed();
    const head = await run(async () => ({ status: 200, headers: {}, body: download.body }));
    const sent = movement.response(head).body as AsyncIterable<Uint8Array>;
    await sent[Symbol.asyncIterator]().return?.();
    await clock.pass(idleTimeoutMs * 2);
    expect([expired.length, download.isClosed()]).toEqual([0, true]);
  });
});

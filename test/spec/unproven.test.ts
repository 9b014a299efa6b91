// What a service bears from those who haven't shown the key: time, bytes, and their number.

import { describe, expect, it } from "vitest";

import { deriveKey, equalSecrets, sign } from "../../server/http/host.ts";
import { type MemoryChannel, memoryChannels } from "../../server/local/memory-links.ts";
import { settle, TestClock } from "../../server/testing/test-clock.ts";
import { kinds } from "../../src/link/frames.ts";
import { FrameWriter } from "../../src/link/frame-writer.ts";
import { proveLink } from "../../src/link/proven-link.ts";
import { ServiceLinks } from "../../src/roles/links/service-links.ts";
import { defaultLimits } from "../../src/codec/values/limits.ts";
import { createCredentials } from "../../src/http/trust.ts";
import { key, testHost, TestNetwork } from "../_cluster.ts";
import { serviceOf } from "../unit/link/_services.ts";

/** An end of a link whose other end is a stranger. */
function unproven(isDialer: boolean) {
  const clock = new TestClock();
  const [channel, stranger] = memoryChannels();
  const service = serviceOf("gateway", undefined, {
    host: { clock, sign, equalSecrets, deriveKey },
    soon: queueMicrotask,
  });
  const proof = proveLink(service, channel, { isDialer, connection: "a", roles: ["node"] });
  const outcome = { isClosed: false, error: undefined as unknown };
  proof.catch((error: unknown) => (outcome.error = error));
  stranger.open({ onBytes() {}, onDrain() {}, onClose: () => (outcome.isClosed = true) });
  return { clock, stranger, outcome };
}

/** A frame that may be skipped, of so many bytes. */
function skippable(bytes: number): Uint8Array {
  const writer = new FrameWriter();
  writer.add(kinds.hello, 0, bytes - 10);
  const frame = writer.take();
  frame[4] = 0x7f;
  return frame;
}

describe.each([
  ["dialled", true],
  ["was dialled", false],
])("an end that %s", (_, isDialer) => {
  it("handshake-1: an end of a link waits 5 s for the other one to show the trust key, whatever comes meanwhile", async () => {
    const { clock, stranger, outcome } = unproven(isDialer);
    for (let second = 0; second < 4; second++) {
      await clock.pass(1_000);
      stranger.send(skippable(20));
    }
    await clock.pass(999);
    expect(outcome.isClosed).toBe(false);
    await clock.pass(1);
    await settle();
    expect(outcome).toMatchObject({
      isClosed: true,
      error: { message: "The other end hasn't shown the key in 5000 ms" },
    });
    expect(clock.waiting).toBe(0);
  });

  it.each([
    ["in one frame", [4_097]],
    ["in many", Array.from({ length: 5 }, () => 1_000)],
    ["announced, and never sent", []],
  ])(
    "handshake-2: an end of a link takes at most 4 KiB before the key is shown (%s)",
    async (how, sizes) => {
      const { stranger, outcome } = unproven(isDialer);
      for (const size of sizes) stranger.send(skippable(size));
      if (sizes.length === 0) stranger.send(skippable(4_097).subarray(0, 4));
      await settle();
      expect([how, outcome]).toMatchObject([
        how,
        { isClosed: true, error: { message: "More than 4096 bytes before a proof" } },
      ]);
    },
  );

  it("takes 4 KiB and no byte less (handshake-2)", async () => {
    const { stranger, outcome } = unproven(isDialer);
    stranger.send(skippable(4_096));
    await settle();
    expect(outcome).toEqual({ isClosed: false, error: undefined });
    stranger.send(new Uint8Array([0, 0, 0, 6]));
    await settle();
    expect(outcome.isClosed).toBe(true);
  });
});

it("handshake-3: a service has at most 100 connections that have shown no key, and takes others as soon as their time is over", async () => {
  const clock = new TestClock();
  const host = testHost(new TestNetwork(), clock);
  const links = new ServiceLinks({
    host: { ...host, links: { soon: queueMicrotask, dial: async () => await Promise.reject() } },
    role: "gateway",
    trustKey: key,
    limits: defaultLimits,
    credentials: createCredentials(key, host),
    handle: async () => ({ status: 404, headers: {} }),
  });
  const open: MemoryChannel[] = [];
  const add = (): void => {
    const [there, here] = memoryChannels();
    here.open({
      onBytes() {},
      onDrain() {},
      onClose: () => void open.splice(open.indexOf(here), 1),
    });
    open.push(here);
    links.accept(there, "a");
  };
  for (let count = 0; count < 100; count++) add();
  await settle();
  expect(open).toHaveLength(100);
  add();
  await settle();
  expect(open).toHaveLength(100);
  await clock.pass(5_000);
  expect(open).toEqual([]);
  add();
  await settle();
  expect(open).toHaveLength(1);
});

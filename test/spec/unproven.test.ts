// Limits for connections that haven't proven the key: time, bytes, and their number.

import { expect, it, onTestFinished, vi } from "vitest";
import { connect, type Socket } from "node:net";

import { deriveKey, equalSecrets, sign } from "../../server/http/host.ts";
import { memoryChannels } from "../../server/local/memory-links.ts";
import { settle, TestClock } from "../../server/testing/test-clock.ts";
import { TestLog } from "../../server/testing/test-log.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { FrameWriter } from "../../src/link/frame-writer.ts";
import { kinds } from "../../src/link/frames.ts";
import { dialLink } from "../../src/link/proven-link.ts";
import { ServiceLinks } from "../../src/roles/links/service-links.ts";
import { key, testHost, TestNetwork } from "../_cluster.ts";
import { accept, dial, serviceOf } from "../unit/link/_services.ts";

/** A dialer whose channel leads to a stranger. */
async function unproven() {
  const clock = new TestClock();
  const [channel, stranger] = memoryChannels();
  const service = serviceOf("node", undefined, {
    host: { clock, sign, equalSecrets, deriveKey },
    soon: queueMicrotask,
  });
  const outcome = { isClosed: false, error: undefined as unknown };
  dialLink(service, { roles: ["gateway"], name: "a", dial: async () => channel }).catch(
    (error: unknown) => (outcome.error = error),
  );
  stranger.open({ onBytes() {}, onDrain() {}, onClose: () => (outcome.isClosed = true) });
  await settle();
  return { clock, stranger, outcome };
}

/** A frame that may be skipped, of so many bytes. */
function skippable(bytes: number): Uint8Array {
  const writer = new FrameWriter();
  writer.add(kinds.welcome, 0, bytes - 10);
  const frame = writer.take();
  frame[4] = 0x7f;
  return frame;
}

it("handshake-1: a dialer waits 5 s for the other end to prove the trust key, whatever comes meanwhile", async () => {
  const { clock, stranger, outcome } = await unproven();
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
  "handshake-2: a dialer takes at most 4 KiB before the other end has proven the key (%s)",
  async (how, sizes) => {
    const { stranger, outcome } = await unproven();
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
  const { stranger, outcome } = await unproven();
  stranger.send(skippable(4_096));
  await settle();
  expect(outcome).toEqual({ isClosed: false, error: undefined });
  stranger.send(new Uint8Array([0, 0, 0, 6]));
  await settle();
  expect(outcome.isClosed).toBe(true);
});

it.each(Object.entries(kinds).filter(([name]) => name !== "welcome"))(
  "a dialer takes no frame '%s' before the welcome (handshake-2)",
  async (_, kind) => {
    const { stranger, outcome } = await unproven();
    const writer = new FrameWriter();
    writer.add(kind, 0, 4);
    stranger.send(writer.take());
    await settle();
    expect(outcome).toMatchObject({
      isClosed: true,
      error: { name: "ProtocolError", message: `A frame ${kind} before the welcome` },
    });
  },
);

/** Asks for a link by these fields, and keeps its connection open. Resolves with the answer's head. */
async function stranger(url: string, fields: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.write(`GET /svc/link HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\n${fields}\r\n\r\n`);
  return await new Promise((resolve, reject) => {
    socket.once("data", (bytes: Buffer) => resolve(bytes.toString("latin1")));
    socket.once("close", () => reject(new Error("closed without an answer")));
    socket.once("error", reject);
  });
}

it("handshake-3: those who ask for a link and prove nothing hold no place: with 300 of them services link at once", async () => {
  const { server, memory, proven } = await accept();
  const ways = [
    "Upgrade: seamline-link",
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: c2l4dGVlbiBieXRlcyE9PQ==\r\nSec-WebSocket-Protocol: seamline-link.1",
  ] as const;
  const heads = await Promise.all(
    Array.from({ length: 300 }, (_, index) => stranger(server.url, ways[index % 2]!)),
  );
  for (const head of heads) {
    expect(head).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
    expect(head).toContain("x-svc-link-challenge: ");
  }
  expect(memory.bytes).toBe(0);
  await dial(server.url);
  await vi.waitFor(() => expect(proven).toHaveLength(1), 20_000);
});

it("handshake-6: wrong proofs are logged with their sender and what to do, at most one line a second", async () => {
  const clock = new TestClock();
  const log = new TestLog();
  const host = testHost(new TestNetwork(), clock, log);
  const links = new ServiceLinks({
    host: { ...host, links: { soon: queueMicrotask, dial: async () => await Promise.reject() } },
    role: "gateway",
    trustKey: key,
    limits: defaultLimits,
  });
  const foreign = serviceOf("node", undefined, { trustKey: "another key than theirs" });
  const connection = { way: "socket", tls: undefined } as const;
  const wrong = async (from: string): Promise<void> => {
    const dial = dialLink(foreign, {
      roles: ["gateway"],
      name: "the gateway",
      dial: async (dialing) => {
        for (;;) {
          const answer = links.accept!({
            ...connection,
            headers: dialing.fields(connection),
            from,
          });
          if (answer === undefined || "open" in answer) throw new Error("a link");
          dialing.refused(answer);
        }
      },
    });
    await expect(dial).rejects.toThrow("refuses the proof of this service's trustKey");
  };
  for (let count = 0; count < 5; count++) await wrong(`10.0.0.${count}`);
  await clock.pass(1_000);
  await wrong("10.0.0.9");
  const why =
    'the proof is wrong: both must have the same trustKey. If they have, something between them ends TLS: let it pass TLS through, or set "endToEndTls": false at both';
  expect(log.lines).toEqual([
    `warning: refused a link to 10.0.0.0: ${why}`,
    `warning: refused a link to 10.0.0.9: ${why}; 4 other refusals since the last line`,
  ]);
});

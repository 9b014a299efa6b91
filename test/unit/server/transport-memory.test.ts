import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { afterEach, expect, it } from "vitest";

import { chunkBytes, HeldMemory } from "../../../server/http/held-memory.ts";
import { createTransport } from "../../../server/http/transport.ts";
import { NodeNotAvailable } from "../../../src/base/errors.ts";
import type { IncomingResponse } from "../../../src/base/ports.ts";
import { collected } from "../../../src/http/bodies.ts";

// The memory that answers of other services take while they arrive.

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).toReversed()) await cleanUp();
});

/** A service that announces 1,000 bytes and sends them on demand, and its caller. */
async function open(limit: number) {
  let now = 0;
  const connections: Socket[] = [];
  const server = createServer((socket) => {
    connections.push(socket);
    socket.on("error", () => {});
    socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const memory = new HeldMemory(limit, () => now);
  const transport = createTransport({ memory });
  cleanups.push(
    () => server.close(),
    () => connections.forEach((connection) => connection.destroy()),
    () => transport.close(),
  );
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
  return {
    memory,
    send: (): Promise<IncomingResponse> =>
      collected(transport.send({ url, method: "GET", headers: {} })),
    /** Sends part of an answer once its request has arrived, and waits until it counts as held. */
    async part(index: number, bytes: number, isHeld: boolean): Promise<void> {
      while (connections[index] === undefined || connections[index].bytesRead === 0) await pause(5);
      connections[index].write("x".repeat(bytes));
      while (memory.bytes !== (isHeld ? bytes + chunkBytes : 0)) await pause(5);
    },
    pass: (ms: number) => void (now += ms),
  };
}

it("an answer counts as held memory while it arrives, and is released when it is complete", async () => {
  const { memory, send, part } = await open(10_000);
  const answer = send();
  await part(0, 400, true);
  await part(0, 600, false);
  expect((await answer).body.length).toBe(1_000);
  expect(memory.bytes).toBe(0);
});

it("an answer that exceeds the memory limit is a 503 without blame for its service", async () => {
  const { memory, send, part } = await open(900 + chunkBytes);
  const answer = send().catch((error: unknown) => error);
  await part(0, 400, true);
  await part(0, 600, false);
  expect(await answer).toBeInstanceOf(NodeNotAvailable);
  expect(memory.bytes).toBe(0);
});

it("a stalled answer is cut to make room for others", async () => {
  const { memory, send, part, pass } = await open(1_200 + 2 * chunkBytes);
  const stalled = send().catch((error: unknown) => error);
  await part(0, 700, true);
  pass(2_000);
  const other = send();
  await part(1, 900, true);
  expect(await stalled).toBeInstanceOf(NodeNotAvailable);
  await part(1, 100, false);
  expect((await other).body.length).toBe(1_000);
  expect(memory.bytes).toBe(0);
});

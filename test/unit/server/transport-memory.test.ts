import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { afterEach, expect, it } from "vitest";

import { chunkBytes, HeldMemory } from "../../../server/held-memory.ts";
import { createTransport } from "../../../server/transport.ts";
import { NodeNotAvailable } from "../../../src/errors.ts";
import type { IncomingResponse } from "../../../src/ports.ts";

// What the answers of other services make this one hold while they come.

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0).toReversed()) await one();
});

/** A service that announces 1,000 bytes and sends them as it is told, and a caller of it. */
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
    () => connections.forEach((one) => one.destroy()),
    () => transport.close(),
  );
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
  return {
    memory,
    send: (): Promise<IncomingResponse> => transport.send({ url, method: "GET", headers: {} }),
    /** Sends a part of an answer once the request for it is there, and waits until that is held. */
    async part(index: number, bytes: number, isHeld: boolean): Promise<void> {
      while (connections[index] === undefined || connections[index].bytesRead === 0) await pause(5);
      connections[index].write("x".repeat(bytes));
      while (memory.bytes !== (isHeld ? bytes + chunkBytes : 0)) await pause(5);
    },
    pass: (ms: number) => void (now += ms),
  };
}

it("an answer is held as it comes, and let go of when it is there", async () => {
  const { memory, send, part } = await open(10_000);
  const answer = send();
  await part(0, 400, true);
  await part(0, 600, false);
  expect((await answer).body.length).toBe(1_000);
  expect(memory.bytes).toBe(0);
});

it("an answer for which there is no room is 503, and its service is not to blame", async () => {
  const { memory, send, part } = await open(900 + chunkBytes);
  const answer = send().catch((error: unknown) => error);
  await part(0, 400, true);
  await part(0, 600, false);
  expect(await answer).toBeInstanceOf(NodeNotAvailable);
  expect(memory.bytes).toBe(0);
});

it("an answer that stands still makes room for others", async () => {
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

// Members that answer with a status that no answer has: their callers get a clean 502, and others go on.

import { createServer } from "node:net";

import { afterEach, describe, expect, it, onTestFinished } from "vitest";

import { createTransport } from "../../server/http/transport.ts";
import { accept, dial, serviceOf } from "../unit/link/_services.ts";

const request = { method: "GET", headers: {} } as const;

describe("a status that no answer has", () => {
  it.each([0, 99, 100, 101, 150, 199, 600, 999, 200.5, -200, Number.NaN])(
    "over a link is no answer: %d",
    async (status) => {
      const { server } = await accept(async () => ({ status, headers: {}, body: "" }));
      const { peer, closed } = await dial(server.url, serviceOf("node"));
      const answer = peer.send({ ...request, url: "http://a/" });
      await expect(answer).rejects.toMatchObject({ name: "TransportError", sent: true });
      expect(await closed).toMatchObject({ message: "An answer without a status" });
      // The service itself goes on.
      await dial(server.url, serviceOf("node"));
    },
  );

  const ends: (() => Promise<void>)[] = [];
  afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

  it.each(["600", "999", "099", "000", "20x"])("over HTTP is no answer: %s", async (status) => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () =>
        socket.end(`HTTP/1.1 ${status} Odd\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`),
      );
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    onTestFinished(() => void server.close());
    const transport = createTransport();
    ends.push(() => transport.close());
    const { port } = server.address() as { port: number };
    const answer = transport.send({ ...request, url: `http://127.0.0.1:${port}/` });
    await expect(answer).rejects.toMatchObject({ name: "TransportError" });
  });
});

// Links over WebSockets, which are dialled where something passes no other upgrades on.

import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpServer, get, type IncomingMessage } from "node:http";
import { createServer, type Socket } from "node:net";

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { createLinkHost } from "../../../server/http/links/dial.ts";
import { collected } from "../../../src/http/bodies.ts";
import { refuseSockets } from "../../_web-sockets-only.mjs";
import { accept, behindTls, dial, trusted, serviceOf } from "./_services.ts";
import { joined, onlyWebSockets, type Side, unproven } from "./_web-sockets.ts";

const sides: readonly Side[] = ["dials", "accepts"];

describe("a link over a WebSocket", () => {
  it("carries requests and bodies both ways", async () => {
    const echo = async ({ body }: { body: AsyncIterable<Uint8Array> }) => {
      const parts: Uint8Array[] = [];
      for await (const part of body) parts.push(part);
      return { status: 200, headers: {}, body: Buffer.concat(parts) };
    };
    const { server, proven, memory } = await accept(echo);
    const between = await onlyWebSockets(server.url);
    const dialled = await dial(between.url, serviceOf("node", echo));
    await vi.waitFor(() => expect(proven).toHaveLength(1), 20_000);
    const bytes = randomBytes(3_000_001);
    for (const { peer } of [dialled, proven[0]!])
      for (const sent of [bytes.subarray(0, 10), bytes]) {
        const request = { url: "http://anywhere/", method: "POST", ...trusted, body: sent };
        const { body } = await collected(peer.send(request));
        expect(Buffer.compare(body, sent)).toBe(0);
      }
    expect(between.asked).toEqual(["seamline-link", "websocket", "websocket"]);
    expect(memory.bytes).toBe(0);
  });

  it("is dialled after a socket each time: nothing remembers what was answered", async () => {
    const { server } = await accept();
    const between = await onlyWebSockets(server.url);
    await dial(between.url);
    between.passesAll = true;
    between.asked.length = 0;
    await dial(between.url);
    expect(between.asked).toEqual(["seamline-link", "seamline-link"]);
  });

  it.each([
    ["a 200", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"],
    ["a 503", "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"],
    [
      "a 403 that isn't a refusal of a service",
      "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n",
    ],
    ["a 401 without a challenge", "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n"],
    [
      "another protocol",
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n",
    ],
  ])("is dialled after %s", async (_, answer) => {
    const { server } = await accept();
    const between = await onlyWebSockets(server.url, answer);
    expect((await dial(between.url)).other.role).toBe("gateway");
  });

  it("isn't dialled after a failed proof", async () => {
    const { server } = await accept();
    const between = await onlyWebSockets(server.url);
    between.passesAll = true;
    const stranger = serviceOf("node", undefined, { trustKey: "another key" });
    await expect(dial(between.url, stranger)).rejects.toThrow("trustKey");
    expect(between.asked).toEqual(["seamline-link", "seamline-link"]);
  });

  it("isn't dialled if nothing answers", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.once("data", () => socket.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    await expect(dial(`http://127.0.0.1:${port}`)).rejects.toThrow("closed the connection");
    expect(sockets).toHaveLength(1);
  });

  it.each([
    ["another subprotocol", { "sec-websocket-protocol": "other" }],
    ["no subprotocol", {}],
    [
      "an extension",
      {
        "sec-websocket-protocol": "seamline-link.1",
        "sec-websocket-extensions": "permessage-deflate",
      },
    ],
    [
      "a key that it wasn't asked with",
      { "sec-websocket-protocol": "seamline-link.1", "sec-websocket-accept": "x" },
    ],
  ])(
    "isn't opened by an answer with %s, which the error says with what to let pass",
    async (_, fields) => {
      const server = createHttpServer((_, response) => response.writeHead(404).end());
      server.on("upgrade", ({ headers }, socket) => {
        socket.on("error", () => {});
        if (headers.upgrade === "seamline-link")
          return void socket.end("HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n");
        const key = `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
        const all = {
          connection: "upgrade",
          upgrade: "websocket",
          "sec-websocket-accept": createHash("sha1").update(key).digest("base64"),
          ...fields,
        };
        const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`);
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      onTestFinished(() => void server.close());
      const { port } = server.address() as { port: number };
      const url = `http://127.0.0.1:${port}`;
      await expect(createLinkHost().dial(url, undefined, unproven)).rejects.toThrow(
        `${url}/svc/link answered 404 when asked for a link, and 101 for 'websocket' when asked for one over a WebSocket: let upgrades pass there, at least to WebSockets, with the header fields 'Connection', 'Upgrade' and 'Sec-WebSocket-*'`,
      );
    },
  );

  const asking = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "c2l4dGVlbiBieXRlcyE9PQ==",
    "sec-websocket-protocol": "seamline-link.1",
  };
  const statusOf = async (url: string, headers: Record<string, string>): Promise<number> => {
    const request = get(`${url}/svc/link`, { agent: false, headers });
    const [answer] = (await Promise.race([
      once(request, "response"),
      once(request, "upgrade"),
    ])) as [IncomingMessage];
    request.destroy();
    return answer.statusCode!;
  };

  it("is given to nobody without a proof: who asks gets a challenge, and their connection stays one of HTTP", async () => {
    const { server, proven, failed } = await accept();
    expect(await statusOf(server.url, asking)).toBe(401);
    expect([proven, failed]).toEqual([[], []]);
  });

  it.each([
    ["is a page's", { origin: "https://shop.example" }],
    ["is a page's that hides where it is from", { origin: "null" }],
    ["is a browser's", { "sec-fetch-site": "same-origin" }],
    ["has a cookie", { cookie: "a=1" }],
    ["asks for another subprotocol", { "sec-websocket-protocol": "seamline-link.2" }],
    ["leaves a choice", { "sec-websocket-protocol": "seamline-link.1, other" }],
    ["is of another version", { "sec-websocket-version": "8" }],
    ["has a key that isn't one", { "sec-websocket-key": "x" }],
  ])("is refused to a request that %s", async (_, fields) => {
    const { server, proven, failed } = await accept();
    expect(await statusOf(server.url, { ...asking, ...fields })).toBe(403);
    expect([proven, failed]).toEqual([[], []]);
  });

  it("is tied to its TLS connection, as one over a socket", async () => {
    onTestFinished(refuseSockets());
    const { url, middle, authorities, failed } = await behindTls();
    expect((await dial(url, undefined, { authorities })).other.role).toBe("gateway");
    await expect(dial(middle, undefined, { authorities })).rejects.toThrow("trustKey");
    await vi.waitFor(() => expect(failed).toHaveLength(1), 20_000);
  });

  it("counts in limits.maxConnections", async () => {
    const { server } = await accept(undefined, { limits: { maxConnections: 2 } });
    const { url } = await onlyWebSockets(server.url);
    await dial(url);
    await dial(url);
    await expect(dial(url)).rejects.toThrow();
    const { status } = await fetch(`${server.url}/rpc/add`, { method: "POST" });
    expect(status).toBe(503);
  });
});

describe.each(sides)("a channel whose end %s a WebSocket, with `ws` at the other end", (side) => {
  it.each([1, 125, 126, 65_535, 65_536, 262_144, 262_145, 1_000_000])(
    "carries %i bytes, in binary messages of at most 256 KiB",
    async (size) => {
      const { channel, end, came } = await joined(side);
      const messages: Buffer[] = [];
      end.on("message", (data: Buffer, isBinary) => {
        expect(isBinary).toBe(true);
        messages.push(data);
      });
      const bytes = randomBytes(size);
      const copy = Buffer.from(bytes);
      channel.send(bytes, true);
      channel.send(bytes.subarray(0, 3));
      await vi.waitFor(
        () => expect(Buffer.concat(messages)).toHaveLength(size + Math.min(size, 3)),
        20_000,
      );
      expect(Buffer.concat(messages).subarray(0, size).equals(copy)).toBe(true);
      // They are the link's.
      expect(bytes.equals(copy)).toBe(true);
      expect(messages).toHaveLength(Math.ceil(size / 262_144) + 1);
      for (let at = 0; at < size; at += 262_144) end.send(bytes.subarray(at, at + 262_144));
      await vi.waitFor(() => expect(came()).toHaveLength(size), 20_000);
      expect(came().equals(copy)).toBe(true);
    },
  );

  it("takes a message in fragments, with a ping between them that it answers", async () => {
    const { end, came } = await joined(side);
    const ponged = once(end, "pong");
    end.send(Buffer.from("one "), { fin: false });
    end.send(Buffer.from(""), { fin: false });
    end.ping("are you there?");
    end.pong("unasked");
    end.send(Buffer.from("message"), { fin: true });
    end.send(Buffer.from(", another"));
    expect(String((await ponged)[0])).toBe("are you there?");
    await vi.waitFor(() => expect(String(came())).toBe("one message, another"), 20_000);
  });

  it("closes it with 1000, once all that was sent has left", async () => {
    const { channel, end, closed, code } = await joined(side);
    let size = 0;
    end.on("message", (data: Buffer) => (size += data.length));
    channel.send(randomBytes(1_000_000));
    channel.close();
    channel.send(randomBytes(1));
    expect(await code).toBe(1000);
    expect([size, await closed]).toEqual([1_000_000, undefined]);
  });

  it("is over when the other end closes it, and says with which code", async () => {
    const { end, closed, code } = await joined(side);
    end.close(1001, "going away");
    expect(String(await closed)).toBe("Error: The other end closed the WebSocket with 1001");
    expect(await code).toBe(1000);
  });

  it("says how much is queued, without what WebSockets add, and when that has left", async () => {
    const { channel, memory, end, socket, drains } = await joined(side);
    socket.pause();
    let sent = 0;
    const send = (size: number): void => {
      channel.send(randomBytes(size));
      sent += size;
    };
    // More than sockets hold on the way.
    while (channel.queued < 1_000_000) {
      send(65_536);
      await new Promise((turn) => setImmediate(turn));
    }
    const [before, drained] = [channel.queued, drains()];
    for (let count = 0; count < 1_000; count++) send(10);
    expect(channel.queued - before).toBe(10_000);
    let size = 0;
    end.on("message", (data: Buffer) => (size += data.length));
    socket.resume();
    await vi.waitFor(() => expect(size).toBe(sent), 20_000);
    await vi.waitFor(() => expect(drains()).toBeGreaterThan(drained), 20_000);
    expect(channel.queued).toBe(0);
    expect(memory.bytes).toBe(0);
  });

  /** A frame as the other end has to write it, unless `mask` says otherwise. */
  const frame = (first: number, payload: Buffer, mask = side === "accepts"): Buffer => {
    const { length } = payload;
    const head =
      length < 126
        ? Buffer.of(first, length)
        : length < 65_536
          ? Buffer.of(first, 126, length >> 8, length & 255)
          : Buffer.of(
              first,
              127,
              0,
              0,
              0,
              0,
              length >>> 24,
              (length >> 16) & 255,
              (length >> 8) & 255,
              length & 255,
            );
    if (!mask) return Buffer.concat([head, payload]);
    head[1]! |= 0x80;
    const key = [1, 2, 3, 4];
    const masked = payload.map((byte, at) => byte ^ key[at % 4]!);
    return Buffer.concat([head, Buffer.from(key), masked]);
  };
  const bytes = (size: number) => Buffer.alloc(size, "x");

  it("takes what comes byte by byte", async () => {
    const { socket, came } = await joined(side);
    const all = Buffer.concat([
      frame(0x82, bytes(300)),
      frame(0x89, bytes(0)),
      frame(0x82, bytes(5)),
    ]);
    for (const byte of all) {
      socket.write(Buffer.of(byte));
      await new Promise((turn) => setImmediate(turn));
    }
    await vi.waitFor(() => expect(String(came())).toBe("x".repeat(305)), 20_000);
  });

  it.each([
    ["a text", [frame(0x81, bytes(5))], 1003, "a text"],
    ["a fragment of a text", [frame(0x01, bytes(5))], 1003, "a text"],
    ["a compressed message", [frame(0xc2, bytes(5))], 1002, "what isn't a message of a link"],
    ["an unknown kind of message", [frame(0x83, bytes(5))], 1002, "what isn't a message of a link"],
    [
      "an unknown message about the connection",
      [frame(0x8b, bytes(5))],
      1002,
      "what isn't a message of a link",
    ],
    ["the rest of no message", [frame(0x80, bytes(5))], 1002, "what isn't a message of a link"],
    [
      "a message within another one",
      [frame(0x02, bytes(5)), frame(0x82, bytes(5))],
      1002,
      "what isn't a message of a link",
    ],
    ["a ping in fragments", [frame(0x09, bytes(5))], 1002, "what isn't a message of a link"],
    ["a ping of 126 bytes", [frame(0x89, bytes(126))], 1002, "what isn't a message of a link"],
    [
      "a message with the other end's mask",
      [frame(0x82, bytes(5), side !== "accepts")],
      1002,
      "what isn't a message of a link",
    ],
    [
      "a message over 256 KiB",
      [frame(0x82, bytes(262_145))],
      1009,
      "a message of more than 262144 bytes",
    ],
    [
      "fragments that are over 256 KiB together",
      [frame(0x02, bytes(262_144)), frame(0x80, bytes(1))],
      1009,
      "a message of more than 262144 bytes",
    ],
  ])("ends at %s, and hands over nothing of it", async (_, frames, expected, what) => {
    const { socket, came, closed, code, memory } = await joined(side);
    socket.write(frame(0x82, Buffer.from("before")));
    for (const each of frames) socket.write(each);
    socket.write(frame(0x82, Buffer.from("after")));
    expect(String(await closed)).toBe(`Error: The other end of the WebSocket sent ${what}`);
    expect(await code).toBe(expected);
    const [allowed = 0] =
      frames.length > 1 ? [frames[0]!.length - (side === "accepts" ? 6 : 2)] : [];
    expect(came().length).toBeLessThanOrEqual("before".length + allowed);
    expect(String(came())).not.toContain("after");
    expect(memory.bytes).toBe(0);
  });
});

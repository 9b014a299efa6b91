// Channels that are WebSockets, with an end of `ws` at the other side, and what passes no other upgrades.

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

import { onTestFinished } from "vitest";
import { WebSocket, WebSocketServer } from "ws";

import { HeldMemory } from "../../../server/host/held-memory.ts";
import { listen } from "../../../server/http/http.ts";
import { createLinkHost } from "../../../server/http/links/dial.ts";
import { webSocketProtocol } from "../../../server/http/links/upgrades.ts";
import { type Channel, type LinkDialing, NoLinkThere } from "../../../src/base/ports/links.ts";

/** One end is a channel. `end` is the other one, `socket` what is below that. */
export interface Joined {
  readonly channel: Channel;
  readonly memory: HeldMemory;
  readonly end: WebSocket;
  readonly socket: Socket;
  /** All that has come over the channel. */
  readonly came: () => Buffer;
  readonly drains: () => number;
  /** Resolves with why the channel is over. */
  readonly closed: Promise<unknown>;
  /** Resolves with the code that the end of `ws` was closed with. */
  readonly code: Promise<number>;
}

/** Asks for no proof, and gives none. */
export const unproven: LinkDialing = {
  fields: () => ({}),
  refused({ status }) {
    throw new NoLinkThere(`it answered ${status}`);
  },
};

export type Side = "dials" | "accepts";

export async function joined(side: Side): Promise<Joined> {
  const memory = new HeldMemory();
  const { channel, end } = await (side === "dials" ? dialled(memory) : accepted(memory));
  const socket = (end as unknown as { readonly _socket: Socket })._socket;
  onTestFinished(() => end.terminate());
  end.on("error", () => {});
  const parts: Uint8Array[] = [];
  let drains = 0;
  const closed = new Promise<unknown>((onClose) =>
    channel.open({
      onBytes: (bytes) => void parts.push(bytes),
      onDrain: () => void drains++,
      onClose,
    }),
  );
  const code = new Promise<number>((resolve) => end.once("close", resolve));
  return {
    channel,
    memory,
    end,
    socket,
    came: () => Buffer.concat(parts),
    drains: () => drains,
    closed,
    code,
  };
}

async function dialled(memory: HeldMemory): Promise<Pick<Joined, "channel" | "end">> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: true });
  onTestFinished(() => server.close());
  await once(server, "listening");
  const connected = once(server, "connection") as Promise<[WebSocket]>;
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  const channel = await createLinkHost({ memory }).dial(url, undefined, unproven);
  const [end] = await connected;
  return { channel, end };
}

async function accepted(memory: HeldMemory): Promise<Pick<Joined, "channel" | "end">> {
  let take = (_: Channel): void => {};
  const taken = new Promise<Channel>((resolve) => (take = resolve));
  const server = await listen(async () => ({ status: 404, headers: {} }), {
    host: "127.0.0.1",
    port: 0,
    memory,
    acceptLink: () => ({ status: 101, open: take }),
  });
  onTestFinished(async () => await server.close(0));
  const url = `${server.url.replace("http", "ws")}/svc/link`;
  const end = new WebSocket(url, webSocketProtocol, { perMessageDeflate: true });
  await once(end, "open");
  return { channel: await taken, end };
}

/** Passes on WebSockets to the service at `url`, and answers other upgrades itself. */
export async function onlyWebSockets(
  url: string,
  answer: string = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
): Promise<{ readonly url: string; readonly asked: string[]; passesAll: boolean }> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    const onwards = connect(Number(new URL(url).port), "127.0.0.1");
    for (const end of [socket, onwards]) end.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      const [, protocol] =
        /^GET \/svc\/link .*\r\nupgrade: (\S+)/is.exec(bytes.toString("latin1")) ?? [];
      if (protocol !== undefined) asked.push(protocol);
      if (protocol === "seamline-link" && !between.passesAll) socket.write(answer);
      else onwards.write(bytes);
    });
    onwards.on("data", (bytes: Buffer) => void socket.write(bytes));
    onwards.on("close", () => socket.destroy());
    socket.on("close", () => onwards.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const between = { url: `http://127.0.0.1:${port}`, asked, passesAll: false };
  return between;
}

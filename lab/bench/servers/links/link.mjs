// Seamline's link over a bare socket, without its handshake: frames of `src/link`, over `SocketChannel`.

import { connect, createServer } from "node:net";

const { Link, FrameReader, SocketChannel, HeldMemory, HeldSocket } = await import(
  process.env.BENCH_LINK
);

const json = Object.freeze({ "content-type": "application/json" });
const none = Buffer.alloc(0);
const memory = new HeldMemory();
const clock = {
  now: () => performance.now(),
  /** @param {number} ms @param {() => void} run */
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** A process's end of a channel. @param {boolean} isDialer @param {import("./end.mjs").Answer} answer */
export function linkOver(channel, isDialer, answer) {
  const link = new Link(channel, {
    name: "the other end",
    isDialer,
    mostCalls: 1_000,
    takes: () => true,
    clock,
    /** @param {() => void} run */
    soon: (run) => void setImmediate(run),
    handle: (call) => handled(call, answer),
    onFault(fault) {
      throw fault;
    },
    onBadAnswer() {},
    onDraining() {},
    onClose() {},
  });
  const reader = new FrameReader(link.onFrame);
  channel.open({
    onBytes(bytes) {
      reader.push(bytes);
      link.heard();
    },
    onDrain: () => link.drained(),
    onClose: (cause) => link.closed(cause),
  });
  return peerOf(link);
}

function handled({ target, body }, answer) {
  if (target.startsWith("/download/"))
    return Promise.resolve({ status: 200, headers: json, body: pieces(target) });
  if (target.startsWith("/upload/"))
    return counted(body).then((bytes) => ({ status: 200, headers: json, body: String(bytes) }));
  return new Promise((resolve) =>
    answer(target, body, (text) => resolve({ status: 200, headers: json, body: text })),
  );
}

function peerOf(link) {
  const send = (method, target, body) =>
    link.send({ from: "outside", method, target, headers: json, body, signal: undefined });
  return {
    call: async (target, body, done) => done((await send("POST", target, body)).body),
    upload: async (bytes) =>
      Number(
        Buffer.from((await send("POST", `/upload/${bytes}`, pieces(`/${bytes}`))).body).toString(),
      ),
    download: async (bytes) =>
      await counted((await send("GET", `/download/${bytes}`, undefined)).body),
  };
}

const piece = Buffer.alloc(65_536, "x");

/** As many bytes as stand at the end of a path, in pieces of 64 KiB. */
async function* pieces(target) {
  const bytes = Number(target.slice(target.lastIndexOf("/") + 1));
  for (let sent = 0; sent < bytes; sent += piece.length)
    yield bytes - sent < piece.length ? piece.subarray(0, bytes - sent) : piece;
}

async function counted(body) {
  if (body instanceof Uint8Array) return body.length;
  let bytes = 0;
  for await (const part of body) bytes += part.length;
  return bytes;
}

const channelOf = (socket) =>
  new SocketChannel(socket, none, memory, memory.holder(new HeldSocket(socket)));

/** @type {import("./end.mjs").Way} */
export const link = {
  accept: (answer) =>
    new Promise((resolve) => {
      const server = createServer((socket) => void linkOver(channelOf(socket), false, answer));
      server.listen(0, "127.0.0.1", () => resolve(server.address().port));
    }),
  dial: (port) =>
    new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () =>
        resolve(linkOver(channelOf(socket), true, () => {})),
      );
    }),
};

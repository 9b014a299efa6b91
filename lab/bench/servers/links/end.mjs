// One process of a pair or chain of `lab/bench/link-ways.mjs`.
// node end.mjs callee <way> | caller <way> <port> | mover <way> <port> | passer <way> <port> | front <way> <port>

import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

import { listen } from "../serve.mjs";
import { drive } from "../services/drive.mjs";

/**
 * Answers a call, at once or later.
 * @typedef {(target: string, body: Uint8Array, reply: (answer: string | Uint8Array) => void) => void} Answer
 * The other end.
 * @typedef {{ call: (target: string, body: string | Uint8Array, done: (answer: Uint8Array) => void) => void, upload: (bytes: number) => Promise<number>, download: (bytes: number) => Promise<number> }} Peer
 * @typedef {{ accept: (answer: Answer) => Promise<number>, dial: (port: number) => Promise<Peer> }} Way
 */

const [role, name, port] = process.argv.slice(2);
const modules = {
  link: "./link.mjs",
  websocket: "./websocket.mjs",
  unmasked: "./websocket.mjs",
  http2: "./http2.mjs",
  heads: "./http2.mjs",
  narrow: "./http2.mjs",
  wide: "./http2.mjs",
};
/** @type {Way} */
const way = (await import(modules[name]))[name];

/** @param {string | Uint8Array} bytes of JSON */
const text = (bytes) =>
  typeof bytes === "string"
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).utf8Slice();

/** @type {Answer} */
function add(_, body, reply) {
  const { a, b, value } = JSON.parse(text(body));
  reply(JSON.stringify(value ?? a + b));
}

/** As many transfers as run at once, until `isOver`; each is as long as it takes. */
async function transfers(peer, { up, down, isOver }) {
  let bytes = 0;
  const size = 16 * 1024 * 1024;
  const loop = async (transfer) => {
    while (!isOver()) bytes += await transfer(size);
  };
  await Promise.all([
    ...Array.from({ length: up }, () => loop(peer.upload)),
    ...Array.from({ length: down }, () => loop(peer.download)),
  ]);
  return bytes;
}

/** Longer than transfers that have begun take until they end. */
const stallMs = 15_000;

/** How long small calls take beside them. */
async function beside(peer, { callers, isOver }) {
  const times = [];
  const caller = async () => {
    while (!isOver()) {
      const began = performance.now();
      await new Promise((resolve) => peer.call("/rpc/add", '{"a":1,"b":2}', resolve));
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return times.toSorted((a, b) => a - b);
}

async function measured(peer, { up = 0, down = 0, bytes, callers = 0, seconds }) {
  const began = performance.now();
  if (bytes !== undefined) {
    const moved = await (up > 0 ? peer.upload(bytes) : peer.download(bytes));
    if (moved !== bytes) throw new Error(`${moved} of ${bytes} bytes arrived`);
    return { bytes, seconds: (performance.now() - began) / 1_000 };
  }
  const end = began + seconds * 1_000;
  const isOver = () => performance.now() > end;
  const [moved, times] = await Promise.race([
    Promise.all([transfers(peer, { up, down, isOver }), beside(peer, { callers, isOver })]),
    pause(seconds * 1_000 + stallMs).then(() => {
      throw new Error(`nothing ended within ${stallMs / 1_000} s`);
    }),
  ]);
  const at = (share) => times[Math.floor(times.length * share)];
  return {
    bytes: moved,
    calls: times.length,
    p50: at(0.5),
    p99: at(0.99),
    seconds: (performance.now() - began) / 1_000,
  };
}

const roles = {
  async callee() {
    process.send({ port: await way.accept(add) });
  },
  async caller() {
    const peer = await way.dial(Number(port));
    drive(
      (a, b) =>
        new Promise((resolve) =>
          peer.call("/rpc/add", JSON.stringify({ a, b }), (body) =>
            resolve(JSON.parse(text(body))),
          ),
        ),
    );
  },
  async mover() {
    const peer = await way.dial(Number(port));
    process.on("message", async (task) => {
      try {
        process.send(await measured(peer, task));
      } catch (error) {
        process.send({ problem: error.message });
      }
    });
    process.send({});
  },
  async passer() {
    const peer = await way.dial(Number(port));
    process.send({
      port: await way.accept((target, body, reply) => peer.call(target, body, reply)),
    });
  },
  async front() {
    const peer = await way.dial(Number(port));
    const server = createServer((request, response) => {
      let body;
      request.on(
        "data",
        (chunk) => (body = body === undefined ? chunk : Buffer.concat([body, chunk])),
      );
      request.on("end", () =>
        peer.call(request.url, body, (answer) =>
          response
            .writeHead(200, { "content-type": "application/json", "content-length": answer.length })
            .end(answer),
        ),
      );
    });
    listen(server);
  },
};
await roles[role]();

// Links of pages that say nothing: what each holds, what a call feels of them, and how soon they are gone.
// node lab/bench/page-links.mjs [links], after npm run build

import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { createApplication, memoryOf, socketsOf } from "./lib/services.mjs";

const count = Number(process.argv[2] ?? 10_000);
const open = { access: "public", validate: false };
const application = await createApplication({
  "src/shop/shop.js": `export async function add(a, b) { return a + b; }
export async function* parked() { yield 1; await new Promise(() => {}); }
`,
  "segments/shop.segment.json": JSON.stringify({ "./shop/shop": { add: open, parked: open } }),
});

/** @param {string} url @param {string} says the masked text that it sends, if any */
function link(url, says) {
  const { host, port, origin } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1", () =>
      socket.write(
        `GET /svc/page HTTP/1.1\r\nhost: ${host}\r\norigin: ${origin}\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
          `sec-websocket-version: 13\r\nsec-websocket-protocol: seamline-page.1\r\nsec-websocket-key: ${randomBytes(16).toString("base64")}\r\n\r\n`,
      ),
    );
    socket.once("error", reject).once("data", (head) => {
      if (!String(head).startsWith("HTTP/1.1 101")) return reject(new Error(String(head)));
      if (says !== "") socket.write(frame(says));
      socket.resume().on("error", () => {});
      resolve(socket);
    });
  });
}

/** A text as clients send it: masked, here with zeros. @param {string} text */
function frame(text) {
  const bytes = Buffer.from(text);
  const length = Buffer.from([0x81, 0xfe, bytes.length >> 8, bytes.length & 255, 0, 0, 0, 0]);
  return Buffer.concat([length, bytes]);
}

/** @param {string} url */
async function callMs(url) {
  const times = [];
  for (let at = 0; at < 200; at++) {
    const began = performance.now();
    await (await fetch(`${url}/rpc/shop/add?a=1&b=${at}`)).text();
    times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b)[100];
}

const head = {
  target: "/rpc/shop/parked",
  encoding: "serialized, superjson",
  headers: {},
  body: JSON.stringify({ padding: undefined }),
};
try {
  for (const [title, says] of [
    ["that say nothing", ""],
    ["with a stream each", `open 1 ${JSON.stringify(head).padEnd(160)}`],
  ]) {
    const service = await application.start("standalone", {
      mode: "standalone",
      limits: { maxConnections: 2 * count, maxStreams: 2 * count },
    });
    const alone = await callMs(service.url);
    const before = await memoryOf(service);
    const sockets = [];
    for (let at = 0; at < count; at += 100)
      sockets.push(
        ...(await Promise.all(Array.from({ length: 100 }, () => link(service.url, says)))),
      );
    await pause(1_000);
    const after = await memoryOf(service);
    const beside = await callMs(service.url);
    console.log(
      `${count} links ${title}: ${((after.now - before.now) / count / 1_024).toFixed(1)} KB each; a call ${beside.toFixed(2)} ms, ${alone.toFixed(2)} alone`,
    );
    const began = performance.now();
    while ((await socketsOf(service)) > 50 && performance.now() - began < 60_000) await pause(500);
    console.log(
      `  without an answer to a ping they are gone after ${((performance.now() - began) / 1_000).toFixed(0)} s`,
    );
    for (const socket of sockets) socket.destroy();
    service.child.kill("SIGKILL");
  }
} finally {
  application.close();
  setImmediate(() => process.exit());
}

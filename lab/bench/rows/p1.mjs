// P1: a call over HTTP to one process.

import { service } from "../lib/application.mjs";
import { reporting } from "../lib/collections.mjs";
import { calls } from "../lib/samples.mjs";
import { layers, loaded, overHttp, peer, stockApplication } from "./_stock.mjs";

const peers = [
  ["h3", "h3"],
  ["Fastify", "fastify"],
  ["Hono", "hono"],
  ["Cap'n Web", "capnweb"],
  ["Moleculer", "moleculer"],
  ["oRPC", "orpc"],
  ["Jitar", "jitar"],
  ["tRPC", "trpc"],
];

/** @param {string} name @param {string} call @param {boolean} layered @param {string} [checkout] */
const standalone = (name, call, layered, checkout) => ({
  name,
  async start() {
    const app = await stockApplication(checkout);
    const started = await service(app, "standalone", layered ? layers : {}, { node: reporting });
    const { url, pid, output, stop } = started;
    const server = { url, pids: [pid], outputs: [output], stop };
    return await loaded(server, overHttp(calls[call]), call);
  },
});

export const title = "`POST /rpc` to one process, 64 connections";
export const about =
  "One process answers, with all that belongs to it: reading HTTP, finding the procedure, decoding, calling, encoding. `add` adds two numbers; the other bodies go there and come back as they are. The middleware do nothing but await the next.";

/** The cost of checking arguments by their types. */
const checked = {
  name: "1 KB of checked arguments",
  unit: "CPU µs/call",
  subjects: [
    standalone("not checked", "unchecked 1 KB", false),
    standalone("checked", "checked 1 KB", false),
  ],
};

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = ({ against }) => [
  ...[
    ["add", "add", 0],
    ["add, two middleware", "add", 2],
    ["1 KB there and back", "1 KB", 0],
    ["100 KB there and back", "100 KB", 0],
  ].map(([name, call, count]) => ({
    name,
    unit: "CPU µs/call",
    subjects: [
      peer("bare node:http", "bare", call, count),
      standalone("Seamline", call, count > 0),
      ...(against ? [standalone("Seamline, before", call, count > 0, against)] : []),
      ...peers.map(([peerName, file]) => peer(peerName, file, call, count)),
    ],
  })),
  checked,
];

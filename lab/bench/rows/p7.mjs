// P7: the time until a process is ready, and the memory that it holds without calls.

import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { service } from "../lib/application.mjs";
import { cpuOf, fork, rssOf } from "../lib/processes.mjs";
import { stockApplication } from "./_stock.mjs";

const roles = ["standalone", "repository", "gateway", "node", "proxy"];
const peers = [
  ["Hono", "hono"],
  ["Cap'n Web", "capnweb"],
  ["Fastify", "fastify"],
  ["oRPC", "orpc"],
  ["tRPC", "trpc"],
  ["Moleculer", "moleculer"],
];

/** How long a started process is left alone before its memory is read, in ms. */
const settleMs = 2_000;

/** @typedef {(pid: number) => number | Promise<number>} Read */
/** CPU time so far, in ms. @type {Read} */
const cpu = (pid) => cpuOf([pid]) / 1_000;
/** @type {Read} */
const idle = async (pid) => {
  await pause(settleMs);
  return rssOf([pid]);
};

/** Starts a process, reads a figure, and stops it. */
async function once(start, read) {
  const started = await start();
  try {
    return await read(started.pid);
  } finally {
    await started.stop();
  }
}

const server = (file) => () =>
  fork(fileURLToPath(new URL(`../servers/http/${file}.mjs`, import.meta.url)));

/** @param {string} name @param {string} file @param {Read} read */
const peer = (name, file, read) => ({
  name,
  start: async () => ({ measure: () => once(server(file), read), stop: async () => {} }),
});

/** A role of Seamline; a node and a proxy have a gateway and a repository to talk to. @param {string} name @param {string} role @param {Read} read @param {string} [checkout] */
const seamline = (name, role, read, checkout) => ({
  name,
  async start() {
    const app = await stockApplication(checkout);
    const around = [];
    let config = {};
    if (role === "node" || role === "proxy") {
      const store = await service(app, "repository");
      const gateway = await service(app, "gateway");
      around.push(store, gateway);
      config = { repository: store.url, gateway: gateway.url };
      if (role === "node") config.segments = ["stock"];
    }
    return {
      // Seen every millisecond, or what it does after it is ready would count.
      measure: () => once(() => service(app, role, config, { everyMs: 1 }), read),
      async stop() {
        for (const { stop } of around) await stop();
      },
    };
  },
});

export const title = "Cold start and idle memory";
export const about =
  "CPU time from the start of a process until it says that it is ready, and what it holds two seconds later. The peers are the servers of P1, from `node_modules` as they are: bundled, they would start faster.";

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = ({ against }) =>
  [
    ["cold start", "CPU ms until ready", cpu],
    ["idle", "RSS MB", idle],
  ].map(([name, unit, read]) => ({
    name,
    unit,
    cold: true,
    subjects: [
      peer("bare node:http", "bare", read),
      ...roles.flatMap((role) => [
        seamline(`Seamline, ${role}`, role, read),
        ...(against ? [seamline(`Seamline, ${role}, before`, role, read, against)] : []),
      ]),
      ...peers.map(([peerName, file]) => peer(peerName, file, read)),
    ],
  }));

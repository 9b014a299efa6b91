// P8: what grows with the number of procedures, and with that of connections.

import { readFileSync, readdirSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { application, build, deployment, service } from "../lib/application.mjs";
import { cpuOf, fork, rssOf } from "../lib/processes.mjs";
import { loaded, stockApplication } from "./_stock.mjs";

const sizes = [10, 1_000, 10_000, 100_000];
const perModule = 100;
const connections = 10_000;

/** An application of `count` procedures, all alike. @param {number} count */
function procedures(count) {
  /** @type {Record<string, string>} */
  const files = {};
  const segment = {};
  for (let from = 0; from < count; from += perModule) {
    const names = Array.from({ length: Math.min(perModule, count - from) }, (_, at) => from + at);
    files[`src/parts/part${from}.ts`] = names
      .map(
        (at) =>
          `export async function add${at}(a: number, b: number): Promise<number> {\n  return a + b + ${at} - ${at};\n}\n`,
      )
      .join("");
    segment[`./parts/part${from}`] = Object.fromEntries(
      names.map((at) => [`add${at}`, { access: "public" }]),
    );
  }
  return { ...files, "segments/parts.segment.json": JSON.stringify(segment) };
}

/** @type {Map<string, Promise<import("../lib/application.mjs").Application>>} */
const builds = new Map();
function appOf(count, checkout) {
  const key = `${count} ${checkout}`;
  const made = async () => {
    const app = await application(procedures(count), checkout);
    await build(app);
    return app;
  };
  if (!builds.has(key)) builds.set(key, made());
  return builds.get(key);
}

/** What a request for the last of the procedures is. @param {number} count */
const requestOf = (count) => ({
  path: `/rpc/parts/add${count - 1}`,
  headers: { "content-type": "application/json" },
  body: '{"a":1,"b":2}',
});

const calls = (app, count) => async () => {
  const { url, pid, stop } = await service(app, "standalone");
  return await loaded({ url, pids: [pid], stop }, requestOf(count), "add");
};

/** Starts it anew for each value. */
const fresh = (app, read) => async () => ({
  async measure() {
    const began = performance.now();
    const { pid, stop } = await service(app, "standalone", {}, { everyMs: 1 });
    try {
      return await read(pid, performance.now() - began);
    } finally {
      await stop();
    }
  },
  stop: async () => {},
});

/** Bytes of the largest JSON file of a build, which is the manifest of the server. */
function manifestBytes({ folder }, packed) {
  const all = readdirSync(join(folder, "dist"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /manifest.*\.json$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  const bytes = (path) => (packed ? gzipSync(readFileSync(path)).length : statSync(path).size);
  return all.reduce((sum, path) => sum + bytes(path), 0);
}

/** @type {[name: string, unit: string, once: boolean, start: (app: any, count: number) => () => Promise<import("../lib/rounds.mjs").Running>][]} */
const kinds = [
  ["a call", "CPU µs/call", false, calls],
  ["start", "CPU ms until ready", false, (app) => fresh(app, (pid) => cpuOf([pid]) / 1_000)],
  [
    "idle",
    "RSS MB",
    false,
    (app) =>
      fresh(app, async (pid) => {
        await pause(2_000);
        return rssOf([pid]);
      }),
  ],
  [
    "manifests",
    "MB",
    true,
    (app) => async () => ({
      measure: async () => manifestBytes(app, false) / 1e6,
      remarks: () => ({ "MB gzip": manifestBytes(app, true) / 1e6 }),
      stop: async () => {},
    }),
  ],
];

const numbered = (count) => `${count.toLocaleString("en")} procedures`;

/** Opens sockets, makes a call on each, and returns a function that closes them. */
async function open(url, { path, headers, body }) {
  const { hostname, port } = new URL(url);
  const fields = { host: `${hostname}:${port}`, ...headers, "content-length": body.length };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
  const sockets = [];
  const call = () =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(text));
      sockets.push(socket);
      socket.once("data", (data) =>
        data.toString().startsWith("HTTP/1.1 200")
          ? resolve(undefined)
          : reject(new Error(data.toString().split("\r\n")[0])),
      );
      socket.once("error", reject).once("close", () => reject(new Error("it closed a connection")));
    });
  for (let at = 0; at < connections; at += 50) await Promise.all(Array.from({ length: 50 }, call));
  return () => sockets.forEach((socket) => socket.removeAllListeners().destroy());
}

/** @param {() => Promise<{ url: string, pid: number, stop: () => Promise<void> }>} start */
const held = (name, start) => ({
  name,
  start: async () => ({
    async measure() {
      const { url, pid, stop } = await start();
      try {
        const request = { ...requestOf(1), path: "/rpc/add" };
        const before = rssOf([pid]);
        const close = await open(url, request);
        await pause(1_000);
        const grown = rssOf([pid]) - before;
        close();
        return (grown * 1_000) / connections;
      } finally {
        await stop();
      }
    },
    stop: async () => {},
  }),
});

/** A limit that is above the number of connections, as it would refuse the last ones. */
const room = { limits: { maxConnections: connections + 1_000 } };

const openCase = ({ against }) => {
  const standalone = async (checkout) =>
    await service(await stockApplication(checkout), "standalone", room);
  const gateway = async (checkout) => {
    const app = await stockApplication(checkout);
    const started = await deployment(app, { nodes: [["stock"]], gateway: room });
    return { url: started.gateway.url, pid: started.gateway.pid, stop: started.stop };
  };
  const bare = async () => {
    const path = fileURLToPath(new URL("../servers/http/bare.mjs", import.meta.url));
    const { message, pid, stop } = await fork(path);
    return { url: message.url, pid, stop };
  };
  return {
    name: `${connections.toLocaleString("en")} open connections, a call on each`,
    unit: "KB each",
    rounds: 3,
    cold: true,
    subjects: [
      held("bare node:http", bare),
      held("Seamline, standalone", () => standalone()),
      held("Seamline, gateway", () => gateway()),
      ...(against
        ? [
            held("Seamline, standalone, before", () => standalone(against)),
            held("Seamline, gateway, before", () => gateway(against)),
          ]
        : []),
    ],
  };
};

export const title = "Growth";
export const about =
  "The same call, the start, the memory and the manifests of a standalone service, by the number of its procedures; and what an open connection takes.";

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = (options) => [
  ...kinds.map(([name, unit, once, start]) => ({
    name,
    unit,
    once,
    ...(name === "a call" || { rounds: 3, cold: true }),
    subjects: [undefined, ...(options.against ? [options.against] : [])].flatMap((checkout) =>
      sizes.map((count) => ({
        name: `${numbered(count)}${checkout ? ", before" : ""}`,
        start: async () => await start(await appOf(count, checkout), count)(),
      })),
    ),
  })),
  openCase(options),
];

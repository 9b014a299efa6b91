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

const sizes = [100, 1_000, 10_000, 100_000];
const perModule = 100;
const crowds = [1_000, 3_000, 10_000];

/** How long after its start a process has given back to the system what only the start needed. */
const settleMs = 20_000;

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

/** The request for the last of the procedures. @param {number} count */
const requestOf = (count) => ({
  path: `/rpc/parts/add${count - 1}`,
  headers: { "content-type": "application/json" },
  body: '{"a":1,"b":2}',
});

/** The last of the procedures, called at a standalone, or at a gateway with a node behind it. */
const calls = (app, count) => async () => {
  const { url, pid, stop } = await service(app, "standalone");
  return await loaded({ url, pids: [pid], stop }, requestOf(count), "add");
};
const callsBehind = (app, count) => async () => {
  const { gateway, nodes, stop } = await deployment(app, { nodes: [["parts"]] });
  const pids = [gateway.pid, ...nodes.map(({ pid }) => pid)];
  await answers(gateway.url, count);
  return await loaded({ url: gateway.url, pids, stop }, requestOf(count), "add");
};

/** A node joins a moment after it says that it is ready. */
async function answers(url, count) {
  const { path, headers, body } = requestOf(count);
  for (let tries = 0; tries < 100; tries++) {
    if ((await fetch(url + path, { method: "POST", headers, body })).ok) return;
    await pause(50);
  }
  throw new Error("the gateway has no node");
}

/** Those that hold the procedures. */
const roles = ["standalone", "node", "gateway", "repository"];

/**
 * Starts all roles, and says what each took: CPU time until it was ready, which for a gateway is
 * until its node has joined, and memory once it is at rest.
 */
async function startAll(app, count) {
  const alone = await service(app, "standalone");
  const cpu = { standalone: cpuOf([alone.pid]) / 1_000 };
  const store = await service(app, "repository");
  cpu.repository = cpuOf([store.pid]) / 1_000;
  const gateway = await service(app, "gateway");
  const behind = { gateway: gateway.url, repository: store.url, segments: ["parts"] };
  const node = await service(app, "node", behind);
  cpu.node = cpuOf([node.pid]) / 1_000;
  const all = { standalone: alone, repository: store, gateway, node };
  try {
    await answers(gateway.url, count);
    cpu.gateway = cpuOf([gateway.pid]) / 1_000;
    await pause(settleMs);
    return Object.fromEntries(
      roles.map((role) => [role, { cpu: cpu[role], memory: rssOf([all[role].pid]) }]),
    );
  } finally {
    for (const role of ["standalone", "node", "gateway", "repository"]) await all[role].stop();
  }
}

/** Starts of each application. One serves the cases of all roles, for both their figures. */
const starts = new Map();

/** @param {string} role @param {"cpu" | "memory"} figure */
const fresh = (role, figure) => (app, count) => async () => {
  let next = 0;
  return {
    async measure() {
      const all = starts.get(app) ?? [];
      starts.set(app, all);
      if (all.length === next) all.push(await startAll(app, count));
      return all[next++][role][figure];
    },
    stop: async () => {},
  };
};

/** Bytes of both manifests of a build. */
function manifestBytes({ folder }, packed) {
  const all = readdirSync(join(folder, "dist"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /manifest.*\.json$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  const bytes = (path) => (packed ? gzipSync(readFileSync(path)).length : statSync(path).size);
  return all.reduce((sum, path) => sum + bytes(path), 0);
}

/** @type {{ name: string, unit: string, once?: boolean, cold?: boolean, rounds?: number, start: (app: any, count: number) => () => Promise<import("../lib/rounds.mjs").Running> }[]} */
const kinds = [
  { name: "a call, standalone", unit: "CPU µs/call", start: calls },
  { name: "a call, gateway and node", unit: "CPU µs/call", start: callsBehind },
  ...roles.map((role) => ({
    name: `start, ${role}`,
    unit: "CPU ms until ready",
    cold: true,
    rounds: 2,
    start: fresh(role, "cpu"),
  })),
  ...roles.map((role) => ({
    name: `memory, ${role}`,
    unit: "RSS MB",
    cold: true,
    rounds: 2,
    start: fresh(role, "memory"),
  })),
  {
    name: "manifests",
    unit: "MB",
    once: true,
    start: (app) => async () => ({
      measure: async () => manifestBytes(app, false) / 1e6,
      remarks: () => ({ "MB gzip": manifestBytes(app, true) / 1e6 }),
      stop: async () => {},
    }),
  },
];

const numbered = (count) => `${count.toLocaleString("en")} procedures`;

/** Opens sockets, makes a call on each, and returns a function that closes them. */
async function open(url, { path, headers, body }, connections) {
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
const held = (connections) => (name, start) => ({
  name,
  start: async () => ({
    async measure() {
      const { url, pid, stop } = await start();
      try {
        const request = { ...requestOf(1), path: "/rpc/add" };
        const before = rssOf([pid]);
        const close = await open(url, request, connections);
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
const room = { limits: { maxConnections: Math.max(...crowds) + 1_000 } };

const openCase = ({ against }, connections) => {
  const holding = held(connections);
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
      holding("bare node:http", bare),
      holding("Seamline, standalone", () => standalone()),
      holding("Seamline, gateway", () => gateway()),
      ...(against
        ? [
            holding("Seamline, standalone, before", () => standalone(against)),
            holding("Seamline, gateway, before", () => gateway(against)),
          ]
        : []),
    ],
  };
};

export const title = "Growth";
export const about =
  "The same call, the start, the memory and the manifests by the number of procedures, all of which one node has; and what an open connection takes, by their number. A start is the second of its application or a later one, and memory is taken 20 s after it.";

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = (options) => [
  ...kinds.map(({ start, ...kind }) => ({
    ...kind,
    subjects: [undefined, ...(options.against ? [options.against] : [])].flatMap((checkout) =>
      sizes.map((count) => ({
        name: `${numbered(count)}${checkout ? ", before" : ""}`,
        start: async () => await start(await appOf(count, checkout), count)(),
      })),
    ),
  })),
  ...crowds.map((connections) => openCase(options, connections)),
];

/** Points of a table whose subjects are numbers of procedures. */
const pointsOf = ({ results }, valueOf) =>
  results
    .filter(({ value, subject }) => value !== undefined && subject.endsWith("procedures"))
    .map((result) => [Number(result.subject.replaceAll(/\D/g, "")), valueOf(result)]);

/** Pictures of this row's tables. @param {import("../lib/report.mjs").Table[]} tables */
export function pictures(tables) {
  const curvesOf = (prefix, valueOf) =>
    tables
      .filter(({ name }) => name.startsWith(prefix))
      .map((table) => ({
        name: table.name.slice(prefix.length) || table.name,
        points: pointsOf(table, valueOf),
      }));
  const crowded = tables.filter(({ name }) => name.includes("open connections"));
  const holders = [...new Set(crowded.flatMap(({ results }) => results.map((one) => one.subject)))];
  const of = "procedures";
  return [
    {
      file: "growth",
      title: "Cost of a call by the number of procedures, as a ratio to 100",
      unit: "×",
      of,
      curves: curvesOf("a call, ", ({ ratio }) => ratio),
    },
    {
      file: "growth-memory",
      title: "Memory of each role by the number of procedures, in MB",
      unit: "MB",
      of,
      curves: curvesOf("memory, ", ({ value }) => value),
    },
    {
      file: "growth-start",
      title: "CPU time of a start by the number of procedures, in ms",
      unit: "ms",
      of,
      curves: curvesOf("start, ", ({ value }) => value),
    },
    {
      file: "growth-manifest",
      title: "Bytes of the manifests by the number of procedures, in MB",
      unit: "MB",
      of,
      curves: curvesOf("manifests", ({ value }) => value),
    },
    {
      file: "growth-connections",
      title: "Memory of an open connection by their number, in KB",
      unit: "KB",
      of: "connections",
      curves: holders
        .filter((name) => !name.endsWith("before"))
        .map((name) => ({
          name: name.replace("Seamline, ", ""),
          points: crowded.flatMap((table) =>
            table.results
              .filter(({ subject, value }) => subject === name && value !== undefined)
              .map(({ value }) => [Number.parseInt(table.name.replaceAll(",", ""), 10), value]),
          ),
        })),
    },
  ].map((picture) => ({
    ...picture,
    curves: picture.curves.filter(({ points }) => points.length > 1),
  }));
}

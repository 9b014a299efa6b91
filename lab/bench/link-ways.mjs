// Compares ways for services to talk: Seamline's link, the same frames over a WebSocket, and sessions of
// `node:http2`. docs/decisions/links.md shows the tables of one run, and what was decided.
// node lab/bench/link-ways.mjs [cases] [rounds] [seconds], after npm run build and npm ci --prefix lab/bench
// Cases begin with one of these words [all]: calls, passed, outside, bodies, beside, delay; others by commas.

import { fileURLToPath } from "node:url";

import { fork, cpuOf, nextMessage } from "./lib/processes.mjs";
import { markdown } from "./lib/report.mjs";
import { run } from "./lib/rounds.mjs";
import { bundled } from "./lib/source.mjs";
import { median } from "./lib/statistics.mjs";
import * as p2 from "./rows/p2.mjs";
import * as p3 from "./rows/p3.mjs";
import { loaded } from "./rows/_stock.mjs";

const [wanted = "", rounds = "7", seconds = "1"] = process.argv.slice(2);
const options = { rounds: Number(rounds), seconds: Number(seconds), warmup: 2 };

process.env.BENCH_LINK = await bundled(`
export { Link } from "~/src/link/link.ts";
export { FrameReader } from "~/src/link/frames.ts";
export { SocketChannel } from "~/server/http/links/socket-channel.ts";
export { HeldMemory } from "~/server/host/held-memory.ts";
export { HeldSocket } from "~/server/http/connection/caller-connection.ts";
`);

const path = (file) => fileURLToPath(new URL(`servers/links/${file}.mjs`, import.meta.url));
const names = {
  link: "the link",
  http2: "node:http2, windows of 1 MiB",
  narrow: "node:http2, windows of 64 KiB",
  wide: "node:http2, windows of 4 MiB",
  heads: "node:http2, small bodies in heads",
  websocket: "the link's frames over a WebSocket",
  unmasked: "the same, masked with zeros",
};

/**
 * Starts a callee, what stands before it, and the process that calls.
 * @param {string} way @param {string[]} between roles @param {string} last @param {number} [roundTripMs]
 */
async function chain(way, between, last, roundTripMs = 0) {
  const started = [];
  const stop = async () => {
    for (const { stop: end } of started.toReversed()) await end();
  };
  try {
    let part = await fork(path("end"), ["callee", way]);
    started.push(part);
    for (const role of [...between, last]) {
      let { port } = part.message;
      if (roundTripMs > 0) {
        const shim = await fork(path("delay"), [String(port), String(roundTripMs)]);
        ({ port } = shim.message);
        started.unshift(shim);
      }
      part = await fork(path("end"), [role, way, String(port)]);
      started.push(part);
    }
    const shims = roundTripMs > 0 ? between.length + 1 : 0;
    return { last: part, pids: started.slice(shims).map(({ pid }) => pid), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Asks the last process for something, and waits for what it says. */
async function ask({ child, ...others }, task) {
  const message = nextMessage({ child, ...others });
  child.send(task);
  return await message;
}

/** Small calls of a service to another, with or without a gateway between them. */
const calling = (way, callers, between = []) => ({
  name: between.length > 0 ? `${names[way]}, passed on` : names[way],
  async start() {
    const { last, pids, stop } = await chain(way, between, "caller");
    let total = 0;
    return {
      async measure(duration) {
        const before = cpuOf(pids);
        const { calls } = await ask(last, { seconds: duration, callers });
        total += calls;
        return (cpuOf(pids) - before) / calls;
      },
      calls: () => total,
      stop,
    };
  },
});

/** Calls from outside: a gateway that only passes them on, and the callee. */
const outside = (way, call) => ({
  name: `node:http, then ${names[way]}`,
  async start() {
    const { last, pids, stop } = await chain(way, [], "front");
    const server = { url: last.message.url, pids, stop };
    return await loaded(server, last.message.requests[call], call);
  },
});

/** Bodies, in ms of CPU time for a MB, or a task's own figure. */
const moving = (way, task, { roundTripMs = 0, cost = "cpu" } = {}) => ({
  name: names[way],
  async start() {
    const { last, pids, stop } = await chain(way, [], "mover", roundTripMs);
    const speeds = [];
    const tails = [];
    const middles = [];
    return {
      async measure(duration) {
        const before = cpuOf(pids);
        const {
          bytes,
          seconds: took,
          p50,
          p99,
        } = await ask(last, {
          ...task,
          ...(task.bytes === undefined && { seconds: Math.max(2, duration) }),
        });
        speeds.push(bytes / 1e6 / took);
        tails.push(p99);
        middles.push(p50);
        const spent = cpuOf(pids) - before;
        return { cpu: spent / (bytes / 1e6), p99, time: (took * 1_000) / (bytes / 1e6) }[cost];
      },
      remarks: () => ({
        "MB/s": median(speeds),
        ...(task.callers > 0 && { "p50 ms": median(middles), "p99 ms": median(tails) }),
      }),
      stop,
    };
  },
});

const subjectOf = (row, name, label) =>
  row
    .cases({})
    .find((compared) => compared.name.startsWith(name))
    .subjects.find((subject) => subject.name === label);
const ways = ["link", "http2", "websocket", "unmasked"];
const all = ["link", "http2", "heads", "websocket", "unmasked"];
const GB = 1024 ** 3;

/** @type {import("./lib/rounds.mjs").Case[]} */
const cases = [
  ...[1, 8, 64].map((callers) => ({
    name: `calls: a service calls another, ${callers} callers`,
    unit: "CPU µs/call",
    subjects: [
      ...all.map((way) => calling(way, callers)),
      p2.pair("frames over a bare socket", "socket", callers),
    ],
  })),
  ...[8, 64].map((callers) => ({
    name: `passed: the same through a gateway, ${callers} callers`,
    unit: "CPU µs/call",
    subjects: [
      subjectOf(p2, `add, ${callers}`, "Seamline"),
      ...["link", "http2", "websocket"].map((way) => calling(way, callers, ["passer"])),
    ],
  })),
  ...["add", "1 KB"].map((call) => ({
    name: `outside: ${call} from outside, 64 connections`,
    unit: "CPU µs/call",
    subjects: [
      subjectOf(p3, call, "nginx + bare node:http"),
      subjectOf(p3, call, "Seamline"),
      ...ways.map((way) => outside(way, call)),
    ],
  })),
  ...[
    ["bodies: 1 GB that the dialler sends", { up: 1, bytes: GB }],
    ["bodies: 1 GB that the acceptor sends", { down: 1, bytes: GB }],
  ].map(([name, task]) => ({
    name,
    unit: "CPU µs/MB",
    subjects: ways.map((way) => moving(way, task)),
  })),
  {
    name: "beside: small calls, 4 callers, beside 8 + 8 bodies",
    unit: "p99 ms",
    subjects: ["link", "http2", "narrow", "wide", "websocket", "unmasked"].map((way) =>
      moving(way, { up: 8, down: 8, callers: 4 }, { cost: "p99" }),
    ),
  },
  ...[10, 50].flatMap((roundTripMs) =>
    ["dialler", "acceptor"].map((end) => ({
      name: `delay: 8 MB that the ${end} sends, ${roundTripMs} ms round trip`,
      unit: "ms/MB",
      subjects: ["link", "http2", "wide", "websocket"].map((way) =>
        moving(
          way,
          { [end === "dialler" ? "up" : "down"]: 1, bytes: 8 * 1024 * 1024 },
          { roundTripMs, cost: "time" },
        ),
      ),
    })),
  ),
];

const prefixes = wanted.split(",");
for (const compared of cases) {
  if (!prefixes.some((prefix) => compared.name.startsWith(prefix))) continue;
  const results = await run(compared, options, (line) => console.error(line));
  console.log(markdown({ row: "", share: false, ...compared, results }));
}
// Sockets of the last calls would keep it for a while.
process.exit();

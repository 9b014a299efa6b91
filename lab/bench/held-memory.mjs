// Measures what stalled callers cost a service, with real processes: each requests 8 MiB and
// doesn't read it, sends 1 MiB to be echoed and doesn't read it, or stops in the middle of an
// upload. Also makes 50 small calls a second: how many are answered within a second, while the
// callers connect and once all of them have stalled?
// node lab/bench/held-memory.mjs [standalone|node|gateway|proxy …] [answers|echoes|uploads …] [numbers of callers], after npm run build
// Each caller takes an open file: see ulimit -n.

import { Agent, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { application, build, repository, service } from "./lib/application.mjs";
import { rssOf } from "./lib/processes.mjs";

/** Another checkout, if its build is to be measured. */
const checkout = process.env["SEAMLINE_CHECKOUT"] ?? repository;
const words = process.argv.slice(2);
const chosen = (all) =>
  all.some((name) => words.includes(name)) ? all.filter((name) => words.includes(name)) : all;
const roles = chosen(["standalone", "node", "gateway", "proxy"]);
const attacks = chosen(["answers", "echoes", "uploads"]);
const numbers = words.map(Number).filter((number) => number > 0);
const callers = numbers.length > 0 ? numbers : [10, 100, 1_000, 10_000];
/** How long to make small calls, in s. */
const seconds = Number(process.env["SECONDS"] ?? 20);
/** Pause between the two phases, in s: unanswered calls time out after 30 s. */
const settling = Number(process.env["SETTLING"] ?? 40);
const smallPerSecond = 50;
const heldBytes =
  process.env["HELD_BYTES"] === undefined ? undefined : Number(process.env["HELD_BYTES"]);

const MiB = 1024 * 1024;

const files = {
  "index.html": "<!doctype html><title>Bench</title>\n",
  "src/parts.ts": `export async function big(): Promise<string> {
  return "x".repeat(8 * 1024 * 1024 - 1) + Math.floor(Math.random() * 10);
}
export async function echo(value: unknown): Promise<unknown> { return value; }
export async function small(): Promise<number> { return 1; }
`,
  "main.segment.json": JSON.stringify({
    "./parts": {
      big: { access: "public" },
      echo: { access: "public" },
      small: { access: "public" },
    },
  }),
};

async function start(app, mode, config = {}) {
  // More than there are callers, so that the small calls get connections.
  const limits = { maxConnections: 16_000, ...(heldBytes !== undefined && { heldBytes }) };
  const started = await service(app, mode, { limits, ...config });
  return { ...started, port: Number(new URL(started.url).port) };
}

/** Starts the service of `role` and those that it needs. */
async function deployed(app, role) {
  if (role === "standalone") return [await start(app, "standalone")];
  const repositoryOf = await start(app, "repository");
  const gateway = await start(app, "gateway");
  const shared = { repository: repositoryOf.url, gateway: gateway.url };
  const node = await start(app, "node", { ...shared, segments: ["main"] });
  if (role === "node") return [node, gateway, repositoryOf];
  if (role === "gateway") return [gateway, node, repositoryOf];
  return [await start(app, "proxy", shared), gateway, node, repositoryOf];
}

const head = (line, ...fields) => `${[line, "Host: localhost", ...fields].join("\r\n")}\r\n\r\n`;
const body = `{"value":"${"x".repeat(MiB - 20)}"}`;
const json = "Content-Type: application/json";
const requests = {
  answers: [head("GET /rpc/big HTTP/1.1")],
  echoes: [head("POST /rpc/echo HTTP/1.1", json, `Content-Length: ${body.length}`), body],
  uploads: [
    head("POST /rpc/echo HTTP/1.1", json, `Content-Length: ${body.length}`),
    body.slice(0, -1000),
  ],
};

/** Opens sockets that send a request and don't read the answer. */
async function stall(port, attack, count) {
  const sockets = [];
  const texts = requests[attack].map((text) => Buffer.from(text));
  for (let at = 0; at < count; at++) {
    const socket = connect({ port, host: "127.0.0.1", onread: undefined });
    socket.pause();
    socket.on("error", () => {});
    socket.on("connect", () => {
      for (const text of texts) socket.write(text);
    });
    sockets.push(socket);
    if (at % 50 === 49) await pause(20);
  }
  return sockets;
}

/** Durations of small calls in ms; infinite for any answer but 200. */
async function smallCalls(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  const times = [];
  const statuses = {};
  const call = () =>
    new Promise((resolve) => {
      const begun = performance.now();
      const end = (status) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        times.push(status === 200 ? performance.now() - begun : Infinity);
        resolve();
      };
      const outgoing = request(`${url}/rpc/small`, { agent, timeout: 20_000 }, (answer) => {
        answer.resume();
        answer.on("end", () => end(answer.statusCode));
      });
      outgoing.on("timeout", () => outgoing.destroy(new Error("late")));
      outgoing.on("error", (error) =>
        end(error.message === "late" ? "late" : (error.code ?? "error")),
      );
      outgoing.end();
    });
  const all = [];
  for (let at = 0; at < seconds * smallPerSecond; at++) {
    all.push(call());
    await pause(1000 / smallPerSecond);
  }
  await Promise.all(all);
  agent.destroy();
  times.sort((a, b) => a - b);
  const within = times.filter((ms) => ms <= 1000).length;
  return {
    within: (100 * within) / times.length,
    p50: times[Math.floor(times.length / 2)],
    statuses,
  };
}

/** Resident memory in MB; NaN once the process is gone. */
function memoryOf({ pid }) {
  try {
    return rssOf([pid]);
  } catch {
    return NaN;
  }
}

const app = await application(files, checkout);
await build(app);
console.log(
  "role       attack   callers  idle MB  peak MB  after MB  coming: ≤ 1 s  median ms  standing: ≤ 1 s  median ms  answers",
);
for (const role of roles)
  for (const attack of attacks)
    for (const count of callers) {
      const services = await deployed(app, role);
      const [target] = services;
      for (let at = 0; at < 20; at++)
        await fetch(`${target.url}/rpc/small`).then((answer) => answer.text());
      await pause(1000);
      const idle = memoryOf(target);
      let peak = idle;
      const watch = setInterval(() => (peak = Math.max(peak, memoryOf(target) || 0)), 100);
      const measured = smallCalls(target.url);
      const sockets = await stall(target.port, attack, count);
      const coming = await measured;
      await pause(settling * 1000);
      const standing = await smallCalls(target.url);
      for (const socket of sockets) socket.destroy();
      await pause(5000);
      clearInterval(watch);
      const after = memoryOf(target);
      const columns = [role.padEnd(10), attack.padEnd(8), String(count).padStart(7)];
      for (const [number, width] of [
        [idle, 8],
        [peak, 8],
        [after, 9],
      ])
        columns.push(number.toFixed(0).padStart(width));
      for (const [{ within, p50 }, width] of [
        [coming, 14],
        [standing, 16],
      ])
        columns.push(
          `${within.toFixed(1)} %`.padStart(width),
          String(p50?.toFixed(1)).padStart(10),
        );
      columns.push(JSON.stringify([coming.statuses, standing.statuses]));
      console.log(columns.join(" "));
      for (const { stop } of services) await stop();
    }
process.exit();

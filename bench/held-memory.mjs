// Measures what stalled callers cost a service, with real processes: each requests 8 MiB and
// doesn't read it, sends 1 MiB to be echoed and doesn't read it, or stops in the middle of an
// upload. Also makes 50 small calls a second: how many are answered within a second, while the
// callers connect and once all of them have stalled?
// node bench/held-memory.mjs [standalone|node|gateway|proxy …] [answers|echoes|uploads …] [numbers of callers], after npm run build
// Each caller takes an open file: see ulimit -n.

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("..", import.meta.url));
const cli = process.env["SEAMLINE_CLI"] ?? join(repository, "dist/cli.js");
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

async function application() {
  const folder = await mkdtemp(join(tmpdir(), "seamline-held-"));
  const files = {
    "package.json": JSON.stringify({ name: "bench", private: true, type: "module" }),
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
  for (const path of ["src", "node_modules"]) await mkdir(join(folder, path), { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
  for (const name of ["seamline", "vite"])
    await symlink(join(repository, "node_modules", name), join(folder, "node_modules", name));
  await run(folder, ["build"]);
  return folder;
}

function run(folder, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`${args[0]} ended with ${code}`)),
    );
  });
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

async function start(folder, name, config) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  // More than there are callers, so that the small calls get connections.
  const limits = { limits: { connections: 16_000, ...(heldBytes !== undefined && { heldBytes }) } };
  await writeFile(
    join(folder, `${name}.json`),
    JSON.stringify({ url, log: "error", ...limits, ...config }),
  );
  const child = spawn(process.execPath, [cli, "start", "--no-build", "--config", `${name}.json`], {
    cwd: folder,
    stdio: ["ignore", "ignore", process.env["SHOW"] ? "inherit" : "ignore"],
  });
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
    const ready = await fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return { url, port, child };
    await pause(50);
  }
}

/** Starts the service of `role` and those that it needs. */
async function deployed(folder, role) {
  if (role === "standalone") return [await start(folder, "standalone", { mode: "standalone" })];
  const repositoryOf = await start(folder, "repository", { mode: "repository" });
  const gateway = await start(folder, "gateway", { mode: "gateway" });
  const shared = { repository: repositoryOf.url, gateway: gateway.url };
  const node = await start(folder, "node", { mode: "node", ...shared, segments: ["main"] });
  if (role === "node") return [node, gateway, repositoryOf];
  if (role === "gateway") return [gateway, node, repositoryOf];
  return [await start(folder, "proxy", { mode: "proxy", ...shared }), gateway, node, repositoryOf];
}

const statusOf = async (pid, name) =>
  Number(
    new RegExp(`${name}:\\s+(\\d+) kB`).exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1],
  ) / 1024;

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

const folder = await application();
console.log(
  "role       attack   callers  idle MB  peak MB  after MB  coming: ≤ 1 s  median ms  standing: ≤ 1 s  median ms  answers",
);
try {
  for (const role of roles)
    for (const attack of attacks)
      for (const count of callers) {
        const services = await deployed(folder, role);
        const [target] = services;
        for (let at = 0; at < 20; at++)
          await fetch(`${target.url}/rpc/small`).then((answer) => answer.text());
        await pause(1000);
        const idle = await statusOf(target.child.pid, "VmRSS");
        let peak = idle;
        const watch = setInterval(
          () =>
            void statusOf(target.child.pid, "VmRSS").then(
              (now) => (peak = Math.max(peak, now)),
              () => {},
            ),
          100,
        );
        const measured = smallCalls(target.url);
        const sockets = await stall(target.port, attack, count);
        const coming = await measured;
        await pause(settling * 1000);
        const standing = await smallCalls(target.url);
        for (const socket of sockets) socket.destroy();
        await pause(5000);
        clearInterval(watch);
        const after = await statusOf(target.child.pid, "VmRSS").catch(() => NaN);
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
        for (const { child } of services) {
          child.kill("SIGKILL");
          await new Promise((resolve) =>
            child.exitCode === null && child.signalCode === null
              ? child.on("close", resolve)
              : resolve(),
          );
        }
      }
} finally {
  await rm(folder, { recursive: true, force: true });
}

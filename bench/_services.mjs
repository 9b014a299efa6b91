// Real services for the benches: a small application in a folder of its own, and processes of
// `seamline start` that serve it. After npm run build.

import { fork } from "node:child_process";
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("..", import.meta.url));

/** Writes the application, and returns what starts its services. `close` ends and removes all. */
export async function createApplication(files) {
  const folder = await mkdtemp(join(tmpdir(), "seamline-bench-"));
  const services = new Set();
  await mkdir(join(folder, "node_modules"));
  for (const name of ["seamline", "vite"])
    await symlink(join(repository, "node_modules", name), join(folder, "node_modules", name));
  const all = { "package.json": '{ "type": "module", "private": true }', ...files };
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }

  /** Starts one service. Its process emits what modules send with `process.send` as "message". */
  const start = async (name, config) => {
    const path = join(folder, `${name}.json`);
    const settings = {
      url: "http://127.0.0.1:0",
      trustKey: "the-trust-key-of-this-bench",
      ...config,
    };
    await writeFile(path, JSON.stringify(settings));
    const child = fork(join(repository, "dist/cli.js"), ["start", "--config", path], {
      cwd: folder,
      silent: true,
    });
    const service = { name, child, url: "", output: "" };
    services.add(service);
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => (service.output += chunk));
    for (;;) {
      const url = /^\w+ at (http:\/\/127\.0\.0\.1:\d+)/m.exec(service.output)?.[1];
      if (url !== undefined) return Object.assign(service, { url });
      if (child.exitCode !== null) throw new Error(`${name} did not start:\n${service.output}`);
      await pause(20);
    }
  };

  return {
    start,
    /**
     * Starts a standalone service, or a proxy and all behind it. Returns them by name; `entry` is
     * where callers send requests, and `node` runs the application.
     */
    async deploy(kind, segments, config = {}) {
      if (kind === "standalone") {
        const node = await start("standalone", { mode: "standalone", ...config });
        return { entry: node, node, services: [node] };
      }
      const store = await start("repository", { mode: "repository" });
      const gateway = await start("gateway", { mode: "gateway", ...config });
      const behind = { gateway: gateway.url, repository: store.url, ...config };
      const node = await start("node", { mode: "node", ...behind, segments });
      const entry = await start("proxy", { mode: "proxy", ...behind });
      return { entry, node, gateway, services: [entry, gateway, node], behind };
    },
    async close() {
      for (const { child } of services) child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Memory of a process in bytes: now, and the most since it was started or `forgetMost`. */
export async function memoryOf({ child }) {
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)[1]) * 1024;
  return { now: field("VmRSS"), most: field("VmHWM") };
}

/** From now on, the most memory of a process is what it has now. */
export async function forgetMost({ child }) {
  await writeFile(`/proc/${child.pid}/clear_refs`, "5");
}

/** How many sockets a process has open. */
export async function socketsOf({ child }) {
  const folder = `/proc/${child.pid}/fd`;
  const links = (await readdir(folder)).map((file) => readlink(join(folder, file)).catch(() => ""));
  return (await Promise.all(links)).filter((link) => link.startsWith("socket:")).length;
}

/** Milliseconds that all processes of this machine can compare. */
export const now = () => performance.timeOrigin + performance.now();

export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
export const worst = (values) => Math.max(...values);

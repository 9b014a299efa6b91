// Services that a bench deploys, kills and starts again, and what their processes hold. After
// npm run build.

import { readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { application, build, service } from "./application.mjs";

/** Writes and builds an application, and returns what starts its services. `close` ends them. */
export async function createApplication(files) {
  const built = await application(files);
  await build(built);
  const services = new Set();

  /** Starts one service. Its process emits what modules send with `process.send` as "message". */
  const start = async (name, { mode, ...config }, node = []) => {
    const settings = { trustKey: "the-trust-key-of-this-bench", ...config };
    const options = { stdio: ["ignore", "pipe", "pipe", "ipc"], node };
    const started = { ...(await service(built, mode, settings, options)), name };
    services.add(started);
    return started;
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
    close() {
      for (const { child } of services) child.kill("SIGKILL");
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

export const worst = (values) => Math.max(...values);

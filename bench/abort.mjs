// Aborts requests through proxy, gateway, a node and its call of another node, each a process of
// its own: how long it takes until the innermost procedure's signal fires.
// node bench/abort.mjs [rounds], after npm run build

import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const rounds = Number(process.argv[2] ?? 100);
const repository = fileURLToPath(new URL("..", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "seamline-abort-"));
const children = [];
/** A signal that never comes ends the bench. */
const heard = async (child) =>
  (await once(child, "message", { signal: AbortSignal.timeout(10_000) }))[0];

const files = {
  "package.json": '{ "type": "module", "private": true }',
  "outer.segment.json": '{ "./outer": { "outer": { "access": "public" } } }',
  "inner.segment.json": '{ "./inner": { "inner": { "access": "protected" } } }',
  "src/outer.ts": `import { inner } from "./inner.ts";
export async function outer(): Promise<void> {
  await inner();
}
`,
  "src/inner.ts": `import { getContext } from "seamline";
declare const process: { send(message: object): void };
export async function inner(): Promise<void> {
  const { signal } = getContext();
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener("abort", () => {
      process.send({ aborted: performance.timeOrigin + performance.now() });
      resolve();
    }),
  );
  process.send({ running: true });
  await aborted;
}
`,
};

/** Starts a service and returns its process and address. */
async function service(name, config) {
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
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => (output += chunk));
  for (;;) {
    const url = /^\w+ at (http:\/\/127\.0\.0\.1:\d+)/m.exec(output)?.[1];
    if (url !== undefined) return { child, url };
    if (child.exitCode !== null) throw new Error(`${name} did not start:\n${output}`);
    await pause(20);
  }
}

try {
  await mkdir(join(folder, "src"));
  await mkdir(join(folder, "node_modules"));
  for (const name of ["seamline", "vite"])
    await symlink(join(repository, "node_modules", name), join(folder, "node_modules", name));
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);

  const { url: store } = await service("repository", { mode: "repository" });
  const { url: gateway } = await service("gateway", { mode: "gateway" });
  const behind = { gateway, repository: store };
  await service("outer", { mode: "node", ...behind, segments: ["outer"] });
  const inner = await service("inner", { mode: "node", ...behind, segments: ["inner"] });
  const proxy = await service("proxy", { mode: "proxy", ...behind });

  const times = [];
  // The first rounds load code and open connections.
  for (let round = -10; round < rounds; round++) {
    const running = heard(inner.child);
    const call = request(`${proxy.url}/rpc/outer`).end();
    const failed = once(call, "error");
    call.on("response", (answer) => {
      throw new Error(`the call was answered with ${answer.statusCode}`);
    });
    await running;
    // The call stands still, as calls do that callers abort.
    await pause(10);
    const aborted = heard(inner.child);
    const left = performance.timeOrigin + performance.now();
    call.destroy(new Error("left"));
    await failed;
    const message = await aborted;
    if (round >= 0) times.push(message.aborted - left);
  }
  times.sort((a, b) => a - b);
  console.log(
    `until the innermost signal, after the caller left: median ${times[rounds >> 1].toFixed(1)} ms, worst of ${rounds} ${times.at(-1).toFixed(1)} ms`,
  );
} finally {
  for (const child of children) child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

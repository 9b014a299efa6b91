// Aborts requests through proxy, gateway, a node and its call of another node, each a process of
// its own: how long it takes until the innermost procedure's signal fires.
// node lab/bench/abort.mjs [rounds], after npm run build

import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { createApplication } from "./lib/services.mjs";

const rounds = Number(process.argv[2] ?? 100);
/** A signal that never comes ends the bench. */
const heard = async (child) =>
  (await once(child, "message", { signal: AbortSignal.timeout(10_000) }))[0];

const files = {
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

const application = await createApplication(files);
const service = application.start;
try {
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
  application.close();
}

// 50 uploads and 50 downloads of 5 MB at once, through routes over the one link between a gateway and a
// node, and over HTTP for comparison: whether all of them end, what memory grows, and what small calls
// feel beside them. One reader in each direction is slow.
// node lab/bench/link-bodies.mjs [streams in each direction] [MB] [MB/s of each, 0: as fast as they can], after npm run build

import { fork } from "node:child_process";
import { once, setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createApplication, forgetMost, memoryOf } from "./lib/services.mjs";
import { download, expected, files, json, MB, open, upload } from "./lib/streaming.mjs";

const [streams = 50, megabytes = 5, pace = 0, target] = process.argv.slice(2);
const bytes = Number(megabytes) * MB;
const bytesPerSecond = Number(pace) * MB;
const slow = 2 * MB;
setMaxListeners(0);

/** All streams, in a process of their own: they would keep small calls waiting in this one. */
async function transfers(url) {
  const wanted = expected(bytes);
  const began = performance.now();
  const all = Array.from({ length: Number(streams) }, (_, index) => [
    upload(url, bytes, index === 0 ? { slow: slow / 50 } : { bytesPerSecond }),
    download(url, bytes, { bytesPerSecond: index === 0 ? slow : bytesPerSecond }),
  ]).flat();
  // Until then they share the link with those that a slow reader holds up.
  const ends = [];
  const results = await Promise.all(
    all.map(async (result) => {
      // A service that can't take more at once says so instead of a result.
      const done = await result.catch((error) => error);
      if (!(done instanceof Error)) ends.push(performance.now() - began);
      return done;
    }),
  );
  for (const done of results)
    if (done instanceof SyntaxError) continue;
    else if (done.size !== wanted.size || done.digest !== wanted.digest)
      throw new Error(`${done.size} of ${bytes} bytes arrived, with digest ${done.digest}`, {
        cause: done,
      });
  ends.sort((a, b) => a - b);
  return ends;
}

/** p50 and p99 of small calls, four at once, until `isOver`. */
async function smallCalls(url, isOver) {
  const times = [];
  let refused = 0;
  const caller = async () => {
    while (!isOver()) {
      const began = performance.now();
      const { call, answered } = open(`${url}/rpc/small`);
      call.end();
      const answer = await answered;
      if (answer.statusCode === 200) await json(answer);
      else {
        answer.resume();
        refused++;
        continue;
      }
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: 4 }, caller));
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor(times.length * share)];
  return { p50: at(0.5), p99: at(0.99), most: times.at(-1), count: times.length, refused };
}

const shown = ({ p50, p99, most, count, refused }) =>
  `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, most ${most.toFixed(1)} ms of ${count}, ${refused} refused`;

/** The CPU time that a process has used so far, which doesn't depend on how busy the machine is. */
async function processorSeconds({ child }) {
  const stat = await readFile(`/proc/${child.pid}/stat`, "utf8");
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

async function measure(link) {
  const application = await createApplication(files);
  try {
    const { gateway, node } = await application.deploy("proxied", ["streams"], { link });
    const services = [gateway, node];
    const ms = 3_000;
    const lasting = () => {
      const until = performance.now() + ms;
      return () => performance.now() > until;
    };
    await smallCalls(gateway.url, lasting());
    const alone = await smallCalls(gateway.url, lasting());
    for (const service of services) await forgetMost(service);
    const before = await Promise.all(services.map(memoryOf));
    const used = await Promise.all(services.map(processorSeconds));
    const child = fork(fileURLToPath(import.meta.url), [
      `${streams}`,
      `${megabytes}`,
      `${pace}`,
      gateway.url,
    ]);
    let isOver = false;
    const ended = once(child, "message").then(([ends]) => ((isOver = true), ends));
    const beside = await smallCalls(gateway.url, () => isOver);
    const ends = await ended;
    const after = await Promise.all(services.map(memoryOf));
    const growth = services.map(
      ({ name }, index) =>
        `${name} +${((after[index].most - before[index].now) / MB).toFixed(0)} MB`,
    );
    const seconds = await Promise.all(services.map(processorSeconds));
    const cost = services.map(
      ({ name }, index) => `${name} ${(seconds[index] - used[index]).toFixed(1)} s`,
    );
    const fast = ends[ends.length - 3] ?? ends.at(-1);
    const speed = (2 * streams * bytes) / MB / (fast / 1_000);
    console.log(`link ${link}:
  small calls alone:  ${shown(alone)}
  small calls beside: ${shown(beside)} (p99 × ${(beside.p99 / alone.p99).toFixed(1)})
  streams: all but the slow ones in ${(fast / 1_000).toFixed(1)} s (${speed.toFixed(0)} MB/s), all ${ends.length} in ${(ends.at(-1) / 1_000).toFixed(1)} s; processors: ${cost.join(", ")}; most memory ${growth.join(", ")}`);
  } finally {
    application.close();
  }
}

if (target !== undefined) {
  process.send(await transfers(target));
  process.exit();
}
for (const link of ["always", "never"]) await measure(link);
// Kept-alive connections of the callers.
process.exit();

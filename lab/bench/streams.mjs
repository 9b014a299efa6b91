// 1 GB up and down through routes of a standalone service, and through proxy, gateway and node,
// each a process of its own: how much memory grows in each, whether every byte arrives, and how
// fast; and what small calls feel of streams beside them.
// node lab/bench/streams.mjs [MB] [standalone|proxied], after npm run build

import { fork } from "node:child_process";
import { once, setMaxListeners } from "node:events";
import { fileURLToPath } from "node:url";
import { createApplication, forgetMost, memoryOf } from "./lib/services.mjs";
import { download, expected, files, json, MB, open, upload } from "./lib/streaming.mjs";

const bytes = Number(process.argv[2] ?? 1_000) * MB;
const kinds = process.argv[3] === undefined ? ["standalone", "proxied"] : [process.argv[3]];
const wanted = expected(bytes);
const slow = 100 * MB;

const transfers = {
  "down, fast reader": (url) => download(url, bytes),
  "up, fast reader": (url) => upload(url, bytes),
  "down, slow reader": (url) => download(url, bytes, { bytesPerSecond: slow }),
  "up, slow reader": (url) => upload(url, bytes, { slow: slow / 50 }),
};

/** Runs one transfer, and returns its MB/s. */
async function transfer(act, url) {
  const began = performance.now();
  const { size, digest } = await act(url);
  const seconds = (performance.now() - began) / 1_000;
  if (size !== wanted.size || digest !== wanted.digest)
    throw new Error(`${size} of ${bytes} bytes arrived, with digest ${digest}`);
  return Math.round(bytes / MB / seconds);
}

async function measureTransfers({ entry, services }) {
  // Code is loaded, and heaps have their size.
  await download(entry.url, 100 * MB);
  await upload(entry.url, 100 * MB);
  for (const [title, act] of Object.entries(transfers)) {
    for (const service of services) await forgetMost(service);
    const before = await Promise.all(services.map(memoryOf));
    const speed = await transfer(act, entry.url);
    const after = await Promise.all(services.map(memoryOf));
    const growth = services.map(
      ({ name }, index) =>
        `${name} +${((after[index].most - before[index].now) / MB).toFixed(0)} MB`,
    );
    console.log(`  ${title}: ${speed} MB/s; most memory ${growth.join(", ")}`);
  }
}

/** p50 and p99 of small calls, eight at once. */
async function smallCalls(url, ms) {
  const times = [];
  const until = performance.now() + ms;
  const caller = async () => {
    while (performance.now() < until) {
      const began = performance.now();
      const { call, answered } = open(`${url}/rpc/small`);
      call.end();
      await json(await answered);
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: 8 }, caller));
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor(times.length * share)].toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${Math.round((times.length / ms) * 1_000)}/s`;
}

async function measureSmallCalls({ entry: { url } }) {
  await smallCalls(url, 2_000);
  console.log(`  small calls alone: ${await smallCalls(url, 4_000)}`);
  const ended = new AbortController();
  const { signal } = ended;
  setMaxListeners(0, signal);
  const streams = Array.from({ length: 8 }, () => [
    download(url, 1_000 * MB, { bytesPerSecond: 2 * MB, signal }),
    upload(url, 1_000 * MB, { bytesPerSecond: 2 * MB, signal }),
  ]).flat();
  const settled = Promise.allSettled(streams);
  console.log(`  beside 8 downloads and 8 uploads of 2 MB/s: ${await smallCalls(url, 4_000)}`);
  ended.abort();
  for (const { status } of await settled)
    if (status === "fulfilled") throw new Error("a stream ended early");
}

async function measureBare() {
  const child = fork(fileURLToPath(new URL("servers/streams/bare.mjs", import.meta.url)), {
    silent: true,
  });
  const [line] = await once(child.stdout, "data");
  const url = /http:\S+/.exec(String(line))[0];
  console.log("bare node:http");
  for (const [title, act] of Object.entries(transfers).slice(0, 2))
    console.log(`  ${title}: ${await transfer(act, url)} MB/s`);
  child.kill();
}

await measureBare();
const application = await createApplication(files);
try {
  for (const kind of kinds) {
    const deployment = await application.deploy(kind, ["streams"]);
    console.log(kind);
    await measureTransfers(deployment);
    await measureSmallCalls(deployment);
    for (const { child } of deployment.services) child.kill("SIGKILL");
  }
} finally {
  application.close();
  // Kept-alive connections of the callers.
  setImmediate(() => process.exit());
}

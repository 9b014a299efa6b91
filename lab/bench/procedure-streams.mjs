// Streams of procedures: items a second beside a bare socket, what a slow reader makes processes hold, how soon an item
// is in a page, what 200 streams cost a call beside them, and how soon a reader that leaves ends its generator.
// node lab/bench/procedure-streams.mjs [items|memory|page ...], after npm run build

import { connect } from "node:net";
import { createInterface } from "node:readline";

import { chromium } from "playwright";

import { browserArguments, requireBrowser } from "../../scripts/browser.mjs";
import { fork } from "./lib/processes.mjs";
import { createApplication, forgetMost, memoryOf, worst } from "./lib/services.mjs";
import { median } from "./lib/statistics.mjs";

const kinds = process.argv.length > 2 ? process.argv.slice(2) : ["items", "memory", "page"];
const itemCount = 200_000;
const manyCount = 1_000_000;
const MB = 1_048_576;

const text = "x".repeat(980);
const source = `import { getContext } from "seamline";
const text = ${JSON.stringify(text)};
const now = () => performance.timeOrigin + performance.now();
const endings = [];
export async function* rows(count) {
  for (let id = 0; id < count; id++) yield { id, text };
}
export async function* ticks() {
  const { signal } = getContext();
  while (!signal.aborted) {
    yield now();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
export async function* parked(id) {
  const { signal } = getContext();
  try {
    yield now();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  } finally {
    endings[id] = now();
  }
}
export async function ended() { return endings; }
export async function add(a, b) { return a + b; }
export async function held() {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
`;
const sink = `import { rows } from "../source/source.js";
export async function drain(count) {
  const began = performance.now();
  let sum = 0;
  for await (const { id } of rows(count)) sum += id;
  return { sum, ms: performance.now() - began };
}
/** Stops reading halfway for a while, and says what it holds then. */
export async function pausing(count) {
  let held = 0;
  for await (const { id } of rows(count)) {
    if (id !== count / 2) continue;
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    held = await heldHere();
  }
  return held;
}
export async function heldHere() {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
`;
const page = `import { startClient } from "seamline/client";
import { add, ended, parked, ticks } from "./source/source.js";
await startClient("ui");
const now = () => performance.timeOrigin + performance.now();
const timed = async (act) => { const began = now(); await act(); return now() - began; };
const calls = async (count) => {
  const times = [];
  for (let at = 0; at < count; at++) times.push(await timed(() => add(1, at)));
  return times;
};
window.measure = {
  calls,
  async firstItems(count) {
    const times = [];
    for (let at = 0; at < count; at++)
      for await (const sent of ticks()) { times.push(now() - sent); break; }
    return times;
  },
  async beside(streams, count) {
    const all = Array.from({ length: streams }, () => ticks());
    await Promise.all(all.map((one) => one.next()));
    let items = 0;
    let isOver = false;
    const read = async (one) => { for await (const _ of one) { items++; if (isOver) break; } };
    const reading = all.map(read);
    const times = await calls(count);
    isOver = true;
    await Promise.all(reading);
    return { times, items };
  },
  async breaks(count) {
    const left = [];
    for (let id = 0; id < count; id++)
      for await (const _ of parked(id)) { left.push(now()); break; }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const ends = await ended();
    return left.map((at, id) => ends[id] - at);
  },
};
document.title = "ready";
`;
const open = { access: "public", validate: false };
const files = {
  "src/source/source.js": source,
  "src/sink/sink.js": sink,
  "src/page.js": page,
  "index.html":
    '<!doctype html><title>Streams</title><script type="module" src="/src/page.js"></script>',
  "segments/source.segment.json": JSON.stringify({
    "./source/source": {
      rows: open,
      ticks: { ...open, safe: true },
      parked: open,
      ended: open,
      add: open,
      held: open,
    },
  }),
  "segments/sink.segment.json": JSON.stringify({
    "./sink/sink": { drain: open, pausing: open, heldHere: open },
  }),
  "segments/ui.segment.json": "{}",
};

/** @param {number[]} values @param {number} share */
const quantile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

/** @param {number} value */
const ms = (value) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;

/** @param {string} url @param {string} name @param {object} [args] */
async function call(url, name, args = {}) {
  const answer = await fetch(`${url}/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-svc-data-encoding": "serialized" },
    body: JSON.stringify(args),
  });
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
  return JSON.parse(await answer.text());
}

/** The same lines over a bare socket, parsed one by one. */
async function bareRate() {
  const server = await fork(new URL("servers/streams/lines.mjs", import.meta.url).pathname, [
    String(itemCount),
    text,
  ]);
  const socket = connect(server.message.port, "127.0.0.1");
  const began = performance.now();
  let sum = 0;
  for await (const line of createInterface({ input: socket })) sum += JSON.parse(line).id;
  const seconds = (performance.now() - began) / 1_000;
  await server.stop();
  if (sum !== (itemCount * (itemCount - 1)) / 2) throw new Error("lines were lost");
  return itemCount / seconds;
}

/** @param {any} services */
async function items({ url }) {
  const ratios = [];
  for (let round = 0; round < 5; round++) {
    const bare = await bareRate();
    const { sum, ms: took } = await call(url, "sink/drain", { count: itemCount });
    if (sum !== (itemCount * (itemCount - 1)) / 2) throw new Error("items were lost");
    const rate = itemCount / (took / 1_000);
    ratios.push(rate / bare);
    console.log(
      `  ${Math.round(rate)} items/s, bare socket ${Math.round(bare)}: ${(rate / bare).toFixed(2)}`,
    );
  }
  console.log(`node → gateway → node: ${median(ratios).toFixed(2)} of a bare socket (≥ 0.4)`);
}

/** @param {any} services */
async function memory({ url, all }) {
  await call(url, "sink/drain", { count: 50_000 });
  const before = [await call(url, "source/held"), await call(url, "sink/heldHere")];
  for (const one of all) await forgetMost(one);
  const resident = await Promise.all(all.map(memoryOf));
  const reading = call(url, "sink/pausing", { count: manyCount });
  /** @type {number[]} */
  const held = [];
  const looking = setInterval(
    () => void call(url, "source/held").then((one) => held.push(one)),
    2_000,
  );
  const inSink = await reading;
  clearInterval(looking);
  const after = await Promise.all(all.map(memoryOf));
  console.log(
    `${manyCount} items of 1 KB, a reader that pauses: heap and external after a collection ` +
      `+${((worst(held) - before[0]) / MB).toFixed(1)} MB at the source, +${((inSink - before[1]) / MB).toFixed(1)} MB at the reader (< 8); ` +
      `resident ${all.map(({ name }, at) => `${name} +${((after[at].most - resident[at].now) / MB).toFixed(0)} MB`).join(", ")} (< 64)`,
  );
}

/** @param {any} services */
async function inPage({ front }) {
  const browser = await chromium.launch({
    executablePath: requireBrowser().path,
    args: browserArguments,
  });
  const tab = await browser.newPage();
  await tab.goto(front);
  await tab.waitForFunction("document.title === 'ready'");
  /** @param {string} expression @returns {Promise<any>} */
  const measure = async (expression) => await tab.evaluate(`measure.${expression}`);
  await measure("calls(200)");
  await measure("firstItems(20)");
  const alone = [...(await measure("calls(300)")), ...(await measure("calls(300)"))];
  const first = await measure("firstItems(200)");
  const beside = await measure("beside(200, 300)");
  const breaks = await measure("breaks(100)");
  await browser.close();
  const calls = quantile(alone, 0.5);
  console.log(
    `a call of a page, over proxy and gateway: p50 ${ms(calls)}\n` +
      `an item from its yield: p50 ${ms(quantile(first, 0.5))}, ${(quantile(first, 0.5) / calls).toFixed(2)} calls (≤ 2)\n` +
      `beside 200 streams (${beside.items} items): a call p50 ${ms(quantile(beside.times, 0.5))}, ${(quantile(beside.times, 0.5) / calls).toFixed(2)} of alone (≤ 2)\n` +
      `from break to finally: worst of ${breaks.length} ${ms(worst(breaks))} (≤ 100 ms)`,
  );
}

const application = await createApplication(files);
try {
  const options = ["--expose-gc"];
  // A call that reads a million items takes longer than calls may.
  const limits = { callTimeoutMs: 600_000 };
  const store = await application.start("repository", { mode: "repository" });
  const gateway = await application.start("gateway", { mode: "gateway", limits });
  const behind = { gateway: gateway.url, repository: store.url, limits };
  const nodes = [];
  for (const name of ["source", "sink"])
    nodes.push(
      await application.start(name, { mode: "node", ...behind, segments: [name] }, options),
    );
  const proxy = await application.start("proxy", { mode: "proxy", ...behind });
  for (;;) {
    const answer = await fetch(`${gateway.url}/rpc/source/add?a=1&b=2`);
    const other = await fetch(`${gateway.url}/rpc/sink/drain?count=1`);
    if (answer.ok && other.ok) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const services = { url: gateway.url, front: proxy.url, all: [gateway, ...nodes] };
  if (kinds.includes("items")) await items(services);
  if (kinds.includes("memory")) await memory(services);
  if (kinds.includes("page")) await inPage(services);
} finally {
  application.close();
  setImmediate(() => process.exit());
}

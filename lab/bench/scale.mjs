// The cost for gateways of many linked nodes, and how soon a deployment is whole again after one of
// them was killed. Nodes are real, with a link to each gateway, and many of them share a process.
// node lab/bench/scale.mjs [--gateways 1,2,3] [--nodes 10,100,1000] [--seconds 5] [--kills 3] [--pictures FOLDER], after npm run build.
// Prints a table; docs/scaling.md has one.

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { application, build, service } from "./lib/application.mjs";
import { chart } from "./lib/chart.mjs";
import { loadOn } from "./lib/load.mjs";
import { cpuOf, fork, rssOf } from "./lib/processes.mjs";
import { digits } from "./lib/report.mjs";
import { calls } from "./lib/samples.mjs";

const { values } = parseArgs({
  options: {
    gateways: { type: "string", default: "1,2,3" },
    nodes: { type: "string", default: "10,100,1000" },
    seconds: { type: "string", default: "5" },
    kills: { type: "string", default: "3" },
    pictures: { type: "string" },
  },
});
const numbers = (text) => text.split(",").map(Number);
const seconds = Number(values.seconds);
const kills = Number(values.kills);
const trustKey = "the-trust-key-of-the-benches-0123456789";
/** So many nodes share a process: more of them would answer each other late. */
const together = 250;
const server = fileURLToPath(new URL("../../dist/server.js", import.meta.url));
const keyed = { headers: { "x-svc-trust-key": trustKey } };
const token = "the-token-of-the-benches-0123456789";

const built = await application({
  "src/app.js": "export async function add(a, b) { return a + b; }\n",
  "app.segment.json": '{ "./app.js": { "add": { "access": "public" } } }\n',
});
await build(built);

/** How many members a gateway has; none while it is away. */
async function membersOf(url) {
  const answer = await fetch(`${url}/nodes`, keyed).catch(() => undefined);
  return answer?.ok === true ? (await answer.json()).members.length : 0;
}

/** How many nodes have joined a gateway since its start, as its log says: asking it would cost it time. */
const joinedIn = ({ output }) => output().split(" joined with ").length - 1;

/** The longest delay of a gateway's event loop since it was last asked, in ms. */
async function longestDelay(url) {
  const text = await (
    await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  ).text();
  return Number(/^seamline_event_loop_delay_max_seconds (.+)$/m.exec(text)[1]) * 1_000;
}

async function freePort() {
  const socket = createServer().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  await once(socket, "close");
  return port;
}

/** Resolves to the ms that it took. */
async function until(what, check, { everyMs = 250, mostMs = 120_000 } = {}) {
  const began = performance.now();
  while (!(await check())) {
    if (performance.now() - began > mostMs) throw new Error(`${what} took over ${mostMs} ms`);
    // Asked for a list of 1,000 members a hundred times a second, a gateway would do and hold little else.
    await pause(everyMs);
  }
  return performance.now() - began;
}

/** Calls through a proxy, one after the other, as often as it goes. */
function callThrough(url) {
  const seen = { answered: 0, failed: 0, slowest: 0 };
  const over = new AbortController();
  const body = JSON.stringify(calls.add.args);
  const headers = { "content-type": "application/json" };
  const caller = async () => {
    while (!over.signal.aborted) {
      const began = performance.now();
      const answer = await fetch(`${url}/rpc/add`, { method: "POST", headers, body }).catch(
        () => undefined,
      );
      const text = await answer?.text().catch(() => "");
      if (answer?.status === 200 && text === "3") seen.answered++;
      else seen.failed++;
      seen.slowest = Math.max(seen.slowest, performance.now() - began);
    }
  };
  const all = Promise.all(Array.from({ length: 8 }, caller));
  return async () => {
    over.abort();
    await all;
    return seen;
  };
}

async function measure(gatewayCount, nodeCount) {
  const started = [];
  const begin = async (mode, config) => {
    const entry = await service(built, mode, config);
    started.push(entry);
    return entry;
  };
  try {
    const store = await begin("repository");
    const ports = await Promise.all(Array.from({ length: gatewayCount }, freePort));
    const addresses = ports.map((port) => `http://127.0.0.1:${port}`);
    const gateways = [];
    for (const url of addresses) gateways.push(await begin("gateway", { url, metrics: { token } }));
    const gateway = gatewayCount === 1 ? addresses[0] : addresses;
    const proxy = await begin("proxy", { gateway, repository: store.url });
    const empty = rssOf([gateways[0].pid]);
    const joining = performance.now();
    const members = [];
    for (let left = nodeCount; left > 0; left -= together) {
      const parts = { count: Math.min(left, together), gateways: addresses, repository: store.url };
      const words = [JSON.stringify({ ...parts, trustKey, folder: built.folder, server })];
      const child = await fork(
        fileURLToPath(new URL("servers/members.mjs", import.meta.url)),
        words,
      );
      members.push(child);
      started.push(child);
    }
    for (const url of addresses)
      await until("joining", async () => (await membersOf(url)) === nodeCount);
    const joined = performance.now() - joining;

    await pause(2_000);
    const pids = gateways.map(({ pid }) => pid);
    const idleBefore = cpuOf(pids);
    await longestDelay(addresses[0]);
    await pause(10_000);
    const delay = await longestDelay(addresses[0]);
    const idle = (cpuOf(pids) - idleBefore) / 1e7 / gatewayCount;
    const memory = rssOf([pids[0]]);

    const load = loadOn(
      proxy.url,
      {
        path: "/rpc/add",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(calls.add.args),
      },
      64,
    );
    await load(seconds);
    const all = [proxy.pid, ...pids, ...members.map(({ pid }) => pid)];
    const before = [cpuOf([proxy.pid]), cpuOf(pids), cpuOf(all)];
    const made = await load(seconds);
    const cost = [cpuOf([proxy.pid]), cpuOf(pids), cpuOf(all)].map(
      (after, at) => (after - before[at]) / made.calls,
    );

    // One gateway is killed, and starts again at the same address. Without calls first, which take the same cores.
    const kill = async () => {
      gateways[0].child.kill("SIGKILL");
      await once(gateways[0].child, "close");
      await pause(1_000);
      gateways[0] = await begin("gateway", { url: addresses[0] });
      const allBack = () => joinedIn(gateways[0]) >= nodeCount;
      return await until("joining again", allBack, { everyMs: 10 });
    };
    const again = [];
    for (let count = 0; count < kills; count++) {
      again.push(await kill());
      await pause(3_000);
    }
    const stop = callThrough(proxy.url);
    await pause(500);
    await kill();
    await pause(500);
    const seen = await stop();
    return {
      gateways: gatewayCount,
      nodes: nodeCount,
      "s until all have joined": joined / 1_000,
      "MB of a gateway": memory,
      "KB a link": ((memory - empty) / nodeCount) * 1_000,
      "% of a core, idle": idle * 100,
      "longest delay of its event loop in ms, idle": delay,
      "µs a call, proxy": cost[0],
      "µs a call, gateways": cost[1],
      "µs a call, all": cost[2],
      "calls/s": made.calls / made.seconds,
      "failed of the load": made.failures,
      "ms until all are back": Math.max(...again),
      "failed calls meanwhile": seen.failed,
      of: seen.answered + seen.failed,
      "slowest of them in ms": seen.slowest,
    };
  } finally {
    for (const { child } of started.toReversed()) child.kill("SIGKILL");
  }
}

const rows = [];
for (const gateways of numbers(values.gateways))
  for (const nodes of numbers(values.nodes)) {
    const row = await measure(gateways, nodes);
    rows.push(row);
    const cells = Object.values(row).map((value) => digits(value));
    if (rows.length === 1) {
      const names = Object.keys(row);
      console.log(`| ${names.join(" | ")} |\n|${names.map(() => "--:|").join("")}`);
    }
    console.log(`| ${cells.join(" | ")} |`);
  }

/** A picture of a column by the number of nodes, with a curve for each number of gateways. */
async function picture(file, title, unit, column) {
  const curves = [...new Set(rows.map(({ gateways }) => gateways))].map((count) => ({
    name: `${count} gateway${count === 1 ? "" : "s"}`,
    points: rows
      .filter(({ gateways }) => gateways === count)
      .map((row) => [row.nodes, row[column]]),
  }));
  await writeFile(join(values.pictures, file), chart({ title, unit, of: "nodes", curves }));
}
if (values.pictures !== undefined) {
  await picture(
    "scaling-memory.svg",
    "Memory of a gateway, by the nodes that link to it",
    "MB",
    "MB of a gateway",
  );
  await picture(
    "scaling-return.svg",
    "Time until all nodes are back after their gateway was killed, a second of it without one",
    "ms",
    "ms until all are back",
  );
}
process.exit();

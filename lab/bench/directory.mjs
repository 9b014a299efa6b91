// Measures the directory with many members: a reader's heap, how long it takes to know all, and how a
// server is written to that has lost all, or was away while it elected a leader. In memory, without
// NATS: what it shows is the cost of this side, and how writing is spread over time.
// node --expose-gc lab/bench/directory.mjs [members 10000] [another checkout]

import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const members = Number(process.argv[2] ?? 10_000);
const root = process.argv[3] ?? fileURLToPath(new URL("../..", import.meta.url));
const trustKey = "the key of this bench";
const load = async (file) =>
  (await runnerImport(`${root}/${file}`, { root, configFile: false, logLevel: "error" })).module;
const { Directory } = await load("src/roles/directory/directory.ts");
const { MemoryServer } = await load("test/_memory-buckets.ts");

/** A clock whose hands the bench moves, 10 ms at a time. */
const clock = {
  time: 0,
  timers: new Map(),
  now: () => clock.time,
  after(ms, run) {
    const at = Math.ceil((clock.time + Math.max(1, ms)) / 10) * 10;
    if (!clock.timers.has(at)) clock.timers.set(at, new Set());
    const timer = { run };
    clock.timers.get(at).add(timer);
    return () => clock.timers.get(at)?.delete(timer);
  },
  /** Moves the hands until `ms` later, or until `isOver`; calls `each` every 100 ms. */
  async pass(ms, each = () => {}, isOver = () => false) {
    for (const end = clock.time + ms; clock.time < end && !isOver();) {
      clock.time += 10;
      const due = clock.timers.get(clock.time) ?? [];
      clock.timers.delete(clock.time);
      for (const { run } of due) run();
      await new Promise((resolve) => setImmediate(resolve));
      if (clock.time % 100 === 0) each();
    }
  },
};
const warnings = [];
const host = {
  clock,
  log: { info() {}, warn: (line) => warnings.push(line), error: (line) => warnings.push(line) },
  sign: (key, text) => createHmac("sha256", key).update(text).digest("base64url"),
  deriveKey: (key, purpose) => Buffer.from(hkdfSync("sha256", key, "", purpose, 32)),
  equalSecrets: (a, b) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b)),
  digest: (bytes) => createHash("sha256").update(bytes).digest("hex"),
};
const server = new MemoryServer();
const open = async (instance) => {
  const buckets = server.buckets();
  const directory = new Directory({ host, buckets, trustKey, prefix: "bench", instance });
  await directory.start();
  return directory;
};
const heap = () => {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
};
const cpu = () => process.cpuUsage().user / 1e3 + process.cpuUsage().system / 1e3;
const say = (what, value) => process.stdout.write(`${what.padEnd(64)} ${value}\n`);

const list = new TextEncoder().encode(JSON.stringify({ procedures: ["shop/metresLeft"] }));
const name = { digest: host.digest(list), bytes: list.length };
for (let at = 0; at < members; at++) {
  const node = await open(`member-${String(at).padStart(8, "0")}`);
  await node.announceMember({
    url: `http://10.${at >> 16}.${(at >> 8) & 255}.${at & 255}:3000`,
    name: `node ${at}`,
    isHealthy: true,
    list: name,
    text: () => list,
  });
}
say("members", members);

const reader = await open("reader-of-members");
const seen = new Set();
let all = () => [];
const before = heap();
const start = cpu();
reader.watchMembers((member, current) => {
  if (member !== undefined) seen.add(member.instance);
  all = current;
});
say("CPU ms until a reader has listed all", (cpu() - start).toFixed(0));
say("members that it knows", all().length);
say("MB of heap of a reader", (heap() - before).toFixed(1));

/** Lets members write again, and tells how. */
async function rewritten(what) {
  server.puts.length = 0;
  const began = clock.time;
  const counts = [];
  let last = 0;
  const count = () => {
    counts.push(server.puts.length - last);
    last = server.puts.length;
  };
  server.back();
  count();
  const isOver = () =>
    new Set(server.puts.filter((put) => put.startsWith("members "))).size >= members;
  await clock.pass(60_000, count, isOver);
  count();
  say(`${what}: s until all have written`, ((clock.time - began) / 1e3).toFixed(1));
  say(`${what}: writes in 100 ms, at most`, Math.max(...counts));
  say(`${what}: writes of lists`, server.puts.filter((put) => put.startsWith("lists ")).length);
  say(`${what}: members that the reader knows`, all().length);
}
await clock.pass(60_000);
server.away();
await clock.pass(10_000);
server.forget();
await rewritten("after a loss of all");
await clock.pass(60_000);
server.away();
await clock.pass(10_000);
await rewritten("after 10 s without a leader");
server.puts.length = 0;
await clock.pass(60_000);
say("writes a second, with nothing to do", (server.puts.length / 60).toFixed(0));
say("members that the reader knows", all().length);
say("warnings", new Set(warnings.filter((line) => !/ is away /.test(line))).size);

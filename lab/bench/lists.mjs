// Measures what members with many procedures cost a gateway: heap, and the CPU time of their joins,
// with the list in each join and with its digest. In memory, over links; the bodies are made before, and the
// CPU time is that of both ends.
// node --expose-gc lab/bench/lists.mjs [members 1000] [procedures 100000] [lists 3] [another checkout]
// With 100,000 procedures, the joins with a list are 30 at most.

import { createHash } from "node:crypto";

import { here, memoryGateway } from "./lib/memory-gateway.mjs";
import { median } from "./lib/statistics.mjs";

const [members = 1_000, procedures = 100_000, lists = 3] = process.argv.slice(2, 5).map(Number);
const root = process.argv[5] ?? here;
const trustKey = "the key of this bench";
const encoder = new TextEncoder();
const partBytes = 64 * 1024;

const texts = Array.from({ length: lists }, (_, list) =>
  encoder.encode(
    JSON.stringify({
      procedures: Array.from(
        { length: procedures },
        (_name, at) => `application/part${list}/module${Math.floor(at / 20)}/procedure${at}`,
      ).toSorted(),
    }),
  ),
);

function heap() {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

/** The links of so many members to a new gateway, which they have yet to join. */
async function linked(count) {
  const gateway = await memoryGateway({ root, trustKey });
  const all = [];
  for (let at = 0; at < count; at++) all.push(await gateway.member({ instance: `i${at}` }));
  return all;
}

/** Resolves to the CPU time in ms. */
async function send(member, method, path, body, headers = {}) {
  const before = process.cpuUsage();
  const { status } = await member.request(method, path, body, headers);
  const { user, system } = process.cpuUsage(before);
  if (status > 202) throw new Error(`${method} ${path} answered ${status}`);
  return (user + system) / 1_000;
}

function report(what, { length: count }, before, joins) {
  const all = heap() - before;
  const ms = (time) => `${time.toFixed(2)} ms`;
  console.log(
    `${what}: ${count} members, ${all.toFixed(1)} MB of heap, ${((all / count) * 1_000).toFixed(1)} KB each; ` +
      `a join takes ${ms(median(joins.slice(lists)))}, with a new list ${ms(median(joins.slice(0, lists)))}`,
  );
}

async function withLists() {
  const count = procedures >= 100_000 ? Math.min(30, members) : members;
  const [all, joins] = [await linked(count), []];
  const before = heap();
  for (const [at, member] of all.entries()) {
    const list = new TextDecoder().decode(texts[at % lists]).slice(1);
    const body = encoder.encode(`{"url":"http://m${at}","instance":"i${at}",${list}`);
    joins.push(await send(member, "POST", "/nodes", body));
  }
  report("list in the join", all, before, joins);
}

async function byDigest() {
  const [all, joins] = [await linked(members), []];
  const before = heap();
  const digests = texts.map((text) => createHash("sha256").update(text).digest("hex"));
  let sending = 0;
  for (const [list, text] of texts.entries())
    for (let start = 0; start < text.length; start += partBytes) {
      const part = text.slice(start, start + partBytes);
      const range = `bytes ${start}-${start + part.length - 1}/${text.length}`;
      const path = `/nodes/lists/${digests[list]}`;
      sending += await send(all[0], "PUT", path, part, { "content-range": range });
    }
  for (const [at, member] of all.entries()) {
    const join = { url: `http://m${at}`, instance: `i${at}`, digest: digests[at % lists] };
    joins.push(await send(member, "POST", "/nodes", encoder.encode(JSON.stringify(join))));
  }
  report("by digest", all, before, joins);
  console.log(`to take a list of ${texts[0].length} bytes: ${(sending / lists).toFixed(1)} ms`);
}

await withLists();
await byDigest();
process.exit(0);

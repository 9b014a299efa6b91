// Measures what members with many procedures cost a gateway: heap, and the CPU time of their joins,
// with the list in each join and with its digest. In memory; the gateway's bodies are made before.
// node --expose-gc bench/lists.mjs [members 1000] [procedures 100000] [lists 3] [another checkout]
// With 100,000 procedures, the joins with a list are 30 at most.

import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

import { memoryHost, request } from "./lib/memory-host.mjs";
import { median } from "./lib/statistics.mjs";

const [members = 1_000, procedures = 100_000, lists = 3] = process.argv.slice(2, 5).map(Number);
const root = process.argv[5] ?? fileURLToPath(new URL("..", import.meta.url));
const trustKey = "the key of this bench";
const encoder = new TextEncoder();
const partBytes = 64 * 1024;

const load = async (file) =>
  (await runnerImport(`${root}/${file}`, { root, configFile: false, logLevel: "error" })).module;
const { createGateway } = await load("src/roles/relay/gateway.ts");
const { defaultLimits: limits } = await load("src/codec/values/limits.ts");

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

async function gateway() {
  const host = memoryHost(async () => ({ status: 200, headers: {}, body: encoder.encode("true") }));
  let ids = 0;
  const newId = () => String(ids++);
  const options = { trustKey, limits, healthIntervalMs: 1e9, lease: 1e9, newId };
  const role = createGateway(host, options);
  await role.start("http://gateway");
  /** Resolves to the CPU time in ms. */
  return async (method, path, body, headers = {}) => {
    const fields = { "x-svc-trust-key": trustKey, ...headers };
    const incoming = { ...request(method, path, fields), readBody: async () => body };
    const before = process.cpuUsage();
    const { status } = await role.handle(incoming);
    const { user, system } = process.cpuUsage(before);
    if (status > 202) throw new Error(`${method} ${path} answered ${status}`);
    return (user + system) / 1_000;
  };
}

function report(what, count, before, joins) {
  const all = heap() - before;
  const ms = (time) => `${time.toFixed(2)} ms`;
  console.log(
    `${what}: ${count} members, ${all.toFixed(1)} MB of heap, ${((all / count) * 1_000).toFixed(1)} KB each; ` +
      `a join takes ${ms(median(joins.slice(lists)))}, with a new list ${ms(median(joins.slice(0, lists)))}`,
  );
}

async function withLists() {
  const count = procedures >= 100_000 ? Math.min(30, members) : members;
  const [send, before, joins] = [await gateway(), heap(), []];
  for (let at = 0; at < count; at++) {
    const list = new TextDecoder().decode(texts[at % lists]).slice(1);
    const body = encoder.encode(`{"url":"http://m${at}","instance":"i${at}",${list}`);
    joins.push(await send("POST", "/nodes", body));
  }
  report("list in the join", count, before, joins);
}

async function byDigest() {
  const [send, before, joins] = [await gateway(), heap(), []];
  const digests = texts.map((text) => createHash("sha256").update(text).digest("hex"));
  let sending = 0;
  for (const [list, text] of texts.entries())
    for (let start = 0; start < text.length; start += partBytes) {
      const part = text.slice(start, start + partBytes);
      const range = `bytes ${start}-${start + part.length - 1}/${text.length}`;
      const path = `/nodes/lists/${digests[list]}`;
      sending += await send("PUT", path, part, { "content-range": range });
    }
  for (let at = 0; at < members; at++) {
    const join = { url: `http://m${at}`, instance: `i${at}`, digest: digests[at % lists] };
    joins.push(await send("POST", "/nodes", encoder.encode(JSON.stringify(join))));
  }
  report("by digest", members, before, joins);
  console.log(`to take a list of ${texts[0].length} bytes: ${(sending / lists).toFixed(1)} ms`);
}

await withLists();
await byDigest().catch((error) => console.log(`by digest: ${error.message}`));

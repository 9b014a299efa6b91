// The application that is called, and the subjects of other servers.

import { application, build } from "../lib/application.mjs";
import { collections, reporting } from "../lib/collections.mjs";
import { loadOn, probe } from "../lib/load.mjs";
import { cpuOf, fork, rssOf } from "../lib/processes.mjs";
import { rightAnswer } from "../lib/samples.mjs";
import { fileURLToPath } from "node:url";

const layer = `export default {
  async handle(_fqn: unknown, _version: unknown, _args: unknown, _headers: unknown, next: () => Promise<unknown>): Promise<unknown> {
    return await next();
  },
};
`;

/** The procedures of every row, and two middleware. */
const files = {
  "stock.segment.json":
    '{ "./stock": { "add": { "access": "public" }, "echo": { "access": "public" }, "count": { "access": "public" }, "countUnchecked": { "access": "public", "validate": false } } }',
  "src/stock.ts": `interface Item {
  sku: string;
  metres: number;
  price: number;
  colour: "heather" | "slate" | "moss" | "peat" | "rust";
  inStock: boolean;
  note: string | null;
}
export async function count(stock: { items: Item[] }): Promise<number> {
  return stock.items.length;
}
export async function countUnchecked(stock: { items: Item[] }): Promise<number> {
  return stock.items.length;
}
export async function add(a: number, b: number): Promise<number> {
  return a + b;
}
export async function echo(value: unknown): Promise<unknown> {
  return value;
}
`,
  "src/layers/first.ts": layer,
  "src/layers/second.ts": layer,
  // Tells the build which middleware there is.
  "layers.json":
    '{ "mode": "standalone", "url": "http://127.0.0.1:0", "middleware": ["./src/layers/first.ts", "./src/layers/second.ts"] }',
};

/** The configuration of two middleware. */
export const layers = { middleware: ["./src/layers/first.ts", "./src/layers/second.ts"] };

/** @type {Map<string | undefined, Promise<import("../lib/application.mjs").Application>>} */
const builds = new Map();

/** An application of its own with the same procedures. @param {string} [checkout] */
export async function newStockApplication(checkout) {
  const app = await application(files, checkout);
  await build(app);
  return app;
}

/** The application, built once by each checkout. @param {string} [checkout] */
export function stockApplication(checkout) {
  if (!builds.has(checkout)) builds.set(checkout, newStockApplication(checkout));
  return builds.get(checkout);
}

/** How Seamline is called over HTTP. @param {string} name of a case */
export const overHttp = ({ procedure, args }) => ({
  path: `/rpc/${procedure}`,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(args),
});

/**
 * The processes behind an address that is loaded by HTTP: CPU time of its processes in µs a call.
 * @param {{ url: string, pids: number[], outputs?: (() => string)[], stop: () => Promise<void> }} server
 * @param {import("../lib/load.mjs").Request} request
 * @param {string} call the name of the call, which decides what is a right answer
 * @param {number} connections
 * @returns {Promise<import("../lib/rounds.mjs").Running>}
 */
export async function loaded({ url, pids, outputs = [], stop }, request, call, connections = 64) {
  try {
    await probe(url, request, rightAnswer(call));
  } catch (error) {
    await stop();
    throw error;
  }
  const load = loadOn(url, request, connections);
  const rates = [];
  const tails = [];
  const collected = collections(outputs);
  let total = 0;
  const all = { calls: 0, allocated: 0, survived: 0 };
  const middle = (values) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
  return {
    async measure(seconds) {
      const before = cpuOf(pids);
      let { calls, failures, seconds: took, p99 } = await load(seconds);
      // On a busy machine a chain of processes may answer nothing at all within a second.
      for (let tries = 0; calls === 0 && tries < 5; tries++)
        ({ calls, failures, seconds: took, p99 } = await load(2 * seconds));
      if (calls === 0) throw new Error("it answers no calls");
      if (failures > 0) throw new Error(`${failures} of ${calls} calls failed`);
      const { allocated, survived } = collected.read();
      // Code that is compiled, and caches that fill, survive: the first time doesn't count.
      if (total > 0) {
        all.calls += calls;
        all.allocated += allocated;
        all.survived += survived;
      }
      total += calls;
      rates.push(calls / took);
      tails.push(p99);
      return (cpuOf(pids) - before) / calls;
    },
    calls: () => total,
    remarks: () => ({
      "calls/s": middle(rates),
      "p99 ms": middle(tails),
      "RSS MB": rssOf(pids),
      ...(all.allocated > 0 && {
        "KB allocated/call": all.allocated / 1_000 / all.calls,
        "% that survives": (100 * all.survived) / all.allocated,
      }),
    }),
    stop,
  };
}

/**
 * A subject of `lab/bench/servers/http`.
 * @param {string} name
 * @param {string} file
 * @param {string} call
 * @param {number} [middleware]
 * @returns {import("../lib/rounds.mjs").Subject}
 */
export function peer(name, file, call, middleware = 0) {
  return {
    name,
    async start() {
      const path = fileURLToPath(new URL(`../servers/http/${file}.mjs`, import.meta.url));
      const { message, pid, output, stop } = await fork(path, [String(middleware)], reporting);
      const server = { url: message.url, pids: [pid], outputs: [output], stop };
      return await loaded(server, message.requests[call], call);
    },
  };
}

// P2: a service calls another; both ends count, and what is between them.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { application, build, deployment } from "../lib/application.mjs";
import { freePort } from "../lib/load.mjs";
import { cpuOf, fork, launchUntil, nextMessage } from "../lib/processes.mjs";

const services = new URL("../servers/services/", import.meta.url);

const files = {
  "front.segment.json": '{ "./front": { "drive": { "access": "public" } } }',
  "stock.segment.json": '{ "./stock": { "add": { "access": "protected" } } }',
  "src/stock.ts": `export async function add(a: number, b: number): Promise<number> {
  return a + b;
}
`,
  "src/front.ts": `import { add } from "./stock.ts";
/** Calls as often as it can, and returns how often it did. */
export async function drive(seconds: number, callers: number): Promise<number> {
  let calls = 0;
  const end = performance.now() + seconds * 1_000;
  const caller = async () => {
    do {
      if ((await add(calls, 1)) === undefined) throw new Error("no answer");
      calls++;
    } while (performance.now() < end);
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return calls;
}
`,
};

/** @type {Map<string | undefined, Promise<import("../lib/application.mjs").Application>>} */
const builds = new Map();
async function built(checkout) {
  const app = await application(files, checkout);
  await build(app);
  return app;
}

/** @param {string} name @param {number} callers @param {string} [checkout] */
const seamline = (name, callers, checkout) => ({
  name,
  async start() {
    if (!builds.has(checkout)) builds.set(checkout, built(checkout));
    const app = await builds.get(checkout);
    const {
      services: all,
      gateway,
      stop,
    } = await deployment(app, { nodes: [["front"], ["stock"]] });
    const pids = all.map(({ pid }) => pid);
    let total = 0;
    return {
      async measure(seconds) {
        const before = cpuOf(pids);
        const answer = await fetch(`${gateway.url}/rpc/drive`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ seconds, callers }),
        });
        const text = await answer.text();
        if (!answer.ok) throw new Error(`drive answered ${answer.status}: ${text}`);
        total += Number(text);
        return (cpuOf(pids) - before) / Number(text);
      },
      calls: () => total,
      stop,
    };
  },
});

/**
 * A callee and a caller of `lab/bench/servers/services`, and perhaps a broker between them.
 * @param {string} name
 * @param {string} file
 * @param {number} callers
 * @param {{ caller?: string, broker?: () => Promise<{ address: string, parts: import("../lib/processes.mjs").Started[] }> }} [parts]
 */
export const pair = (name, file, callers, { caller = "caller", broker } = {}) => ({
  name,
  async start() {
    const path = fileURLToPath(new URL(`${file}.mjs`, services));
    const started = [];
    const stop = async () => {
      for (const { stop: end } of started.toReversed()) await end();
    };
    try {
      const between = await broker?.();
      started.push(...(between?.parts ?? []));
      const callee = await fork(path, ["callee", ...(between ? [between.address] : [])]);
      started.push(callee);
      const calling = await fork(path, [caller, callee.message.address]);
      started.push(calling);
      const pids = started.map(({ pid }) => pid);
      return {
        async measure(seconds) {
          const before = cpuOf(pids);
          const message = nextMessage(calling);
          calling.child.send({ seconds, callers });
          const { calls } = await message;
          return (cpuOf(pids) - before) / calls;
        },
        stop,
      };
    } catch (error) {
      await stop();
      throw error;
    }
  },
});

/** Moleculer's NATS server counts as a part of the row: its users have to run it. */
async function nats() {
  if (spawnSync("nats-server", ["-v"], { stdio: "ignore" }).error)
    throw new Error("no nats-server here");
  const port = await freePort();
  const words = ["-a", "127.0.0.1", "-p", String(port)];
  const started = await launchUntil("nats-server", words, { until: /Server is ready/ });
  return { address: `nats://127.0.0.1:${port}`, parts: [started] };
}

const tcp = async () => ({ address: `tcp:${await freePort()},${await freePort()}`, parts: [] });

export const title = "Service to service; Seamline's calls pass its gateway";
export const about =
  "A procedure of one service calls one of another as often as it can. CPU time is that of both services and of whatever is between them: Seamline's gateway and repository, or the NATS server.";

/** Stands below the tables. */
export const notes = `What a profile shows of 64 callers, once writes to sockets are left out, where each process waits for the core that it has woken another one on:

- No function takes more than a tenth. The collector takes 13 % of the gateway and 16 to 19 % of the nodes: a call leaves 11 to 14 KB of garbage in each, and no place a tenth of it but the building of heads.
- Heads are text with a line for each name and value. To read one and to make its fields takes 6 to 9 % where calls arrive, to write one about 8 %. Heads of answers come again and are read, passed on and
  written once; those of calls have a time limit that changes.
- Where a context runs, Node 20 calls hooks for each promise: 12 % of the caller, 10 % of the callee. A gateway without modules has none. Node 24 carries contexts without hooks.
- 0.05 writes and 0.035 reads a call in the gateway, 0.02 in the nodes: there is little left to put together.

The limit has none of this: no head, no trust, no time limit, no place between the two. A head that a gateway passes on without making fields of it would go a little further: where every service remembered the last
head, so that heads cost nothing at all, a call took 0.85 of what it does, and the gateway 0.76 (12 rounds in turn).`;

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = ({ against }) =>
  [8, 64].map((callers) => ({
    name: `add, ${callers} callers`,
    unit: "CPU µs/call",
    subjects: [
      pair("frames over a bare socket", "socket", callers),
      seamline("Seamline", callers),
      ...(against ? [seamline("Seamline, before", callers, against)] : []),
      pair("Moleculer over NATS", "moleculer", callers, { broker: nats }),
      pair("Moleculer over TCP", "moleculer", callers, { broker: tcp }),
      pair("Cap'n Web over a WebSocket", "capnweb", callers),
      pair("node:http with an agent", "http", callers, { caller: "agent" }),
      pair("fetch", "http", callers, { caller: "fetch" }),
    ],
  }));

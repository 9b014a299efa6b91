// `npm run trace`: what one warm call passes through: files, functions, and moves between files, of each process.
//
//   --only get,hop   these kinds of call
//   --list           the files in the order of their first function, with the functions
//   --folders        files, lines, tokens, functions and exported types of each room and folder, and the folders that import each other, and no calls
//
// The sources get a counter at the beginning of each function, and real processes run them. Dependencies, the application
// and what timers do aren't counted. The caller keeps its connection. Of many calls the one with the fewest entries is
// shown: what came before it warmed the services up, and no ping or health check came beside it. "node to node" is the
// call that a procedure makes, without the one that it answers.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { runnerImport } from "vite";
import {
  application,
  build,
  deployment,
  service as startService,
} from "./bench/lib/application.mjs";
import { nextMessage } from "./bench/lib/processes.mjs";
import { printFolders } from "./trace/folders.mjs";
import { instrument } from "./trace/instrument.mjs";

/**
 * @typedef {import("./bench/lib/application.mjs").Service} Service
 * @typedef {Record<string, Service>} Services By the names that they have in the output.
 * @typedef {Record<string, string[]>} Trace The entered functions of each process, in order.
 * @typedef {{ path: string, init?: RequestInit, answer: string }} Call
 */

const root = join(import.meta.dirname, "..");
/** The package that the application imports, and the command that runs it. */
const entries = { main: "server/main", internal: "src/internal", cli: "server/cli/cli" };
const samples = 40;
// Until all work of a call is done, also what follows its answer.
const settledMs = 30;

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    list: { type: "boolean" },
    folders: { type: "boolean" },
  },
});

/** @type {{ module: typeof import("../test/_sources.ts") }} */
const { module } = await runnerImport(join(root, "test/_sources.ts"), {
  root,
  configFile: false,
  logLevel: "warn",
});

// The package's sources: two rooms, and those that they import from.
/** @type {import("../test/_sources.ts").Source[]} */
const sources = [];
const rooms = new Set(["server", "client"]);
for (const room of rooms)
  for (const source of module.sourcesIn(room)) {
    sources.push(source);
    for (const { path } of source.imports)
      if (path !== undefined) rooms.add(path.split("/")[0] ?? "");
  }

/** Writes a package of instrumented sources, which takes the rest from this checkout. */
function instrumentedPackage() {
  const folder = mkdtempSync(join(tmpdir(), "seamline-trace-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const counter = join(folder, "counter.mjs");
  cpSync(join(root, "lab/trace/counter.mjs"), counter);
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const write = (/** @type {string} */ path, /** @type {string} */ text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const source of sources)
    write(source.path.replace(/\.ts$/, ".js"), instrument(source, counter));
  for (const [name, file] of Object.entries(entries))
    write(`dist/${name}.js`, `export * from "../${file}.js";\n`);
  // Pages' files, and the thread that reads types for the build: neither is part of a call.
  for (const name of ["svc", "types-worker.js"])
    symlinkSync(join(root, "dist", name), join(folder, "dist", name));
  return folder;
}

const files = {
  "front.segment.json": '{ "./front": { "twice": { "access": "public" } } }',
  "stock.segment.json": JSON.stringify({
    "./stock": {
      add: { access: "public" },
      feed: { access: "public", route: "POST /feed" },
    },
  }),
  "src/stock.ts": `export async function add(a: number, b: number): Promise<number> {
  return a + b;
}
export async function feed(request: Request): Promise<Response> {
  return new Response(await request.text());
}
`,
  // Asks the tracer before and after the call that counts, as it answers one itself.
  "src/front.ts": `import { once } from "node:events";
import { add } from "./stock.ts";
async function step(): Promise<void> {
  process.send!("step");
  while ((await once(process, "message"))[0] !== "go");
}
export async function twice(a: number): Promise<number> {
  await step();
  const sum = await add(a, a);
  await step();
  return sum;
}
`,
};

/** @type {(body: string, type?: string) => RequestInit} */
const post = (body, type = "application/json") => ({
  method: "POST",
  headers: { "content-type": type },
  body,
});
const get = { path: "/rpc/add?a=1&b=2", answer: "3" };
const posted = { path: "/rpc/add", init: post('{"a":1,"b":2}'), answer: "3" };
const route = { path: "/feed", init: post("oats", "text/plain"), answer: "oats" };
const nested = { path: "/rpc/twice?a=2", answer: "4" };

/** @type {Record<string, { title: string, processes: string[], call: Call }>} */
const kinds = {
  get: { title: "GET", processes: ["standalone"], call: get },
  post: { title: "POST", processes: ["standalone"], call: posted },
  route: { title: "route", processes: ["standalone"], call: route },
  "gateway-get": { title: "GET", processes: ["gateway", "node"], call: get },
  "gateway-post": { title: "POST", processes: ["gateway", "node"], call: posted },
  "gateway-route": { title: "route", processes: ["gateway", "node"], call: route },
  hop: { title: "node to node", processes: ["gateway", "caller", "node"], call: nested },
};

/** @param {string} url @param {Call} call */
async function make(url, { path, init, answer }) {
  const response = await fetch(url + path, init);
  const text = await response.text();
  if (text !== answer) throw new Error(`${path} answers ${response.status}: ${text}`);
}

/** @param {Service} service @param {"record" | "report"} word @returns {Promise<{ entered: string[] }>} */
async function ask(service, word) {
  const answer = nextMessage(service);
  service.child.send(word);
  return await answer;
}

/**
 * The functions that the processes enter during an action.
 * @param {Services} services
 * @param {() => Promise<unknown>} work
 */
async function recorded(services, work) {
  for (const service of Object.values(services)) await ask(service, "record");
  await work();
  await pause(settledMs);
  /** @type {Trace} */
  const trace = {};
  for (const [name, service] of Object.entries(services))
    trace[name] = (await ask(service, "report")).entered;
  return trace;
}

/** @param {Services} services @param {string} url @param {Call} call */
async function sample({ caller, ...others }, url, call) {
  if (caller === undefined) return await recorded(others, () => make(url, call));
  const asked = nextMessage(caller);
  const answered = make(url, call);
  await asked;
  await pause(settledMs);
  const trace = await recorded({ caller, ...others }, async () => {
    const next = nextMessage(caller);
    caller.child.send("go");
    await next;
  });
  caller.child.send("go");
  await answered;
  return trace;
}

/** The trace of a warm call. @param {Services} services @param {Call} call */
async function traceOf(services, call) {
  const { url } = services.standalone ?? services.gateway ?? {};
  /** @type {Trace[]} */
  const traces = [];
  while (traces.length < samples) traces.push(await sample(services, `${url}`, call));
  return traces.reduce((least, trace) => (lengthOf(trace) < lengthOf(least) ? trace : least));
}

/** @param {Trace} trace */
const lengthOf = (trace) => Object.values(trace).flat().length;

/** @param {string} place */
const fileOf = (place) => place.slice(0, place.indexOf(":"));

/** @param {string[]} entered */
const movesIn = (entered) =>
  entered.filter((place, at) => at > 0 && fileOf(place) !== fileOf(entered[at - 1] ?? "")).length;

/** @param {string[][]} processes */
function figuresOf(...processes) {
  const all = processes.flat();
  return {
    files: new Set(all.map(fileOf)).size,
    functions: new Set(all).size,
    calls: all.length,
    moves: processes.map(movesIn).reduce((sum, moves) => sum + moves, 0),
  };
}

/** Prints each file with its functions, in the order in which they are first entered. @param {string[]} entered */
function printList(entered) {
  for (const file of new Set(entered.map(fileOf))) {
    console.log(file);
    const inside = entered.filter((place) => fileOf(place) === file);
    for (const place of new Set(inside)) {
      const times = inside.filter((other) => other === place).length;
      console.log(`  ${place.slice(file.length + 1)}${times > 1 ? ` ×${times}` : ""}`);
    }
  }
}

async function printCalls() {
  const chosen = options.only?.split(",") ?? Object.keys(kinds);
  const unknown = chosen.find((name) => !(name in kinds));
  if (unknown !== undefined)
    throw new Error(`--only ${unknown}: expected ${Object.keys(kinds).join(", ")}`);
  const built = await application(files, instrumentedPackage());
  await build(built);
  /** @type {import("node:child_process").SpawnOptions} */
  const spawning = { stdio: ["ignore", "pipe", "pipe", "ipc"] };
  const standalone = await startService(built, "standalone", {}, spawning);
  const nodes = [["front"], ["stock"]];
  const {
    gateway,
    nodes: [caller, node],
    stop,
  } = await deployment(built, { nodes }, spawning);
  if (caller === undefined || node === undefined) throw new Error("a node is missing");
  const services = { standalone, gateway, caller, node };
  /** @type {Record<string, ReturnType<typeof figuresOf>>} */
  const rows = {};
  for (const [name, { title, processes, call }] of Object.entries(kinds)) {
    if (!chosen.includes(name)) continue;
    const taking = Object.entries(services).filter(([process]) => processes.includes(process));
    const trace = await traceOf(Object.fromEntries(taking), call);
    for (const [process, entered] of Object.entries(trace)) {
      rows[`${title}: ${process}`] = figuresOf(entered);
      if (!options.list) continue;
      console.log(`\n# ${name}: ${process}\n`);
      printList(entered);
    }
    if (processes.length > 1)
      rows[`${title}: ${processes.join(" + ")}`] = figuresOf(...Object.values(trace));
  }
  console.table(rows);
  await standalone.stop();
  await stop();
}

if (options.folders) printFolders([...sources, ...module.sourcesIn("console")]);
else await printCalls();

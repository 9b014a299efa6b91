// Processes of the benches: started, asked for their CPU time and memory, and stopped.

import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Longer than any service takes to start, to end a bench that hangs. */
const startTimeoutMs = 120_000;

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

/**
 * A started process.
 * @typedef {object} Started
 * @property {import("node:child_process").ChildProcess} child
 * @property {number} pid
 * @property {() => string} output what it printed
 * @property {() => Promise<void>} stop
 */

/** The output of a process, as a message. @param {string} output */
const shown = (output) => output.trim().slice(-2_000) || "(nothing printed)";

/**
 * Starts a command. The end of this process ends it as well.
 * @param {string} command
 * @param {string[]} words
 * @param {import("node:child_process").SpawnOptions} [options]
 * @returns {Started}
 */
export function launch(command, words, options = {}) {
  const child = spawn(command, words, { stdio: ["ignore", "pipe", "pipe"], ...options });
  running.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text) => (output += text));
  child.on("error", (error) => (output += error.message));
  const ended = new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  void ended.then(() => running.delete(child));
  return {
    child,
    pid: Number(child.pid),
    output: () => output,
    async stop() {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), 3_000);
      await ended;
      clearTimeout(late);
    },
  };
}

/** Whether a process is still there. @param {Started} started */
const lives = ({ child }) => child.pid !== undefined && child.exitCode === null && !child.killed;

/**
 * Starts a command and waits until its output matches.
 * @param {string} command
 * @param {string[]} words
 * @param {{ until: RegExp, everyMs?: number } & import("node:child_process").SpawnOptions} options
 * @returns {Promise<Started & { found: string }>} `found` is the first group of the match
 */
export async function launchUntil(command, words, { until, everyMs = 10, ...options }) {
  const started = launch(command, words, options);
  const began = performance.now();
  for (;;) {
    const match = until.exec(started.output());
    if (match) return { ...started, found: match[1] ?? "" };
    const late = performance.now() - began > startTimeoutMs;
    if (late || !lives(started)) {
      await started.stop();
      const problem = late ? "did not get ready" : "ended before it was ready";
      throw new Error(`${command} ${problem}: ${shown(started.output())}`);
    }
    await pause(everyMs);
  }
}

/**
 * Starts a module of `lab/bench/servers` that sends a message once it is ready.
 * @param {string} path
 * @param {string[]} [words]
 * @param {string[]} [node] options of Node
 * @returns {Promise<Started & { message: any }>}
 */
export async function fork(path, words = [], node = []) {
  const started = launch(process.execPath, [...node, path, ...words], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  return { ...started, message: await nextMessage(started) };
}

/**
 * The next message of a process; its end is an error.
 * @param {Started} started
 * @returns {Promise<any>}
 */
export function nextMessage({ child, output, stop }) {
  return new Promise((resolve, reject) => {
    const done = () => {
      child.off("message", heard).off("exit", gone);
      clearTimeout(late);
    };
    const heard = (/** @type {any} */ message) => {
      done();
      if (message?.problem === undefined) resolve(message);
      else void stop().then(() => reject(new Error(message.problem)));
    };
    const gone = () => {
      done();
      reject(new Error(`it ended: ${shown(output())}`));
    };
    const late = setTimeout(() => {
      done();
      void stop().then(() => reject(new Error(`it said nothing: ${shown(output())}`)));
    }, startTimeoutMs);
    child.on("message", heard).once("exit", gone);
    if (child.exitCode !== null) gone();
  });
}

/** @param {number} pid @returns {number[]} the process and all below it */
function treeOf(pid) {
  const children = tasksOf(pid).flatMap((task) =>
    read(`/proc/${pid}/task/${task}/children`).split(" ").filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(treeOf)];
}

/** @param {number} pid */
function tasksOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch (error) {
    throw new Error(`Process ${pid} is gone`, { cause: error });
  }
}

/** A thread may end between two reads. @param {string} path */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/**
 * CPU time in µs of all threads of these processes and of those that they started: of
 * `/proc/<pid>/schedstat`, which counts only the first thread, the one for each thread.
 * @param {readonly number[]} pids
 */
export function cpuOf(pids) {
  let sum = 0;
  for (const pid of pids.flatMap(treeOf))
    for (const task of tasksOf(pid))
      sum += Number(read(`/proc/${pid}/task/${task}/schedstat`).split(" ")[0]);
  return sum / 1_000;
}

/** Resident memory in MB of these processes and of those that they started. @param {readonly number[]} pids */
export function rssOf(pids) {
  const kB = pids
    .flatMap(treeOf)
    .map((pid) => Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0));
  return kB.reduce((sum, part) => sum + part, 0) / 1_000;
}

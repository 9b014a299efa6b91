// The demo's processes: started one by one, watched, and stopped together.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

/** @typedef {import("./roles.mjs").Role} Role */
/** @typedef {{ label: string, process: import("node:child_process").ChildProcess, output: () => string, ended: Promise<string> }} Running */

const keptOutput = 4000;
const longestStart = 60_000;
const longestStop = 10_000;

/**
 * Rejects if something already listens on the role's port.
 * @param {Role} role
 * @param {string} elsewhere a command that takes other ports
 */
export async function checkPort(role, elsewhere = "SEAMLINE_DEMO_PORT=8400 npm run demo") {
  await new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code !== "EADDRINUSE")
        return reject(
          new Error(`The ${role.mode} can't listen on port ${role.port}: ${error.message}`),
        );
      return reject(
        new Error(
          `Port ${role.port} is taken, and ${nameOf(role)} needs it. Free it, or take others: ${elsewhere}`,
        ),
      );
    });
    probe.listen(role.port, new URL(role.url).hostname, () => probe.close(resolve));
  });
}

/**
 * @param {string} label
 * @param {string[]} words
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, tell?: (line: string) => void }} options `tell` gets each line of output
 * @returns {Running}
 */
export function run(label, words, { tell, ...options }) {
  const child = spawn(process.execPath, words, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      output = `${output}${line}\n`.slice(-keptOutput);
      tell?.(line);
    });
  }
  const ended = new Promise((/** @type {(how: string) => void} */ resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) =>
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`),
    );
  });
  return { label, process: child, output: () => output.trim(), ended };
}

/**
 * Waits until the role is ready, and rejects if it ends before.
 * @param {Role} role
 * @param {Running} running
 */
export async function untilReady(role, running) {
  /** @type {string | undefined} */
  let end;
  void running.ended.then((how) => (end = how));
  const started = performance.now();
  while (performance.now() - started < longestStart) {
    const answer = await fetch(`${role.url}/health/ready`, {
      signal: AbortSignal.timeout(2000),
    }).catch(() => undefined);
    if (end !== undefined) throw new Error(deathOf(running, end));
    if (answer?.status === 200) return;
    await pause(50);
  }
  throw new Error(
    withOutput(`${capital(nameOf(role))} was not ready after ${longestStart / 1000} s`, running),
  );
}

/**
 * Stops all processes, the last started first, and waits for each.
 * @param {Running[]} all
 * @returns {Promise<string[]>} who had to be ended by force
 */
export async function stopAll(all) {
  const forced = [];
  for (const service of all.toReversed()) {
    if (
      service.process.exitCode !== null ||
      service.process.signalCode !== null ||
      service.process.pid === undefined
    )
      continue;
    service.process.kill("SIGTERM");
    const waiting = new AbortController();
    const inTime = await Promise.race([
      service.ended,
      pause(longestStop, false, { signal: waiting.signal }).catch(() => false),
    ]);
    waiting.abort();
    if (inTime !== false) continue;
    service.process.kill("SIGKILL");
    await service.ended;
    forced.push(service.label);
  }
  return forced;
}

/**
 * @param {Running} running
 * @param {string} how
 */
export function deathOf(running, how) {
  return withOutput(capital(`${running.label} stopped by itself (${how})`), running);
}

/**
 * @param {string} message
 * @param {Running} running
 */
export function withOutput(message, running) {
  const output = running.output();
  return output === "" ? message : `${message}. Its output:\n\n${output.replaceAll(/^/gm, "  ")}\n`;
}

/**
 * A role's name as part of a sentence.
 * @param {Role} role
 */
export function nameOf(role) {
  return role.mode === "node" ? role.label : `the ${role.label}`;
}

/** @param {string} sentence */
function capital(sentence) {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

// Load on an HTTP server: `wrk` where it is installed, else autocannon.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { launch } from "./processes.mjs";

/** How a server is called. @typedef {{ method?: string, path: string, headers?: Record<string, string>, body?: string }} Request */
/** The result of a load. @typedef {{ calls: number, failures: number, seconds: number, p99: number }} Load */

const found = spawnSync("wrk", ["-v"], { stdio: "ignore" }).error === undefined;

/** The tool that makes the calls. */
export const tool = found ? "wrk" : "autocannon";

const folder = mkdtempSync(join(tmpdir(), "seamline-load-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** A long string of Lua. @param {string} text */
const quoted = (text) => `[===[${text}]===]`;

/** The script by which wrk sends a request and reports. @param {Request} request */
function scriptOf({ method = "POST", headers = {}, body }) {
  const name = join(folder, String(files++));
  const lines = [`wrk.method = ${quoted(method)}`];
  if (body !== undefined) {
    writeFileSync(`${name}.body`, body);
    lines.push(
      `local file = io.open(${quoted(`${name}.body`)}, "rb")`,
      'wrk.body = file:read("*a")',
      "file:close()",
    );
  }
  for (const [key, value] of Object.entries(headers))
    lines.push(`wrk.headers[ ${quoted(key)} ] = ${quoted(value)}`);
  lines.push(`function done(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %d %d\\n", summary.requests, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(99)))
end`);
  writeFileSync(`${name}.lua`, `${lines.join("\n")}\n`);
  return `${name}.lua`;
}

/**
 * Prepares load on a server. The function that it returns makes it for some seconds.
 * @param {string} url
 * @param {Request} request
 * @param {number} connections
 * @returns {(seconds: number) => Promise<Load>}
 */
export function loadOn(url, request, connections) {
  return found ? byWrk(url, request, connections) : byAutocannon(url, request, connections);
}

/** @type {typeof loadOn} */
function byWrk(url, request, connections) {
  const script = scriptOf(request);
  return async (seconds) => {
    const words = [
      "-t1",
      // On a busy machine a process may not run for seconds; what it does then still counts.
      "--timeout=60s",
      `-c${connections}`,
      `-d${Math.max(1, Math.round(seconds))}s`,
      "-s",
      script,
      url + request.path,
    ];
    const wrk = launch("wrk", words);
    await new Promise((resolve) => wrk.child.once("close", resolve));
    const match = /^RESULT (\d+) (\d+) (\d+) (\d+)$/m.exec(wrk.output());
    if (!match) throw new Error(`wrk failed: ${wrk.output()}`);
    const [calls, duration, failures, p99] = match.slice(1).map(Number);
    return { calls, failures, seconds: duration / 1e6, p99: p99 / 1e3 };
  };
}

/** @type {typeof loadOn} */
function byAutocannon(url, { method = "POST", path, headers, body }, connections) {
  return async (seconds) => {
    const { default: autocannon } = await import("autocannon");
    const options = { url: url + path, method, headers, body, connections, duration: seconds };
    const { requests, errors, non2xx, duration, latency } = await autocannon(options);
    return {
      calls: requests.total,
      failures: errors + non2xx,
      seconds: duration,
      p99: latency.p99,
    };
  };
}

/**
 * Makes a single request, and refuses an answer other than the expected one: a server that answers
 * quickly with an error must not win.
 * @param {string} url
 * @param {Request} request
 * @param {(text: string) => boolean} right
 */
export async function probe(url, { method = "POST", path, headers, body }, right) {
  const answer = await fetch(url + path, { method, headers, body });
  const text = await answer.text();
  if (!answer.ok || !right(text))
    throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 300)}`);
}

/** A port that nothing listens on, for a server that can't choose one by itself. */
export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

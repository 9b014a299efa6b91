// Starts a copy of the demo as a user would: real processes on free ports.

import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { freePort } from "../test/_free-port.ts";

const root = join(import.meta.dirname, "..");
const variables = ["PORT", "GATEWAY_PORT", "REPOSITORY_PORT", "NODE_A_PORT", "NODE_B_PORT"].map(
  (name) => `SEAMLINE_DEMO_${name}`,
);

export type Ports = Readonly<Record<string, string>>;

/** A running `npm run demo`. */
export interface DemoRun {
  readonly pid: number;
  output(): string;
  /** The page's address, once the demo prints it; rejects if the demo ends before. */
  readonly opened: Promise<string>;
  readonly ended: Promise<number | null>;
  /** Stops the demo as Ctrl-C does. */
  interrupt(): Promise<number | null>;
}

/** Copies the demo into a folder like a user's, with the package and Vite in its `node_modules`. */
export function copyDemo(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "seamline-demo-"));
  // The demo's tsconfig.json refers to files outside of its folder.
  const left = /[\\/](?:dist|node_modules|\.seamline|tsconfig\.json)$/;
  cpSync(join(root, "demo"), folder, { recursive: true, filter: (path) => !left.test(path) });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/seamline"), "dir");
  symlinkSync(join(root, "node_modules/vite"), join(folder, "node_modules/vite"), "dir");
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

export async function freePorts(): Promise<Ports> {
  const ports: Record<string, string> = {};
  for (const name of variables) ports[name] = String(await freePort());
  return ports;
}

export function runDemo(folder: string, ports: Ports, ...words: readonly string[]): DemoRun {
  const child = spawn(process.execPath, [join(folder, "run.mjs"), ...words], {
    env: { ...process.env, ...ports },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const opened = new Promise<string>((resolve, reject) => {
    const read = (text: string): void => {
      output += text;
      const [, url] = /Open {2}(\S+)\n/.exec(output) ?? [];
      if (url !== undefined) resolve(url);
    };
    child.stdout.setEncoding("utf8").on("data", read);
    child.stderr.setEncoding("utf8").on("data", read);
    void ended.then((code) => reject(new Error(`the demo ended with ${code}:\n${output}`)));
  });
  opened.catch(() => undefined); // tests that expect the demo to end don't await it
  return {
    pid: child.pid ?? 0,
    output: () => output,
    opened,
    ended,
    interrupt: async () => {
      // Like a terminal, signal the whole process group: the demo and its services.
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGINT");
      return await ended;
    },
  };
}

/** The child processes of `pid`, with their command lines. */
export function childrenOf(
  pid: number,
): readonly { readonly pid: number; readonly command: string }[] {
  const lines = execFileSync("ps", ["-e", "-o", "pid=,ppid=,args="], { encoding: "utf8" })
    .trim()
    .split("\n");
  return lines.flatMap((line) => {
    const [, own, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parent) === pid && own !== undefined
      ? [{ pid: Number(own), command: command ?? "" }]
      : [];
  });
}

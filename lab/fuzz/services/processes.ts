// Each role as a process of its own, with a probe inside: repository, gateway, node, proxy, standalone.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import {
  type Application,
  buildPackage,
  createApplication,
} from "../../../test/process/_application.ts";

export const roleNames = ["repository", "gateway", "node", "proxy", "standalone"] as const;
export type RoleName = (typeof roleNames)[number];

/** The memory that a process holds after a collection. */
export interface Sample {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
  /** Counts by kind: sockets, timers, servers. */
  readonly handles: Readonly<Record<string, number>>;
}

export interface Service {
  readonly url: string;
  readonly port: number;
  sample(): Promise<Sample>;
  /** How it ended, if it did. */
  ended(): string | undefined;
  output(): string;
}

export interface Processes {
  readonly services: Readonly<Record<RoleName, Service>>;
  readonly trustKey: string;
  close(): Promise<void>;
}

const source = `
const before = Reflect.ownKeys(Object.prototype).length + Reflect.ownKeys(globalThis).length;
export async function echo(value: unknown) { return value; }
export async function add(a: number, b: number) { return a + b; }
export async function fail() { throw new Error("broken"); }
export async function wait(ms: number) { await new Promise((resolve) => setTimeout(resolve, ms)); return ms; }
export async function take(file: File) { return file.size; }
export async function many(count: number) { return "x".repeat(count); }
export async function bytes(count: number) { return new Uint8Array(count).fill(7); }
let loading: Promise<string[]> | undefined;
export async function shared(count: number) {
  loading ??= new Promise((resolve) => setTimeout(() => {
    loading = undefined;
    resolve(Array.from({ length: count / 1024 }, () => "x".repeat(1021)));
  }, 300));
  return await loading;
}
export async function canary() {
  const now = Reflect.ownKeys(Object.prototype).length + Reflect.ownKeys(globalThis).length;
  return now === before ? "alive" : "polluted";
}
export async function hook(request: Request) { return new Response(await request.text()); }
const countIn = (request: Request) => Number(new URL(request.url).pathname.split("/").at(-1));
export async function whole(request: Request) { return new Response("x".repeat(countIn(request))); }
export async function stream(request: Request) {
  let left = countIn(request);
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const size = Math.min(left, 65536);
    left -= size;
    if (size === 0) controller.close();
    else controller.enqueue(new Uint8Array(size));
  };
  return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
}
`;

const trustKey = "the-trust-key-of-the-fuzzed-services-0123456789";

/** `limits` are those of each service, and `flags` Node's own. */
export async function startProcesses(
  limits: object = {},
  flags: readonly string[] = [],
): Promise<Processes> {
  buildPackage();
  const application = await createApplication();
  await application.put("src/a/calls.ts", source);
  const names = ["echo", "add", "fail", "wait", "take", "many", "bytes", "shared", "canary"];
  await application.put("main.segment.json", {
    "./a/calls": {
      ...Object.fromEntries(names.map((name) => [name, { access: "public" }])),
      hook: { access: "public", route: "POST /hooks/:id" },
      whole: { access: "public", route: "GET /whole/:count" },
      stream: { access: "public", route: "GET /stream/:count" },
    },
  });
  await application.put("index.html", "<!doctype html><title>Shop</title>");
  const build = application.seamline(["build"]);
  if ((await build.ended()) !== 0) throw new Error(build.output());
  const children: ChildProcess[] = [];
  const start = async (mode: RoleName, more: object = {}): Promise<Service> => {
    const common = { mode, url: "http://127.0.0.1:0", trustKey, limits };
    await application.put(`${mode}.json`, { ...common, ...more });
    return await startService(application, mode, children, flags);
  };
  const repository = await start("repository");
  const gateway = await start("gateway");
  const others = { gateway: gateway.url, repository: repository.url };
  const node = await start("node", { ...others, segments: ["main"] });
  const proxy = await start("proxy", others);
  const standalone = await start("standalone");
  const services = { repository, gateway, node, proxy, standalone };
  for (const { url } of [gateway, proxy]) await untilAlive(`${url}/rpc/a/canary`);
  return {
    services,
    trustKey,
    async close() {
      for (const child of children) child.kill("SIGKILL");
      await application.remove();
    },
  };
}

async function untilAlive(url: string): Promise<void> {
  while ((await fetch(url)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function startService(
  application: Application,
  mode: RoleName,
  children: ChildProcess[],
  flags: readonly string[],
): Promise<Service> {
  const cli = join(import.meta.dirname, "../../../dist/cli.js");
  const probe = join(import.meta.dirname, "probe.mjs");
  const child = spawn(
    process.execPath,
    [...flags, "--expose-gc", "--import", probe, cli, "start", "--config", `${mode}.json`],
    {
      cwd: application.root,
      env: { PATH: process.env["PATH"] ?? "", SEAMLINE_LOG: "text" },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    },
  );
  children.push(child);
  let output = "";
  let ended: string | undefined;
  child.on("exit", (code, signal) => (ended = String(code ?? signal)));
  const url = await new Promise<string>((resolve, reject) => {
    const read = (text: string): void => {
      // The log of a long run would fill the memory.
      output = (output + text).slice(-20_000);
      const found = new RegExp(`^${mode} at (http://127\\.0\\.0\\.1:\\d+)`, "m").exec(output);
      if (found?.[1] !== undefined) resolve(found[1]);
    };
    child.stdout?.setEncoding("utf8").on("data", read);
    child.stderr?.setEncoding("utf8").on("data", read);
    child.on("exit", () => reject(new Error(`The ${mode} ended:\n${output}`)));
  });
  return {
    url,
    port: Number(new URL(url).port),
    ended: () => ended,
    output: () => output,
    async sample() {
      child.send("sample");
      const [message] = (await once(child, "message")) as [Sample];
      return message;
    },
  };
}

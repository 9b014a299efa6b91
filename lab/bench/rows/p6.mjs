// P6: what a page loads before it sends its first remote call.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { application, build, repository, service } from "../lib/application.mjs";

const page =
  '<!doctype html><title>Stock</title><script type="module" src="/src/main.ts"></script>\n';

const files = {
  "stock.segment.json": '{ "./stock": { "add": { "access": "public" } } }',
  "index.html": page,
  "src/stock.ts": `export async function add(a: number, b: number): Promise<number> {
  return a + b;
}
`,
  "src/main.ts": `import { startClient } from "seamline/client";
import { add } from "./stock.ts";
await startClient();
document.title = String(await add(1, 2));
`,
};

/** The same with clients of others, as their documentation begins. @type {Record<string, string>} */
const clients = {
  "fetch by hand": `const answer = await fetch("/rpc/add", { method: "POST", body: JSON.stringify({ a: 1, b: 2 }) });
document.title = String(await answer.json());`,
  Hono: `import { hc } from "hono/client";
const client = hc("/") as any;
document.title = String(await (await client.rpc.add.$post({ json: { a: 1, b: 2 } })).json());`,
  tRPC: `import { createTRPCClient, httpBatchLink } from "@trpc/client";
const client = createTRPCClient<any>({ links: [httpBatchLink({ url: "/" })] }) as any;
document.title = String(await client.add.mutate({ a: 1, b: 2 }));`,
  oRPC: `import { createORPCClient } from "@orpc/client";
import { RPCLink } from "@orpc/client/fetch";
const client = createORPCClient(new RPCLink({ url: location.origin + "/rpc" })) as any;
document.title = String(await client.add({ a: 1, b: 2 }));`,
  "Cap'n Web": `import { newHttpBatchRpcSession } from "capnweb";
const stock = newHttpBatchRpcSession("/rpc") as any;
document.title = String(await stock.add(1, 2));`,
};

const kB = (/** @type {Buffer} */ bytes) => gzipSync(bytes, { level: 9 }).length / 1_000;

/** The bytes that a built page of another library loads: all of its JavaScript, which it imports statically. @param {string} name */
const peer = (name) => ({
  name,
  async start() {
    const app = await application({
      "index.html": page,
      "src/main.ts": clients[name],
      "vite.config.mjs":
        "export default { resolve: { preserveSymlinks: true }, build: { target: 'es2022' } };\n",
    });
    const packages = fileURLToPath(new URL("../node_modules", import.meta.url));
    for (const entry of readdirSync(packages))
      if (!entry.startsWith(".") && entry !== "vite")
        await symlink(join(packages, entry), join(app.folder, "node_modules", entry));
    const vite = join(repository, "node_modules/vite/bin/vite.js");
    const run = spawnSync(process.execPath, [vite, "build"], { cwd: app.folder, encoding: "utf8" });
    if (run.status !== 0) throw new Error(`vite build failed: ${run.stderr}`);
    const scripts = readdirSync(join(app.folder, "dist/assets")).filter((file) =>
      file.endsWith(".js"),
    );
    const sizes = scripts.map((file) => kB(readFileSync(join(app.folder, "dist/assets", file))));
    return {
      measure: async () => sizes.reduce((sum, size) => sum + size, 0),
      remarks: () => ({ requests: 1 + scripts.length, "one after another": 2 }),
      stop: async () => {},
    };
  },
});

/** How many requests came one after another until the last: each began after another's end. */
function chain(requests) {
  const depths = [];
  for (const { begin } of requests) {
    const before = requests.map((other, at) => (other.end <= begin ? (depths[at] ?? 0) : 0));
    depths.push(1 + Math.max(0, ...before));
  }
  return Math.max(...depths);
}

/** A first visit in Chromium, with all that comes before the first call. */
async function visit(browser, url) {
  const context = await browser.newContext();
  try {
    const opened = await context.newPage();
    const requests = [];
    let called = false;
    opened.on("request", (request) => {
      called ||= new URL(request.url()).pathname.startsWith("/rpc/");
      if (!called) requests.push(request);
    });
    await opened.goto(url);
    await opened.waitForFunction("document.title === '3'");
    const found = [];
    for (const request of requests) {
      const { startTime, responseEnd } = request.timing();
      const response = await request.response();
      const body = await response.body();
      const script = /javascript/.test(response.headers()["content-type"] ?? "");
      found.push({ begin: startTime, end: startTime + responseEnd, script, size: kB(body) });
    }
    return found.toSorted((a, b) => a.begin - b.begin);
  } finally {
    await context.close();
  }
}

/** @param {string} name @param {string} [checkout] */
const seamline = (name, checkout) => ({
  name,
  async start() {
    const { chromium } = await import("playwright");
    const { browserArguments, requireBrowser } = await import("../../../scripts/browser.mjs");
    const app = await application(files, checkout);
    await build(app);
    const { url, stop } = await service(app, "standalone");
    const browser = await chromium.launch({
      executablePath: requireBrowser().path,
      args: browserArguments,
    });
    let found = [];
    return {
      async measure() {
        found = await visit(browser, url);
        const scripts = found.filter(({ script }) => script);
        return scripts.reduce((sum, { size }) => sum + size, 0);
      },
      remarks: () => ({
        requests: found.length,
        "one after another": chain(found),
        "KB of all": found.reduce((sum, { size }) => sum + size, 0),
      }),
      async stop() {
        await browser.close();
        await stop();
      },
    };
  },
});

export const title = "A first visit to a built page, before its first remote call";
export const about =
  "Built pages with one remote call. Seamline's is visited in Chromium with empty caches; for the others this is what their built script weighs. Requests include the document; `one after another` is how many of them had to wait for another to end.";

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = ({ against }) => [
  {
    name: "JavaScript, each file gzip -9",
    unit: "KB",
    once: true,
    unrelated: true,
    subjects: [
      peer("fetch by hand"),
      seamline("Seamline"),
      ...(against ? [seamline("Seamline, before", against)] : []),
      ...Object.keys(clients).slice(1).map(peer),
    ],
  },
];

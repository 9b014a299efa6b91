// `npm run runtimes`: one application, mounted by its `fetch`, on Bun and on Deno. Not part of CI, as
// both are large; npm fetches them when they aren't there.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const runtimes = [
  { spec: "bun@1.4.5", words: ["bun", "main.mjs"] },
  { spec: "deno@2.9.6", words: ["deno", "run", "-A", "--node-modules-dir=manual", "main.mjs"] },
];
const files = {
  "package.json": '{ "type": "module", "private": true }',
  "index.html": "<!doctype html><title>Cloth</title>",
  "seamline.json": '{ "mode": "standalone", "url": "http://127.0.0.1:3000" }',
  "segments/shop.segment.json": JSON.stringify({
    "./shop/stock": {
      metresLeft: { access: "public" },
      size: { access: "public" },
      wait: { access: "public" },
      echo: { access: "public", route: "POST /shop/echo" },
    },
  }),
  "src/shop/stock.ts": `import { getContext, onStop } from "seamline";

onStop(() => console.log("stopped"));

export async function metresLeft(sku: string): Promise<number> {
  await Promise.resolve();
  getContext().response.cookies.set("sku", sku);
  return sku === "tweed" ? 12 : 0;
}
export async function size(file: File): Promise<number> {
  return (await file.arrayBuffer()).byteLength;
}
export async function wait(): Promise<void> {
  const { signal } = getContext();
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  console.log("aborted");
}
export async function echo(request: Request): Promise<Response> {
  return new Response(request.body);
}
`,
  "main.mjs": `import { createHandler } from "seamline/server";

const handler = await createHandler(undefined, { build: false });
const { Bun, Deno } = globalThis;
const server = Bun
  ? Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: handler.fetch })
  : Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, handler.fetch);
const url = "http://127.0.0.1:" + (server.port ?? server.addr.port);
const check = async (what, expected, path, init) => {
  const answer = await fetch(url + path, init);
  const found = answer.status + " " + (await answer.text()).split("\\n")[0].slice(0, 40);
  if (found !== expected) throw new Error(what + ": expected " + expected + ", found " + found);
  console.log("ok", what);
  return answer;
};
const headers = { "content-type": "application/json" };
const called = await check("a call by GET", "200 12", "/rpc/shop/metresLeft?sku=tweed");
if (!called.headers.getSetCookie()[0]?.startsWith("sku=tweed")) throw new Error("no cookie");
await check("a call by POST", "200 12", "/rpc/shop/metresLeft", { method: "POST", headers, body: '{"sku":"tweed"}' });
await check("a refusal", "403 A page of another origin may not make th", "/rpc/shop/metresLeft?sku=tweed", { headers: { "sec-fetch-site": "cross-site" } });
await check("an unknown procedure", "404 Procedure 'shop/none' v0.0.0 not found", "/rpc/shop/none");
await check("a page", "200 <!doctype html>", "/");
await check("health", "200 true", "/health/ready");
const form = new FormData();
form.set("file", new File(["12345"], "a.txt"));
await check("an upload", "200 5", "/rpc/shop/size", { method: "POST", body: form });
const large = new Uint8Array(3_000_000).fill(65);
const echoed = await fetch(url + "/shop/echo", { method: "POST", body: large, headers: { "content-type": "application/octet-stream" } });
if ((await echoed.arrayBuffer()).byteLength !== large.length) throw new Error("the echo is incomplete");
console.log("ok a body of 3 MB both ways");
const leaving = new AbortController();
const left = fetch(url + "/rpc/shop/wait", { signal: leaving.signal }).catch(() => {});
setTimeout(() => leaving.abort(), 200);
await left;
await new Promise((later) => setTimeout(later, 300));
await handler.close();
await (Bun ? server.stop(true) : server.shutdown());
process.exit();
`,
};

const folder = realpathSync(mkdtempSync(join(tmpdir(), "seamline-runtimes-")));
let failed = false;
try {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  // A copy: Deno doesn't load what is behind a link out of the folder.
  for (const name of ["dist", "schema", "package.json"])
    cpSync(join(root, name), join(folder, "node_modules/seamline", name), { recursive: true });
  const built = spawnSync(process.execPath, [join(root, "dist/cli.js"), "build"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (built.status !== 0) throw new Error("the application was not built");
  for (const { spec, words } of runtimes) {
    console.log(`\n${spec}`);
    const { status, stdout, stderr } = spawnSync(
      "npm",
      ["exec", "--yes", `--package=${spec}`, "--", ...words],
      { cwd: folder, encoding: "utf8", timeout: 120_000 },
    );
    const lines = stdout.split("\n").filter((line) => /^(?:ok|aborted|stopped)/.test(line));
    console.log(lines.join("\n"));
    const isComplete = status === 0 && lines.includes("aborted") && lines.includes("stopped");
    if (!isComplete) console.error(`${spec} failed (${status})\n${stdout}\n${stderr}`);
    failed ||= !isComplete;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

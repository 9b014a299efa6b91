// `npm run nginx`: the guide's configuration for nginx in front of a gateway, with a real nginx. With it
// a node links, and the link outlives an idle time; without it the node says what to let through. Not part
// of CI, as it needs nginx (apt-get install nginx-light).
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/guide/deployment.md"), "utf8");
const [, snippet] = /```nginx shown\n(location \/svc\/link \{.*?)```/s.exec(page) ?? [];
if (snippet === undefined)
  throw new Error("docs/guide/deployment.md has no block for nginx that begins with /svc/link");

/** Shorter than in the guide, so that an idle link shows within half a minute whether it lives on. */
const readTimeoutSeconds = 20;
const hasTimeout = /proxy_read_timeout 60s;/.test(snippet);
if (!hasTimeout)
  throw new Error("the guide's proxy_read_timeout isn't 60s any more: change this, too");
const location = snippet.replace(
  "proxy_read_timeout 60s",
  `proxy_read_timeout ${readTimeoutSeconds}s`,
);

const trustKey = "the-trust-key-behind-nginx";
const anyPort = "http://127.0.0.1:0";
const folder = realpathSync(mkdtempSync(join(tmpdir(), "seamline-nginx-")));
/** @type {import("node:child_process").ChildProcess[]} */
const running = [];

/**
 * @param {string} path
 * @param {string | object} content
 */
function write(path, content) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(
    join(folder, path),
    typeof content === "string" ? content : JSON.stringify(content),
  );
}

/**
 * @param {string} program
 * @param {readonly string[]} words
 */
function start(program, words) {
  const path = `${process.env["PATH"]}:/usr/sbin`;
  const env = { ...process.env, PATH: path, SEAMLINE_LOG: "text" };
  const child = spawn(program, words, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  running.push(child);
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (/** @type {string} */ text) => (output.text += text));
  child.on("error", (error) => (output.text += `${program} can't be run: ${error.message}`));
  return {
    child,
    output,
    /** @param {RegExp} pattern */
    async says(pattern) {
      const deadline = performance.now() + 30_000;
      for (;;) {
        const found = pattern.exec(output.text);
        if (found !== null) return found[1] ?? found[0];
        if (child.exitCode !== null || performance.now() > deadline)
          throw new Error(`${program} didn't say ${String(pattern)}:\n${output.text}`);
        await pause(20);
      }
    },
  };
}

const cli = join(root, "dist/cli.js");
/**
 * @param {string} name
 * @param {object} config
 */
async function service(name, config) {
  write(`${name}.json`, { trustKey, ...config });
  const started = start(process.execPath, [cli, "start", "--no-build", "--config", `${name}.json`]);
  const url = await started.says(/^(?:gateway|node|repository) at (http:\/\/127\.0\.0\.1:\d+)/m);
  return { ...started, url };
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await new Promise((done) => server.close(done));
  return port;
}

/**
 * @param {string} name
 * @param {string} gateway
 * @param {string} links what the guide adds for them
 */
async function nginx(name, gateway, links) {
  const port = await freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  write(
    `${name}.conf`,
    `daemon off;
master_process off;
pid ${folder}/${name}.pid;
error_log stderr;
events {}
http {
  access_log off;
${temporary.map((what) => `  ${what}_temp_path ${folder}/${name}-${what};`).join("\n")}
  upstream gateway { server ${new URL(gateway).host}; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gateway;
      proxy_set_header Host $http_host;
    }
${links}
  }
}
`,
  );
  const started = start("nginx", ["-p", folder, "-c", `${name}.conf`, "-e", "stderr"]);
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (
      await fetch(`${url}/health/live`).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      break;
    if (started.child.exitCode !== null || started.child.pid === undefined)
      throw new Error(`nginx ended:\n${started.output.text}`);
    await pause(50);
  }
  return { ...started, url };
}

/**
 * @param {string} what
 * @param {boolean} isSo
 * @param {string} [shown]
 */
function check(what, isSo, shown = "") {
  if (!isSo) throw new Error(`not so: ${what}\n${shown}`);
  console.log("ok", what);
}

try {
  write("package.json", '{ "type": "module", "private": true }');
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/seamline"), "junction");
  write("index.html", "<!doctype html><title>Shop</title>");
  write(
    "src/shop/stock.ts",
    "export async function size(text: string): Promise<number> {\n  return text.length;\n}\n",
  );
  write("segments/shop.segment.json", { "./shop/stock": { size: { access: "public" } } });
  write("repository.json", { mode: "repository", url: anyPort, trustKey });
  const build = start(process.execPath, [cli, "build", "--config", "repository.json"]);
  const [code] = await once(build.child, "close");
  if (code !== 0) throw new Error(`the application was not built:\n${build.output.text}`);

  const repository = await service("repository", { mode: "repository", url: anyPort });
  const gateway = await service("gateway", { mode: "gateway", url: anyPort });
  const node = { mode: "node", url: anyPort, repository: repository.url, segments: ["shop"] };
  /** @param {string} text */
  const call = async (text) => {
    const answer = await fetch(`${gateway.url}/rpc/shop/size`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text }),
    });
    return `${answer.status} ${await answer.text()}`;
  };
  const isAnswered = async () => (await call("cloth")) === "200 5";

  const upgrading = await nginx("upgrading", gateway.url, location);
  const linked = await service("linked", { ...node, gateway: upgrading.url });
  check(
    "with the guide's block, a node links through nginx",
    linked.output.text.includes(`linked to ${upgrading.url}`),
    linked.output.text,
  );
  check("its calls are answered", await isAnswered());
  check("a body of 900 KB passes", (await call("x".repeat(900_000))) === "200 900000");
  await pause((readTimeoutSeconds + 15) * 1_000);
  const text = linked.output.text;
  check("an idle link outlives nginx's proxy_read_timeout", !/is lost/.test(text), text);
  check("calls are still answered", await isAnswered());
  upgrading.child.kill("SIGTERM");
  await linked.says(/the link to \S+ is lost/);
  check("a link that nginx ends is noticed, and said", true);
  linked.child.kill("SIGTERM");
  await once(linked.child, "close");

  const plain = await nginx("plain", gateway.url, "");
  const unlinked = await service("unlinked", { ...node, gateway: plain.url });
  const said = await unlinked.says(/\/svc\/link answered .*: let upgrades pass there, [^\n]*/);
  check(`without it a node says what to let through: … ${said}`, true);
} finally {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

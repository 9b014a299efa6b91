// P3: a call from outside, through a gateway to a node behind it.

import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { deployment } from "../lib/application.mjs";
import { reporting } from "../lib/collections.mjs";
import { freePort } from "../lib/load.mjs";
import { fork, launch } from "../lib/processes.mjs";
import { calls } from "../lib/samples.mjs";
import { loaded, overHttp, stockApplication } from "./_stock.mjs";

const servers = new URL("../servers/", import.meta.url);

/** nginx that keeps its connections open, as its documentation says. @param {string} folder @param {number} port @param {string} target */
const nginxConfig = (folder, port, target) => `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr error;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  client_body_buffer_size 256k;
  proxy_buffers 16 16k;
  keepalive_requests 1000000;
  upstream behind { server ${target}; keepalive 128; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://behind;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`;

/** @param {string} target */
async function nginx(target) {
  if (spawnSync("nginx", ["-v"], { stdio: "ignore" }).error) throw new Error("no nginx here");
  const folder = await mkdtemp(join(tmpdir(), "seamline-nginx-"));
  const port = await freePort();
  const path = join(folder, "nginx.conf");
  await writeFile(path, nginxConfig(folder, port, target));
  const started = launch("nginx", ["-p", folder, "-c", path]);
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    await started.stop();
    await rm(folder, { recursive: true, force: true });
  };
  for (let tries = 0; tries < 100; tries++) {
    if (await fetch(url).then(Boolean, () => false)) return { url, pid: started.pid, stop };
    await pause(50);
  }
  await stop();
  throw new Error(`nginx did not start: ${started.output()}`);
}

/** Something in front of a bare server. @param {string} name @param {string} call @param {(url: string) => Promise<{ url: string, pid: number, stop: () => Promise<void> }>} front */
const before = (name, call, front) => ({
  name,
  async start() {
    const bare = await fork(fileURLToPath(new URL("http/bare.mjs", servers)));
    try {
      const { url, pid, stop } = await front(bare.message.url);
      const both = async () => {
        await stop();
        await bare.stop();
      };
      const server = { url, pids: [pid, bare.pid], stop: both };
      return await loaded(server, bare.message.requests[call], call);
    } catch (error) {
      await bare.stop();
      throw error;
    }
  },
});

/** A proxy of `lab/bench/servers/proxy`. @param {string} file */
const proxyOf = (file) => async (url) => {
  const started = await fork(fileURLToPath(new URL(`proxy/${file}.mjs`, servers)), [url]);
  return { url: started.message.url, pid: started.pid, stop: started.stop };
};

/** @param {string} name @param {string} call @param {boolean} proxy @param {string} [checkout] */
const seamline = (name, call, proxy, checkout) => ({
  name,
  async start() {
    const app = await stockApplication(checkout);
    const started = await deployment(app, { nodes: [["stock"]], proxy }, { node: reporting });
    const { url } = started.proxy ?? started.gateway;
    // The repository is asked once, at the start; its part is next to nothing, but counts.
    const pids = started.services.map(({ pid }) => pid);
    const outputs = started.services.map(({ output }) => output);
    return await loaded({ url, pids, outputs, stop: started.stop }, overHttp(calls[call]), call);
  },
});

export const title = "A call from outside, through a gateway to a node, 64 connections";
export const about =
  "A gateway takes calls from outside and passes them on; the node behind it answers as in P1. The limit is nginx before the bare server of P1.";

/** Stands below the tables. */
export const notes = `Of 100 KB the node alone needs what P1 shows, more than the limit has for both. The rest is the gateway, and half of that the collector: bodies come in pieces of
64 KiB that aren't in V8's heap, and a small heap is collected often because of them. Started with \`node --initial-old-space-size=64\`, a gateway needed 0.4 to 0.6 ms for such a call in place of 0.8 to 1.0
(three runs each, in turn). Node has no way to set that from inside.`;

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = ({ against }) =>
  [
    ["add", "add", false],
    ["1 KB there and back", "1 KB", false],
    ["100 KB there and back", "100 KB", false],
    ["add, through proxy, gateway and node", "add", true],
  ].map(([name, call, proxy]) => ({
    name,
    unit: "CPU µs/call",
    subjects: [
      before("nginx + bare node:http", call, (url) => nginx(url.slice("http://".length))),
      seamline("Seamline", call, proxy),
      ...(against ? [seamline("Seamline, before", call, proxy, against)] : []),
      before("Fastify's proxy + bare node:http", call, proxyOf("fastify")),
      before("a proxy of 20 lines + bare node:http", call, proxyOf("bare")),
    ],
  }));

// 1 GB up and down through two relays, each service a process of its own: how much memory grows
// in each, with a reader that is slower than the sender; and how long it takes until a handler
// hears that its caller has gone.
// node bench/streams.mjs [MB]

import { fork } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const MB = 1_000_000;
const chunk = new Uint8Array(65_536).fill(7);
const [role, address] = process.argv.slice(2);

if (process.send === undefined) await measure(Number(role ?? 1_000) * MB);
else await serve();

/** The service of a child: `origin` streams and counts, `relay` passes on to `address`. */
async function serve() {
  const { runnerImport } = await import("vite");
  const load = async (path) =>
    (await runnerImport(fileURLToPath(new URL(`../${path}`, import.meta.url)))).module;
  const { listen } = await load("server/http/http.ts");
  const { createTransport } = await load("server/http/transport.ts");
  const { HeldMemory } = await load("server/http/held-memory.ts");
  const memory = new HeldMemory();
  const transport = createTransport({ memory });

  async function* source(bytes) {
    for (let sent = 0; sent < bytes; sent += chunk.length)
      yield chunk.subarray(0, Math.min(chunk.length, bytes - sent));
  }
  const origin = async ({ method, target, body, signal }) => {
    signal.addEventListener("abort", () =>
      process.send({ aborted: performance.timeOrigin + performance.now() }),
    );
    if (method === "GET")
      return { status: 200, headers: {}, body: source(Number(target.slice(1))) };
    let bytes = 0;
    for await (const part of body) {
      bytes += part.length;
      // A handler that is slower than its sender.
      if (bytes % (8 * MB) < part.length) await pause(5);
    }
    return { status: 200, headers: {}, body: String(bytes) };
  };
  const relay = async ({ method, target, headers, body, signal }) => {
    const length = headers["content-length"];
    const answer = await transport.send({
      url: address + target,
      method,
      headers: length === undefined ? {} : { "content-length": length },
      ...(method === "POST" && { body }),
      signal,
    });
    return { status: answer.status, headers: {}, body: answer.body };
  };
  const handle = role === "origin" ? origin : relay;
  const { url } = await listen(handle, { host: "127.0.0.1", port: 0, memory });
  let most = 0;
  let mostHeld = 0;
  setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
    mostHeld = Math.max(mostHeld, memory.bytes);
  }, 20);
  process.on("message", () => {
    process.send({ most, mostHeld });
    most = process.memoryUsage.rss();
    mostHeld = 0;
  });
  process.send({ url });
}

async function measure(bytes) {
  const services = {};
  let behind;
  for (const name of ["origin", "gateway", "proxy"]) {
    const child = fork(fileURLToPath(import.meta.url), [
      name === "origin" ? "origin" : "relay",
      ...(behind === undefined ? [] : [behind]),
    ]);
    const [{ url }] = await once(child, "message");
    services[name] = child;
    behind = url;
  }
  const report = async () => {
    const figures = {};
    for (const [name, child] of Object.entries(services)) {
      child.send("report");
      const [{ most, mostHeld }] = await once(child, "message");
      figures[name] = { most, mostHeld };
    }
    return figures;
  };
  const print = (title, before, after) => {
    console.log(title);
    for (const name of Object.keys(services))
      console.log(
        `  ${name}: RSS +${((after[name].most - before[name].most) / MB).toFixed(1)} MB, counted as held at most ${(after[name].mostHeld / 1_000).toFixed(0)} kB`,
      );
  };
  // Warm: code is loaded, the heap has its size.
  await download(behind, 50 * MB);
  await upload(behind, 50 * MB);
  await report();
  await pause(500);
  let before = await report();
  let began = performance.now();
  const got = await download(behind, bytes);
  let after = await report();
  print(
    `down: ${got / MB} MB in ${((performance.now() - began) / 1_000).toFixed(1)} s`,
    before,
    after,
  );
  await pause(500);
  before = await report();
  began = performance.now();
  const sent = await upload(behind, bytes);
  after = await report();
  print(
    `up: ${sent / MB} MB in ${((performance.now() - began) / 1_000).toFixed(1)} s`,
    before,
    after,
  );

  const times = [];
  for (let round = 0; round < 50; round++) {
    const call = request(`${behind}/${bytes}`).end();
    call.on("error", () => {});
    const [answer] = await once(call, "response");
    await once(answer, "data");
    const left = performance.timeOrigin + performance.now();
    const heard = once(services.origin, "message");
    call.destroy();
    const [{ aborted }] = await heard;
    times.push(aborted - left);
  }
  times.sort((a, b) => a - b);
  console.log(
    `until the origin's signal, after the caller left: median ${times[25].toFixed(1)} ms, worst of 50 ${times.at(-1).toFixed(1)} ms`,
  );
  for (const child of Object.values(services)) child.kill();
}

/** Reads slowly: nothing at first, then with pauses. */
async function download(url, bytes) {
  const call = request(`${url}/${bytes}`).end();
  const [answer] = await once(call, "response");
  await pause(1_000);
  let got = 0;
  for await (const part of answer) {
    got += part.length;
    if (got % (8 * MB) < part.length) await pause(5);
  }
  return got;
}

async function upload(url, bytes) {
  const call = request(`${url}/`, { method: "POST", headers: { "content-length": bytes } });
  const answered = once(call, "response");
  for (let sent = 0; sent < bytes; sent += chunk.length)
    if (!call.write(chunk.subarray(0, Math.min(chunk.length, bytes - sent))))
      await once(call, "drain");
  call.end();
  const [answer] = await answered;
  let text = "";
  for await (const part of answer) text += part;
  return Number(text);
}

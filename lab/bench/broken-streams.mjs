// Streams whose caller, node or gateway goes away in the middle: how long until the handler hears
// of it, what the caller sees, and whether anything stays behind. Each service is a process of its
// own; with limits.heldBytes at 4 MB, memory that stays counted as held would soon refuse calls.
// node lab/bench/broken-streams.mjs [rounds], after npm run build

import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { createApplication, memoryOf, now, socketsOf, worst } from "./lib/services.mjs";
import { median } from "./lib/statistics.mjs";
import { download, expected, files, MB, open, source, upload } from "./lib/streaming.mjs";

const rounds = Number(process.argv[2] ?? 20);
const large = 1_000 * MB;
const config = { limits: { heldBytes: 4 * MB } };
let last = 0;

/** Opens an upload or a download; resolves when its bytes are flowing. */
const begin = {
  async upload({ entry, node }) {
    const id = `up${++last}`;
    const heard = events(node, id);
    const { call, answered } = open(`${entry.url}/upload?id=${id}`, {
      method: "POST",
      headers: { "content-length": large, "content-type": "application/octet-stream" },
    });
    const ended = outcome(call, answered);
    void (async () => {
      for (const chunk of source(large)) {
        if (call.destroyed || call.closed) return;
        if (!call.write(chunk)) await once(call, "drain").catch(() => {});
      }
    })();
    await heard.begun;
    return { call, heard, ended };
  },
  async download({ entry, node }) {
    const id = `down${++last}`;
    const heard = events(node, id);
    const { call, answered } = open(`${entry.url}/download/${large}?id=${id}`);
    const ended = outcome(call, answered);
    call.end();
    await once(await answered, "data");
    return { call, heard, ended };
  },
};

/** When the handler reported its events. */
function events({ child }, id) {
  const waiting = {};
  const heard = {};
  for (const name of ["begun", "signal", "broken"])
    heard[name] = new Promise((resolve) => (waiting[name] = resolve));
  const hear = (message) => {
    if (message.id === id) waiting[message.event](message.at);
  };
  child.on("message", hear);
  return { ...heard, forget: () => child.off("message", hear) };
}

/** How a request ended for the caller, and when. */
async function outcome(call, answered) {
  const failed = new Promise((resolve) => call.once("error", resolve));
  const answer = await Promise.race([answered.catch((error) => error), failed]);
  if (answer instanceof Error) return { how: `error ${answer.code ?? answer.message}`, at: now() };
  try {
    for await (const _ of answer);
    return { how: `complete ${answer.statusCode}`, at: now() };
  } catch (error) {
    return { how: `cut ${error.code}`, at: now() };
  }
}

const inTime = async (promise, what) => {
  const late = pause(15_000, undefined, { ref: false }).then(() => {
    throw new Error(`${what} didn't come in 15 s`);
  });
  return await Promise.race([promise, late]);
};

const few = expected(3 * MB);
/** Both directions work, as they did before. */
async function checkAlive({ entry }) {
  const until = performance.now() + 20_000;
  for (;;) {
    try {
      for (const act of [download, upload]) {
        const { digest } = await act(entry.url, 3 * MB);
        if (digest !== few.digest) throw new Error("bytes were lost");
      }
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await pause(20);
    }
  }
}

function print(title, times) {
  console.log(
    `  ${title}: median ${median(times).toFixed(1)} ms, worst of ${times.length} ${worst(times).toFixed(1)} ms`,
  );
}

async function callerLeaves(deployment, direction) {
  const signals = [];
  const broken = [];
  for (let round = -3; round < rounds; round++) {
    const stream = await begin[direction](deployment);
    await pause(20);
    const left = now();
    stream.call.destroy();
    const signal = (await inTime(stream.heard.signal, "the signal")) - left;
    const body = (await inTime(stream.heard.broken, "the body's end")) - left;
    await stream.ended;
    stream.heard.forget();
    if (round < 0) continue;
    signals.push(signal);
    broken.push(body);
  }
  await checkAlive(deployment);
  print(`caller leaves during a ${direction}, until the signal`, signals);
  print(`caller leaves during a ${direction}, until the body's stream ends`, broken);
}

/** Kills a service while both directions stream, starts it again, and waits until all works. */
async function serviceDies(application, deployment, name) {
  const seen = { upload: [], download: [] };
  const heard = [];
  const outcomes = new Map();
  for (let round = 0; round < rounds; round++) {
    const streams = {
      upload: await begin.upload(deployment),
      download: await begin.download(deployment),
    };
    await pause(20);
    const killed = now();
    deployment[name].child.kill("SIGKILL");
    for (const [direction, { ended, heard: handler }] of Object.entries(streams)) {
      const { how, at } = await inTime(ended, `the end of the ${direction}`);
      const key = `${direction}: ${how}`;
      outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
      seen[direction].push(at - killed);
      if (name !== "node")
        heard.push((await inTime(handler.signal, `${direction}'s signal`)) - killed);
    }
    const { url } = deployment[name];
    const mode = { mode: name, ...config, url, ...(name === "node" && deployment.behind) };
    const again = await application.start(name, {
      ...mode,
      ...(name === "node" && { segments: ["streams"] }),
    });
    Object.assign(deployment[name], again);
    await checkAlive(deployment);
  }
  for (const direction of ["upload", "download"])
    print(`${name} is killed during a ${direction}, until the caller sees it`, seen[direction]);
  if (heard.length > 0) print(`${name} is killed, until the handler's signal`, heard);
  console.log(`    ${[...outcomes].map(([how, times]) => `${how} × ${times}`).join(", ")}`);
}

const application = await createApplication(files);
try {
  for (const kind of ["standalone", "proxied"]) {
    const deployment = await application.deploy(kind, ["streams"], config);
    const { services } = deployment;
    console.log(kind);
    await checkAlive(deployment);
    const before = await Promise.all(services.map(memoryOf));
    const socketsBefore = await Promise.all(services.map(socketsOf));
    for (const direction of ["upload", "download"]) await callerLeaves(deployment, direction);
    await pause(1_000);
    const after = await Promise.all(services.map(memoryOf));
    const socketsAfter = await Promise.all(services.map(socketsOf));
    for (const [index, { name }] of services.entries())
      console.log(
        `  ${name} afterwards: RSS ${((after[index].now - before[index].now) / MB).toFixed(0)} MB more, ${socketsBefore[index]} → ${socketsAfter[index]} sockets`,
      );
    if (kind === "proxied")
      for (const name of ["node", "gateway"]) await serviceDies(application, deployment, name);
    for (const { child } of services) child.kill("SIGKILL");
  }
} finally {
  application.close();
  setImmediate(() => process.exit());
}

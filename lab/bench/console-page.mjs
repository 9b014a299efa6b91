// Measures what the console's page costs a browser: a hundred nodes, two thousand procedures and
// 500 calls a second, in Chromium without a graphics card.
// node lab/bench/console-page.mjs [another checkout, whose built page takes turns with this one's]
// [--trace]: time by task of the page's thread and of those that draw for it

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { findBrowser } from "../../scripts/browser.mjs";
import { here, load, memoryGateway, request, success } from "./lib/memory-gateway.mjs";

const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const tracing = process.argv.includes("--trace");
const other = words[0];
const rounds = 4;
const members = 100;
const each = 20;
const perSecond = 500;
/** How long a page is measured, and how long it may settle before, in ms. */
const span = 4_000;
const settle = 2_000;

const json = { "content-type": "application/json" };
/** The answers of members. */
const behave = ({ target }) => {
  if (target === "/health") return { status: 200, headers: json, body: '{"database":true}' };
  return target.includes("x7?") ? { status: 404, headers: json, body: "{}" } : success;
};
const trustKey = "the key of this bench";

/**
 * Starts a gateway with the console of this checkout, or of the other for requests that select it.
 */
async function startGateway() {
  const { createConsole } = await load("console/server/console.ts");
  const types = { js: "text/javascript", css: "text/css", html: "text/html", svg: "image/svg+xml" };
  const file = async (name, { headers }) => ({
    status: 200,
    headers: { "content-type": types[name.split(".").at(-1)] },
    body: await readFile(
      join(headers["x-page"] === "other" ? other : here, "dist/svc/console", name),
    ),
  });
  const http = createServer(
    (incoming, outgoing) => void serve(gateway, incoming, outgoing).catch(() => outgoing.destroy()),
  );
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${http.address().port}`;
  let console;
  const observe = (host) => (console = createConsole(host, { trustKey, secure: false, file }));
  const { role: gateway, member } = await memoryGateway({ url, trustKey, observe });
  for (let at = 0; at < members; at++)
    await (await member({ behave, url: `http://member${at}` })).join(memberAt(at));
  return { gateway, console, http };
}

function memberAt(at) {
  const segments = [`segment-${String(at).padStart(3, "0")}`];
  const fqns = Array.from({ length: each }, (_, index) => `part${at % 10}/procedure${at}x${index}`);
  const procedures = fqns.map((fqn) => ({
    fqn,
    version: "0.0.0",
    access: "public",
    segments,
    parameters: [{ kind: "plain", name: "id" }],
  }));
  return {
    procedures: fqns,
    node: { name: `member ${at}`, segments, procedures },
  };
}

async function serve(gateway, incoming, outgoing) {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const call = request(
    incoming.method,
    incoming.url,
    incoming.headers,
    Buffer.concat(chunks).toString(),
    gone.signal,
  );
  const { status, headers, body } = await gateway.handle(call);
  outgoing.writeHead(status, headers);
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array)
    return outgoing.end(body);
  for await (const chunk of body) outgoing.write(chunk);
  return outgoing.end();
}

/** Throws if a call isn't answered as {@link behave} says. */
async function send(gateway, target, agent) {
  const headers = { host: "localhost", "user-agent": agent };
  const { status } = await gateway.handle(request("GET", target, headers));
  if (status !== behave({ target }).status) throw new Error(`a call was answered ${status}`);
}

/** Calls all procedures in a pseudo-random order that is always the same. */
function startLoad(gateway) {
  const began = performance.now();
  let sent = 0;
  setInterval(() => {
    const due = Math.min(sent + 50, Math.floor(((performance.now() - began) / 1000) * perSecond));
    for (; sent < due; sent++) {
      const at = (sent * 7919) % (members * each);
      const node = at % members;
      const agent = sent % 3 === 0 ? "curl/8" : "Mozilla/5.0";
      const target = `/rpc/part${node % 10}/procedure${node}x${Math.floor(at / members)}?id=${sent}`;
      void send(gateway, target, agent);
    }
  }, 10).unref();
}

const views = {
  "map in sight": { viewport: { width: 1280, height: 900 }, at: 0 },
  "list in sight": { viewport: { width: 1280, height: 900 }, at: "#calls" },
  "phone, list in sight": { viewport: { width: 390, height: 844 }, at: "#calls" },
};

/** Runs in the page. */
function watchFrames() {
  const found = { frames: [], long: 0 };
  globalThis.found = found;
  let last = 0;
  const frame = (now) => {
    if (last > 0) found.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new PerformanceObserver((list) => (found.long += list.getEntries().length)).observe({
    type: "longtask",
  });
}

const quantile = (values, part) =>
  values.toSorted((one, two) => one - two)[Math.floor((values.length - 1) * part)] ?? Number.NaN;
const median = (values) => quantile(values, 0.5);

async function measure(browser, console, { viewport, at }, which) {
  const context = await browser.newContext({ viewport, extraHTTPHeaders: { "x-page": which } });
  const page = await context.newPage();
  await page.goto(console.link());
  await page.locator("header .connection.live").waitFor();
  await page.waitForTimeout(settle);
  if (at !== 0) await page.locator(at).evaluate((element) => element.scrollIntoView());
  await page.waitForTimeout(500);
  const client = await context.newCDPSession(page);
  const whole = await browser.newBrowserCDPSession();
  // CPU time of the page's own thread, so that other load on the machine doesn't count.
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  const read = async () => {
    const { metrics } = await client.send("Performance.getMetrics");
    const { processInfo } = await whole.send("SystemInfo.getProcessInfo");
    const named = Object.fromEntries(metrics.map(({ name, value }) => [name, value * 1000]));
    const cpu = (type) =>
      processInfo
        .filter((one) => one.type === type)
        .reduce((sum, { cpuTime }) => sum + cpuTime * 1000, 0);
    return { ...named, renderer: cpu("renderer"), drawing: cpu("GPU"), at: performance.now() };
  };
  if (tracing)
    await browser.startTracing(page, {
      path: trace,
      categories: ["devtools.timeline", "cc", "viz", "toplevel", "v8", "blink"],
    });
  const before = await read();
  await page.waitForTimeout(span);
  const after = await read();
  if (tracing) await browser.stopTracing();
  // Separate, as counting frames requests each of them.
  await page.evaluate(watchFrames);
  await page.waitForTimeout(span);
  const { frames, long } = await page.evaluate(() => globalThis.found);
  await context.close();
  const seconds = (after.at - before.at) / 1000;
  const spent = (name) => (after[name] - before[name]) / seconds;
  return {
    "frame p50 ms": median(frames),
    "frame p95 ms": quantile(frames, 0.95),
    "frames/s": frames.length / (frames.reduce((sum, one) => sum + one, 0) / 1000),
    "long tasks/s": long / (frames.reduce((sum, one) => sum + one, 0) / 1000),
    "page thread ms/s": spent("TaskDuration"),
    "script ms/s": spent("ScriptDuration"),
    "style ms/s": spent("RecalcStyleDuration"),
    "layout ms/s": spent("LayoutDuration"),
    "page process ms/s": spent("renderer"),
    "drawing process ms/s": spent("drawing"),
  };
}

/** Self time of each task by thread. */
async function tell(file) {
  const { traceEvents } = JSON.parse(await readFile(file, "utf8"));
  const threads = new Map();
  for (const { name, pid, tid, args } of traceEvents)
    if (name === "thread_name") threads.set(`${pid} ${tid}`, args.name);
  const times = new Map();
  const stacks = new Map();
  const add = (thread, name, ms) =>
    times.set(`${thread}: ${name}`, (times.get(`${thread}: ${name}`) ?? 0) + ms);
  for (const { ph, pid, tid, name, ts, tdur, dur, args } of traceEvents.toSorted(
    (one, two) => one.ts - two.ts,
  )) {
    if (ph !== "X") continue;
    const thread = `${pid} ${tid}`;
    const stack = stacks.get(thread) ?? [];
    stacks.set(thread, stack);
    while (stack.length > 0 && stack.at(-1).end <= ts) stack.pop();
    const of = (threads.get(thread) ?? thread).replace(/\d+$/, "");
    const time = (tdur ?? dur) / 1000;
    const label = name === "FunctionCall" ? `${name} ${args?.data?.functionName ?? ""}` : name;
    add(of, label, time);
    if (stack.length > 0) add(of, stack.at(-1).label, -time);
    stack.push({ label, end: ts + dur });
  }
  const top = [...times].toSorted(([, one], [, two]) => two - one).slice(0, 28);
  for (const [name, ms] of top)
    console.log(`    ${((ms / span) * 1000).toFixed(1).padStart(7)} ms/s ${name}`);
}

const folder = await mkdtemp(join(tmpdir(), "console-page-"));
const trace = join(folder, "trace.json");
const found = findBrowser();
const { gateway, console: watched, http } = await startGateway();
const browser = await chromium.launch({
  ...(found && { executablePath: found.path }),
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
try {
  startLoad(gateway);
  for (const [name, view] of Object.entries(views)) {
    const pairs = [];
    for (let round = 0; round < rounds; round++) {
      const order =
        other === undefined ? ["this"] : round % 2 === 0 ? ["other", "this"] : ["this", "other"];
      const pair = {};
      for (const which of order) {
        pair[which] = await measure(browser, watched, view, which);
        if (tracing) await (console.log(`  ${name}, ${which}`), tell(trace));
      }
      pairs.push(pair);
    }
    console.log(name);
    for (const what of Object.keys(pairs[0].this)) {
      const own = median(pairs.map((pair) => pair.this[what]));
      if (other === undefined) console.log(`  ${what.padEnd(22)} ${own.toFixed(1)}`);
      else {
        const ratio = median(pairs.map((pair) => pair.this[what] / pair.other[what]));
        console.log(
          `  ${what.padEnd(22)} ${median(pairs.map((pair) => pair.other[what])).toFixed(1)} → ${own.toFixed(1)}, ratio ${ratio.toFixed(2)}`,
        );
      }
    }
  }
} finally {
  await browser.close();
  http.closeAllConnections();
  http.close();
  await rm(folder, { recursive: true });
}
process.exit(0);

// P12: what a page waits for over a slow line: a list, and twenty calls at once.

import { execFileSync } from "node:child_process";
import { connect } from "node:http2";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { application, build, service } from "../lib/application.mjs";
import { fork } from "../lib/processes.mjs";

const files = {
  "news.segment.json":
    '{ "./news": { "list": { "access": "public", "safe": true }, "add": { "access": "public" } } }',
  // Few authors and tags, many articles: as a list of Conduit.
  "src/news.ts": `const words = "a line of text that says as much as such texts do and goes on for some words more".split(" ");
const text = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => words[(from * 7 + at * (from % 5 + 1)) % words.length]).join(" ");
const author = (at: number) => ({ username: "author" + at, bio: text(at, 10), image: "https://example.com/faces/" + at + ".jpg", following: at % 2 === 0 });
const articles = Array.from({ length: 160 }, (_, at) => ({
  slug: "article-" + at, title: text(at, 6), description: text(at + 3, 14), tagList: [words[at % 5], words[at % 7]],
  createdAt: new Date(1.7e12 + at * 12_345_678).toISOString(), updatedAt: new Date(1.7e12 + at * 23_456_789).toISOString(),
  favorited: at % 3 === 0, favoritesCount: at * 7 % 41, author: author(at % 8),
}));
export async function list(): Promise<unknown> {
  return { articles };
}
export async function add(a: number, b: number): Promise<number> {
  return a + b;
}
`,
};

/** @type {Map<string | undefined, Promise<import("../lib/application.mjs").Application>>} */
const builds = new Map();
function appOf(checkout) {
  const made = async () => {
    const app = await application(files, checkout);
    await build(app);
    const words =
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bench -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem";
    execFileSync("openssl", words.split(" "), { cwd: app.folder, stdio: "pipe" });
    return app;
  };
  if (!builds.has(checkout)) builds.set(checkout, made());
  return builds.get(checkout);
}

const tls = { url: "https://127.0.0.1:0", tls: { cert: "./cert.pem", key: "./key.pem" } };
const overTls = { until: /^\w+ at (https:\/\/127\.0\.0\.1:\d+)/m };

/** A page at an address, in a Chromium of its own. @param {string} url @param {string[]} [words] */
async function pageAt(url, words = []) {
  const { chromium } = await import("playwright");
  const { browserArguments, requireBrowser } = await import("../../../scripts/browser.mjs");
  const args = [...browserArguments, "--ignore-certificate-errors", ...words];
  const browser = await chromium.launch({ executablePath: requireBrowser().path, args });
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(`${url}/health/live`);
  return { page, close: () => browser.close() };
}

/** A list of 67 KB at 1.6 Mbit/s and 150 ms. */
const listing = (name, config = {}, checkout) => ({
  name,
  async start() {
    const { url, stop } = await service(await appOf(checkout), "standalone", config);
    const { page, close } = await pageAt(url);
    const line = await page.context().newCDPSession(page);
    await line.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 150,
      downloadThroughput: 1_600_000 / 8,
      uploadThroughput: 750_000 / 8,
    });
    let found = { ms: 0, bytes: 0, sent: 0 };
    return {
      async measure() {
        found = await page.evaluate(async () => {
          performance.clearResourceTimings();
          const began = performance.now();
          const text = await (await fetch("/rpc/list")).text();
          const ms = performance.now() - began;
          const [entry] = performance.getEntriesByType("resource");
          return { ms, bytes: text.length, sent: entry?.encodedBodySize ?? 0 };
        });
        return found.ms;
      },
      remarks: () => ({ "KB of JSON": found.bytes / 1_000, "KB sent": found.sent / 1_000 }),
      async stop() {
        await close();
        await stop();
      },
    };
  },
});

/** Behind a line of 40 ms. @param {string} url */
async function faraway(url) {
  const delay = fileURLToPath(new URL("../servers/links/delay.mjs", import.meta.url));
  const { message, stop } = await fork(delay, [new URL(url).port, "40"]);
  return { url: `${new URL(url).protocol}//127.0.0.1:${message.port}`, stop };
}

/** Twenty calls that a page makes at once; `send` runs in the page. */
const twenty = (name, server, send, words = []) => ({
  name,
  async start() {
    const started = await server();
    const far = await faraway(started.url);
    const { page, close } = await pageAt(far.url, words);
    return {
      async measure() {
        // As in a page that has called before: the first time opens connections.
        await page.evaluate(send);
        return await page.evaluate(send);
      },
      async stop() {
        await close();
        await far.stop();
        await started.stop();
      },
    };
  },
});

const calls = async () => {
  const began = performance.now();
  const one = async (_, at) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ a: at, b: 1 });
    const answer = await fetch("/rpc/add", { method: "POST", headers, body });
    if ((await answer.text()) !== String(at + 1)) throw new Error("a wrong answer");
  };
  await Promise.all(Array.from({ length: 20 }, one));
  return performance.now() - began;
};

const batch = async () => {
  const began = performance.now();
  const names = Array.from({ length: 20 }, () => "add").join(",");
  const body = JSON.stringify(
    Object.fromEntries(Array.from({ length: 20 }, (_, at) => [at, { a: at, b: 1 }])),
  );
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`/${names}?batch=1`, { method: "POST", headers, body });
  const results = await answer.json();
  if (results[19]?.result?.data !== 20) throw new Error("a wrong answer");
  return performance.now() - began;
};

const trpc = async () => {
  const path = fileURLToPath(new URL("../servers/http/trpc.mjs", import.meta.url));
  const { message, stop } = await fork(path, ["0"]);
  return { url: message.url, stop };
};
const bareHttp2 = async () => {
  const path = fileURLToPath(new URL("../servers/http/http2.mjs", import.meta.url));
  const { folder } = await appOf();
  const { message, stop } = await fork(path, [join(folder, "key.pem"), join(folder, "cert.pem")]);
  return { url: message.url, stop };
};
const http2 = (checkout) => async () =>
  await service(await appOf(checkout), "standalone", tls, overTls);
const http1 = (checkout) => async () => await service(await appOf(checkout), "standalone");

/** The same calls without a browser, which needs its own time for each `fetch`. */
const withoutBrowser = (name, server) => ({
  name,
  async start() {
    const started = await server();
    const far = await faraway(started.url);
    const session = connect(far.url, { rejectUnauthorized: false });
    const one = async (_, at) => {
      const fields = { ":method": "POST", ":path": "/rpc/add", "content-type": "application/json" };
      const asked = session.request(fields).setEncoding("utf8");
      asked.end(JSON.stringify({ a: at, b: 1 }));
      if ((await asked.toArray()).join("") !== String(at + 1)) throw new Error("a wrong answer");
    };
    const send = async () => {
      const began = performance.now();
      await Promise.all(Array.from({ length: 20 }, one));
      return performance.now() - began;
    };
    return {
      async measure() {
        await send();
        return await send();
      },
      async stop() {
        session.destroy();
        await far.stop();
        await started.stop();
      },
    };
  },
});

export const title = "Calls of a page over a slow line";
export const about =
  "Chromium, with a page that has called before. The list is one of 160 articles, at 1.6 Mbit/s and 150 ms. Twenty calls begin at once, with a round trip of 40 ms: tRPC sends them as one batch over HTTP/1.1, Seamline as twenty requests. Chromium needs its own time for each of them, as a server shows that is nothing but `node:http2`; a client of `node:http2` shows what is left without a browser.";

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = ({ against }) => [
  {
    name: "a list of 67 KB",
    unit: "ms",
    rounds: 5,
    subjects: [
      listing("uncompressed", { compression: false }),
      listing("Seamline"),
      ...(against ? [listing("Seamline, before", {}, against)] : []),
    ],
  },
  {
    name: "20 calls at once",
    unit: "ms",
    rounds: 5,
    subjects: [
      twenty("tRPC, a batch", trpc, batch),
      twenty("node:http2 by hand", bareHttp2, calls),
      twenty("Seamline, HTTP/2", http2(), calls),
      withoutBrowser("Seamline, HTTP/2, a client of node:http2", http2()),
      twenty("Seamline, HTTP/1.1", http1(), calls),
    ],
  },
];

// P11: when a page is there, on its first visit and its second.

import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "@playwright/test";

import { browserArguments, requireBrowser } from "../../../scripts/browser.mjs";
import { cliOf, repository } from "../lib/application.mjs";
import { fork, launch, launchUntil } from "../lib/processes.mjs";

/** A round trip of the emulated network; loopback has none. */
const roundTripMs = 40;

const scratch = mkdtempSync(join(tmpdir(), "seamline-pages-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }));

/** A copy of Conduit, so that no output of a checkout is replaced. Its packages are those of the checkout. */
function conduitOf(checkout) {
  const original = join(checkout, "examples/conduit");
  const packages = join(original, "node_modules");
  if (!existsSync(packages))
    throw new Error(`Conduit's packages aren't installed (npm ci --prefix examples/conduit)`);
  const folder = mkdtempSync(join(scratch, "conduit-"));
  const isCopied = (path) => !/^(node_modules|dist|data|\.seamline)$/.test(basename(path));
  cpSync(original, folder, { recursive: true, filter: isCopied });
  symlinkSync(packages, join(folder, "node_modules"));
  return folder;
}

/** @param {string[]} words @param {string} folder */
async function runIn(folder, words) {
  const run = launch(process.execPath, words, {
    cwd: folder,
    env: { ...process.env, NODE_ENV: "production" },
  });
  const code = await new Promise((resolve) => run.child.once("close", resolve));
  if (code !== 0) throw new Error(`${words.join(" ")} failed: ${run.output()}`);
}

/** Conduit in one process, with its sample articles. */
async function conduit(checkout) {
  const folder = conduitOf(checkout);
  await runIn(folder, [cliOf({ checkout }), "build"]);
  const service = await launchUntil(
    process.execPath,
    [cliOf({ checkout }), "start", "--no-build"],
    {
      cwd: folder,
      until: /^\w+ at (http:\/\/127\.0\.0\.1:\d+)/m,
      env: {
        ...process.env,
        NODE_ENV: "production",
        SEAMLINE_LOG: "text",
        CONDUIT_PORT: "0",
        CONDUIT_DATA: "memory://",
      },
    },
  );
  return { url: service.found, stop: service.stop };
}

/** The procedures' modules, and Seamline's own, are the peer's calls by hand. */
const byHandConfig = (outDir) => `
const calls = ${JSON.stringify(fileURLToPath(new URL("../servers/pages/calls.js", import.meta.url)))};
export default {
  configFile: false,
  logLevel: "warn",
  build: { outDir: ${JSON.stringify(outDir)}, emptyOutDir: true },
  plugins: [{
    name: "calls-by-hand",
    enforce: "pre",
    resolveId: (source) =>
      /^seamline(\\/client)?$|^\\.\\.\\/(accounts|articles|social)\\/\\w+\\.ts$/.test(source) ? calls : undefined,
  }],
};
`;

/** The same components on plain Vite. Its answers are Conduit's own. */
async function byHand() {
  const folder = conduitOf(repository);
  const source = await conduit(repository);
  const answers = {};
  try {
    const parts = { articles: "/articles?limit=10&offset=0", tags: "/tags" };
    for (const [name, path] of Object.entries(parts)) {
      const answer = await fetch(`${source.url}/api${path}`);
      if (!answer.ok) throw new Error(`Conduit answers ${answer.status} for ${path}`);
      answers[`/api/${name}`] = await answer.json();
    }
  } finally {
    await source.stop();
  }
  const { tags } = answers["/api/tags"];
  const built = join(scratch, "by-hand");
  const config = join(scratch, "by-hand.config.mjs");
  writeFileSync(config, byHandConfig(built));
  const vite = join(folder, "node_modules/vite/bin/vite.js");
  await runIn(folder, [vite, "build", "--config", config, folder]);
  const server = fileURLToPath(new URL("../servers/pages/by-hand.mjs", import.meta.url));
  const all = { ...answers, "/api/tags": tags, "/api/user": null };
  const started = await fork(server, [built, JSON.stringify(all)]);
  return { url: `http://127.0.0.1:${started.message.port}`, stop: started.stop };
}

/** One Chromium for all subjects, from the first to the last. */
let browser;
let subjects = 0;
async function openBrowser() {
  subjects++;
  browser ??= await chromium.launch({
    executablePath: requireBrowser().path,
    args: browserArguments,
  });
  return browser;
}
async function closeBrowser() {
  if (--subjects > 0) return;
  await browser?.close();
  browser = undefined;
}

/** Opens the page and waits for its articles. Returns ms, and the bytes and requests below /svc/. */
async function visit(context, url) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: roundTripMs,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  const ours = new Map();
  let requests = 0;
  session.on("Network.requestWillBeSent", ({ requestId, request }) => {
    requests++;
    if (new URL(request.url).pathname.startsWith("/svc/")) ours.set(requestId, 0);
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (ours.has(requestId)) ours.set(requestId, encodedDataLength);
  });
  // The page's own clock, as Playwright's way to it takes time on a busy machine.
  await page.addInitScript(() => {
    const seen = new MutationObserver(() => {
      if (document.querySelector("article.preview") === null) return;
      seen.disconnect();
      globalThis.articlesAt = performance.now();
    });
    seen.observe(document, { childList: true, subtree: true });
  });
  await page.goto(url, { waitUntil: "commit" });
  const handle = await page.waitForFunction(() => globalThis.articlesAt);
  const ms = await handle.jsonValue();
  await page.waitForLoadState("networkidle");
  await page.close();
  const bytes = [...ours.values()].reduce((sum, part) => sum + part, 0);
  return { ms, bytes, requests };
}

/** @param {string} name @param {() => Promise<{ url: string, stop(): Promise<void> }>} start @param {1 | 2} which */
const visiting = (name, start, which) => ({
  name,
  async start() {
    const served = await start();
    const opened = await openBrowser();
    const last = {};
    return {
      async measure() {
        // A new context has an empty cache.
        const context = await opened.newContext();
        try {
          let found = await visit(context, served.url);
          if (which === 2) found = await visit(context, served.url);
          Object.assign(last, found);
          return found.ms;
        } finally {
          await context.close();
        }
      },
      remarks: () => ({ "KB below /svc/": last.bytes / 1_000, requests: last.requests }),
      async stop() {
        await served.stop();
        await closeBrowser();
      },
    };
  },
});

export const title = "A page until it is there";
export const about = `The first page of [Conduit](../examples/conduit/README.md) in Chromium, from the request to its list of articles, with an emulated round trip of ${roundTripMs} ms. The limit is a page of the same components on plain Vite, with calls by \`fetch\` written by hand, and a server on \`node:http\` that answers from memory; Seamline's asks its database. A second visit has the browser's cache of the first.`;

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = ({ against }) =>
  /** @type {const} */ ([1, 2]).map((which) => ({
    name: which === 1 ? "first visit" : "second visit",
    unit: "ms",
    rounds: 9,
    cold: true,
    subjects: [
      visiting("Vite and fetch by hand", byHand, which),
      visiting("Seamline", () => conduit(repository), which),
      ...(against ? [visiting("Seamline, before", () => conduit(against), which)] : []),
    ],
  }));

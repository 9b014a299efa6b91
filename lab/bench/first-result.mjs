// Measures the time until Chromium shows the result of a function on a server, for three ways to
// start with Seamline: `seamline init`, an existing Vite application, and a clone of this
// repository. Runs whole commands from empty folders; docs/comparison.md lists what is typed.
// npm run build && node lab/bench/first-result.mjs [init] [existing] [clone] [--rounds=5]
// (`clone` has at most three rounds, as each builds the package)
// Packs the current dist and clones the last commit. Uses its own npm cache, which the first round
// fills from the registry.

import { spawn } from "node:child_process";
import { cpus, tmpdir } from "node:os";
import { rmSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright";
import { browserArguments, requireBrowser } from "../../scripts/browser.mjs";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const words = process.argv.slice(2);
const rounds = Number(words.find((word) => word.startsWith("--rounds="))?.slice(9) ?? 5);
const named = words.filter((word) => !word.startsWith("--"));
/** Before a round, waits until the machine's load is below this, for a limited time. */
const quiet = { load: 2, timeoutMs: 45_000 };
/** Far more than a step takes, to end runs that hang. */
const stepTimeoutMs = 300_000;

const home = await realpath(await mkdtemp(join(tmpdir(), "first-result-")));
const npmCache = join(home, "npm-cache");
// npm's variables of the script that runs this bench must not reach the applications.
const inherited = Object.entries(process.env).filter(
  ([name]) => !/^npm_(?!config_registry$)/i.test(name),
);
const env = { ...Object.fromEntries(inherited), npm_config_cache: npmCache, NO_COLOR: "1" };
/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

/** Signals a command and its children, which form a process group.
 * @param {import("node:child_process").ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
function signalAll(child, signal) {
  try {
    process.kill(-Number(child.pid), signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH") throw error;
  }
}

/** Runs a line in a shell without a terminal, so prompts get no answer.
 * @param {string} line
 * @param {string} cwd
 * @param {Record<string, string>} [more]
 */
function start(line, cwd, more) {
  const child = spawn(line, {
    cwd,
    env: { ...env, ...more },
    shell: true,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (output += text));
  const timer = setTimeout(() => signalAll(child, "SIGKILL"), stepTimeoutMs).unref();
  const ended = new Promise((/** @type {(code: number | null) => void} */ resolve) =>
    child.once("close", (code) => {
      clearTimeout(timer);
      running.delete(child);
      resolve(code);
    }),
  );
  return {
    /** Waits for the command to succeed; returns its output. */
    async done() {
      const code = await ended;
      if (code !== 0) throw new Error(`${line}: ended with ${code}:\n${output}`);
      return output;
    },
    /** Waits until the output matches; returns the first group. @param {RegExp} mark */
    async says(mark) {
      for (;;) {
        const found = mark.exec(output);
        if (found) return String(found[1]);
        if (!running.has(child))
          throw new Error(`${line}: ended before its output matched ${mark}:\n${output}`);
        await sleep(5);
      }
    },
    async end() {
      signalAll(child, "SIGTERM");
      await Promise.race([ended, sleep(10_000, undefined, { ref: false })]);
      signalAll(child, "SIGKILL");
      await ended;
    },
  };
}

/** @param {() => Promise<boolean>} holds */
async function until(holds) {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > stepTimeoutMs)
      throw new Error(`It never came: ${holds.toString()}`);
    await sleep(10);
  }
}

/** @param {number} began */
const since = (began) => (performance.now() - began) / 1000;
/** @param {import("playwright").Page} page @param {string} selector */
const textOf = async (page, selector) =>
  (await page.locator(selector).first().textContent({ timeout: stepTimeoutMs })) ?? "";

/** Opens the address in a new page, and counts its loads and calls.
 * @param {import("playwright").Browser} browser
 * @param {string} url
 */
async function visit(browser, url) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const seen = { loads: 0, calls: 0, /** @type {string[]} */ problems: [] };
  page.on("framenavigated", () => {
    seen.loads++;
    seen.calls = 0;
  });
  page.on(
    "request",
    (request) => void (new URL(request.url()).pathname.startsWith("/rpc/") && seen.calls++),
  );
  page.on(
    "console",
    (message) => void (/error|warning/.test(message.type()) && seen.problems.push(message.text())),
  );
  page.on("pageerror", (error) => void seen.problems.push(error.message));
  await page.goto(url);
  return { page, seen, close: () => context.close() };
}

/** The result of a round. @typedef {{ seconds: number, move?: number, loadedAgain?: boolean, problems: string[] }} Found */
/** Stands in for the package in the registry. */
const tarball = join(home, "seamline.tgz");
const prepared = join(home, "existing");

/** The text that users of an existing application type: two whole files. */
const added = {
  "vite.config.ts": `import { seamline } from "seamline/vite";

export default { plugins: [seamline()] };
`,
  "segments/server.segment.json": `{
  "./stock": { "metresLeft": { "access": "public" } }
}
`,
};

/** @type {Record<string, { typed: string[], files: Record<string, string>, move: string, run(folder: string, browser: import("playwright").Browser): Promise<Found> }>} */
const ways = {
  init: {
    typed: ["npx -y seamline init my-app --install", "cd my-app", "npm run dev"],
    files: {},
    move: "cut a line in one file, paste it in another",
    async run(folder, browser) {
      const application = join(folder, "my-app");
      const began = performance.now();
      await start(
        `npx -y --package=${tarball} seamline init my-app --seamline ${tarball} --install`,
        folder,
      ).done();
      const dev = start("npm run dev", application);
      const { page, seen, close } = await visit(browser, await dev.says(/Page +(http:\S+)/));
      await until(
        async () =>
          (await textOf(page, "#away")).includes("weave") &&
          (await textOf(page, "figcaption")) !== "",
      );
      const seconds = since(began);
      await page.locator("input").fill("Grace");
      const segment = (/** @type {string} */ name) =>
        join(application, `segments/${name}.segment.json`);
      const [server, ours] = await Promise.all(
        ["server", "browser"].map((name) => readFile(segment(name), "utf8")),
      );
      const [line] = /^.*"\.\/tartan\/weave".*\n/m.exec(server) ?? [""];
      const moved = performance.now();
      await writeFile(segment("browser"), ours.replace("{\n", `{\n${line}`));
      await writeFile(segment("server"), server.replace(line, ""));
      await until(async () => {
        await page.locator("button").click();
        return (
          (await textOf(page, "#here")).includes("weave") &&
          !(await textOf(page, "#away")).includes("weave")
        );
      });
      const move = since(moved);
      if ((await page.locator("input").inputValue()) !== "Grace")
        throw new Error("What was typed into the page is gone");
      const found = { seconds, move, loadedAgain: seen.loads > 1, problems: seen.problems };
      await close();
      await dev.end();
      return found;
    },
  },
  existing: {
    // The starter's own compiler is TypeScript 7.
    typed: [
      "npm install seamline",
      "npm install --save-dev @typescript/typescript6",
      "npm run dev",
    ],
    files: added,
    move: "cut the line",
    async run(folder, browser) {
      const application = join(folder, "shop");
      await cp(prepared, application, { recursive: true, verbatimSymlinks: true });
      const began = performance.now();
      await start(`npm install ${tarball}`, application).done();
      await start("npm install --save-dev @typescript/typescript6", application).done();
      for (const [path, text] of Object.entries(added)) {
        await mkdir(dirname(join(application, path)), { recursive: true });
        await writeFile(join(application, path), text);
      }
      const dev = start("npm run dev", application);
      const url = await dev.says(/Local: +(http:\S+)/);
      const { page, seen, close } = await visit(browser, url);
      const shown = async () => (await textOf(page, "h1")) === "12 m left";
      await until(shown);
      const seconds = since(began);
      const module = await page.evaluate(async () => await (await fetch("/src/stock.ts")).text());
      if (seen.calls !== 1 || module.includes("rolls"))
        throw new Error(`It ran in the page, after ${seen.calls} calls:\n${module}`);
      const moved = performance.now();
      await writeFile(join(application, "segments/server.segment.json"), "{\n}\n");
      await until(async () => seen.loads > 1 && (await shown()));
      const move = since(moved);
      if (seen.calls !== 0)
        throw new Error(`The page that loaded again called ${seen.calls} times`);
      const found = { seconds, move, loadedAgain: seen.loads > 1, problems: seen.problems };
      await close();
      await dev.end();
      return found;
    },
  },
  clone: {
    typed: ["git clone ", "cd seamline", "npm ci && npm run demo"],
    files: {},
    move: "",
    async run(folder, browser) {
      const began = performance.now();
      await start(`git clone ${pathToFileURL(repository).href} seamline`, folder).done();
      const clone = join(folder, "seamline");
      // The default ports may be in use by another demo.
      const demo = start("npm ci && npm run demo", clone, {
        SEAMLINE_DEMO_PORT: String(20_000 + Math.floor(Math.random() * 10_000)),
      });
      const { page, seen, close } = await visit(browser, await demo.says(/Open +(http:\S+)/));
      await page.locator(".card").first().waitFor({ timeout: stepTimeoutMs });
      await page.locator("#latest li").first().waitFor({ timeout: stepTimeoutMs });
      const found = { seconds: since(began), problems: seen.problems };
      await close();
      await demo.end();
      return found;
    },
  },
};

/** The existing application: Vite's starter with the function, which its page imports. */
async function prepare() {
  await start(
    "npm create --yes vite@latest existing -- --template vanilla-ts --no-interactive",
    home,
  ).done();
  await writeFile(
    join(prepared, "src/stock.ts"),
    `const rolls = new Map([["tweed", 12]]);

export async function metresLeft(cloth: string): Promise<number> {
  return rolls.get(cloth) ?? 0;
}
`,
  );
  const main = join(prepared, "src/main.ts");
  const text = await readFile(main, "utf8");
  const use =
    'document.querySelector("h1")!.textContent = `${await metresLeft("tweed")} m left`;\n';
  await writeFile(main, `import { metresLeft } from "./stock.ts";\n${text}\n${use}`);
  await start("npm install", prepared).done();
}

async function load() {
  const began = performance.now();
  const read = async () => Number((await readFile("/proc/loadavg", "utf8")).split(" ")[0]);
  while ((await read()) >= quiet.load && performance.now() - began < quiet.timeoutMs)
    await sleep(3000);
  return await read();
}

/** @param {number[]} times */
function spread(times) {
  const sorted = times.toSorted((one, other) => one - other);
  return [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)]
    .map((time) => time?.toFixed(2))
    .join(", ");
}

/** @param {import("playwright").Browser} browser */
async function measure(browser) {
  const names = Object.keys(ways).filter((name) => named.length === 0 || named.includes(name));
  await mkdir(join(home, "pack"));
  await start(
    `npm pack --ignore-scripts --pack-destination ${join(home, "pack")}`,
    repository,
  ).done();
  await start(`mv ${join(home, "pack")}/*.tgz ${tarball}`, home).done();
  if (names.includes("existing")) await prepare();
  const found = Object.fromEntries(
    names.map((name) => [name, { seconds: [], moves: [], loads: [], again: 0 }]),
  );
  for (let round = 0; round <= rounds; round++)
    for (const name of names) {
      if (name === "clone" && round > 3) continue;
      const folder = join(home, `${name}-${round}`);
      await mkdir(folder);
      // Otherwise the command would be installed already in the second round.
      await rm(join(npmCache, "_npx"), { recursive: true, force: true });
      const busy = await load();
      const { seconds, move, loadedAgain, problems } = await ways[name].run(folder, browser);
      await rm(folder, { recursive: true });
      const took = `${seconds.toFixed(2)} s${move === undefined ? "" : `, moved after ${move.toFixed(2)} s${loadedAgain ? " (the page loaded again)" : ""}`}`;
      console.log(
        `${round === 0 ? "not counted" : `round ${round}`}, ${name}: ${took}, load before ${busy}`,
      );
      for (const problem of new Set(problems)) console.log(`  the page logged: ${problem}`);
      if (round === 0) continue;
      found[name].seconds.push(seconds);
      found[name].loads.push(busy);
      if (move !== undefined) found[name].moves.push(move);
      if (loadedAgain) found[name].again++;
    }
  for (const name of names) {
    const { typed, files, move } = ways[name];
    const { seconds, moves, loads, again } = found[name];
    const keys = [...typed.map((line) => `${line}\n`), ...Object.values(files)].join("").length;
    console.log(
      `\n${name}: ${typed.length} commands, ${Object.keys(files).length} files by hand, ${keys} keystrokes`,
    );
    console.log(
      `  seconds to the page: ${spread(seconds)} (quickest, middle, slowest of ${seconds.length}; load ${loads.join(" ")})`,
    );
    if (moves.length > 0)
      console.log(`  to move (${move}): ${spread(moves)} s; the page loaded again ${again} times`);
  }
}

function leave() {
  for (const child of running) signalAll(child, "SIGKILL");
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
for (const signal of ["SIGINT", "SIGTERM"])
  process.on(signal, () => {
    leave();
    process.exit(1);
  });
const browser = await chromium.launch({
  executablePath: requireBrowser().path,
  args: browserArguments,
});
try {
  console.log(
    `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} cores`,
  );
  await measure(browser);
} finally {
  await browser.close();
  leave();
}

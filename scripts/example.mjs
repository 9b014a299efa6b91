// `npm run example`: installs what examples/conduit needs, builds it and starts it as six processes
// on this machine. `-- --standalone` starts a single one, `npm run example:test` also runs its tests.
// Nothing may be installed when this starts, so it imports only what is in the repository.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkPort, deathOf, run, stopAll, untilReady } from "../demo/runner/processes.mjs";

const root = join(import.meta.dirname, "..");
const folder = join(root, "examples/conduit");
const words = process.argv.slice(2);
const testing = words.includes("--test");
const standalone = words.includes("--standalone");
// In start order: each needs the ones before it.
const cluster = ["repository", "gateway", "articles", "accounts", "social", "proxy"].map(
  (name) => `config/${name}.json`,
);
const seamline = join(root, "dist/cli.js");
/** @type {import("../demo/runner/processes.mjs").Running[]} */
const running = [];
let stopping = false;
/** @type {(link: string) => void} */
let tellLink = () => {};
/** The console's link, which the gateway prints when it has started. */
const consoleLink = new Promise(
  (/** @type {(link: string) => void} */ resolve) => (tellLink = resolve),
);

/**
 * Runs a command to its end, with its output on this terminal.
 * @param {string} what
 * @param {string} command
 * @param {string[]} options
 * @param {NodeJS.ProcessEnv} env
 */
function step(what, command, options, cwd = root, env = process.env) {
  const started = performance.now();
  console.log(`\n${what}`);
  const windows = process.platform === "win32" && command === "npm";
  const { status } = spawnSync(command, options, { cwd, env, stdio: "inherit", shell: windows });
  if (status !== 0) throw new Error(`${what} failed: ${command} ${options.join(" ")}`);
  console.log(`${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** Whether `npm ci` has run since the example's lockfile changed. */
function isInstalled() {
  const installed = join(folder, "node_modules/.package-lock.json");
  const lock = join(folder, "package-lock.json");
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
}

/**
 * The first port of the example, then the next ones for the other services.
 * @param {string} base
 */
function portsFrom(base) {
  const first = Number(base);
  if (!Number.isInteger(first) || first < 1 || first > 65_530)
    throw new Error(
      `CONDUIT_PORT is '${base}': give the first of six ports, a number from 1 to 65530`,
    );
  const names = ["", "REPOSITORY_", "GATEWAY_", "ACCOUNTS_", "ARTICLES_", "SOCIAL_"];
  return Object.fromEntries(names.map((name, at) => [`CONDUIT_${name}PORT`, String(first + at)]));
}

/**
 * @param {string} config
 * @param {NodeJS.ProcessEnv} env
 */
async function readRole(config, env) {
  const text = (await readFile(join(folder, config), "utf8")).replaceAll(
    /\$\{(\w+):-([^}]*)\}/g,
    (_, name, otherwise) => env[name] ?? otherwise,
  );
  const { mode, name: label = mode, url } = JSON.parse(text);
  const role = { label, mode, config, url, port: Number(new URL(url).port), segments: undefined };
  await checkPort(role, "CONDUIT_PORT=8500 npm run example");
  return role;
}

/**
 * @param {import("../demo/runner/roles.mjs").Role} role
 * @param {NodeJS.ProcessEnv} env
 */
async function start(role, env) {
  const { label, config, url } = role;
  const service = run(label, [seamline, "start", "--config", config, "--no-build"], {
    cwd: folder,
    env,
    tell: (line) => {
      const link = /^console at (\S+)/.exec(line)?.[1];
      if (link === undefined) console.log(`  ${label} │ ${line}`);
      else tellLink(link);
    },
  });
  running.push(service);
  void service.ended.then((how) => (stopping ? undefined : fail(deathOf(service, how))));
  await untilReady(role, service);
  console.log(`  ✓ ${label.padEnd(12)} ${url}`);
}

/** @param {number} code */
async function leave(code) {
  if (stopping) return; // Ctrl-C reaches this process twice: from the terminal and from npm
  stopping = true;
  await stopAll(running);
  process.exit(code);
}

/** @param {unknown} error */
async function fail(error) {
  if (stopping) return;
  console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  await leave(1);
}

async function main() {
  const unknown = words.filter((word) => word !== "--test" && word !== "--standalone");
  if (unknown.length > 0)
    throw new Error(
      `Unknown option ${unknown.join(" ")}: the example takes --standalone and --test`,
    );
  // Installing Seamline's own packages builds it, too.
  if (!existsSync(join(root, "node_modules/vite")))
    step("Installing Seamline's packages", "npm", ["ci"]);
  step("Building Seamline, if its sources are newer", process.execPath, [
    "scripts/build.mjs",
    "--if-needed",
  ]);
  if (!isInstalled()) step("Installing the example's packages", "npm", ["ci"], folder);
  if (testing)
    step("Checking types", process.execPath, ["node_modules/typescript/bin/tsc"], folder);
  step("Building the example", process.execPath, [seamline, "build"], folder);

  const data = testing ? await mkdtemp(join(tmpdir(), "conduit-")) : undefined;
  const env = {
    ...process.env,
    // Its lines are shown to a person.
    SEAMLINE_LOG: "text",
    ...portsFrom(process.env["CONDUIT_PORT"] || (testing ? "7600" : "7500")),
    ...(data === undefined ? {} : { CONDUIT_DATA: join(data, "database") }),
  };
  console.log("\nStarting (the first start makes the database)");
  const roles = [];
  for (const config of standalone ? ["seamline.json"] : cluster)
    roles.push(await readRole(config, env));
  for (const role of roles) await start(role, env);
  const url = roles.at(-1)?.url ?? "";
  if (!testing) {
    console.log(`\n  Open  ${url}/`);
    if (!standalone)
      console.log(
        `  See   ${await consoleLink}\n        the console, as calls go by: the link opens once, within 10 minutes`,
      );
    console.log("\n  Ctrl-C stops everything.");
    return;
  }
  const { requireBrowser } = await import("./browser.mjs");
  const tests = run("the tests", ["node_modules/vitest/vitest.mjs", "run"], {
    cwd: folder,
    env: { ...env, CONDUIT_URL: url, CHROMIUM_PATH: requireBrowser().path },
    tell: (line) => console.log(line),
  });
  const how = await tests.ended;
  if (data !== undefined) await rm(data, { recursive: true, force: true });
  await leave(how === "exit code 0" ? 0 : 1);
}

for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
  process.on(signal, () => void leave(0));
main().catch(fail);

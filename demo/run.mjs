// `npm run demo`: builds the shop and starts it as processes on this machine; `--standalone` as a single one.
// Whatever goes wrong: one message that names it, an exit code, and nothing left running.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";
import {
  checkPort,
  deathOf,
  nameOf,
  run,
  stopAll,
  untilReady,
  withOutput,
} from "./runner/processes.mjs";
import { portsOf, readRoles } from "./runner/roles.mjs";
import { describe } from "./runner/table.mjs";

const folder = import.meta.dirname;
const standalone = process.argv.includes("--standalone");
/** @type {import("./runner/processes.mjs").Running[]} */
const running = [];
let stopping = false;
/** @type {(link: string) => void} */
let tellLink = () => {};
/** Of whoever has a console, the gateway or the one process: it says so when it has started. */
const consoleLink = new Promise(
  (/** @type {(link: string) => void} */ resolve) => (tellLink = resolve),
);

/**
 * For a terminal that shows it.
 * @param {Parameters<typeof styleText>[0]} style
 * @param {string} text
 */
function styled(style, text) {
  return process.stdout.isTTY && process.env["NO_COLOR"] === undefined
    ? styleText(style, text)
    : text;
}

/**
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} act
 * @returns {Promise<T>}
 */
async function step(name, act) {
  const started = performance.now();
  // At a terminal one sees what is being waited for; the finished line takes its place.
  if (process.stdout.isTTY) process.stdout.write(`  … ${name}\r`);
  const result = await act();
  console.log(
    `  ${styled("green", "✓")} ${name.padEnd(26)} ${styled("dim", `${Math.round(performance.now() - started)} ms`)}`,
  );
  return result;
}

/** @param {number} code */
async function leave(code) {
  if (stopping) return; // Ctrl-C reaches this process twice: from the terminal and from npm
  stopping = true;
  const forced = await stopAll(running);
  if (forced.length > 0)
    console.error(`Did not stop when asked, and had to be ended by force: ${forced.join(", ")}`);
  if (code === 0) console.log("\nStopped.");
  process.exit(code);
}

/** @param {unknown} error */
async function fail(error) {
  if (stopping) return;
  console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  await leave(1);
}

async function command() {
  const file = fileURLToPath(import.meta.resolve("seamline/package.json"));
  const { bin } = JSON.parse(await readFile(file, "utf8"));
  return join(dirname(file), bin.seamline);
}

/**
 * @param {string} what is built
 * @param {string[]} words
 * @param {NodeJS.ProcessEnv} env
 */
async function toEnd(what, words, env) {
  const build = run("the build", words, { cwd: folder, env });
  running.push(build);
  const how = await build.ended;
  if (how !== "exit code 0") throw new Error(withOutput(`${what} was not built (${how})`, build));
  running.pop();
}

async function main() {
  const unknown = process.argv.slice(2).filter((word) => word !== "--standalone");
  if (unknown.length > 0)
    throw new Error(`The demo knows --standalone, and not ${unknown.join(" ")}`);
  const env = portsOf(process.env);
  const seamline = await command();
  const roles = await readRoles(folder, standalone, env);
  console.log(`\nSeamline demo${standalone ? ", in one process" : ""}\n`);

  for (const role of roles) await checkPort(role);
  // In Seamline's own repository the package may be younger than what was built of it.
  const packageBuild = join(folder, "../scripts/build.mjs");
  if (existsSync(packageBuild))
    await step("package", () => toEnd("The package", [packageBuild, "--if-needed"], env));
  await step("build", () => toEnd("The demo", [seamline, "build"], env));
  for (const role of roles) {
    await step(`${role.label} on ${role.port}`, async () => {
      const one = run(nameOf(role), [seamline, "start", "--config", role.config, "--no-build"], {
        cwd: folder,
        env,
        // The configurations let warnings through, and nothing else: what a service has to say is worth reading.
        tell: (line) => {
          const link = /^console at (\S+)/.exec(line)?.[1];
          if (link !== undefined) tellLink(link);
          else if (!stopping) console.log(`  ${role.label} │ ${line}`);
        },
      });
      running.push(one);
      void one.ended.then((how) => fail(deathOf(one, how)));
      await untilReady(role, one);
    });
  }
  const page = roles.at(-1)?.url;
  console.log(`\n${await describe(folder, roles)}\n`);
  console.log(
    `  Open  ${styled("bold", `${page}/`)}\n        ${page}/plain.html without a bundler\n\n  See   ${await consoleLink}\n        the console, as calls go by: the link opens once, within 10 minutes\n\n  Ctrl-C stops everything.`,
  );
}

for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
  process.on(signal, () => void leave(0));
main().catch(fail);

// `npm run demo`: builds the shop and starts it as processes on this machine; `--standalone` as a
// single one. On any failure it prints one message, sets an exit code and leaves nothing running.
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
/** The console's link, which the gateway or the standalone process prints when it has started. */
const consoleLink = new Promise(
  (/** @type {(link: string) => void} */ resolve) => (tellLink = resolve),
);

/**
 * Styles a text, but only in a terminal with colours.
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
  // In a terminal, show the step in progress; the finished line overwrites it.
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
    console.error(`Didn't stop on SIGTERM and had to be killed: ${forced.join(", ")}`);
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
    throw new Error(`Unknown option ${unknown.join(" ")}: the demo takes only --standalone`);
  // Its lines are shown to a person.
  const env = { ...portsOf(process.env), SEAMLINE_LOG: "text" };
  const seamline = await command();
  const roles = await readRoles(folder, standalone, env);
  console.log(`\nSeamline demo${standalone ? ", in one process" : ""}\n`);

  for (const role of roles) await checkPort(role);
  // In Seamline's own repository, dist/ may be older than the sources.
  const packageBuild = join(folder, "../scripts/build.mjs");
  if (existsSync(packageBuild))
    await step("package", () => toEnd("The package", [packageBuild, "--if-needed"], env));
  await step("build", () => toEnd("The demo", [seamline, "build"], env));
  for (const role of roles) {
    await step(`${role.label} on ${role.port}`, async () => {
      const service = run(
        nameOf(role),
        [seamline, "start", "--config", role.config, "--no-build"],
        {
          cwd: folder,
          env,
          // The configurations log only warnings and errors, so every line is worth showing.
          tell: (line) => {
            const link = /^console at (\S+)/.exec(line)?.[1];
            if (link !== undefined) tellLink(link);
            else if (!stopping) console.log(`  ${role.label} │ ${line}`);
          },
        },
      );
      running.push(service);
      void service.ended.then((how) => fail(deathOf(service, how)));
      await untilReady(role, service);
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

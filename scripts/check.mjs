// `npm run check`: every gate of the package, quick ones first. The sources' gates run in parallel
// with the package's, as most keep only one core busy. After a failure no further gate starts, and
// the output of the failed one is shown. `-- --no-unit` skips the tests, for use with `npm test`.
import { spawn } from "node:child_process";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { onceMark } from "./failures.mjs";

const root = join(import.meta.dirname, "..");
const packed = join(root, "node_modules/.cache/seamline-pack");
const bin = join(root, "node_modules/.bin");

let failed = false;

/**
 * Runs a gate and prints its result. Does nothing once another gate has failed.
 * @param {string} name
 * @param {string[]} command
 */
async function gate(name, command) {
  if (failed) return;
  const started = performance.now();
  const [program = "", ...words] = command;
  const env = { ...process.env, NO_COLOR: "1", PATH: `${bin}:${process.env["PATH"]}` };
  const child = spawn(program, words, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (output += text));
  const code = await new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", resolve);
  });
  const took = `${((performance.now() - started) / 1000).toFixed(1)} s`;
  if (code === 0) {
    console.log(`✓ ${name.padEnd(10)} ${took}`);
    const failedOnce = output.split("\n").filter((line) => line.startsWith(onceMark));
    if (failedOnce.length > 0) console.log(failedOnce.join("\n"));
    return;
  }
  failed = true;
  console.log(`${output}${typeof code === "string" ? code : ""}`);
  console.log(`✗ ${name} failed after ${took}: ${command.join(" ")}`);
}

async function ofSources() {
  await gate("format", ["oxfmt", "--check"]);
  await gate("lint", ["oxlint"]);
  await gate("site", ["node", "scripts/docs.mjs"]);
  // The demo imports from dist/, which is missing for a moment while a build replaces it.
  await built;
  await gate("knip", ["knip"]);
}

async function build() {
  await typed;
  await gate("build", ["node", "scripts/build.mjs"]);
}

async function ofConsole() {
  await typed;
  await gate("no console", ["node", "scripts/without-console.mjs"]);
}

async function ofPackage() {
  await built;
  if (failed) return;
  // publint and attw check what npm would publish, not the folder.
  await rm(packed, { recursive: true, force: true });
  await mkdir(packed, { recursive: true });
  await gate("pack", [
    "npm",
    "pack",
    "--ignore-scripts",
    "--loglevel=error",
    "--pack-destination",
    packed,
  ]);
  const tarball = join(packed, (await readdir(packed))[0] ?? "");
  await gate("publint", ["publint", "--strict", tarball]);
  await gate("attw", ["attw", "--profile", "esm-only", tarball]);
  await gate("consumer", ["node", "scripts/consumer.mjs", tarball]);
  await gate("size", ["size-limit"]);
}

const typed = gate("types", ["node", "node_modules/typescript-7/bin/tsc", "-b"]);
const built = build();
await Promise.all([ofSources(), ofPackage(), ofConsole()]);
// Runs alone, as it keeps every core busy.
if (!process.argv.includes("--no-unit"))
  await gate("unit", ["node", "scripts/test.mjs", "--no-browser"]);
process.exitCode = failed ? 1 : 0;

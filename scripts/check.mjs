// `npm run check`: every gate of the package, the quick ones first. Stops at the first that fails and shows what it said.
// `-- --no-unit` leaves the tests out, for who runs `npm test` as well.
import { spawnSync } from "node:child_process";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const packed = join(root, "node_modules/.cache/seamline-pack");
const bin = join(root, "node_modules/.bin");

/**
 * @param {string} name
 * @param {string[]} command
 */
function gate(name, command) {
  const started = performance.now();
  const [program = "", ...words] = command;
  const done = spawnSync(program, words, {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1", PATH: `${bin}:${process.env["PATH"]}` },
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  const took = `${((performance.now() - started) / 1000).toFixed(1)} s`;
  if (done.status === 0) return console.log(`✓ ${name.padEnd(10)} ${took}`);
  console.log(`${done.stdout}${done.stderr}${done.error?.message ?? ""}`);
  console.log(`✗ ${name} failed after ${took}: ${command.join(" ")}`);
  process.exit(1);
}

gate("format", ["oxfmt", "--check"]);
gate("lint", ["oxlint"]);
gate("types", ["tsc", "-b"]);
gate("build", ["node", "scripts/build.mjs"]);
if (!process.argv.includes("--no-unit")) gate("unit", ["vitest", "run"]);

// publint and attw look at what npm would publish, not at the folder.
await rm(packed, { recursive: true, force: true });
await mkdir(packed, { recursive: true });
gate("pack", ["npm", "pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", packed]);
const tarball = join(packed, (await readdir(packed))[0] ?? "");
gate("publint", ["publint", "--strict", tarball]);
gate("attw", ["attw", "--profile", "esm-only", tarball]);
gate("consumer", ["node", "scripts/consumer.mjs", tarball]);
gate("size", ["size-limit"]);
gate("knip", ["knip"]);
gate("site", ["node", "scripts/docs.mjs"]);

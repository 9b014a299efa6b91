// Shows that the console is behind its port: in a copy of the tree without the console's folders, the package
// builds, unit tests pass, and a service of that build starts. Needs the declarations of `tsc -b`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "..");
const copy = await mkdtemp(join(tmpdir(), "seamline-without-console-"));

/** The console, its tests, and what the compiler knows of it. */
const ofConsole = /^(?:test\/|\.types\/)?console(?:[/.-]|$)/;
/** Folders that others write, some of them at this moment: gates of `npm run check` build the package and the site. */
const generated =
  /^(?:docs|schema)$|(?:^|\/)(?:node_modules|dist|coverage|test-results|\.git|\.build(?:-old)?)$/;

async function copyTree() {
  // With .types and all times the compiler checks nothing again, for which it takes half a minute: that no
  // source names the console, types included, is what test/architecture.test.ts finds.
  await cp(root, copy, {
    recursive: true,
    preserveTimestamps: true,
    filter(source) {
      const path = relative(root, source).replaceAll(sep, "/");
      return !ofConsole.test(path) && !generated.test(path);
    },
  });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  // A reference to a folder that isn't there is an error, to Vite as well.
  const config = join(copy, "tsconfig.json");
  const { references, ...rest } = JSON.parse(await readFile(config, "utf8"));
  const left = references.filter((/** @type {{ path: string }} */ { path }) =>
    existsSync(join(copy, path)),
  );
  await writeFile(config, JSON.stringify({ ...rest, references: left }));
}

/** @param {string[]} words */
async function node(words) {
  const child = spawn(process.execPath, words, {
    cwd: copy,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code] = await once(child, "close");
  if (code !== 0)
    throw new Error(`Without the console's folder, this fails: node ${words.join(" ")}`);
}

/** Starts a gateway that is told to have a console. */
async function start() {
  await writeFile(
    join(copy, "gateway.json"),
    JSON.stringify({ mode: "gateway", url: "http://127.0.0.1:0", console: true }),
  );
  const words = ["dist/cli.js", "start", "--config", "gateway.json"];
  const child = spawn(process.execPath, words, {
    cwd: copy,
    env: { ...process.env, SEAMLINE_LOG: "text" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  let output = "";
  let status = 0;
  child.stderr.setEncoding("utf8").on("data", (text) => (output += text));
  for await (const line of createInterface({ input: child.stdout })) {
    output += `${line}\n`;
    const url = /gateway at (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    ({ status } = await fetch(`${url}/health`));
    child.kill();
  }
  await closed;
  if (status !== 200 || !output.includes("has no console"))
    throw new Error(`A gateway of the build without the console says:\n${output}`);
}

try {
  await copyTree();
  await node(["scripts/build.mjs"]);
  await start();
  // Those of roles, which the console observes, and of what a build without it says.
  const tests = ["test/unit/roles", "test/no-console.alone.test.ts"];
  await node(["node_modules/vitest/vitest.mjs", "run", ...tests]);
} finally {
  await rm(copy, { recursive: true, force: true });
}

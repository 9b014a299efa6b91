// Creates applications as users do: with the packed package, `seamline init`, `npm install` and the
// scripts of their package.json.

import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { type Command, launch } from "../process/_application.ts";
import { root as packageRoot } from "../_sources.ts";

const run = promisify(execFile);

/** Packs the current package, as `npm publish` does, and returns the tarball's path. */
export async function pack(folder: string, of = "."): Promise<string> {
  if (of === ".") {
    const built = spawnSync(process.execPath, ["scripts/build.mjs", "--if-needed"], {
      cwd: packageRoot,
      encoding: "utf8",
    });
    if (built.status !== 0) throw new Error(`${built.stdout}${built.stderr}`);
  }
  const words = [
    "pack",
    "--ignore-scripts",
    "--json",
    "--loglevel=error",
    "--pack-destination",
    folder,
  ];
  const { stdout } = await run("npm", words, { cwd: join(packageRoot, of) });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return join(folder, filename);
}

/** Installs the packages side by side, as `npx` and `npm create` do, but without dependencies. */
export async function unpack(
  folder: string,
  tarballs: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, tarball] of Object.entries(tarballs)) {
    const place = join(folder, "node_modules", name);
    await mkdir(place, { recursive: true });
    await run("tar", ["xzf", tarball, "--strip-components=1", "-C", place]);
  }
}

/** A temporary folder and the processes started in it, both removed by {@link Home.remove}. */
export interface Home {
  readonly folder: string;
  /** Starts a program in a subfolder. */
  start(words: readonly string[], cwd?: string): Command;
  remove(): Promise<void>;
}

export async function createHome(): Promise<Home> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "seamline-init-")));
  const commands: Command[] = [];
  // npm needs its usual cache and settings. Vitest's variables would turn splitting off.
  const env = Object.fromEntries(
    [
      "HOME",
      "npm_config_cache",
      "npm_config_registry",
      "SSL_CERT_FILE",
      "NODE_EXTRA_CA_CERTS",
      "HTTPS_PROXY",
      "NO_PROXY",
    ].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    folder,
    start(words, cwd = "") {
      const bin = join(folder, cwd, "node_modules/.bin");
      const command = launch(words, join(folder, cwd), {
        ...env,
        NO_COLOR: "1",
        PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`,
      });
      commands.push(command);
      return command;
    },
    async remove() {
      await Promise.all(commands.map((command) => command.ended("SIGKILL")));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Waits for a command and returns its output. Throws with the output if it fails. */
export async function done(command: Command): Promise<string> {
  const code = await command.ended();
  if (code !== 0) throw new Error(`ended with ${code}:\n${command.output()}`);
  return command.output();
}

/** Moves the line of a module from one segment file to another, as a user does in an editor. */
export async function move(
  application: string,
  module: string,
  from: string,
  to: string,
): Promise<void> {
  const path = (name: string): string => join(application, `segments/${name}.segment.json`);
  const lines = (await readFile(path(from), "utf8")).split("\n");
  const index = lines.findIndex((line) => line.includes(`"${module}"`));
  const [line = ""] = lines.splice(index, 1);
  const target = (await readFile(path(to), "utf8")).split("\n");
  target.splice(
    target.findIndex((text) => text.includes('"$schema"')),
    0,
    line,
  );
  // For a moment the procedure is in both, as if a user saved one file after the other.
  await writeFile(path(to), target.join("\n"));
  await writeFile(path(from), lines.join("\n"));
}

// Applications as a person makes them: the packed package, `seamline init`, `npm install`, and the commands of their own package.json.

import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { type Command, launch } from "../process/_application.ts";
import { root as packageRoot } from "../_sources.ts";

const run = promisify(execFile);

/** The tarball that `npm publish` would send, of the package as it is now, in a folder of its own. */
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

/** What `npx` and `npm create` do: the packages side by side, without what they would fetch for other commands. */
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

/** A folder that goes with {@link Home.remove}, and all that was started in it. */
export interface Home {
  readonly folder: string;
  /** Starts a program in a folder below. */
  start(words: readonly string[], cwd?: string): Command;
  remove(): Promise<void>;
}

export async function createHome(): Promise<Home> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "seamline-init-")));
  const commands: Command[] = [];
  // npm looks for its cache and settings where it always does; Vitest's own variables would switch splitting off.
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
      await Promise.all(commands.map((one) => one.ended("SIGKILL")));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a command to its end; what it said is the message where it fails. */
export async function done(command: Command): Promise<string> {
  const code = await command.ended();
  if (code !== 0) throw new Error(`ended with ${code}:\n${command.output()}`);
  return command.output();
}

/** Cuts the line of a module out of one segment file and pastes it into another, as lines, as an editor does. */
export async function move(
  application: string,
  module: string,
  from: string,
  to: string,
): Promise<void> {
  const path = (name: string): string => join(application, `segments/${name}.segment.json`);
  const lines = (await readFile(path(from), "utf8")).split("\n");
  const at = lines.findIndex((line) => line.includes(`"${module}"`));
  const [line = ""] = lines.splice(at, 1);
  const others = (await readFile(path(to), "utf8")).split("\n");
  others.splice(
    others.findIndex((one) => one.includes('"$schema"')),
    0,
    line,
  );
  // The procedure is in both for a moment, as it is for a person who saves one file after the other.
  await writeFile(path(to), others.join("\n"));
  await writeFile(path(from), lines.join("\n"));
}

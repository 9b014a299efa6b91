// A small application on the disk, and the real command line run in it: processes, sockets and files as a user has them.

import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";

const packageRoot = join(import.meta.dirname, "../..");

/** Builds the package where that was never done; `npm test` builds it each time, before any test. */
export function buildPackage(): void {
  if (existsSync(join(packageRoot, "dist/cli.js"))) return;
  const { status, stderr } = spawnSync(process.execPath, ["scripts/build.mjs"], {
    cwd: packageRoot,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
}

export interface Command {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  /** What it has written to both outputs until now. */
  output(): string;
  /** The first match in the output. Rejects with the output when the process ends before. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends with its exit code; `signal` is sent first, where one is given. */
  ended(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

export interface Application {
  readonly root: string;
  put(path: string, content: string | object): Promise<void>;
  seamline(words: readonly string[], env?: Readonly<Record<string, string>>): Command;
  /** Node trees that are on the disk, of all processes. */
  runTrees(): Promise<readonly string[]>;
  /** Ends what still runs, and removes the folder. */
  remove(): Promise<void>;
}

/** An application folder in which the package is installed, as a link. */
export async function createApplication(): Promise<Application> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "seamline-application-")));
  const commands: Command[] = [];
  const put = async (path: string, content: string | object): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(
      join(root, path),
      typeof content === "string" ? content : JSON.stringify(content),
    );
  };
  await put("package.json", { type: "module", private: true });
  await mkdir(join(root, "node_modules"));
  await symlink(packageRoot, join(root, "node_modules/seamline"), "junction");
  return {
    root,
    put,
    seamline(words, env = {}) {
      const command = start(words, root, env);
      commands.push(command);
      return command;
    },
    runTrees: () => readdir(join(root, "node_modules/.cache/seamline/run")).catch(() => []),
    async remove() {
      await Promise.all(commands.map((one) => one.ended("SIGKILL")));
      await rm(root, { recursive: true, force: true });
    },
  };
}

const start = (
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Command => launch([process.execPath, join(packageRoot, "dist/cli.js"), ...words], cwd, env);

/** A process in `cwd`: its program, and its words. */
export function launch(
  [program = "", ...words]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Command {
  const child = spawn(program, words, {
    cwd,
    // Nothing of this process's own surroundings that would change what is written.
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let end: number | NodeJS.Signals | undefined;
  const watchers = new Set<() => void>();
  const tell = (): void => {
    for (const one of watchers) one();
  };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      tell();
    });
  child.on("close", (code, signal) => {
    end = code ?? signal ?? 1;
    tell();
  });
  const when = <T>(look: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const watch = (): void => {
        const found = look();
        if (found === undefined && end === undefined) return;
        watchers.delete(watch);
        if (found === undefined) reject(new Error(`it ended with ${end}:\n${output}`));
        else resolve(found);
      };
      watchers.add(watch);
      watch();
    });
  return {
    child,
    output: () => output,
    says: (pattern) => when(() => pattern.exec(output) ?? undefined),
    ended(signal) {
      if (signal !== undefined && end === undefined) child.kill(signal);
      return when(() => end);
    },
  };
}

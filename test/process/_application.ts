// Runs the real command line in a small application on disk, with real processes, sockets and files.

import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";

import { test, type TestAPI } from "vitest";

import { buildApplication } from "../../server/vite/build.ts";
import { buildHere } from "../_build-here.ts";
import { TestLog } from "../_cluster.ts";
import { environment } from "../_way.ts";

const packageRoot = join(import.meta.dirname, "../..");

/** Builds the package if it was never built. `npm test` builds it before the tests. */
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
  /** The text on both outputs so far. */
  output(): string;
  /** Waits for the first match in the output. Rejects with the output if the process ends first. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits for the exit code, after sending `signal` if there is one. */
  ended(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** Any free port of this machine, as the `url` of a configuration. */
export const anyPort = "http://127.0.0.1:0";

/** A service that listens. */
export interface Service {
  readonly url: string;
  readonly command: Command;
}

export interface Application {
  readonly root: string;
  put(path: string, content: string | object): Promise<void>;
  /** Writes a module, and a segment file that makes these functions of it public. */
  publish(module: string, source: string, names: readonly string[]): Promise<void>;
  seamline(words: readonly string[], env?: Readonly<Record<string, string>>): Command;
  /** Writes a configuration, makes the build that its service would make, and starts it with further `words`. */
  service(
    name: string,
    config: object,
    words?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<Service>;
  /** The run trees of all processes. */
  runTrees(): Promise<readonly string[]>;
  /** Kills the processes that still run, and removes the folder. */
  remove(): Promise<void>;
}

/** A segment file whose entries don't say otherwise. Each build is a process, and reading types takes as long as it. */
function unchecked(segment: object): object {
  const off = (module: unknown): unknown =>
    typeof module === "object" && module !== null
      ? Object.fromEntries(
          Object.entries(module as Record<string, object>).map(([name, entry]) => [
            name,
            "route" in entry ? entry : { validate: false, ...entry },
          ]),
        )
      : module;
  return Object.fromEntries(
    Object.entries(segment).map(([module, entries]) => [module, off(entries)]),
  );
}

/** Of a start: whether it builds is its own matter then. */
const buildOptions = ["--build", "--no-build"];

/** Creates an application folder with a link to the package. */
export async function createApplication(): Promise<Application> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "seamline-application-")));
  const commands: Command[] = [];
  const put = async (path: string, content: string | object): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(
      join(root, path),
      typeof content === "string"
        ? content
        : JSON.stringify(path.endsWith(".segment.json") ? unchecked(content) : content),
    );
  };
  await put("package.json", { type: "module", private: true });
  await mkdir(join(root, "node_modules"));
  await symlink(packageRoot, join(root, "node_modules/seamline"), "junction");
  const seamline: Application["seamline"] = (words, env = {}) => {
    const command = start(words, root, env);
    commands.push(command);
    return command;
  };
  return {
    root,
    put,
    async publish(module, source, names) {
      await put(`src/${module}.ts`, source);
      const entries = names.map((name) => [name, { access: "public" }]);
      await put(`${module}.segment.json`, { [`./${module}`]: Object.fromEntries(entries) });
    },
    seamline,
    async service(name, config, words = [], env = {}) {
      await put(`${name}.json`, config);
      if (!words.some((word) => buildOptions.includes(word))) await buildHere(root, { config });
      const command = seamline(["start", ...words, "--config", `${name}.json`], env);
      const [, url = ""] = await command.says(
        /^(?:gateway|node|proxy|standalone|repository) at (http:\/\/127\.0\.0\.1:\d+)/m,
      );
      return { url, command };
    },
    runTrees: () => readdir(join(root, "node_modules/.cache/seamline/run")).catch(() => []),
    async remove() {
      await Promise.all(commands.map((command) => command.ended("SIGKILL")));
      await rm(root, { recursive: true, force: true });
    },
  };
}

/**
 * A test that gets an application folder of its own, which it removes. So tests of a file can run beside each other: most
 * of the time they wait for services to start, and for the second in which a service that stops still serves.
 */
export const inApplication = (
  create: () => Promise<Application> = createApplication,
): TestAPI<{ application: Application }> =>
  test.extend<{ application: Application }>({
    // oxlint-disable-next-line no-empty-pattern -- Vitest reads what a fixture needs from its pattern
    application: async ({}, use) => {
      const application = await create();
      try {
        await use(application);
      } finally {
        await application.remove();
      }
    },
  });

const start = (
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Command => launch([process.execPath, join(packageRoot, "dist/cli.js"), ...words], cwd, env);

/** Starts a program in `cwd`. */
export function launch(
  [program = "", ...words]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  user: { readonly uid?: number; readonly gid?: number } = {},
): Command {
  const child = spawn(program, words, {
    ...user,
    cwd,
    // Inherits no variable that would change the output.
    env: { PATH: process.env["PATH"] ?? "", SEAMLINE_LOG: "text", ...environment, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let end: number | NodeJS.Signals | undefined;
  const watchers = new Set<() => void>();
  const notify = (): void => {
    for (const watch of watchers) watch();
  };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      notify();
    });
  child.on("close", (code, signal) => {
    end = code ?? signal ?? 1;
    notify();
  });
  const until = <T>(probe: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const watch = (): void => {
        const found = probe();
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
    says: (pattern) => until(() => pattern.exec(output) ?? undefined),
    ended(signal) {
      if (signal !== undefined && end === undefined) child.kill(signal);
      return until(() => end);
    },
  };
}

/** A built application with `add` and `echo` in the segment `stock`. With `validate`, their arguments are checked. */
export async function createStock(validate = false): Promise<Application> {
  const application = await createApplication();
  const entry = { access: "public", validate };
  await application.put("stock.segment.json", { "./stock": { add: entry, echo: entry } });
  const source = [
    "export async function add(a: number, b: number): Promise<number> {\n  return a + b;\n}\n",
    "export async function echo(text: string): Promise<string> {\n  return text;\n}\n",
  ];
  await application.put("src/stock.ts", source.join("\n"));
  await buildApplication({ root: application.root, log: new TestLog() });
  return application;
}

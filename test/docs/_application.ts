// The folder in which a page's example lives, with what a person would have installed, and the processes started in it.

import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inject } from "vitest";
import { root as packageRoot } from "../_sources.ts";

/** The packages that `npm install` would put there; each is a link to the project's own. */
// oxfmt-ignore
const installed = [
  "@trpc/client", "@trpc/server", "express", "@types/express", "zod",
  "fastify", "hono", "@hono/node-server",
  "classic-level", "openid-client",
  "vite", "vitest", "msw", "superjson", "typescript", "@types/node",
  "react", "react-dom", "@types/react", "@types/react-dom", "@vitejs/plugin-react",
  "vue", "vue-tsc", "@vue/tsconfig", "@vitejs/plugin-vue",
];
const commands = {
  seamline: "seamline/dist/cli.js",
  vite: "vite/bin/vite.js",
  vitest: "vitest/vitest.mjs",
  tsc: "typescript/bin/tsc",
  "vue-tsc": "vue-tsc/bin/vue-tsc.js",
};
/** Bounds a failure: no example takes nearly as long, even beside much else. */
const longest = 90_000;

export interface Finished {
  readonly code: number;
  readonly output: string;
}

export interface Service {
  output(): string;
  /** Undefined while it runs. */
  code(): number | undefined;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface Application {
  readonly root: string;
  write(path: string, text: string): Promise<void>;
  run(command: string): Promise<Finished>;
  start(command: string): Service;
  remove(): Promise<void>;
}

export async function createApplication(): Promise<Application> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "seamline-docs-")));
  const home = `${root}-home`;
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  await write("package.json", '{ "type": "module", "private": true }\n');
  await mkdir(join(root, "node_modules/.bin"), { recursive: true });
  await symlink(packageRoot, join(root, "node_modules/seamline"), "junction");
  for (const scope of ["@types", "@trpc", "@vitejs", "@vue", "@hono"])
    await mkdir(join(root, "node_modules", scope));
  for (const name of installed)
    await symlink(
      join(packageRoot, "node_modules", name),
      join(root, "node_modules", name),
      "junction",
    );
  await mkdir(home);
  // Without a terminal, curl would draw its progress.
  await writeFile(join(home, ".curlrc"), "no-progress-meter\n");
  const script = async (name: string, text: string): Promise<void> => {
    await writeFile(join(home, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(home, name), 0o755);
  };
  // The package manager takes a second to find what is beside it.
  await script("npx", 'exec "$@"');
  for (const [name, file] of Object.entries(commands))
    await script(name, `exec node "${root}/node_modules/${file}" "$@"`);
  // Nothing of this process's own surroundings: under Vitest the plugin would split nothing.
  const env = {
    PATH: `${home}:${process.env["PATH"] ?? ""}`,
    HOME: home,
    CURL_HOME: home,
    NO_COLOR: "1",
    // As on a terminal, where readers are.
    SEAMLINE_LOG: "text",
    LANG: "C.UTF-8",
    DOCS_CHROMIUM: inject("chromium"),
  };
  const begin = (command: string) => launch(command, root, env);
  const services = new Set<Service>();
  return {
    root,
    write,
    async run(command) {
      const { send, output, ended } = begin(command);
      const timer = setTimeout(send, longest, "SIGKILL");
      const code = await ended;
      clearTimeout(timer);
      return { code, output: output() };
    },
    start(command) {
      const { code, send, output, ended } = begin(command);
      const service: Service = {
        output,
        code,
        async stop(signal = "SIGTERM") {
          send(signal);
          const timer = setTimeout(send, longest, "SIGKILL");
          await ended;
          clearTimeout(timer);
          services.delete(service);
        },
      };
      services.add(service);
      return service;
    },
    async remove() {
      // Told to stop, each would serve for another second. A page that shows how a service stops has killed it.
      await Promise.all([...services].map((service) => service.stop("SIGKILL")));
      for (const folder of [root, home]) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Processes that end with this one, if it ends early. */
const running = new Set<Launched>();
process.once("exit", () => {
  for (const one of running) one.send("SIGKILL");
});

interface Launched {
  output(): string;
  /** Undefined while it runs. */
  code(): number | undefined;
  /** To the shell and to all that it has started. */
  send(signal: NodeJS.Signals): void;
  readonly ended: Promise<number>;
}

function launch(command: string, cwd: string, env: Record<string, string>): Launched {
  // One stream for both, in the order in which they were written, as on a terminal. A group of its own, to be ended as one.
  const child = spawn("bash", ["-c", `set -e; exec 2>&1\n${command}`], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  let output = "";
  let code: number | undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (output += text));
  const send = (signal: NodeJS.Signals): void => {
    if (code !== undefined || child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch (error) {
      // It ended by itself, and has not been heard of yet.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  };
  const ended = new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => {
      running.delete(launched);
      resolve((code = status ?? 1));
    });
  });
  const launched: Launched = { output: () => output, code: () => code, send, ended };
  running.add(launched);
  return launched;
}

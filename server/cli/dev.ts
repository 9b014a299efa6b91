// `seamline dev`: Vite's server for the page and a cluster beside it, until it is told to stop.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { DevSession, StartDev } from "../dev/session.ts";
import { showAsJson } from "../dev/terminal/json-lines.ts";
import { openPage } from "../dev/terminal/open-page.ts";
import { showInTerminal } from "../dev/terminal/show.ts";
import { noteAddress } from "../dev-address.ts";
import { packageVersion } from "../package-folder.ts";
import type { DevCommandOptions } from "./program.ts";
import type { Terminal } from "./terminal.ts";

/** The one place that leads to Vite. */
const startApplication: StartDev = async (options) =>
  await (await import("../dev/start-dev.ts")).startDev(options);

/** Resolves when it was told to stop, and has. */
export async function dev(
  options: DevCommandOptions,
  terminal: Terminal,
  startDev: StartDev = startApplication,
): Promise<void> {
  const root = resolve(options.root);
  const version = packageVersion();
  const { asked, ask, done } = listenForStop();
  const shows = options.json
    ? showAsJson(terminal, { version })
    : showInTerminal(terminal, { root, version, stop: ask });
  const lost = (reason: unknown): void =>
    shows.log.error("a promise failed, and nobody waits for it", reason);
  process.on("unhandledRejection", lost);
  let session: DevSession | undefined;
  let forgetAddress: (() => Promise<void>) | undefined;
  try {
    const host = options.host === true ? "0.0.0.0" : options.host;
    // What is wrong in a file is followed until it is mended; a name that was mistyped never will be.
    if (options.config !== undefined && !existsSync(resolve(root, options.config)))
      throw new Error(`${options.config}: there is no such file, but --config names it`);
    const starting = startDev({
      root,
      config: options.config,
      port: options.port,
      host,
      log: shows.log,
    });
    session = await Promise.race([starting, asked]).catch((error: unknown) => {
      throw listening(error, options);
    });
    // Stopped before it was there: what is half started ends with the process.
    if (session === undefined) return void starting.catch(() => {});
    forgetAddress = await noteAddress(root, session.url);
    shows.start(session, { ms: performance.now() });
    if (options.open)
      await openPage(session.url, terminal.env).catch((error: Error) =>
        shows.log.warn(`the page was not opened: ${error.message}`),
      );
    await asked;
  } finally {
    shows.close();
    // Not before: with them gone, Ctrl-C would end the process in the middle.
    await session?.close();
    await forgetAddress?.();
    process.off("unhandledRejection", lost);
    done();
  }
}

/** Where listening failed, what to do about it: Vite and Node only say what happened. */
function listening(error: unknown, { port, host }: DevCommandOptions): unknown {
  const { message, code, syscall } = error as NodeJS.ErrnoException;
  if (/^Port \d+ is already in use/.test(message) || code === "EADDRINUSE")
    return new Error(
      `port ${port} is taken: name another with --port, or stop what listens there`,
      { cause: error },
    );
  if (code === "EACCES" && syscall === "listen")
    return new Error(
      `nobody but the system's administrator may listen on port ${port}: name one from 1024 on with --port`,
      {
        cause: error,
      },
    );
  if (syscall === "listen" || syscall === "getaddrinfo")
    return new Error(
      `this machine can't listen at ${String(host)} (${code}): name an address of its own with --host`,
      { cause: error },
    );
  return error;
}

interface Stop {
  readonly asked: Promise<undefined>;
  readonly ask: () => void;
  /** Gives the signals back. */
  readonly done: () => void;
}

/** Ctrl-C and SIGTERM ask to stop; the second one ends the process at once, as it would have without us. */
function listenForStop(): Stop {
  let tell: (nothing: undefined) => void = () => {};
  const asked = new Promise<undefined>((settle) => (tell = settle));
  let once = false;
  const done = (): void => {
    for (const signal of signals) process.off(signal, ask);
  };
  const ask = (): void => {
    if (once) {
      done();
      process.stdin.setRawMode?.(false);
      process.kill(process.pid, "SIGINT");
    }
    once = true;
    // Whoever else hears of the signal and ends the process, Vite for one: it ends as asked.
    process.exitCode = 0;
    tell(undefined);
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, ask);
  return { asked, ask, done };
}

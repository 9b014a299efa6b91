// `seamline dev`: runs Vite's server for the page and local nodes beside it, until it is told to
// stop.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { DevSession, StartDev } from "../dev/session.ts";
import { showAsJson } from "../dev/json-lines.ts";
import { openPage } from "../dev/open-page.ts";
import { showInTerminal } from "../dev/show-in-terminal.ts";
import { writeDevAddress } from "../start/dev-address.ts";
import { reportExit } from "../start/process-events.ts";
import { whenNpmEnds } from "../base/npm-parent.ts";
import { packageVersion } from "../base/package-folder.ts";
import type { Terminal } from "../base/terminal.ts";
import { collect, envFileHelp, readPort, withRoot } from "./options.ts";
import { loadVariables } from "./variables.ts";

export interface DevCommandOptions {
  readonly config?: string;
  readonly root: string;
  readonly port?: number;
  /** `true` if no address follows. */
  readonly host?: string | true;
  readonly open?: true;
  readonly json?: true;
  /** Files with variables, relative to the application folder. */
  readonly envFile?: readonly string[];
}

export function addDev(program: Command, terminal: Terminal): void {
  withRoot(
    program
      .command("dev")
      .description("work on an application: Vite's server, local nodes, hot updates in both")
      .option("-c, --config <file>", "configuration of a repository or standalone"),
  )
    .option("-p, --port <number>", "port of the page (default: Vite's)", readPort)
    .option(
      "--host [address]",
      "listen at this address, or at all without one (default: only this machine)",
    )
    .option("--open", "open the page in the browser")
    .option("--env-file <file>", envFileHelp, collect)
    .option("--json", "print one JSON object per line, for programs")
    .action(async (options: DevCommandOptions) => await dev(options, terminal));
}

/** Only this import leads to Vite. */
const startApplication: StartDev = async (options) =>
  await (await import("../vite/start-dev.ts")).startDev(options);

/** Resolves when it was told to stop and has stopped. */
export async function dev(
  options: DevCommandOptions,
  terminal: Terminal,
  startDev: StartDev = startApplication,
): Promise<void> {
  const root = resolve(options.root);
  const version = packageVersion();
  const { stopped, stop, removeListeners } = listenForStop();
  const shows = options.json
    ? showAsJson(terminal, { version })
    : showInTerminal(terminal, { root, version, stop });
  const logRejection = (reason: unknown): void => shows.log.error("unhandled rejection", reason);
  process.on("unhandledRejection", logRejection);
  const ignoreExit = reportExit(shows.log);
  void stopped.then(ignoreExit);
  let session: DevSession | undefined;
  let removeAddress: (() => Promise<void>) | undefined;
  try {
    loadVariables(root, options.envFile);
    const host = options.host === true ? "0.0.0.0" : options.host;
    // Mistakes in a file can be fixed while `dev` runs, but a mistyped name can't.
    if (options.config !== undefined && !existsSync(resolve(root, options.config)))
      throw new Error(`--config: there is no file ${options.config}`);
    const starting = startDev({
      root,
      config: options.config,
      port: options.port,
      host,
      log: shows.log,
    });
    session = await Promise.race([starting, stopped]).catch((error: unknown) => {
      throw explainListenError(error, options);
    });
    // Stopped during the start: the rest ends with the process.
    if (session === undefined) return void starting.catch(() => {});
    removeAddress = await writeDevAddress(root, session.url, shows.log);
    shows.start(session, { ms: performance.now() });
    if (options.open)
      await openPage(session.url, terminal.env).catch((error: Error) =>
        shows.log.warn(`the page could not be opened: ${error.message}`),
      );
    await stopped;
  } finally {
    shows.close();
    // The listeners stay until the session is closed: without them, Ctrl-C would end the process
    // meanwhile.
    await session?.close();
    await removeAddress?.();
    process.off("unhandledRejection", logRejection);
    ignoreExit();
    removeListeners();
  }
}

/** Says what to do if listening failed; Vite and Node only say what happened. */
function explainListenError(error: unknown, { port, host }: DevCommandOptions): unknown {
  const { message, code, syscall } = error as NodeJS.ErrnoException;
  if (/^Port \d+ is already in use/.test(message) || code === "EADDRINUSE")
    return new Error(
      `port ${port} is in use: choose another with --port, or stop the program that uses it`,
      { cause: error },
    );
  if (code === "EACCES" && syscall === "listen")
    return new Error(
      `only an administrator may listen on port ${port}: choose one from 1024 up with --port`,
      {
        cause: error,
      },
    );
  if (syscall === "listen" || syscall === "getaddrinfo")
    return new Error(
      `this machine can't listen at ${String(host)} (${code}): give one of its own addresses with --host`,
      { cause: error },
    );
  return error;
}

interface StopListener {
  readonly stopped: Promise<undefined>;
  readonly stop: () => void;
  readonly removeListeners: () => void;
}

/**
 * Ctrl-C and SIGTERM stop the session; a second signal ends the process at once, as it would have
 * without us.
 */
function listenForStop(): StopListener {
  let resolveStopped: (nothing: undefined) => void = () => {};
  const stopped = new Promise<undefined>((settle) => (resolveStopped = settle));
  let isStopping = false;
  const removeListeners = (): void => {
    forgetNpm();
    for (const signal of signals) process.off(signal, stop);
  };
  const stop = (): void => {
    if (isStopping) {
      removeListeners();
      process.stdin.setRawMode?.(false);
      process.kill(process.pid, "SIGINT");
    }
    isStopping = true;
    // Other listeners, such as Vite's, may end the process: it then ends as requested.
    process.exitCode = 0;
    resolveStopped(undefined);
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, stop);
  const forgetNpm = whenNpmEnds(() => {
    if (!isStopping) stop();
  });
  return { stopped, stop, removeListeners };
}

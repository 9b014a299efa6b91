// `seamline start`: runs the service that a configuration names, until it is told to stop.

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import type { Command, Option } from "commander";
import { realPath } from "../files/sources.ts";
import { applicationImporter, type ModuleImporter } from "../modules/module-importer.ts";
import { Stopped } from "../start/stopped.ts";
import { startServer } from "../start/start-server.ts";
import type { Terminal } from "../base/terminal.ts";
import type { Mode } from "../config/config-types.ts";
import { exitCodeOf, failedStart } from "./failure.ts";
import { loadVariables } from "./variables.ts";

interface StartOptions {
  readonly config?: string;
  readonly root: string;
  readonly build?: boolean;
  readonly console?: boolean;
  /** Files with variables, relative to the application folder. */
  readonly envFile?: readonly string[];
}

const plainOptions = {
  config: { type: "string", short: "c" },
  root: { type: "string" },
  build: { type: "boolean" },
  "no-build": { type: "boolean" },
  console: { type: "boolean" },
  "env-file": { type: "string", multiple: true },
} as const;

/**
 * Reads a command line as a service is started in production, without the program. `undefined` for
 * help, mistakes and other commands: the program explains them.
 */
export function readStart([command, ...args]: readonly string[]): StartOptions | undefined {
  if (command !== "start") return undefined;
  try {
    const {
      root = ".",
      build,
      "no-build": noBuild,
      "env-file": envFile,
      ...others
    } = parseArgs({ args, options: plainOptions }).values;
    // The last one of the two counts: the program knows which.
    if (build === true && noBuild === true) return undefined;
    if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
    const decided = build ?? (noBuild === true ? false : undefined);
    return {
      root,
      ...(decided === undefined ? {} : { build: decided }),
      ...(envFile === undefined ? {} : { envFile }),
      ...others,
    };
  } catch {
    // Help, or a mistake: the program says it.
    return undefined;
  }
}

/**
 * Starts the service without the program. Gives the exit code, or `undefined` if the service goes on
 * running.
 */
export async function runStart(
  options: StartOptions,
  terminal: Terminal = process,
): Promise<number | undefined> {
  try {
    return (await start(options, terminal)) ? undefined : 0;
  } catch (error) {
    return exitCodeOf(error, terminal);
  }
}

/** The program is loaded only where the options have to be explained. */
export async function addStart(
  program: Command,
  terminal: Terminal,
  onService: () => void,
): Promise<void> {
  const { collect, envFileHelp, refuseAddress, withRoot } = await import("./options.ts");
  const refused = (flags: string): Option =>
    program.createOption(flags).argParser(refuseAddress).hideHelp();
  withRoot(
    program
      .command("start")
      .description("start the service that a configuration names")
      .option("-c, --config <file>", "the configuration"),
  )
    .option("--build", "build before the start")
    .option("--no-build", "never build (default: build if there is no build and Vite is installed)")
    .option("--console", "turn the console on, and print a link to it")
    .option("--env-file <file>", envFileHelp, collect)
    .addOption(refused("-p, --port <number>"))
    .addOption(refused("--host <address>"))
    .action(async (options: StartOptions) => {
      if (await start(options, terminal)) onService();
    });
}

/**
 * Stack traces in the log lead to the application's TypeScript, and not to the build's output. Node
 * reads the maps of all modules that it imports from then on, so not of ours.
 */
function importerWithMaps(root: string): ModuleImporter {
  const importer = applicationImporter(realPath(root));
  return async (specifier) => {
    process.setSourceMapsEnabled(true);
    return await importer(specifier);
  };
}

/**
 * Resolves to `true` when the service answers, and to `false` if it was told to stop before there was
 * one; it stops on SIGTERM and SIGINT.
 */
async function start(
  options: StartOptions,
  terminal: Pick<Terminal, "stdout" | "stderr" | "env"> = process,
): Promise<boolean> {
  try {
    await startService(options, terminal);
    return true;
  } catch (error) {
    if (error instanceof Stopped) {
      terminal.stdout.write(`${error.message}\n`);
      return false;
    }
    throw failedStart(error, terminal);
  }
}

async function startService(
  options: StartOptions,
  terminal: Pick<Terminal, "stdout">,
): Promise<void> {
  const root = resolve(options.root);
  loadVariables(root, options.envFile);
  // Packages read it while they load, and some are many times slower without it.
  process.env["NODE_ENV"] ??= "production";
  const server = await startServer(importerWithMaps(root), {
    root,
    ...(options.config === undefined ? {} : { config: options.config }),
    ...(options.build === undefined ? {} : { build: options.build }),
    ...(options.console === true ? { console: true } : {}),
  });
  collectSeldom(server.mode);
  const link = server.consoleLink();
  // Printed at any log level: users who turn the console on need the link to get in.
  if (link !== undefined) terminal.stdout.write(`console at ${link} (once, within 10 minutes)\n`);
}

/**
 * Lets the heap of a gateway or proxy grow tenfold before V8 looks through all of it. Bodies that pass count as growth, so
 * V8 would do so all the time and find the same few megabytes. Safe here: the process has this one service, which runs no
 * procedures, so what it keeps is small, and `limits` bound what callers make it hold. Elsewhere the
 * application decides how much stays alive, and ten times that may be more than the machine has.
 */
function collectSeldom(mode: Mode): void {
  if (mode === "gateway" || mode === "proxy") setFlagsFromString("--heap-growing-percent=1000");
}

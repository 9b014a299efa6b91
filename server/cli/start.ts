// `seamline start`: runs the service that a configuration names, until it is told to stop.

import { resolve } from "node:path";
import type { Command, Option } from "commander";
import { realPath } from "../files/sources.ts";
import { applicationImporter, type ModuleImporter } from "../modules/module-importer.ts";
import { Stopped } from "../start/stopped.ts";
import { startServer } from "../start/start-server.ts";
import type { Terminal } from "../base/terminal.ts";
import { failedStart } from "./failure.ts";
import { loadVariables } from "./variables.ts";

export interface StartOptions {
  readonly config?: string;
  readonly root: string;
  readonly build?: boolean;
  readonly console?: boolean;
  /** Files with variables, relative to the application folder. */
  readonly envFile?: readonly string[];
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
export async function start(
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
  // Packages choose what they do by it while they load, and some are many times slower otherwise.
  process.env["NODE_ENV"] ??= "production";
  const server = await startServer(importerWithMaps(root), {
    root,
    ...(options.config === undefined ? {} : { config: options.config }),
    ...(options.build === undefined ? {} : { build: options.build }),
    ...(options.console === true ? { console: true } : {}),
  });
  const link = server.consoleLink();
  // Printed at any log level: users who turn the console on need the link to get in.
  if (link !== undefined) terminal.stdout.write(`console at ${link} (once, within 10 minutes)\n`);
}

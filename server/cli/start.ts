// `seamline start`: the service that a configuration names, until it is told to stop.

import { resolve } from "node:path";
import { applicationImporter } from "../application-importer.ts";
import { Stopped } from "../ensure-build.ts";
import { startServer } from "../start-server.ts";
import type { StartOptions } from "./program.ts";
import type { Terminal } from "./terminal.ts";

/** Resolves when the service answers, or was stopped before; it stops on SIGTERM and SIGINT. */
export async function start(
  options: StartOptions,
  terminal: Pick<Terminal, "stdout"> = process,
): Promise<void> {
  const root = resolve(options.root);
  // A stack trace in the log leads to the application's TypeScript, not to what was made of it.
  process.setSourceMapsEnabled(true);
  const server = await startServer(applicationImporter(root), {
    root,
    ...(options.config === undefined ? {} : { config: options.config }),
    ...(options.build === undefined ? {} : { build: options.build }),
    ...(options.console === true ? { console: true } : {}),
  }).catch((error: unknown) => {
    if (!(error instanceof Stopped)) throw error;
    terminal.stdout.write(`${error.message}\n`);
    process.exitCode = 0;
    return undefined;
  });
  if (server === undefined) return;
  const link = server.consoleLink();
  // Whatever the log lets through: who has a console switched on wants to get in.
  if (link !== undefined) terminal.stdout.write(`console at ${link} (once, within 10 minutes)\n`);
}

export { applicationImporter };

// `seamline start`: runs the service that a configuration names, until it is told to stop.

import { resolve } from "node:path";
import { realPath } from "../../files/sources.ts";
import { applicationImporter, type ModuleImporter } from "../../modules/module-importer.ts";
import { Stopped } from "../../start/stopped.ts";
import { startServer } from "../../start/start-server.ts";
import type { Terminal } from "../../base/terminal.ts";

export interface StartOptions {
  readonly config?: string;
  readonly root: string;
  readonly build?: boolean;
  readonly console?: boolean;
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
 * Resolves when the service answers, or was stopped before that; it stops on SIGTERM and SIGINT.
 */
export async function start(
  options: StartOptions,
  terminal: Pick<Terminal, "stdout"> = process,
): Promise<void> {
  const root = resolve(options.root);
  const server = await startServer(importerWithMaps(root), {
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
  // Printed at any log level: users who turn the console on need the link to get in.
  if (link !== undefined) terminal.stdout.write(`console at ${link} (once, within 10 minutes)\n`);
}

// The one place that names the console. Nothing else of the package needs it: a build without its folder
// serves all but `/svc/console`.

import type { Host, Log } from "../../src/base/ports.ts";
import type { Console, ConsoleOptions, CreateConsole } from "./console-port.ts";

interface ConsoleModule {
  readonly createConsole: CreateConsole;
}

/** A glob, as the folder may be missing: then it finds nothing. */
const found = Object.values(import.meta.glob<ConsoleModule>("../../console/server/console.ts"));

export type OpenConsole = (host: Host, options: Omit<ConsoleOptions, "file">) => Console;

/** Loads the code of the console. Without it, says so in `log` and resolves to `undefined`. */
export async function loadConsole(
  log: Pick<Log, "warn">,
  [load]: readonly (() => Promise<ConsoleModule>)[] = found,
): Promise<OpenConsole | undefined> {
  if (load === undefined) {
    log.warn("This build of Seamline has no console");
    return undefined;
  }
  const [{ createConsole }, { createConsoleFiles }] = await Promise.all([
    load(),
    import("./console-files.ts"),
  ]);
  const file = createConsoleFiles();
  return (host, options) => createConsole(host, { ...options, file });
}

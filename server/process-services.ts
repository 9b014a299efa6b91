// The services of this process, for the main file's `runProcedure` (architecture: seams): with one service it means that one.

import type { Server } from "./start-server.ts";

const running = new Set<Server>();

export function noteServer(server: Server): void {
  running.add(server);
}

export function forgetServer(server: Server): void {
  running.delete(server);
}

/**
 * Runs a procedure by name (§4.6): `name` is `module/name`, `args` an object of values by parameter name, `context` is
 * `this` of the calling procedure. In a host's main file it means the only service of the process.
 */
export async function runProcedure(
  name: string,
  version?: string,
  args?: Readonly<Record<string, unknown>>,
  context?: unknown,
): Promise<unknown> {
  const [only, ...others] = running;
  if (only === undefined) throw new Error("Seamline has not been started: await startServer(…) before the first call");
  if (others.length > 0)
    throw new Error("Several services run in this process: call runProcedure of the one that is meant, server.runProcedure(…)");
  return await only.runProcedure(name, version, args, context);
}

// The services that run in this process. The package's own `runProcedure` needs the only one.

import type { RunProcedure } from "../../src/types/imported.ts";
import type { Server } from "./server.ts";

const running = new Set<Server>();

export function registerServer(server: Server): void {
  running.add(server);
}

export function unregisterServer(server: Server): void {
  running.delete(server);
}

/** Runs a procedure by its name, through the only service of this process. */
export const runProcedure: RunProcedure = (async (
  ...call: Parameters<RunProcedure>
): Promise<unknown> => {
  const [server, ...others] = running;
  if (server === undefined)
    throw new Error("Seamline isn't started: await startServer(…) before the first call");
  if (others.length > 0)
    throw new Error(
      "Several services run in this process: use the runProcedure of one of them, server.runProcedure(…)",
    );
  return await server.runProcedure(...call);
}) as RunProcedure;

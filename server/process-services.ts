// The services of this process, for the main file's `runProcedure` (architecture: seams): with one service it means that one.

import type { RunProcedure } from "../src/imported.ts";
import type { Server } from "./start-server.ts";

const running = new Set<Server>();

export function noteServer(server: Server): void {
  running.add(server);
}

export function forgetServer(server: Server): void {
  running.delete(server);
}

/** Runs a procedure by name (§4.6). In a host's main file it means the only service of the process. */
export const runProcedure: RunProcedure = (async (
  ...call: Parameters<RunProcedure>
): Promise<unknown> => {
  const [only, ...others] = running;
  if (only === undefined)
    throw new Error("Seamline has not been started: await startServer(…) before the first call");
  if (others.length > 0)
    throw new Error(
      "Several services run in this process: call runProcedure of the one that is meant, server.runProcedure(…)",
    );
  return await only.runProcedure(...call);
}) as RunProcedure;

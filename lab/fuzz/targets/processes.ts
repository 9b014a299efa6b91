// Targets that take more time than CI has: the edge of services that are processes, and histories of members.

import { checkMembers } from "../services/members-model.ts";
import { startProcesses } from "../services/processes.ts";
import { Finding, type Target } from "../target.ts";
import { edgeTarget, type EdgeServices } from "./edge.ts";

async function open(): Promise<EdgeServices> {
  const { services, close } = await startProcesses();
  const all = Object.entries(services);
  return {
    ports: Object.fromEntries(all.map(([name, { port }]) => [name, port])),
    check() {
      for (const [name, { ended, output }] of all)
        if (ended() !== undefined)
          throw new Finding(`the ${name} ended with ${ended()}`, output().slice(-2_000));
    },
    async heap() {
      const samples = all.map(
        async ([name, { sample }]) => [name, (await sample()).heapUsed] as const,
      );
      return Object.fromEntries(await Promise.all(samples));
    },
    close,
  };
}

/** An input is a list of commands. */
const membership: Target = {
  name: "membership",
  slowMs: 20_000,
  attempt: async (random) => await checkMembers(random.below(2 ** 31), 1),
};

export const processTargets: readonly Target[] = [membership, edgeTarget(open)];

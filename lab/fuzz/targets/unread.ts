// Unread answers of services with a heap of 512 MB.

import { type Processes, startProcesses } from "../services/processes.ts";
import { leaveUnread, unreadKinds, type UnreadKind } from "../services/unread.ts";
import { Finding, type Target } from "../target.ts";

let processes: Processes;
const lines: string[] = [];
const siegeMs = 6_000;

/** An input is a number of callers, their request, and the service. */
export const unread: Target = {
  name: "unread",
  slowMs: 90_000,
  async open() {
    processes = await startProcesses({}, ["--max-old-space-size=512"]);
  },
  async attempt(random) {
    const role = random.pick(["standalone", "gateway", "proxy", "node"] as const);
    const kind = random.pick(Object.keys(unreadKinds) as UnreadKind[]);
    const callers = random.pick([10, 64, 400]);
    const result = await leaveUnread(processes.services[role].port, kind, callers, siegeMs);
    const what = `${callers} callers leave ${kind} unread at the ${role}`;
    lines.push(`${what}: ${JSON.stringify(result)}`);
    for (const [name, service] of Object.entries(processes.services))
      if (service.ended() !== undefined)
        throw new Finding(`${what}: the ${name} ended with ${service.ended()}`, result);
    if (result.served === 0) throw new Finding(`${what}: no other call is served`, result);
  },
  figures: () => lines.join("\n  "),
  close: async () => await processes.close(),
};

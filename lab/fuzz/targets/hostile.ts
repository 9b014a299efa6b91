// A siege of each service, with its default limits.

import { type Processes, startProcesses } from "../services/processes.ts";
import { besiege } from "../services/siege.ts";
import { Finding, type Target } from "../target.ts";

let processes: Processes;
const lines: string[] = [];
const crowd = { idle: 500, slowHeads: 300, slowBodies: 300, unread: 50, dripMs: 500 };
/** Longer than a request may take, and a check every second. */
const siegeMs = 36_000;

/** An input is a siege of one service, with default limits. */
export const hostile: Target = {
  name: "hostile",
  slowMs: 60_000,
  async open() {
    processes = await startProcesses();
  },
  async attempt(random) {
    const name = random.pick(["standalone", "gateway", "proxy"] as const);
    const service = processes.services[name];
    const before = await service.sample();
    const result = await besiege(service.port, crowd, siegeMs);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const after = await service.sample();
    const heap = [before, after].map(({ heapUsed }) => (heapUsed / 1e6).toFixed(1)).join(" → ");
    lines.push(`${name}: ${JSON.stringify(result)}, heap ${heap} MB`);
    const fail = (what: string): never => {
      throw new Finding(`${name}: ${what}`, result);
    };
    if (service.ended() !== undefined) fail(`ended with ${service.ended()}`);
    if (result.slowest > 1_500) fail(`others wait ${result.slowest} ms`);
    if (result.refused.length > 0) fail(`others get ${result.refused.join(", ")}`);
    if (result.unreadCut < crowd.unread)
      fail(`${crowd.unread - result.unreadCut} unread answers weren't cut`);
    for (const [kind, count, from, to] of [
      ["slowHeads", crowd.slowHeads, 9_500, 13_000],
      ["slowBodies", crowd.slowBodies, 29_500, 33_000],
    ] as const) {
      const [cut = 0, first = 0, last = 0] = result.cuts[kind] ?? [];
      if (cut < count || first < from || last > to)
        fail(`${kind}: ${cut} of ${count} cut after ${first} to ${last} ms`);
    }
  },
  figures: () => lines.join("\n  "),
  close: async () => await processes.close(),
};

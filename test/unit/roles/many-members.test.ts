import { expect, it } from "vitest";

import { createGateway } from "../../../src/roles/gateway.ts";
import type { Role } from "../../../src/roles/pipeline/role.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { key, TestDeployment, testHost } from "../../_cluster.ts";
import { joinedOver } from "../../_linked-membership.ts";

const url = "http://gateway";

it.each([0, 4_000])(
  "two hundred nodes are members of a gateway that was away for %i ms within 2 s, and those that had to wait don't come all at once",
  async (away) => {
    const local = new TestDeployment();
    const { network, clock, log } = local;
    const host = testHost(network, clock, log, { url, trustKey: key });
    let id = 0;
    const open = async (): Promise<Role> => {
      const gateway = createGateway(host, {
        trustKey: key,
        limits: defaultLimits,
        newId: () => String(id++),
        healthIntervalMs: 3_600_000,
      });
      await gateway.start(url);
      network.roles.set(url, gateway);
      return gateway;
    };
    await open();
    for (let node = 0; node < 200; node++)
      await (
        await joinedOver(local, `http://node-${node}`, () => ({ procedures: ["a"] }))
      ).joined;
    await clock.pass(3_000);
    network.roles.delete(url);
    await clock.pass(away);
    const next = await open();
    const counts = [0];
    for (let step = 0; step < 20; step++) {
      await clock.pass(100);
      counts.push(next.describe().members?.length ?? 0);
    }
    expect(counts.at(-1)).toBe(200);
    const joins = counts.slice(1).map((count, step) => count - (counts[step] ?? 0));
    // A lost link is dialled again at once, and then at moments of each node's own.
    expect(Math.max(...joins)).toBeLessThan(away === 0 ? 201 : 60);
  },
);

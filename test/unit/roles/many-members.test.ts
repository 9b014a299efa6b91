import { expect, it } from "vitest";

import { createMembership } from "../../../src/roles/members/membership.ts";
import { createGateway } from "../../../src/roles/relay/gateway.ts";
import type { Role } from "../../../src/roles/role.ts";
import { defaultLimits } from "../../../src/codec/values/limits.ts";
import { key, testHost, TestClock, TestLog, TestNetwork } from "../../_cluster.ts";

const url = "http://gateway";

it.each([0, 4_000])(
  "two hundred nodes are members of a gateway that was away for %i ms within 2 s, and don't come all at once",
  async (away) => {
    const [network, clock, log] = [new TestNetwork(), new TestClock(), new TestLog()];
    const host = testHost(network, clock, log);
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
      await createMembership(host, url, key, () => ({ procedures: ["a"] })).join(
        `http://node-${node}`,
      );
    // Each asks at its own moments by now.
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
    expect(Math.max(...joins)).toBeLessThan(60);
  },
);

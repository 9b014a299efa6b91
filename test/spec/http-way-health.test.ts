// Health of members over HTTP, which the gateway asks.

import { describe, expect, it } from "vitest";

import { ask } from "../_cluster.ts";
import { services } from "./_services.ts";

describe("those who ask", () => {
  it("health-10: the gateway uses this interface to check its nodes, and sends no calls to an unhealthy one", async () => {
    const { node, gateway, clock, network } = await services();
    const call = () => ask(gateway, "GET", "/rpc/app/echo?value=a");
    let healthy = true;
    node.addHealthCheck("disk", { isHealthy: async () => healthy });
    expect((await call()).text).toBe("a");
    healthy = false;
    await clock.pass(5000);
    expect(network.sent).toContainEqual(
      expect.objectContaining({ method: "GET", url: "http://node/health/status" }),
    );
    expect(await call()).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    healthy = true;
    await clock.pass(5000);
    expect((await call()).text).toBe("a");
  });
});

// The steps of a role for a call, or a request for a route, before it runs.

import { describe, expect, it } from "vitest";

import { startSite } from "../../_routes.ts";
import { ask } from "../../_cluster.ts";

describe("a call or request whose time is over when it comes", () => {
  it.each(["/a", "/rpc/shop/run"])("%s runs nothing, and is 504", async (target) => {
    let runs = 0;
    const run = async (): Promise<Response> => (runs++, new Response("ran"));
    const procedures = [{ fqn: "shop/run", in: { site: "public" as const }, body: () => run }];
    const { local } = await startSite("behind a proxy", [{ route: "GET /a", run }], { procedures });
    const node = local.network.roles.get("http://a")!;
    await ask(node, "GET", target);
    expect(runs).toBe(1);
    const late = { ":from": "service", "x-svc-deadline": "0" };
    expect(await ask(node, "GET", target, late)).toMatchObject({ status: 504 });
    expect(runs).toBe(1);
  });
});

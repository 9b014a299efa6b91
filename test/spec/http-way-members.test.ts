// Members of a gateway over HTTP, which have leases.

import { describe, expect, it } from "vitest";

import { createGateway } from "../../src/roles/relay/gateway.ts";
import { defaultLimits } from "../../src/codec/values/limits.ts";
import { ask, testHost } from "../_cluster.ts";
import { deploy, key, urls } from "../_deployment.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const trusted = { "x-svc-trust-key": key };
const member = (url: string, ...procedures: string[]): string =>
  JSON.stringify({ url, procedures });

const idOf = ({ text }: { readonly text: string }): string =>
  (JSON.parse(text) as { id: string }).id;

describe("members of a gateway", () => {
  it("members-9: PUT /nodes/{id} renews the lease, with 204 and no body", async () => {
    const { gateway, clock } = await deploy();
    const id = idOf(await ask(gateway, "POST", "/nodes", trusted, member("http://c", "c/only")));
    await clock.pass(14_000);
    const answer = await ask(gateway, "PUT", `/nodes/${id}`, trusted, "whatever");
    expect([answer.status, answer.text]).toEqual([204, ""]);
    await clock.pass(14_000);
    expect((await ask(gateway, "GET", `/nodes/${id}`, trusted)).status).toBe(204);
  });

  it("members-10: PUT with an unknown id is 404, and the node joins again", async () => {
    const { gateway, network, clock } = await deploy();
    expect(await ask(gateway, "PUT", "/nodes/nobody", trusted)).toMatchObject({
      status: 404,
      text: "",
    });
    expect((await ask(gateway, "PUT", "/nodes/__proto__", trusted)).status).toBe(404);
    // An old gateway only knows the renewal.
    const renewed: string[] = [];
    const options = {
      trustKey: key,
      limits: defaultLimits,
      healthIntervalMs: 5000,
      lease: 15_000,
    };
    let ids = 0;
    const restarted = createGateway(testHost(network, clock), {
      ...options,
      newId: () => `again${++ids}`,
    });
    network.roles.set(urls.gateway, {
      ...restarted,
      handle: async (request) => {
        if (request.method === "GET" && request.target.startsWith("/nodes/"))
          return { status: 405, headers: {} };
        if (request.method === "PUT") renewed.push(request.target);
        return await restarted.handle(request);
      },
    });
    await clock.pass(5000);
    expect(renewed.toSorted()).toEqual(["/nodes/m1", "/nodes/m2"]);
    expect(restarted.describe()["members"]).toEqual(expect.arrayContaining([urls.a, urls.b]));
  });

  it("a request that asks whether a member is known renews nothing (members-9)", async () => {
    const { gateway, clock } = await deploy();
    const id = idOf(await ask(gateway, "POST", "/nodes", trusted, member("http://c", "c/only")));
    await clock.pass(10_000);
    expect((await ask(gateway, "GET", `/nodes/${id}`, trusted)).status).toBe(204);
    await clock.pass(5001);
    expect((await ask(gateway, "GET", `/nodes/${id}`, trusted)).status).toBe(404);
  });

  it("members-11: the lease is 15000, in milliseconds", async () => {
    const { gateway, clock } = await deploy();
    const answer = await ask(gateway, "POST", "/nodes", trusted, member("http://c", "c/only"));
    expect(JSON.parse(answer.text)).toMatchObject({ lease: 15_000 });
    await clock.pass(14_999);
    expect(gateway.describe()["members"]).toContain("http://c");
    await clock.pass(1);
    expect(gateway.describe()["members"]).not.toContain("http://c");
    // The same holds if a configuration has started the gateway.
    const started = await start(applicationOf({}), {
      mode: "gateway",
      url: anyPort,
      trustKey: key,
      // One that takes links only refuses this member.
      link: "auto",
    });
    const init = { method: "POST", headers: trusted, body: member("http://127.0.0.1:9", "c/only") };
    expect(await (await fetch(`${started.url}/nodes`, init)).json()).toMatchObject({
      lease: 15_000,
    });
  });
});

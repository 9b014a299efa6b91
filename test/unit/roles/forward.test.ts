import { describe, expect, it } from "vitest";

import { ask } from "../../_cluster.ts";
import { sentBy } from "../../_deployment.ts";
import { layer, services, trustKey } from "../../spec/_services.ts";

const get = "/rpc/app/headers";

describe.each(["gateway", "proxy"] as const)("a call that a %s passes on", (kind) => {
  const seen = async (
    headers: Readonly<Record<string, string>>,
    ...layers: readonly ReturnType<typeof layer>[]
  ) => {
    const all = await services();
    for (const one of layers) all[kind].addMiddleware(one);
    return JSON.parse((await ask(all[kind], "GET", get, headers)).text) as Record<string, string>;
  };

  it("sends the host that the caller requested in x-forwarded-host", async () => {
    const asked = { "x-forwarded-host": "shop.localhost:8080", "x-forwarded-proto": "http" };
    expect(await seen({ host: "shop.localhost:8080" })).toEqual(asked);
    const through = layer(async (_fqn, _version, _args, _headers, next) => await next());
    expect(await seen({ host: "shop.localhost:8080" }, through)).toEqual(asked);
    // Nor does it believe what a stranger says of that.
    expect(
      await seen({
        host: "shop.localhost:8080",
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "https",
      }),
    ).toEqual(asked);
  });

  it("keeps the forwarded host from a service in front of it", async () => {
    const said = { "x-forwarded-host": "shop.example", "x-forwarded-proto": "https" };
    expect(await seen({ host: "inner", ...said, ...sentBy.outside })).toEqual(said);
    // People with the key are no service.
    const people = { host: "shop.localhost", "x-svc-trust-key": trustKey };
    expect(await seen({ ...people, ...said })).toEqual({
      "x-forwarded-host": "shop.localhost",
      "x-forwarded-proto": "http",
    });
  });

  it("sends no forwarded host for a call that a service of the deployment makes itself", async () => {
    expect(await seen({ host: "gateway", ...sentBy.trusted })).toEqual({});
    expect(await seen({})).toEqual({ "x-forwarded-proto": "http" });
  });
});

import { describe, expect, it } from "vitest";

import { ask } from "../../_cluster.ts";
import { layer, services, trustKey } from "../../spec/_services.ts";

const get = "/rpc/app/headers";

describe.each(["gateway", "proxy"] as const)("a call that a %s passes on", (kind) => {
  const seen = async (headers: Readonly<Record<string, string>>, ...layers: readonly ReturnType<typeof layer>[]) => {
    const all = await services();
    for (const one of layers) all[kind].addMiddleware(one);
    return JSON.parse((await ask(all[kind], "GET", get, headers)).text) as Record<string, string>;
  };

  it("tells the application which host the caller asked (D5.headers)", async () => {
    expect(await seen({ host: "shop.example:8080" })).toEqual({ "x-forwarded-host": "shop.example:8080" });
    const through = layer(async (_fqn, _version, _args, _headers, next) => await next());
    expect(await seen({ host: "shop.example" }, through)).toEqual({ "x-forwarded-host": "shop.example" });
  });

  it("keeps what a proxy in front of it said of that (D5.headers)", async () => {
    expect(await seen({ host: "inner", "x-forwarded-host": "shop.example" })).toEqual({ "x-forwarded-host": "shop.example" });
  });

  it("says nothing of it where a service of the deployment calls: no host of the outside is in it (D5.headers)", async () => {
    expect(await seen({ host: "gateway", "x-svc-trust-key": trustKey })).toEqual({});
    expect(await seen({})).toEqual({});
  });
});

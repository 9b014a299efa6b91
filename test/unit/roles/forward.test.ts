import { describe, expect, it } from "vitest";

import { nodeHost } from "../../../server/host.ts";
import { createCredentials } from "../../../src/trust.ts";
import { ask } from "../../_cluster.ts";
import { layer, services, trustKey } from "../../spec/_services.ts";

const get = "/rpc/app/headers";
const credentials = createCredentials(trustKey, nodeHost());

describe.each(["gateway", "proxy"] as const)("a call that a %s passes on", (kind) => {
  const seen = async (
    headers: Readonly<Record<string, string>>,
    ...layers: readonly ReturnType<typeof layer>[]
  ) => {
    const all = await services();
    for (const one of layers) all[kind].addMiddleware(one);
    return JSON.parse((await ask(all[kind], "GET", get, headers)).text) as Record<string, string>;
  };

  it("tells the application which host the caller asked (D5.headers)", async () => {
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

  it("keeps what a service in front of it said of that (D5.headers)", async () => {
    const said = { "x-forwarded-host": "shop.example", "x-forwarded-proto": "https" };
    expect(await seen({ host: "inner", ...said, ...credentials.fields("outside") })).toEqual(said);
    expect(await seen({ host: "inner", ...said, "x-svc-trust-key": trustKey })).toEqual(said);
  });

  it("says nothing of it where a service of the deployment calls: no host of the outside is in it (D5.headers)", async () => {
    expect(await seen({ host: "gateway", ...credentials.fields("service") })).toEqual({});
    expect(await seen({})).toEqual({ "x-forwarded-proto": "http" });
  });
});

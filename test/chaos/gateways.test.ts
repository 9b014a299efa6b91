// The short form of what `npm run chaos` does with two gateways.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { broken } from "./_broken.ts";
import { type Deployment, startDeployment } from "../../lab/chaos/harness/deployment.ts";
import { settled } from "../../lab/chaos/harness/scenario.ts";
import { lostGateway } from "../../lab/chaos/scenarios/lost-gateway.ts";
import { lostDirectoryServer } from "../../lab/chaos/scenarios/lost-directory.ts";
import { rollingGateways, rollingGatewaysByDirectory } from "../../lab/chaos/scenarios/rolls.ts";

describe("two gateways under load", { timeout: 100_000 }, () => {
  let two: Deployment;
  beforeAll(async () => {
    two = await startDeployment(lostGateway.options);
    await settled(two, two.members, two.proxy.url);
  }, 60_000);
  afterAll(async () => await two?.close());

  it("one that is killed fails no idempotent call, and no call that comes later", async () => {
    expect(await broken(lostGateway, two)).toEqual([]);
  });

  it("a restart of both, one after the other, fails no call", async () => {
    expect(await broken(rollingGateways, two)).toEqual([]);
  });
});

describe("two gateways in a directory, under load", { timeout: 150_000 }, () => {
  let found: Deployment;
  beforeAll(async () => {
    found = await startDeployment(lostDirectoryServer.options);
    await settled(found, found.members, found.proxy.url);
  }, 60_000);
  afterAll(async () => await found?.close());

  it("a restart of both, one after the other, fails no call, however long it takes", async () => {
    expect(await broken(rollingGatewaysByDirectory, found)).toEqual([]);
  });

  it("with one of its three servers lost, what starts is ready within 5 s, and a gateway that starts is found within 5 s by what runs", async () => {
    expect(await broken(lostDirectoryServer, found)).toEqual([]);
  });
});

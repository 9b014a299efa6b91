// The short form of `npm run chaos`: less load, and only what holds however busy the machine is.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { broken } from "./_broken.ts";
import { type Deployment, startDeployment } from "../../lab/chaos/harness/deployment.ts";
import { settled } from "../../lab/chaos/harness/scenario.ts";
import { rolling } from "../../lab/chaos/scenarios/drain.ts";
import { gateway } from "../../lab/chaos/scenarios/gateway.ts";
import { hang } from "../../lab/chaos/scenarios/hang.ts";
import { kill } from "../../lab/chaos/scenarios/kill.ts";
import { unknown } from "../../lab/chaos/scenarios/unknown.ts";

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment();
  await settled(deployment);
}, 60_000);
afterAll(async () => await deployment?.close());

describe("real processes under load", { timeout: 150_000 }, () => {
  it("a node that is killed fails no idempotent call, and other calls only with their reason", async () => {
    expect(await broken(kill, deployment)).toEqual([]);
  });

  it("a restart of all nodes, one after the other, fails no call", async () => {
    expect(await broken(rolling, deployment)).toEqual([]);
  });

  it("a node that hangs fails no idempotent call, and no call outlives its deadline", async () => {
    expect(await broken(hang, deployment)).toEqual([]);
  });

  it("a procedure that nobody has is 404, one whose nodes are gone 503 with retry-after, both at once", async () => {
    expect(await broken(unknown, deployment)).toEqual([]);
  });

  it("while the gateway is away, a proxy refuses calls with 503 and retry-after, and a gateway that is stopped loses none", async () => {
    expect(await broken(gateway, deployment)).toEqual([]);
  });
});

import { expect, it } from "vitest";

import type { OutgoingRequest } from "../../../src/base/ports.ts";
import { createMembership } from "../../../src/roles/members/membership.ts";
import { TestClock, testHost, TestNetwork } from "../../_cluster.ts";

const lease = 6000;

it("a node renews at once, without a negative timer, if the gateway answers a check after the renewal was due", async () => {
  const clock = new TestClock();
  const waits: number[] = [];
  const { after } = clock;
  clock.after = (ms, run) => {
    waits.push(ms);
    return after.call(clock, Math.max(0, ms), run);
  };
  const network = new TestNetwork();
  const sent: string[] = [];
  network.send = async ({ method }: OutgoingRequest) => {
    sent.push(method);
    // The renewal is due a third of the lease after the join: this answer comes later, however early it was asked for.
    if (method === "GET") await clock.sleep(lease / 3);
    const body = method === "POST" ? JSON.stringify({ id: "1", lease }) : "";
    return {
      status: method === "POST" ? 201 : method === "PUT" ? 204 : 200,
      headers: {},
      body: new TextEncoder().encode(body),
    };
  };
  const membership = createMembership(testHost(network, clock), "http://gateway", "key", () => ({
    procedures: [],
  }));
  await membership.join("http://node");
  await clock.pass(lease);
  expect(sent.slice(0, 3)).toEqual(["POST", "GET", "PUT"]);
  expect(waits.filter((ms) => !(ms >= 0))).toEqual([]);
});

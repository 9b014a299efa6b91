import { describe, expect, it } from "vitest";
import { settle } from "../_cluster.ts";
import { deploy, type Deployment, urls } from "../_deployment.ts";
import { dialAsMember, memoryDial } from "../_fake-member.ts";
import { joinedOver } from "../_linked-membership.ts";
import { relayAnswer } from "../../src/roles/relay/forward.ts";
import { traced, traceOf } from "../../src/base/trace.ts";
import { binaryFrom } from "../../src/codec/values/binary.ts";

/** From now on the gateway takes links and requests, and answers none. */
function hang({ network, gateway }: Deployment): void {
  network.roles.set(urls.gateway, { ...gateway, handle: () => new Promise(() => {}) });
}

const offered = () => ({ procedures: ["a"] });

describe("a gateway that hangs", () => {
  it("doesn't delay a node's start", async () => {
    const cluster = await deploy();
    const { local, clock, log } = cluster;
    hang(cluster);
    let isJoined = false;
    const { joined } = await joinedOver(local, "http://c", offered);
    void joined.then(() => (isJoined = true));
    await clock.pass(4_999);
    expect(isJoined).toBe(false);
    await clock.pass(1);
    expect(isJoined).toBe(true);
    expect(log.lines.at(-1)).toContain("it didn't answer in 5 s");
  });

  it("delays a leaving node by 0.9 s at most", async () => {
    const cluster = await deploy();
    const { local, clock, log } = cluster;
    const { membership, joined } = await joinedOver(local, "http://c", offered);
    await joined;
    hang(cluster);
    let left = false;
    void membership.leave().then(() => (left = true));
    await clock.pass(899);
    expect(left).toBe(false);
    await clock.pass(1);
    await settle();
    expect(left).toBe(true);
    expect(log.lines.at(-1)).toContain("it didn't answer in 0.9 s");
  });
});

describe("a member's address", () => {
  it.each(["http://c/?x=", "http://c/#", "http://c?"])(
    "is refused with a query or fragment: %s",
    async (url) => {
      const { network } = await deploy();
      const member = await dialAsMember({ dial: memoryDial(network) });
      expect((await member.announce({ url, procedures: ["c/d"] })).status).toBe(400);
    },
  );
});

describe("HEAD through a proxy", () => {
  it("has the content-length of a GET", () => {
    const answer = {
      status: 200,
      headers: { "content-length": "5", connection: "close" },
      body: new Uint8Array(),
    };
    expect(relayAnswer(answer, "HEAD").headers).toEqual({ "content-length": "5" });
    expect(relayAnswer(answer).headers).toEqual({});
  });
});

describe("an error's invalid trace", () => {
  it("is reduced to its valid lines", () => {
    const error = Object.assign(new Error("x"), { trace: [1, { a: 1 }, "[one | v1.0.0]"] });
    expect(traceOf(traced(error, "[two | v1.0.0]"))).toEqual(["[one | v1.0.0]", "[two | v1.0.0]"]);
  });
});

describe("a serialized Binary", () => {
  it.each([
    ["a list as its type", ["Uint8Array"], undefined],
    ["no type", undefined, undefined],
    ["an object as media type", "Blob", { a: 1 }],
    ["a media type for a type without one", "Uint8Array", "text/plain"],
  ])("is refused with %s", (_, type, mediaType) => {
    expect(binaryFrom({ type, mediaType, base64: "AAAA" })).toBeUndefined();
  });
});

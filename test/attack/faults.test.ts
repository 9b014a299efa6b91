import { describe, expect, it } from "vitest";
import { ask, settle, TestClock, testHost, TestLog, TestNetwork } from "../_cluster.ts";
import { deploy, key, urls } from "../_deployment.ts";
import { relayAnswer } from "../../src/roles/relay/forward.ts";
import { createMembership } from "../../src/roles/members/membership.ts";
import { traced, traceOf } from "../../src/base/trace.ts";
import { binaryFrom } from "../../src/codec/values/binary.ts";

/** Accepts every request and never answers. */
class HangingNetwork extends TestNetwork {
  override send(request: Parameters<TestNetwork["send"]>[0]): Promise<never> {
    return new Promise((_, reject) =>
      request.signal?.addEventListener("abort", () => reject(request.signal?.reason)),
    );
  }
}

describe("a gateway that hangs", () => {
  it("doesn't delay a node's start", async () => {
    const clock = new TestClock();
    const log = new TestLog();
    const membership = createMembership(
      testHost(new HangingNetwork(), clock, log),
      urls.gateway,
      key,
      () => ({ procedures: ["a"] }),
    );
    let joined = false;
    void membership.join(urls.a).then(() => (joined = true));
    await clock.pass(5_000);
    expect(joined).toBe(true);
    expect(log.lines).toEqual([expect.stringContaining("it didn't answer in 5 s")]);
  });

  it("delays a leaving node by 0.9 s at most", async () => {
    const clock = new TestClock();
    const log = new TestLog();
    const network = new TestNetwork();
    const cluster = await deploy();
    network.roles.set(urls.gateway, cluster.gateway);
    const host = testHost(network, clock, log);
    const membership = createMembership(host, urls.gateway, key, () => ({ procedures: ["a"] }));
    await membership.join(urls.a);
    network.send = new HangingNetwork().send.bind(network);
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
      const { gateway } = await deploy();
      const answer = await ask(
        gateway,
        "POST",
        "/nodes",
        { "x-svc-trust-key": key },
        JSON.stringify({ url, procedures: ["c/d"] }),
      );
      expect(answer.status).toBe(400);
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

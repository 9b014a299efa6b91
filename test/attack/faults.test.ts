import { describe, expect, it } from "vitest";
import { ask, settle, TestClock, testHost, TestLog, TestNetwork } from "../_cluster.ts";
import { deploy, key, urls } from "../_deployment.ts";
import { relayed } from "../../src/roles/forward.ts";
import { createMembership } from "../../src/roles/membership.ts";
import { traced, traceOf } from "../../src/trace.ts";
import { binaryFrom } from "../../src/serializer/binary.ts";

/** Takes every request, and answers none until whoever asked gives up. */
class HangingNetwork extends TestNetwork {
  override send(request: Parameters<TestNetwork["send"]>[0]): Promise<never> {
    return new Promise((_, reject) =>
      request.signal?.addEventListener("abort", () => reject(request.signal?.reason as Error)),
    );
  }
}

describe("a gateway that hangs", () => {
  it("holds up neither the start of a node nor its end", async () => {
    const clock = new TestClock();
    const log = new TestLog();
    const membership = createMembership(
      testHost(new HangingNetwork(), clock, log),
      urls.gateway,
      key,
      () => ["a"],
    );
    let joined = false;
    void membership.join(urls.a).then(() => (joined = true));
    await clock.pass(5_000);
    expect(joined).toBe(true);
    expect(log.lines).toEqual([expect.stringContaining("it gave no answer in 5 s")]);
  });

  it("gets 0.9 s of a node that leaves", async () => {
    const clock = new TestClock();
    const log = new TestLog();
    const network = new TestNetwork();
    const cluster = await deploy();
    network.roles.set(urls.gateway, cluster.gateway);
    const host = testHost(network, clock, log);
    const membership = createMembership(host, urls.gateway, key, () => ["a"]);
    await membership.join(urls.a);
    network.send = new HangingNetwork().send.bind(network);
    let left = false;
    void membership.leave().then(() => (left = true));
    await clock.pass(899);
    expect(left).toBe(false);
    await clock.pass(1);
    await settle();
    expect(left).toBe(true);
    expect(log.lines.at(-1)).toContain("it gave no answer in 0.9 s");
  });
});

describe("a member's address", () => {
  it.each(["http://c/?x=", "http://c/#", "http://c?"])(
    "is refused with a query or fragment, which would swallow the path: %s",
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
  it("tells the length that a GET would have", () => {
    const answer = {
      status: 200,
      headers: { "content-length": "5", connection: "close" },
      body: new Uint8Array(),
    };
    expect(relayed(answer, "HEAD").headers).toEqual({ "content-length": "5" });
    expect(relayed(answer).headers).toEqual({});
  });
});

describe("a trace that is none", () => {
  it("gives way to the lines: another service would take nothing else", () => {
    const error = Object.assign(new Error("x"), { trace: [1, { a: 1 }, "[one | v1.0.0]"] });
    expect(traceOf(traced(error, "[two | v1.0.0]"))).toEqual(["[one | v1.0.0]", "[two | v1.0.0]"]);
  });
});

describe("a Binary form", () => {
  it.each([
    ["a list as type", ["Uint8Array"], undefined],
    ["no type", undefined, undefined],
    ["an object as media type", "Blob", { a: 1 }],
    ["a media type for what has none", "Uint8Array", "text/plain"],
  ])("is none with %s", (_, type, mediaType) => {
    expect(binaryFrom({ type, mediaType, base64: "AAAA" })).toBeUndefined();
  });
});

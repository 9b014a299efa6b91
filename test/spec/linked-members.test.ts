// Members of a gateway that have links: what holds there in place of leases and questions.

import { describe, expect, it } from "vitest";

import type { Channel } from "../../src/base/ports/links.ts";
import { keeping } from "./_behind-sockets.ts";
import { ask, key, settle } from "../_cluster.ts";
import { answeredBy, deployment, where } from "./_linked.ts";

const trusted = { "x-svc-trust-key": key };

describe("a member with a link", () => {
  it("links-17: a member whose link is lost is out of the rotation at once, and in it again when it has dialled", async () => {
    const { network, gateway, node, clock, log } = await deployment();
    const a = await node("a");
    await node("b");
    network.roles.delete("http://a");
    await settle();
    for (let call = 0; call < 4; call++) expect(await answeredBy(gateway)).toBe("b");
    expect(
      log.lines.filter((line) => line.includes("http://a is gone with its link")),
    ).toHaveLength(1);
    network.roles.set("http://a", a);
    await clock.pass(2_000);
    const by = new Set<unknown>();
    for (let call = 0; call < 4; call++) by.add(await answeredBy(gateway));
    expect(by).toEqual(new Set(["a", "b"]));
  });

  it("one line says that a member is gone with its link, also if calls to it were running (links-17)", async () => {
    const { network, gateway, node, log } = await deployment();
    await node("a");
    const calls = Array.from({ length: 3 }, () => ask(gateway, "GET", "/rpc/waits"));
    await settle();
    log.lines.length = 0;
    network.roles.delete("http://a");
    for (const call of calls) expect((await call).status).toBe(502);
    await settle();
    expect(log.lines.filter((line) => line.startsWith("warning: http://a"))).toEqual([
      expect.stringContaining("is gone with its link"),
    ]);
  });

  it("one line of a proxy says that its gateway is away, also if calls fail and it asks for routes (joining-5)", async () => {
    const { network, proxy, clock, log, restart } = await deployment();
    const role = await proxy();
    // The log is the gateway's, too.
    const ofProxy = () => log.lines.splice(0).filter((line) => !line.includes("a proxy"));
    ofProxy();
    network.roles.delete("http://gateway");
    for (let calls = 0; calls < 3; calls++)
      expect((await ask(role, "GET", where)).status).toBe(503);
    await clock.pass(20_000);
    expect(ofProxy()).toEqual([
      expect.stringMatching(/^warning: the link to http:\/\/gateway is lost .*; dialling again$/),
    ]);
    await restart();
    await clock.pass(5_000);
    expect((await ask(role, "GET", where)).status).toBe(404);
    expect(ofProxy()).toEqual(["linked to http://gateway again"]);
  });

  it.each(["auto", "never"] as const)(
    "links-18: a node that its gateway no longer knows, as somebody removed it with DELETE /nodes/{id}, joins again: at once over a link, and within a second over HTTP (where 'link' is %s)",
    async (mode) => {
      const { gateway, node, clock, log } = await deployment(mode);
      await node("a");
      await clock.pass(1_000);
      for (const id of ["m1", "m2"]) {
        expect((await ask(gateway, "DELETE", `/nodes/${id}`, trusted)).status).toBe(204);
        expect((await ask(gateway, "GET", where)).status).toBe(503);
        await clock.pass(mode === "auto" ? 0 : 1_000);
        expect(await answeredBy(gateway)).toBe("a");
        await clock.pass(5_000);
      }
      const told =
        mode === "auto" ? "is lost (it takes no more calls" : "no longer knows this node";
      expect(log.lines.filter((line) => line.includes(told))).toHaveLength(2);
      expect(gateway.describe().linked).toEqual(mode === "auto" ? ["http://a"] : []);
    },
  );

  it("calls of a node with a link that was removed end where they run, and then its link does (links-18)", async () => {
    const { network, gateway, node, clock, running } = await deployment();
    const open = new Set<Channel>();
    const add = (channel: Channel): void => {
      open.add(channel);
      const { close } = channel;
      channel.close = () => {
        open.delete(channel);
        close.call(channel);
      };
    };
    const accept: typeof gateway.accept = (upgrade) => keeping({ add }, gateway.accept!(upgrade));
    network.roles.set("http://gateway", { ...gateway, accept });
    await node("a");
    const waiting = ask(gateway, "GET", "/rpc/waits");
    await settle();
    expect((await ask(gateway, "DELETE", "/nodes/m1", trusted)).status).toBe(204);
    await clock.pass(3_000);
    expect(await answeredBy(gateway)).toBe("a");
    expect(open.size).toBe(2);
    running.get("waits")?.();
    expect(await waiting).toMatchObject({ status: 200 });
    await settle();
    expect(open.size).toBe(1);
    expect(gateway.describe().linked).toEqual(["http://a"]);
  });

  it("a node with a link that was removed while its health changed joins again, and says how it is (links-18)", async () => {
    const { gateway, node, clock, setHealth } = await deployment();
    await node("a");
    await clock.pass(1_000);
    expect((await ask(gateway, "DELETE", "/nodes/m1", trusted)).status).toBe(204);
    setHealth(false);
    await clock.pass(1_000);
    expect(gateway.describe().linked).toEqual(["http://a"]);
    expect((await ask(gateway, "GET", where)).status).toBe(503);
    setHealth(true);
    await clock.pass(2_000);
    expect(await answeredBy(gateway)).toBe("a");
  });

  it("a node with a link asks its gateway nothing while nothing changes (links-18)", async () => {
    const { network, gateway, node, clock } = await deployment();
    const { handle } = gateway;
    const asked: string[] = [];
    network.roles.set("http://gateway", {
      ...gateway,
      handle: async (request) => {
        asked.push(`${request.method} ${request.target}`);
        return await handle(request);
      },
    });
    await node("a");
    await clock.pass(100_000);
    expect(asked).toEqual(["POST /nodes"]);
  });

  it("a node over HTTP whose gateway takes links later, with another key, stays there, says so once, and asks again every 60 s (links-1)", async () => {
    const { network, gateway, node, clock, log } = await deployment("never");
    await node("a");
    const foreign = await deployment("auto", "another-trust-key-than-theirs");
    const dials: number[] = [];
    const accept: typeof foreign.gateway.accept = (upgrade) => {
      const answer = foreign.gateway.accept!(upgrade);
      if (answer?.status === 403) dials.push(clock.now());
      return answer;
    };
    network.roles.set("http://gateway", { ...gateway, accept });
    await clock.pass(180_000);
    expect(dials).toEqual([60_000, 120_000, 180_000]);
    const warned = log.lines.filter((line) => line.includes("can't link"));
    expect(warned).toHaveLength(1);
    expect(warned[0]).toMatch(/another trust key.*requests to it stay on HTTP/);
    expect(await answeredBy(gateway)).toBe("a");
  });

  it("links-28: a node whose calls are all that its gateway takes still tells its health, and leaves", async () => {
    const { gateway, node, clock, setHealth, log } = await deployment("auto", key, 2);
    const a = await node("a");
    await clock.pass(1_000);
    const held = new Promise<unknown>(() => {});
    gateway.addMiddleware({
      handle: async (fqn, _version, _args, _headers, next) => await (fqn === "far" ? held : next()),
    });
    const calls = [1, 2, 3].map(async () => await a.runProcedure!("far"));
    for (const call of calls) call.catch(() => {});
    await settle();
    await expect(calls[2]).rejects.toThrow("could not be sent");
    setHealth(false);
    await clock.pass(1_000);
    expect(log.lines).toContain("warning: http://a is unhealthy: it gets no calls");
    setHealth(true);
    await clock.pass(1_000);
    expect(log.lines).toContain("http://a is healthy again");
    expect(log.lines.join("\n")).not.toMatch(/wasn't told|wasn't asked|joining again/);
    expect(await a.leave()).toBe(true);
    expect(gateway.describe().members).not.toContain("http://a");
  });

  it("links-19: nodes with links may say that they are at the same address, as nothing is sent there: each is a member", async () => {
    const { gateway, node } = await deployment();
    await node("a", { address: "http://127.0.0.1:3003" });
    await node("b", { address: "http://127.0.0.1:3003" });
    const by = new Set<unknown>();
    for (let call = 0; call < 4; call++) by.add(await answeredBy(gateway));
    expect(by).toEqual(new Set(["a", "b"]));
  });
});

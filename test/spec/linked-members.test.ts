// Members of a gateway, and what becomes of them with their links.

import { describe, expect, it } from "vitest";

import { ask, key, settle } from "../_cluster.ts";
import { answeredBy, deployment, where } from "./_linked.ts";

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

  it("one line of a proxy says that its gateway is away, also if calls fail and it asks for routes (joining-4)", async () => {
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

  it("links-18: a node asks its gateway nothing while nothing changes", async () => {
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

  it("links-28: a node whose calls are all that its gateway takes still tells its health, and leaves", async () => {
    const { gateway, node, clock, setHealth, log } = await deployment(key, 2);
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

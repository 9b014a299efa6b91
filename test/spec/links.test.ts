// Links between services, as users and operators notice them. How they work inside: test/unit/link.

import { setTimeout as pause } from "node:timers/promises";

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { memoryLinks } from "../../server/local/memory-links.ts";
import type { NodeInput } from "../../server/config/config-types.ts";
import type { LinkAnswer, LinkUpgrade } from "../../src/base/ports/links.ts";
import { createNode } from "../../src/roles/node.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { ask, key, settle, testHost, testModules } from "../_cluster.ts";
import { fakeMember, memoryDial } from "../_fake-member.ts";
import { refuseSockets } from "../_web-sockets-only.mjs";
import { proxyBetween } from "./_behind-sockets.ts";
import { answeredBy, deployment, where } from "./_linked.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const trustKey = "the-trust-key-of-the-links";

describe("the way between services", () => {
  it("links-1: a service sends what it sends to its gateway, and gets what comes from there, over its link and no other way", async () => {
    const { network, gateway, node, proxy, log } = await deployment();
    const plain = vi.spyOn(network, "send");
    const toGateway = () =>
      plain.mock.calls.filter(([{ url }]) => !url.startsWith("http://repository/"));
    const a = await node("a");
    expect(log.lines).toContain("joined the gateway at http://gateway");
    expect(await answeredBy(gateway)).toBe("a");
    expect(await answeredBy(await proxy())).toBe("a");
    await expect(a.runProcedure?.("elsewhere")).rejects.toThrow("not found");
    expect(toGateway()).toEqual([]);
  });

  it("links-2: a service whose gateway takes no links sends it nothing, says why once in the log, and goes on trying", async () => {
    const { network, gateway, node, clock, log } = await deployment();
    const plain = vi.spyOn(network, "send");
    const { accept: _, ...unlinked } = gateway;
    network.roles.set("http://gateway", unlinked);
    await node("a");
    await clock.pass(120_000);
    expect(plain.mock.calls).toEqual([]);
    expect((await ask(gateway, "GET", where)).status).toBe(404);
    expect(log.lines.filter((line) => line.includes("can't link to http://gateway"))).toEqual([
      expect.stringMatching(/^warning: can't link to http:\/\/gateway yet \(.+\); trying again$/),
    ]);
    network.roles.set("http://gateway", gateway);
    await clock.pass(2_000);
    expect(await answeredBy(gateway)).toBe("a");
  });
});

describe("membership over a link", () => {
  it("links-5: while its link lives a node is a member without a lease; with the link it is gone at once", async () => {
    const { network, gateway, node, clock } = await deployment();
    await node("a");
    await clock.pass(600_000);
    expect(await answeredBy(gateway)).toBe("a");
    network.roles.delete("http://a");
    await settle();
    expect(gateway.describe().members).toEqual([]);
    expect((await ask(gateway, "GET", where)).status).toBe(503);
  });

  it("links-6: a lost link is dialled again within 2 s, and HTTP doesn't replace it", async () => {
    const { network, node, clock, restart } = await deployment();
    await node("a");
    const before = network.sent.length;
    network.roles.delete("http://gateway");
    await clock.pass(30_000);
    expect(network.sent.length).toBe(before);
    const gateway = await restart();
    await clock.pass(2_000);
    expect(await answeredBy(gateway)).toBe("a");
  });

  it("links-7: a gateway asks a member over its link how it is, as a request of its own, and nobody says how another one is", async () => {
    const { network, gateway, node, clock, setHealth, log } = await deployment();
    await node("a");
    setHealth(false);
    await clock.pass(1_000);
    expect((await ask(gateway, "GET", where)).status).toBe(503);
    expect(log.lines).toContain("warning: http://a is unhealthy: it gets no calls");
    setHealth(true);
    await clock.pass(1_000);
    expect(await answeredBy(gateway)).toBe("a");
    const questions = network.sent.filter(({ url }) => url.includes("/health"));
    expect(new Set(questions.map(({ method, url }) => `${method} ${url}`))).toEqual(
      new Set(["GET http://a/health/status"]),
    );
    for (const id of ["m1", "nobody"]) {
      const other = await fakeMember({ dial: memoryDial(network) }, { procedures: [] });
      await expect(other.request("PUT", `/nodes/${id}/health`, "false")).rejects.toThrow();
      expect(other.isClosed).toBe(true);
    }
    expect(await answeredBy(gateway)).toBe("a");
  });

  it("links-8: a node that stops leaves first, and is done once the gateway has confirmed it", async () => {
    const { gateway, node, running, clock } = await deployment();
    const a = await node("a");
    const waiting = ask(gateway, "GET", "/rpc/waits");
    await settle();
    expect(await a.leave()).toBe(true);
    expect((await ask(gateway, "GET", where)).status).toBe(503);
    a.refuseCalls();
    let cut: number | undefined;
    void a.finishCalls(10_000, new Error("late")).then((count) => (cut = count));
    await clock.pass(5_000);
    expect(cut).toBeUndefined();
    running.get("waits")?.();
    expect((await waiting).text).toBe("done");
    await settle();
    expect(cut).toBe(0);
  });

  it("links-9: a call that still runs when a node may wait no longer is cut with 503", async () => {
    const { gateway, node, clock } = await deployment();
    const a = await node("a");
    const waiting = ask(gateway, "GET", "/rpc/waits");
    await settle();
    await a.leave();
    a.refuseCalls();
    const { NodeNotAvailable } = await import("../../src/base/errors.ts");
    const cut = a.finishCalls(1_000, new NodeNotAvailable("This service has stopped"));
    await clock.pass(1_000);
    expect((await waiting).status).toBe(503);
    expect(await cut).toBe(1);
  });
});

describe("calls over a link", () => {
  it("links-14: a member whose link takes no more calls is out of rotation for those", async () => {
    const { gateway, node, running } = await deployment();
    await node("a", { maxCalls: 1 });
    const waiting = ask(gateway, "GET", "/rpc/waits");
    await settle();
    const refused = await ask(gateway, "GET", where);
    expect(refused.status).toBe(503);
    await node("b");
    for (let call = 0; call < 4; call++) expect(await answeredBy(gateway)).toBe("b");
    running.get("waits")?.();
    expect((await waiting).text).toBe("done");
    const by = new Set<unknown>();
    for (let call = 0; call < 4; call++) by.add(await answeredBy(gateway));
    expect(by).toEqual(new Set(["a", "b"]));
  });

  it("links-15: a call that was sent and has no answer when the link breaks is 502, and one that may be sent again goes to another member", async () => {
    const { network, gateway, node } = await deployment();
    await node("a");
    const waiting = ask(gateway, "GET", "/rpc/waits");
    await settle();
    network.roles.delete("http://a");
    expect((await waiting).status).toBe(502);
    await node("b");
    const again = ask(gateway, "GET", "/rpc/again");
    await settle();
    await node("c");
    network.roles.delete("http://b");
    expect((await again).headers["x-svc-node"]).toBe("c");
  });

  it("links-16: a proxy is dialled by nobody", async () => {
    const { node, proxy } = await deployment();
    await node("a");
    expect((await proxy()).accept).toBeUndefined();
  });
});

describe("trust over a link", () => {
  it("links-10: what a caller may do is in the kind of a frame: no header of a caller makes its call trusted", async () => {
    const { network, node, proxy } = await deployment();
    await node("a");
    const role = await proxy();
    network.sent.length = 0;
    const forged = {
      "x-svc-credential": "service a.b",
      "x-forwarded-for": "10.0.0.1",
    };
    expect((await ask(role, "GET", where, forged)).status).toBe(200);
    expect((await ask(role, "GET", "/rpc/inner", forged)).status).toBe(401);
    expect((await ask(role, "GET", "/rpc/inner", { "x-svc-trust-key": key })).status).toBe(200);
    const shown = network.sent
      .filter(({ url }) => url.startsWith("http://a/rpc"))
      .map(({ headers }) => headers[":from"]);
    expect(new Set(shown)).toEqual(new Set(["outside", "trusted"]));
  });

  it("links-11: a node whose trust key differs from its gateway's doesn't start", async () => {
    const { network, clock, log } = await deployment();
    const url = "http://foreign";
    const host = { ...testHost(network, clock, log), links: memoryLinks(network) };
    const node = createNode(host, {
      trustKey: "another-trust-key-than-theirs",
      limits: defaultLimits,
      gateway: "http://gateway",
      modules: testModules([]),
      segments: [],
      name: undefined,
    });
    network.roles.set(url, node);
    await expect(node.start(url)).rejects.toThrow("has another trust key");
  });

  it("links-3: a gateway that can't tell its TLS connection from another takes no links: a node's start says what to set, and sends nothing", async () => {
    const { network, gateway, node, log } = await deployment();
    const tls = { lack: "this runtime can't tell: use Node" };
    const accept = (upgrade: LinkUpgrade): LinkAnswer => gateway.accept!({ ...upgrade, tls });
    network.roles.set("http://gateway", { ...gateway, accept });
    await expect(node("a")).rejects.toThrow(
      "http://gateway can't be linked to: the other end can't tell its TLS connection from others: something between the two services ends TLS, or it doesn't run on Node: let it pass TLS through, or set \"endToEndTls\": false at both",
    );
    expect(log.lines.at(-1)).toContain(
      'this runtime can\'t tell: use Node, or set "endToEndTls": false at both',
    );
    expect(network.sent).toEqual([]);
    expect(gateway.describe().members).toEqual([]);
  });
});

describe("links over sockets", () => {
  const files = {
    "src/shop/stock.ts": "export async function left() { return 12; }",
    "shop.segment.json": '{ "./shop/stock": { "left": { "access": "public" } } }',
    "index.html": "<!doctype html><title>Shop</title>",
  };
  /** A gateway, and nodes of one repository. */
  async function services() {
    const common = { url: anyPort, trustKey };
    const application = applicationOf(files);
    const repository = await start(application, { mode: "repository", ...common });
    const gateway = await start(application, { mode: "gateway", ...common });
    const node = async (more: Partial<NodeInput> = {}) =>
      await start(application, {
        mode: "node",
        ...common,
        gateway: gateway.url,
        repository: repository.url,
        segments: ["shop"],
        ...more,
      });
    return { gateway, node };
  }

  it("links-12: services link by an upgrade at /svc/link of their HTTP address; where something on the way takes it away, a node says so once, and joins when nothing does", async () => {
    const { gateway, node } = await services();
    const linked = await node();
    expect(linked.lines.join("\n")).toContain("joined the gateway at");
    // Passes everything on but upgrades, as many reverse proxies do.
    const between = await proxyBetween(gateway.url);
    const cutOff = await node({ gateway: between.url });
    const warnings = (): readonly string[] =>
      cutOff.lines.filter((line) => line.includes(`can't link to ${between.url}`));
    await pause(500);
    expect(warnings()).toHaveLength(1);
    expect(gateway.info).toMatchObject({ members: [linked.url] });
    expect(await (await fetch(`${gateway.url}/rpc/shop/left`)).text()).toBe("12");
    between.strips = false;
    await expect
      .poll(() => gateway.info, { timeout: 4_000 })
      .toMatchObject({ members: [linked.url, cutOff.url] });
    for (let call = 0; call < 4; call++)
      expect(await (await fetch(`${gateway.url}/rpc/shop/left`)).text()).toBe("12");
    expect(warnings()).toHaveLength(1);
  });

  it("links-34: something on the way that passes WebSockets on and no other upgrades gets one, at the same address: the link is the same", async () => {
    onTestFinished(refuseSockets());
    const { gateway, node } = await services();
    const linked = await node();
    expect(linked.lines).toContain(`linked to ${gateway.url}`);
    expect(gateway.info).toMatchObject({ members: [linked.url] });
    expect(await (await fetch(`${gateway.url}/rpc/shop/left`)).text()).toBe("12");
  });

  it("links-13: a node that stops under load fails no call, and needs no second of serving on", async () => {
    const { gateway, node } = await services();
    const [first] = [await node(), await node()];
    const run = { isOver: false };
    const statuses = new Map<number, number>();
    const caller = async (): Promise<void> => {
      while (!run.isOver) {
        const { status } = await fetch(`${gateway.url}/rpc/shop/left`);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const callers = Array.from({ length: 8 }, caller);
    const begun = performance.now();
    await first.stop();
    // No second of serving on: the gateway has confirmed.
    expect(performance.now() - begun).toBeLessThan(900);
    run.isOver = true;
    await Promise.all(callers);
    expect([...statuses.keys()]).toEqual([200]);
  });
});

// Links between services, as users and operators notice them. How they work inside: test/unit/link.

import { connect, createServer } from "node:net";

import { describe, expect, it, onTestFinished } from "vitest";

import { memoryLinks } from "../../server/local/memory-links.ts";
import type { LinkAnswer, LinkUpgrade } from "../../src/base/ports/links.ts";
import { serviceHeaders } from "../../src/base/protocol.ts";
import { createNode } from "../../src/roles/node.ts";
import { defaultLimits } from "../../src/codec/values/limits.ts";
import { ask, key, settle, testHost, testModules } from "../_cluster.ts";
import { answeredBy, deployment, where } from "./_linked.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const trustKey = "the-trust-key-of-the-links";

describe("the choice", () => {
  it("links-1: link auto: a service links to its gateway, and uses HTTP if the gateway takes no links; it tries again every 60 s", async () => {
    const linked = await deployment();
    await linked.node("a");
    expect(linked.log.lines).toContain("joined the gateway at http://gateway over a link");
    expect(await answeredBy(linked.gateway)).toBe("a");
    const plain = await deployment("never");
    await plain.node("b");
    expect(plain.log.lines).toContain("joined the gateway at http://gateway");
    expect(plain.log.lines.join("\n")).toMatch(/takes no links .*over HTTP/);
    expect(await answeredBy(plain.gateway)).toBe("b");
    // Another gateway is there now, which takes links.
    plain.network.roles.set("http://gateway", { ...plain.gateway, accept: linked.gateway.accept! });
    await plain.clock.pass(60_000);
    expect(plain.log.lines).toContain("joined the gateway at http://gateway over a link");
  });

  it("links-2: link always never uses HTTP, says why in the log, and goes on trying", async () => {
    const { network, gateway, node, clock, log } = await deployment("never");
    await node("a", { link: "always" });
    expect(network.sent.filter(({ url }) => url.startsWith("http://gateway"))).toEqual([]);
    expect((await ask(gateway, "GET", where)).status).toBe(404);
    expect(log.lines.filter((line) => line.includes("can't link to http://gateway"))).toHaveLength(
      1,
    );
    await clock.pass(120_000);
    expect(network.sent.filter(({ url }) => url.startsWith("http://gateway"))).toEqual([]);
  });

  it("links-3: link never uses HTTP", async () => {
    const { network, gateway, node, log } = await deployment();
    await node("a", { link: "never" });
    expect(await answeredBy(gateway)).toBe("a");
    expect(network.sent.some(({ url }) => url === "http://a/rpc/where")).toBe(true);
    expect(log.lines.join("\n")).not.toContain("link");
  });

  it("links-4: a gateway has members with and without links at once, each instance once", async () => {
    const { gateway, node, clock } = await deployment();
    await node("a");
    await node("b", { link: "never" });
    await clock.pass(61_000);
    expect(gateway.describe().members?.toSorted()).toEqual(["http://a", "http://b"]);
    const by = new Set<unknown>();
    for (let call = 0; call < 4; call++) by.add(await answeredBy(gateway));
    expect(by).toEqual(new Set(["a", "b"]));
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
    const trusted = { "x-svc-trust-key": key };
    expect((await ask(gateway, "PUT", "/nodes/m1/health", trusted, "false")).status).toBe(404);
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
      [serviceHeaders.credential]: "a.b",
      "x-forwarded-for": "10.0.0.1",
    };
    expect((await ask(role, "GET", where, forged)).status).toBe(200);
    expect((await ask(role, "GET", "/rpc/inner", forged)).status).toBe(401);
    expect((await ask(role, "GET", "/rpc/inner", { "x-svc-trust-key": key })).status).toBe(200);
    // The frame says what a credential would, and that of the caller goes no further.
    const shown = network.sent
      .filter(({ url }) => url.startsWith("http://a/rpc"))
      .map(({ headers }) => headers[serviceHeaders.credential]);
    expect(shown).not.toContain("a.b");
    expect(new Set(shown).size).toBe(2);
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
    await expect(node.start(url)).rejects.toThrow("refuses this node's trust key");
  });

  it.each(["auto", "always"] as const)(
    "links-34: a gateway that can't tell its TLS connection from another takes no links, and a node doesn't use HTTP instead: its start says what to set (link %s)",
    async (link) => {
      const { network, gateway, node, log } = await deployment();
      const tls = { lack: "this runtime can't tell: use Node" };
      const accept = (upgrade: LinkUpgrade): LinkAnswer => gateway.accept!({ ...upgrade, tls });
      network.roles.set("http://gateway", { ...gateway, accept });
      await expect(node("a", { link })).rejects.toThrow(
        "http://gateway can't be linked to: the other end can't tell its TLS connection from others: something between the two services ends TLS, or it doesn't run on Node: let it pass TLS through, or set \"endToEndTls\": false at both",
      );
      expect(log.lines.at(-1)).toContain(
        'this runtime can\'t tell: use Node, or set "endToEndTls": false at both',
      );
      expect(network.sent).toEqual([]);
      expect(gateway.describe().members).toEqual([]);
    },
  );
});

describe("links over sockets", () => {
  const files = {
    "src/shop/stock.ts": "export async function left() { return 12; }",
    "shop.segment.json": '{ "./shop/stock": { "left": { "access": "public" } } }',
    "index.html": "<!doctype html><title>Shop</title>",
  };
  const common = { url: anyPort, trustKey };

  it("links-12: services link by an upgrade at /svc/link of their HTTP address, and a service on the way that takes it away makes them use HTTP", async () => {
    const application = applicationOf(files);
    const repository = await start(application, { mode: "repository", ...common });
    const gateway = await start(application, { mode: "gateway", link: "auto", ...common });
    // Passes everything on but upgrades, as many reverse proxies do.
    const stripping = createServer((socket) => {
      const target = new URL(gateway.url);
      socket.once("data", (bytes) => {
        const text = bytes.toString("latin1").replace(/\r\n(?:connection|upgrade): [^\r]*/gi, "");
        const behind = connect(Number(target.port), target.hostname, () =>
          behind.write(text, "latin1"),
        );
        behind.pipe(socket);
        socket.pipe(behind);
        behind.on("error", () => socket.destroy());
        socket.on("error", () => behind.destroy());
      });
    });
    await new Promise<void>((done) => stripping.listen(0, "127.0.0.1", done));
    onTestFinished(() => void stripping.close());
    const address = stripping.address() as { port: number };
    const node = {
      mode: "node",
      ...common,
      link: "auto",
      repository: repository.url,
      segments: ["shop"],
    } as const;
    const linked = await start(application, { ...node, gateway: gateway.url });
    expect(linked.lines.join("\n")).toContain("over a link");
    const plain = await start(application, {
      ...node,
      gateway: `http://127.0.0.1:${address.port}`,
    });
    expect(plain.lines.join("\n")).toMatch(/takes no links .*over HTTP/);
    for (let call = 0; call < 4; call++)
      expect(await (await fetch(`${gateway.url}/rpc/shop/left`)).text()).toBe("12");
  });

  it("links-13: a node that stops under load fails no call, and needs no second of serving on", async () => {
    const application = applicationOf(files);
    const repository = await start(application, { mode: "repository", ...common });
    const gateway = await start(application, { mode: "gateway", link: "always", ...common });
    const node = {
      mode: "node",
      ...common,
      link: "always",
      gateway: gateway.url,
      repository: repository.url,
      segments: ["shop"],
    } as const;
    const [first] = [await start(application, node), await start(application, node)];
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

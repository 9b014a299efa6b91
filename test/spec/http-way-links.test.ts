// Services of which some have links and others talk over HTTP.

import { createServer } from "node:http";

import { describe, expect, it, onTestFinished } from "vitest";

import type { Channel } from "../../src/base/ports/links.ts";
import { ask, key, settle } from "../_cluster.ts";
import { keeping } from "./_behind-sockets.ts";
import { answeredBy, deployment, where } from "./_http-way-linked.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const trusted = { "x-svc-trust-key": key };

describe("the choice", () => {
  it("link auto: a service links to its gateway, and uses HTTP if the gateway takes no links; it tries again every 60 s", async () => {
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

  it("link always never uses HTTP, says why in the log, and goes on trying", async () => {
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

  it("link never uses HTTP", async () => {
    const { network, gateway, node, log } = await deployment();
    await node("a", { link: "never" });
    expect(await answeredBy(gateway)).toBe("a");
    expect(network.sent.some(({ url }) => url === "http://a/rpc/where")).toBe(true);
    expect(log.lines.join("\n")).not.toContain("link");
  });

  it("a gateway has members with and without links at once, each instance once", async () => {
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

describe("links and HTTP", () => {
  it("a link that HTTP replaces is one line of the log", async () => {
    const { network, node, clock, log, gateway } = await deployment();
    await node("a");
    network.roles.delete("http://gateway");
    log.lines.length = 0;
    const { accept: _, ...plain } = gateway;
    network.roles.set("http://gateway", plain);
    await clock.pass(2_000);
    expect(log.lines.filter((line) => /\blink/.test(line)).slice(2)).toEqual([
      expect.stringMatching(
        /^http:\/\/gateway takes no links \(.+\): requests to it go over HTTP$/,
      ),
    ]);
    expect(log.lines).toContain("joined the gateway at http://gateway");
  });

  it("a gateway with link always takes no members over HTTP, and says what to do", async () => {
    const { gateway, node, log, clock } = await deployment("always");
    await node("a", { link: "never" });
    expect(log.lines.filter((line) => line.includes("takes members over links only"))).toHaveLength(
      1,
    );
    await clock.pass(10_000);
    expect(gateway.describe().members).toEqual([]);
    const body = JSON.stringify({ url: "http://b", procedures: ["where"] });
    const { status, text } = await ask(gateway, "POST", "/nodes", trusted, body);
    expect(status).toBe(403);
    expect(text).toContain(`'link' is "always"`);
    await node("c");
    expect(await answeredBy(gateway)).toBe("c");
  });
  it.each(["auto", "never"] as const)(
    "a node that its gateway no longer knows, as somebody removed it with DELETE /nodes/{id}, joins again: at once over a link, and within a second over HTTP (where 'link' is %s)",
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

  it("calls of a node with a link that was removed end where they run, and then its link does", async () => {
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

  it("a node with a link that was removed while its health changed joins again, and says how it is", async () => {
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

  it("a node over HTTP whose gateway takes links later, with another key, stays there, says so once, and asks again every 60 s", async () => {
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
});

describe("an upgrade that is refused", () => {
  it("whatever else than 101 answers a dial, the service uses HTTP at once", async () => {
    const application = applicationOf({
      "src/shop/stock.ts": "export async function left() { return 12; }",
      "shop.segment.json": '{ "./shop/stock": { "left": { "access": "public" } } }',
    });
    const common = { url: anyPort, trustKey: "the-trust-key-of-the-ways" };
    const repository = await start(application, { mode: "repository", ...common });
    const asked: string[] = [];
    // A load balancer whose gateway is away.
    const balancer = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(503).end("no backend");
    });
    await new Promise<void>((done) => balancer.listen(0, "127.0.0.1", done));
    onTestFinished(() => void balancer.close());
    const { port } = balancer.address() as { port: number };
    const node = await start(application, {
      mode: "node",
      ...common,
      link: "auto",
      repository: repository.url,
      segments: ["shop"],
      gateway: `http://127.0.0.1:${port}`,
    });
    expect(asked.slice(0, 3)).toEqual(["GET /svc/link", "GET /svc/link", "POST /nodes"]);
    const because = `http://127.0.0.1:${port}/svc/link answered 503 when asked for a link, and 503 when asked for one over a WebSocket`;
    expect(node.info).toMatchObject({ ways: [{ kind: "http", because }] });
    expect(node.lines.join("\n")).toContain(
      `gateway: http://127.0.0.1:${port} over HTTP, because ${because})`,
    );
  });
});

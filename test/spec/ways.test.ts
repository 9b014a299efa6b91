// Which way requests between services take, and how people see it.

import { createServer } from "node:http";

import { describe, expect, it, onTestFinished } from "vitest";

import { bytesOf } from "../../src/http/bodies.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { BadGateway } from "../../src/base/errors.ts";
import type { LinkedPeer } from "../../src/base/ports.ts";
import { run } from "../../server/cli/program.ts";
import type { Terminal } from "../../server/base/terminal.ts";
import { ask, key, settle } from "../_cluster.ts";
import { answeredBy, deployment } from "./_linked.ts";
import { dialAsMember, memoryDial } from "../_fake-member.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

/** A role to which requests come over a link. */
function over(via: LinkedPeer, role: Pick<Role, "handle">): Pick<Role, "handle"> {
  return {
    handle: ({ method, target, scheme, headers, body, signal, onCut }) =>
      role.handle({
        method,
        target,
        scheme,
        headers,
        body,
        signal,
        via,
        from: "key",
        onCut,
        readBody: (limit) => bytesOf(body).then((bytes) => bytes.subarray(0, limit)),
      }),
  };
}

const trusted = { "x-svc-trust-key": key };
const serialized = { ...trusted, "x-svc-data-encoding": "serialized" };

describe("logs", () => {
  it("ways-1: a link that is made, lost or made again is one line of the log each", async () => {
    const { network, node, clock, log, restart } = await deployment();
    const ofLinks = () => log.lines.filter((line) => /\blink|joined/.test(line));
    await node("a");
    expect(ofLinks().splice(0)).toEqual([
      "linked to http://gateway",
      "http://a joined with 4 callable procedures",
      "joined the gateway at http://gateway",
    ]);
    log.lines.length = 0;
    network.roles.delete("http://gateway");
    await clock.pass(30_000);
    expect(ofLinks()).toEqual([
      "warning: the link to http://gateway is lost (The connection was closed); dialling again",
      "warning: http://a is gone with its link (The connection was closed)",
    ]);
    log.lines.length = 0;
    await restart();
    await clock.pass(2_000);
    expect(ofLinks()).toEqual([
      "linked to http://gateway again",
      "http://a joined with 4 callable procedures",
      "joined the gateway at http://gateway",
    ]);
  });

  it("ways-2: a service says which links of proxies begin and end", async () => {
    const { network, log, proxy } = await deployment();
    await proxy();
    expect(log.lines).toContain("a proxy has linked to this service");
    network.roles.delete("http://proxy");
    await settle();
    expect(log.lines).toContain("the link of a proxy is over (The connection was closed)");
  });
});

describe("errors", () => {
  it("ways-3: a call that fails between services has a cause that names the other service and the way, for trusted callers only", async () => {
    const { network, gateway, node } = await deployment();
    await node("a");
    const causeOf = async (headers: Record<string, string>) => {
      const waiting = ask(gateway, "GET", "/rpc/waits", headers);
      await settle();
      network.roles.delete("http://a");
      const { status, text } = await waiting;
      expect(status).toBe(BadGateway.status);
      await node("a");
      return text;
    };
    const { cause } = JSON.parse(await causeOf(serialized)) as { cause: object };
    expect(cause).toMatchObject({
      type: "TransportError",
      message: "The link to http://a broke before the answer came (The connection was closed)",
    });
    const outside = await causeOf({ "x-svc-data-encoding": "serialized" });
    expect(outside).not.toMatch(/http:|cause|link/i);
  });

  it("ways-4: a call that a node can't send has a cause that names its gateway and the way", async () => {
    const { network, node, restart } = await deployment();
    const role = await node("a");
    network.roles.delete("http://gateway");
    await settle();
    const call = role.runProcedure?.("elsewhere");
    await expect(call).rejects.toMatchObject({
      name: "NodeNotAvailable",
      cause: { message: expect.stringMatching(/^there is no link to http:\/\/gateway: /) },
    });
    await restart();
  });
});

describe("who may be at the other end", () => {
  it("ways-5: a service that isn't of the kind that the configuration names is refused at the start", async () => {
    const { node, proxy } = await deployment();
    await node("a");
    await expect(node("b", { gateway: "http://a" })).rejects.toThrow(
      "http://a is a node, not a gateway: set 'gateway' to the address of one",
    );
    await expect(proxy("http://gateway", "node")).rejects.toThrow(
      "http://gateway is a gateway, not a node or standalone: set 'node' to the address of one",
    );
    await expect(proxy("http://a", "gateway")).rejects.toThrow(
      "http://a is a node, not a gateway: set 'gateway' to the address of one",
    );
  });

  it("a node that is no gateway any more gets no calls from those that dial again (ways-5)", async () => {
    const { network, node, clock, log } = await deployment();
    const a = await node("a");
    const b = await node("b");
    network.roles.delete("http://gateway");
    network.roles.set("http://gateway", a);
    await clock.pass(3_000);
    const problem = "http://gateway is a node, not a gateway";
    expect(log.lines.join("\n")).toContain(problem);
    await expect(b.runProcedure?.("elsewhere")).rejects.toMatchObject({
      cause: { message: expect.stringContaining(problem) },
    });
  });

  it("ways-6: a node joins over its own link: its instance there is that of the member", async () => {
    const { gateway, network, node } = await deployment();
    await node("a");
    const member = await dialAsMember({ dial: memoryDial(network), instance: "another" });
    // The address and the instance that it announces don't count.
    await member.join({ url: "http://a", procedures: ["where"], instance: "a" });
    const { text } = await ask(gateway, "GET", "/nodes", trusted);
    const { members } = JSON.parse(text) as { members: { instance: string }[] };
    expect(members.map(({ instance }) => instance)).toEqual([expect.any(String), "another"]);
  });

  it("ways-7: nothing becomes a member over HTTP, with the trust key neither", async () => {
    const { gateway, node } = await deployment();
    const body = JSON.stringify({ url: "http://b", instance: "b", procedures: ["where"] });
    const { status } = await ask(gateway, "POST", "/nodes", trusted, body);
    expect([401, 403, 405]).toContain(status);
    expect(gateway.describe().members).toEqual([]);
    await node("c");
    expect(await answeredBy(gateway)).toBe("c");
  });
});

describe("a member whose link is silent", () => {
  it("ways-10: gets no new calls while others can take them, and is tried when there is no other", async () => {
    const { gateway } = await deployment();
    const silent = new Set<string>();
    const join = async (name: string) => {
      const via: LinkedPeer = {
        instance: name,
        hasRoom: true,
        get isSilent() {
          return silent.has(name);
        },
        retire: () => {},
        isAt: () => {},
        send: async () => ({
          status: 200,
          headers: { "x-svc-node": name },
          body: new Uint8Array(),
        }),
      };
      const body = JSON.stringify({ url: `http://${name}`, procedures: ["where"], instance: name });
      expect((await ask(over(via, gateway), "POST", "/nodes", {}, body)).status).toBe(201);
    };
    const byWhom = async () => {
      const names: string[] = [];
      for (let call = 0; call < 4; call++) names.push(String(await answeredBy(gateway)));
      return names.toSorted((left, right) => (left < right ? -1 : 1));
    };
    await join("a");
    await join("b");
    expect(await byWhom()).toEqual(["a", "a", "b", "b"]);
    silent.add("a");
    expect(await byWhom()).toEqual(["b", "b", "b", "b"]);
    silent.add("b");
    expect(await byWhom()).toEqual(["a", "a", "b", "b"]);
  });
});

describe("an upgrade that is refused", () => {
  it("ways-8: a service that gets another answer than a link says which, sends nothing else there, and goes on trying", async () => {
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
      repository: repository.url,
      segments: ["shop"],
      gateway: `http://127.0.0.1:${port}`,
    });
    await expect.poll(() => asked.length, { timeout: 4_000 }).toBeGreaterThan(3);
    expect(new Set(asked)).toEqual(new Set(["GET /svc/link"]));
    const because = `http://127.0.0.1:${port}/svc/link answered 503 when asked for a link, and 503 when asked for one over a WebSocket`;
    expect(node.info).toMatchObject({ ways: [{ isLinked: false, because }] });
    const warnings = node.lines.filter((line) => line.includes("can't link to"));
    expect(warnings).toEqual([expect.stringContaining(because)]);
  });
});

describe("GET /nodes", () => {
  it("ways-11: lists a gateway's members for those with the trust key: where they are, what they have, and whether they get calls", async () => {
    const { gateway, node, clock, setHealth } = await deployment();
    await node("a");
    await node("b");
    const members = async () => {
      const { text } = await ask(gateway, "GET", "/nodes", trusted);
      return (JSON.parse(text) as { members: readonly object[] }).members;
    };
    const common = {
      instance: expect.any(String) as string,
      state: "ready",
      procedures: 4,
      routes: 0,
    };
    expect(await members()).toMatchObject([
      { ...common, url: "http://a" },
      { ...common, url: "http://b" },
    ]);
    setHealth(false);
    await clock.pass(6_000);
    expect(await members()).toMatchObject([{ state: "unhealthy" }, { state: "unhealthy" }]);
    expect((await ask(gateway, "GET", "/nodes")).status).toBe(401);
    expect((await ask(gateway, "GET", "/nodes", { "x-svc-trust-key": "a guess" })).status).toBe(
      401,
    );
  });

  it("ways-12: seamline inspect --running prints them, with the key of the application folder", async () => {
    const application = applicationOf({
      "src/shop/stock.ts": "export async function left() { return 12; }",
      "shop.segment.json": '{ "./shop/stock": { "left": { "access": "public" } } }',
    });
    const repository = await start(application, { mode: "repository", url: anyPort });
    const gateway = await start(application, { mode: "gateway", url: anyPort });
    const common = {
      mode: "node",
      url: anyPort,
      gateway: gateway.url,
      repository: repository.url,
      segments: ["shop"],
    } as const;
    const linked = await start(application, { ...common, name: "warehouse 1" });
    application.write({
      "seamline.json": JSON.stringify({ ...common, url: "http://127.0.0.1:1" }),
    });
    const inspect = async (root: string, ...words: string[]) => {
      const [out, err]: string[][] = [[], []];
      const into = (lines: string[] = []) => ({ write: (text: string) => void lines.push(text) });
      const terminal = { stdout: into(out), stderr: into(err), env: {} } as unknown as Terminal;
      const code = await run(["inspect", "--root", root, ...words], terminal);
      return { code, out: out?.join(""), err: err?.join("") };
    };
    const { root } = application;
    for (const words of [["--running"], ["--running", gateway.url]])
      expect(await inspect(root, ...words)).toMatchObject({
        code: 0,
        out: `1 member of the gateway at ${gateway.url}\n  ${linked.url}  in rotation  1 procedure\n`,
      });
    const { out = "" } = await inspect(root, "--running", "--json");
    expect(JSON.parse(out)).toMatchObject({ gateway: gateway.url, members: [{ url: linked.url }] });
    for (const [words, message] of [
      [["--running", repository.url], `The server at ${repository.url} isn't a gateway`],
      [["--running", "http://127.0.0.1:9"], "http://127.0.0.1:9 refused the connection"],
      [["--running", "gateway"], "--running: "],
    ] as const)
      expect(await inspect(root, ...words)).toMatchObject({
        code: expect.any(Number),
        err: expect.stringContaining(message),
      });
    // Of several gateways, those that answer are shown, and the command fails for the others.
    const list = [gateway.url, "http://127.0.0.1:9"];
    const url = "http://127.0.0.1:1";
    application.write({ "seamline.json": JSON.stringify({ ...common, url, gateway: list }) });
    expect(await inspect(root, "--running")).toMatchObject({
      code: 1,
      out: `1 member of the gateway at ${gateway.url}\n  ${linked.url}  in rotation  1 procedure\n`,
      err: expect.stringContaining("http://127.0.0.1:9 refused the connection"),
    });
    const other = applicationOf({
      "seamline.json": JSON.stringify({ ...common, url: anyPort, trustKey: "another-trust-key" }),
    });
    expect((await inspect(other.root, "--running")).err).toContain("refuses this trust key");
    const empty = applicationOf({});
    expect((await inspect(empty.root, "--running")).err).toContain(
      "no configuration names a gateway",
    );
  });
});

describe("Server.info", () => {
  it("ways-9: Server.info says how requests go to the service behind, and which members a gateway has", async () => {
    const { gateway, node, proxy } = await deployment();
    const a = await node("a");
    expect(a.describe().ways).toEqual([{ to: "http://gateway", isLinked: true }]);
    expect((await proxy()).describe().ways).toEqual([{ to: "http://gateway", isLinked: true }]);
    expect(gateway.describe()).toMatchObject({ members: ["http://a"] });
  });
});

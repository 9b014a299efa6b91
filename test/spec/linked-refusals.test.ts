// Services on a link that refuse a call or stand still: calls go elsewhere, or end with their reason.

import { setTimeout as pause } from "node:timers/promises";

import { beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { defaultLimits } from "../../src/base/limits.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { ask } from "../../src/roles/memory-network.ts";
import { settle } from "../../server/testing/test-clock.ts";
import { anyPort, buildPackage, createApplication } from "../process/_application.ts";
import { behindSocket, routeModules, type Running } from "./_behind-sockets.ts";
import { deployment, where } from "./_linked.ts";

const trustKey = "the-trust-key-of-the-refusals";
const common = { trustKey, limits: defaultLimits };

describe("a call over a link", () => {
  it("links-29: an upload that a member refuses before it took any of it goes to another member, whole", async () => {
    const gateway = await behindSocket((host) =>
      createGateway(host, { ...common, newId: () => crypto.randomUUID(), gatheringMs: 0 }),
    );
    const got: string[] = [];
    const nodes: Running[] = [];
    for (const name of ["a", "b"]) {
      const modules = routeModules([
        {
          route: "POST /measure",
          segment: "shop",
          async run(request) {
            const { byteLength } = await request.arrayBuffer();
            got.push(`${name} ${byteLength}`);
            return new Response(String(byteLength));
          },
        },
      ]);
      const node = await behindSocket((host) =>
        createNode(host, {
          ...common,
          gateway: gateway.url,
          modules,
          segments: ["shop"],
          name,
        }),
      );
      nodes.push(node);
    }
    // It has no memory left: it refuses calls before they begin.
    let refusals = 0;
    nodes[0]!.memory.hasRoom = () => {
      refusals++;
      return false;
    };
    const size = 1_000_000;
    for (let upload = 0; upload < 4; upload++) {
      let sent = 0;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(new Uint8Array(50_000));
          if ((sent += 50_000) === size) controller.close();
        },
      });
      const headers = { "content-type": "application/octet-stream" };
      const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
      const answer = await fetch(`${gateway.url}/measure`, init);
      expect([answer.status, await answer.text()]).toEqual([200, String(size)]);
    }
    expect(refusals).toBeGreaterThan(1);
    expect(got).toEqual(Array.from({ length: 4 }, () => `b ${size}`));
  });

  it("links-30: a gateway that stops says so over its links: what it has accepted is answered, and a proxy's later calls are 503 and never sent", async () => {
    const { gateway, node, proxy, running, network } = await deployment();
    await node("a");
    const outer = await proxy();
    const accepted = ask(outer, "GET", "/rpc/waits");
    await settle();
    gateway.refuseCalls();
    await settle();
    const before = network.sent.length;
    const later = await ask(outer, "GET", where);
    expect(later).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(network.sent.slice(before).filter(({ url }) => url.endsWith(where))).toEqual([]);
    running.get("waits")?.();
    expect(await accepted).toMatchObject({ status: 200, text: "done" });
  });
});

describe("a node's process that stands still", () => {
  beforeAll(() => buildPackage());

  it("links-31: a node's process that stands still gets no new calls 600 ms after one that it leaves unanswered, is no member after 2 s, and is one again when it goes on", async () => {
    const application = await createApplication();
    onTestFinished(() => application.remove());
    await application.publish("shop", "export async function where() { return process.pid; }\n", [
      "where",
    ]);
    const repository = await application.service("repository", {
      mode: "repository",
      url: anyPort,
    });
    const gateway = await application.service("gateway", { mode: "gateway", url: anyPort });
    const node = async (name: string) =>
      await application.service(name, {
        mode: "node",
        url: anyPort,
        gateway: gateway.url,
        repository: repository.url,
        segments: ["shop"],
      });
    const [still, other] = [await node("still"), await node("other")];
    const call = async (): Promise<number> => {
      const answer = await fetch(`${gateway.url}/rpc/where`);
      return answer.status === 200 ? Number(await answer.text()) : answer.status;
    };
    const ofBoth = new Set([await call(), await call()]);
    expect(ofBoth).toEqual(new Set([still.command.child.pid, other.command.child.pid]));

    const lost = gateway.command.says(/is gone with its link/).then(() => performance.now());
    still.command.child.kill("SIGSTOP");
    onTestFinished(() => void still.command.child.kill("SIGCONT"));
    const stopped = performance.now();
    // One of two goes to it, and has no answer.
    const held = [call(), call()];
    await pause(1_000);
    for (let calls = 0; calls < 4; calls++) expect(await call()).toBe(other.command.child.pid);
    // Its timers and this one's are not the same.
    expect((await lost) - stopped).toBeGreaterThan(1_500);
    expect((await lost) - stopped).toBeLessThan(5_000);
    expect(new Set(await Promise.all(held))).toEqual(new Set([502, other.command.child.pid]));
    still.command.child.kill("SIGCONT");
    await expect.poll(call).toBe(still.command.child.pid);
  });
});

// Hundreds of calls to one slow procedure, over real sockets: what they do to everybody else.

import { Agent, request } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { nodeHost } from "../../../server/host.ts";
import { listen } from "../../../server/http.ts";
import type { Host } from "../../../src/ports.ts";
import { createGateway } from "../../../src/roles/gateway.ts";
import { createNode } from "../../../src/roles/node.ts";
import { createProxy } from "../../../src/roles/proxy.ts";
import type { Role } from "../../../src/roles/role.ts";
import { defaultLimits } from "../../../src/serializer/limits.ts";
import { TestLog, testModules, type TestProcedure } from "../../_cluster.ts";
import { body, call } from "../../spec/_shop.ts";

const trustKey = "the-trust-key-of-many-calls";
const closing: (() => Promise<void>)[] = [];
const log = new TestLog();
let held = 0;
let release = (): void => {};

beforeEach(() => {
  held = 0;
  const released = new Promise<void>((resolve) => (release = resolve));
  wait = async () => {
    held++;
    await released;
    return "slow";
  };
});
let wait: () => Promise<string>;

afterEach(async () => {
  release();
  for (const one of closing.splice(0).toReversed()) await one();
});

const procedures: TestProcedure[] = [
  { fqn: "shop/slow", in: { all: "public" }, body: body("shop/slow", () => wait()) },
  { fqn: "shop/quick", in: { all: "public" }, body: body("shop/quick", () => "quick") },
  { fqn: "shop/other", in: { other: "public" }, body: body("shop/other", () => "other") },
  {
    fqn: "shop/fanOut",
    in: { other: "public" },
    body: body("shop/fanOut", async (_, graph) => {
      const all = await Promise.all(Array.from({ length: 600 }, () => call(graph, "shop/slow", [])));
      return all.length;
    }),
  },
];

async function start(create: (host: Host) => Role): Promise<string> {
  const host = nodeHost({ log });
  const role = create(host);
  const server = await listen((one) => role.handle(one), { host: "127.0.0.1", port: 0 });
  await role.start(server.url);
  closing.push(async () => {
    // Nobody is left to be told.
    await host.transport.close();
    await role.stop();
    await server.close(0);
  });
  return server.url;
}

/** proxy → gateway → three nodes with the slow and the quick procedure, and one with another. */
async function deployment(lease = 60_000): Promise<{ proxy: string; gateway: string }> {
  log.lines.length = 0;
  const common = { trustKey, limits: defaultLimits };
  let ids = 0;
  const gateway = await start((host) => createGateway(host, { ...common, monitor: 200, lease, newId: () => `m${++ids}` }));
  for (const segment of ["all", "all", "all", "other"])
    await start((host) => createNode(host, { ...common, gateway, modules: testModules(procedures), segments: [segment], name: segment }));
  const proxy = await start((host) => createProxy(host, { ...common, calls: gateway, repository: "http://127.0.0.1:9" }));
  return { proxy, gateway };
}

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

function get(url: string): Promise<{ status: number | undefined; ms: number }> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    request(url, { agent }, (answer) => {
      answer.resume().once("end", () => resolve({ status: answer.statusCode, ms: performance.now() - begun }));
    })
      .once("error", reject)
      .end();
  });
}

async function quickly(url: string): Promise<void> {
  const { status, ms } = await get(url);
  expect([url, status]).toEqual([url, 200]);
  expect(ms, url).toBeLessThan(1_500);
}

describe("800 calls to one slow procedure", () => {
  it.each(["gateway", "proxy"] as const)(
    "by the %s: all are run at once, others are answered at once, and no node is thrown out",
    async (way) => {
      const urls = await deployment();
      const base = urls[way];
      const slow = Array.from({ length: 800 }, () => get(`${base}/rpc/shop/slow`));
      await vi.waitFor(() => expect(held).toBe(800), 15_000);
      // Some rounds of health checks.
      for (let rounds = 0; rounds < 5; rounds++) {
        await quickly(`${base}/rpc/shop/quick`);
        await quickly(`${base}/rpc/shop/other`);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      release();
      expect(new Set((await Promise.all(slow)).map(({ status }) => status))).toEqual(new Set([200]));
      expect(log.lines.filter((line) => /unhealthy|reached/.test(line))).toEqual([]);
    },
  );
});

describe("600 calls that one procedure makes at once", () => {
  it("don't keep its node from renewing its membership", async () => {
    const { gateway } = await deployment(900);
    const joins = (): number => log.lines.filter((line) => line.startsWith("joined the gateway")).length;
    expect(joins()).toBe(4);
    const fanOut = get(`${gateway}/rpc/shop/fanOut`);
    await vi.waitFor(() => expect(held).toBe(600), 15_000);
    for (let rounds = 0; rounds < 10; rounds++) {
      await quickly(`${gateway}/rpc/shop/other`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    release();
    expect((await fanOut).status).toBe(200);
    expect(joins()).toBe(4);
  });
});
